//! What `doctor` looks at: facts about the server and the connection, read and never changed.

use sqlx::{Connection as _, PgConnection};

use crate::{PoolOptions, StoreError, pool::session};

/// Facts about the server and about who we are on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each read by its own check"
)]
pub struct ServerFacts {
    /// As the server writes it, `15.18`.
    pub version: String,
    /// Major version.
    pub major: i32,
    /// A standby: it can be read only, and the fence cannot be used on it.
    pub in_recovery: bool,
    /// The role that statements run as.
    pub role: String,
    /// Whether that role could change or remove events (the runtime role cannot).
    pub may_change_events: bool,
    /// The role that logged in; it can always go back to itself.
    pub login: String,
    /// Whether that one is a superuser or owns the tables.
    pub login_is_owner: bool,
    /// Whether a commit survives a power cut.
    pub is_durable: bool,
    /// Databases besides this one and the maintenance database.
    pub other_databases: Vec<String>,
}

/// A transaction that has written and is not over: readers of the log wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTransaction {
    /// Process number of its connection.
    pub pid: i32,
    /// Its database; it may be another one of the same server.
    pub database: String,
    /// What the client calls itself.
    pub application: String,
    /// How long it has been open, in whole seconds of the server's clock.
    pub seconds: i64,
}

/// River's tables, of which there are all or none: a line copied by hand in part, or a table dropped later, has some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RiverTables {
    /// Those that are there.
    pub present: Vec<String>,
    /// Those that are not.
    pub missing: Vec<String>,
}

/// Looks for River's tables. What its record of migrations says is not asked: that is [`crate::check_applied`]'s.
///
/// # Errors
/// As [`server_facts`].
pub async fn river_tables(options: &PoolOptions) -> Result<RiverTables, StoreError> {
    let mut connection = PgConnection::connect_with(&session(options)?).await?;
    let row = sqlx::query!(
        r#"with expected as (
             select name, to_regclass('public.' || name) is not null as there
             from unnest(array['river_migration', 'river_job', 'river_leader', 'river_queue',
                               'river_notification']) as name)
           select array(select name from expected where there order by name) as "present!",
                  array(select name from expected where not there order by name) as "missing!""#
    )
    .fetch_one(&mut connection)
    .await?;
    connection.close().await.ok();
    Ok(RiverTables {
        present: row.present,
        missing: row.missing,
    })
}

/// Looks at the server once the schema is there.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like; [`StoreError::Migration`] for a URL that cannot be parsed.
pub async fn server_facts(options: &PoolOptions) -> Result<ServerFacts, StoreError> {
    let mut connection = PgConnection::connect_with(&session(options)?).await?;
    let row = sqlx::query!(
        r#"select split_part(current_setting('server_version'), ' ', 1) as "version!",
            current_setting('server_version_num')::int4 / 10000 as "major!",
            pg_is_in_recovery() as "in_recovery!",
            current_user::text as "role!",
            (has_table_privilege('public.events', 'update') or has_table_privilege('public.events', 'delete')) as "may_change!",
            session_user::text as "login!",
            (select rolsuper or tableowner = rolname from pg_roles, pg_tables
                where rolname = session_user and schemaname = 'public' and tablename = 'events') as "login_is_owner",
            (current_setting('fsync')::bool and current_setting('full_page_writes')::bool) as "is_durable!",
            array(select datname::text from pg_database
                where not datistemplate and datname not in ('postgres', current_database()) order by datname) as "others!""#
    )
    .fetch_one(&mut connection)
    .await?;
    connection.close().await.ok();
    Ok(ServerFacts {
        version: row.version,
        major: row.major,
        in_recovery: row.in_recovery,
        role: row.role,
        may_change_events: row.may_change,
        login: row.login,
        login_is_owner: row.login_is_owner.unwrap_or_default(),
        is_durable: row.is_durable,
        other_databases: row.others,
    })
}

/// The oldest transaction of the whole server that has drawn a transaction id; `None` when none is open.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn oldest_writer(connection: &mut PgConnection) -> Result<Option<OpenTransaction>, StoreError> {
    let row = sqlx::query!(
        r#"select pid as "pid!", coalesce(datname::text, '') as "database!", coalesce(application_name, '') as "application!",
            extract(epoch from clock_timestamp() - xact_start)::int8 as "seconds!"
        from pg_stat_activity where backend_xid is not null and xact_start is not null and pid <> pg_backend_pid()
        order by xact_start limit 1"#
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| OpenTransaction {
        pid: row.pid,
        database: row.database,
        application: row.application,
        seconds: row.seconds,
    }))
}

/// Whether a connection keeps its server process between statements. A pooler in transaction mode does not: while a second
/// connection holds a transaction open, the first one's next statement runs elsewhere.
///
/// # Errors
/// [`StoreError::Unavailable`] and the like.
pub async fn keeps_its_session(options: &PoolOptions) -> Result<bool, StoreError> {
    let session = session(options)?;
    let mut first = PgConnection::connect_with(&session).await?;
    let mut second = PgConnection::connect_with(&session).await?;
    let before = backend_pid(&mut first).await?;
    let mut holding = second.begin().await?;
    backend_pid(&mut holding).await?;
    let after = backend_pid(&mut first).await?;
    holding.rollback().await?;
    first.close().await.ok();
    second.close().await.ok();
    Ok(before == after)
}

async fn backend_pid(connection: &mut PgConnection) -> Result<i32, StoreError> {
    Ok(sqlx::query_scalar!(r#"select pg_backend_pid() as "pid!""#)
        .fetch_one(connection)
        .await?)
}
