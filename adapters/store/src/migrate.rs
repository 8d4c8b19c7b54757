//! Bringing a database to the schema of this version: ours, then River's own line, then the rights of the runtime role.

use std::sync::LazyLock;

use riverqueue::migrate::{MIGRATION_LINE_MAIN, PostgresMigrator, SchemaName};
use sqlx::{
    Connection as _, PgConnection, PgPool,
    migrate::{Migrate as _, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::{StoreError, installation, installation::Mode, pool::address};

/// Ours, embedded. What a later version has applied is left alone: a deployment that is rolled back migrates, too, and changes are
/// expanded first.
static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrations = sqlx::migrate!("../../migrations");
    migrations.set_ignore_missing(true);
    migrations
});
/// Session lock of one database: migrations of two processes run one after the other.
const LOCK: i64 = 0x6f6d_6e69_666c_6f77;
/// River lives here whatever the search path says.
const RIVER_SCHEMA: &str = "public";

/// What a migration did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// Versions of ours that were applied now.
    pub applied: Vec<i64>,
    /// Versions of River's line that were applied now.
    pub river_applied: Vec<i64>,
    /// What the database is for.
    pub mode: Mode,
}

/// Brings the database up. Safe to run again, and by two processes at once.
///
/// # Errors
/// [`StoreError::Migration`] when the mode differs, an applied file was edited, or a right is missing; [`StoreError::Unavailable`].
pub async fn migrate(owner_url: &str, mode: Mode) -> Result<Migrated, StoreError> {
    let session = address(owner_url)?
        .application_name("omniflow-migrate")
        .options([("search_path", RIVER_SCHEMA)]);
    let mut connection = PgConnection::connect_with(&session).await?;
    sqlx::query("select pg_advisory_lock($1)")
        .bind(LOCK)
        .execute(&mut connection)
        .await?;
    let outcome = migrate_locked(&mut connection, session, mode).await;
    // Ends the session and with it the lock, whatever the outcome was.
    connection.close().await.ok();
    outcome
}

async fn migrate_locked(
    connection: &mut PgConnection,
    session: PgConnectOptions,
    mode: Mode,
) -> Result<Migrated, StoreError> {
    ensure_runtime_role(connection).await?;
    let before = applied_versions(connection).await?;
    MIGRATIONS
        .run_direct(None, connection, false)
        .await
        .map_err(|error| StoreError::Migration(error.to_string()))?;
    installation::settle_mode_in(connection, mode).await?;
    let river_applied = migrate_river(session).await?;
    sqlx::raw_sql(include_str!("migrate/grants.sql"))
        .execute(&mut *connection)
        .await?;
    let applied = MIGRATIONS
        .iter()
        .map(|one| one.version)
        .filter(|version| !before.contains(version))
        .collect();
    Ok(Migrated {
        applied,
        river_applied,
        mode,
    })
}

async fn applied_versions(connection: &mut PgConnection) -> Result<Vec<i64>, StoreError> {
    let failed = |error: sqlx::migrate::MigrateError| StoreError::Migration(error.to_string());
    connection
        .ensure_migrations_table(&MIGRATIONS.table_name)
        .await
        .map_err(failed)?;
    let applied = connection
        .list_applied_migrations(&MIGRATIONS.table_name)
        .await
        .map_err(failed)?;
    Ok(applied.into_iter().map(|one| one.version).collect())
}

/// Roles belong to the cluster: migrations of two databases may meet here, outside the lock of either. A loser tries again.
async fn ensure_runtime_role(connection: &mut PgConnection) -> Result<(), StoreError> {
    let mut last = None;
    for _ in 0..5 {
        match sqlx::raw_sql(include_str!("migrate/runtime_role.sql"))
            .execute(&mut *connection)
            .await
        {
            Ok(_) => return Ok(()),
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    Err(StoreError::Migration(format!(
        "the role omniflow_runtime cannot be made or used by this user ({}); let a superuser run: \
         create role omniflow_runtime nologin; grant omniflow_runtime to <this user>",
        last.map(|error| error.to_string()).unwrap_or_default()
    )))
}

/// River's own migrator steps its line up; a line that is there already is kept.
async fn migrate_river(session: PgConnectOptions) -> Result<Vec<i64>, StoreError> {
    let failed = |error: riverqueue::migrate::Error| StoreError::Migration(format!("River's line: {error}"));
    let pool = PgPoolOptions::new().max_connections(2).connect_with(session).await?;
    let migrator = river_migrator(&pool)?;
    let applied = migrator.migrate_up().await.map_err(failed)?;
    let check = migrator.validate(None).await.map_err(failed)?;
    pool.close().await;
    if check.is_valid() {
        Ok(applied)
    } else {
        Err(StoreError::Migration(format!(
            "River's {MIGRATION_LINE_MAIN} line is not complete: {check:?}"
        )))
    }
}

fn river_migrator(pool: &PgPool) -> Result<PostgresMigrator, StoreError> {
    let schema = SchemaName::new(RIVER_SCHEMA).map_err(|error| StoreError::Migration(error.to_string()))?;
    Ok(PostgresMigrator::new(pool.clone()).with_schema(schema))
}

/// Start-up check of a process: refuses a database that is behind this version. A newer one is fine (expand first, contract later).
///
/// # Errors
/// [`StoreError::Migration`] that names `omniflow db migrate`; [`StoreError::Unavailable`].
pub async fn check_applied(pool: &PgPool) -> Result<Mode, StoreError> {
    let behind = |what: String| StoreError::Migration(format!("{what}: run `omniflow db migrate` first"));
    let exists = sqlx::query_scalar!(r#"select to_regclass('public._sqlx_migrations') is not null as "exists!""#)
        .fetch_one(pool)
        .await?;
    if !exists {
        return Err(behind("the database is empty".to_owned()));
    }
    let applied: Vec<(i64, Vec<u8>)> =
        sqlx::query_as("select version, checksum from public._sqlx_migrations where success")
            .fetch_all(pool)
            .await?;
    for one in MIGRATIONS.iter() {
        match applied.iter().find(|(version, _)| *version == one.version) {
            None => return Err(behind(format!("migration {} is not applied", one.version))),
            Some((_, checksum)) if checksum.as_slice() != &*one.checksum => {
                return Err(StoreError::Migration(format!(
                    "migration {} was edited after it was applied",
                    one.version
                )));
            }
            Some(_) => {}
        }
    }
    let river = river_migrator(pool)?
        .validate(None)
        .await
        .map_err(|error| StoreError::Migration(format!("River's line: {error}")))?;
    if !river.is_valid() {
        return Err(behind("River's line is not complete".to_owned()));
    }
    installation::mode(pool)
        .await?
        .ok_or_else(|| behind("the installation has no mode".to_owned()))
}
