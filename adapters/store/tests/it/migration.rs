//! Bringing databases up: empty ones, half ones, two at once.

use riverqueue::migrate::PostgresMigrator;
use sqlx::{Connection as _, PgConnection, PgPool};
use store::{Mode, StoreError, check_applied, general_pool, migrate};
use tests::TestDb;

use crate::support::options;

/// An empty database beside the one of the harness, removed by the server's owner at the end.
struct Empty {
    url: String,
    name: String,
    admin: TestDb,
}

impl Empty {
    async fn new() -> Self {
        let admin = TestDb::new().await;
        let name = format!("{}_empty", admin.name());
        let mut connection = PgConnection::connect(&admin.owner_url).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("create database {name}")))
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        let url = admin.owner_url.replace(admin.name(), &name);
        Self { url, name, admin }
    }

    async fn remove(self) {
        let mut connection = PgConnection::connect(&self.admin.owner_url).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("drop database {} with (force)", self.name)))
            .execute(&mut connection)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn an_empty_database_comes_up_and_a_second_run_changes_nothing() {
    let db = Empty::new().await;
    let first = migrate(&db.url, Mode::Sandbox).await.unwrap();
    assert!(first.applied.len() >= 18 && first.river_applied.len() >= 8, "{first:?}");
    let second = migrate(&db.url, Mode::Sandbox).await.unwrap();
    assert!(
        second.applied.is_empty() && second.river_applied.is_empty(),
        "{second:?}"
    );

    let pool = PgPool::connect(&db.url).await.unwrap();
    let river = PostgresMigrator::new(pool.clone()).validate(None).await.unwrap();
    assert!(river.is_valid(), "{river:?}");
    pool.close().await;

    let other = migrate(&db.url, Mode::Live).await;
    assert!(
        matches!(&other, Err(StoreError::Migration(text)) if text.contains("sandbox")),
        "{other:?}"
    );
    let runtime = store::PoolOptions {
        url: db.url.clone(),
        ..options(&db.admin, 1)
    };
    let pool = general_pool(&runtime).await.unwrap();
    assert_eq!(check_applied(&pool).await.unwrap(), Mode::Sandbox);
    pool.close().await;
    db.remove().await;
}

#[tokio::test]
async fn a_line_of_river_that_was_there_before_is_kept_and_stepped_up() {
    let db = Empty::new().await;
    let pool = PgPool::connect(&db.url).await.unwrap();
    let opts = riverqueue::migrate::MigrateOpts::new().with_target_version(6);
    PostgresMigrator::new(pool.clone())
        .migrate(riverqueue::migrate::Direction::Up, opts)
        .await
        .unwrap();
    sqlx::raw_sql(
        "insert into river_job (kind, args, max_attempts, priority, queue, state) values ('kept', '{}', 1, 1, 'default', 'available')",
    )
    .execute(&pool)
    .await
    .unwrap();
    let migrated = migrate(&db.url, Mode::Live).await.unwrap();
    assert_eq!(migrated.river_applied, [7, 8]);
    let kept: i64 = sqlx::query_scalar("select count(*) from river_job where kind = 'kept'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(kept, 1);
    pool.close().await;
    db.remove().await;
}

#[tokio::test]
async fn b92_two_migrations_at_once_do_not_break_each_other() {
    let (one, two) = (Empty::new().await, Empty::new().await);
    // Twice the same database, and another one of the same cluster beside it: the role is shared by all.
    let (a, b, c) = tokio::join!(
        migrate(&one.url, Mode::Sandbox),
        migrate(&one.url, Mode::Sandbox),
        migrate(&two.url, Mode::Live)
    );
    let (a, b, c) = (a.unwrap(), b.unwrap(), c.unwrap());
    assert!(
        a.applied.is_empty() != b.applied.is_empty(),
        "one of the two did the work"
    );
    assert_eq!(c.mode, Mode::Live);
    one.remove().await;
    two.remove().await;
}

#[tokio::test]
async fn b91_a_process_refuses_a_database_that_is_behind_and_takes_a_newer_one() {
    let db = Empty::new().await;
    let pool = PgPool::connect(&db.url).await.unwrap();
    let refused = check_applied(&pool).await;
    assert!(
        matches!(&refused, Err(StoreError::Migration(text)) if text.contains("omniflow db migrate")),
        "{refused:?}"
    );
    migrate(&db.url, Mode::Live).await.unwrap();
    // A later version has migrated, and this one is rolled back to: every change is expanded first.
    let later = "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 values (99991231000000, 'of a later version', true, '', 0)";
    sqlx::raw_sql(later).execute(&pool).await.unwrap();
    assert_eq!(check_applied(&pool).await.unwrap(), Mode::Live);
    let again = migrate(&db.url, Mode::Live).await.unwrap();
    assert!(again.applied.is_empty(), "{again:?}");
    sqlx::raw_sql("delete from _sqlx_migrations where description = 'of a later version'")
        .execute(&pool)
        .await
        .unwrap();

    sqlx::raw_sql("delete from _sqlx_migrations where version = (select max(version) from _sqlx_migrations)")
        .execute(&pool)
        .await
        .unwrap();
    let refused = check_applied(&pool).await;
    assert!(
        matches!(&refused, Err(StoreError::Migration(text)) if text.contains("omniflow db migrate")),
        "{refused:?}"
    );

    let edited =
        "update _sqlx_migrations set checksum = '\\x00' where version = (select min(version) from _sqlx_migrations)";
    sqlx::raw_sql(edited).execute(&pool).await.unwrap();
    let refused = check_applied(&pool).await;
    assert!(
        matches!(&refused, Err(StoreError::Migration(text)) if text.contains("was edited after it was applied")),
        "{refused:?}"
    );
    pool.close().await;
    db.remove().await;
}

/// Cut off anywhere, a migration is gone on with by the next one, and comes to what an undisturbed one makes.
#[tokio::test]
async fn b92_a_migration_that_was_cut_off_is_gone_on_with() {
    const SHAPE: &str = "select string_agg(table_schema || '.' || table_name || '.' || column_name || ' ' || data_type
                                           || coalesce(column_default, ''), ',' order by table_schema, table_name, column_name)
                           from information_schema.columns where table_schema in ('public', 'read')";
    let (whole, cut) = (Empty::new().await, Empty::new().await);
    migrate(&whole.url, Mode::Live).await.unwrap();
    let mut cuts = 0;
    for patience in [5, 15, 30, 60, 120] {
        let span = std::time::Duration::from_millis(patience);
        cuts += u32::from(tokio::time::timeout(span, migrate(&cut.url, Mode::Live)).await.is_err());
    }
    assert!(cuts > 0, "none was cut off");
    migrate(&cut.url, Mode::Live).await.unwrap();
    let mut shapes = Vec::new();
    for db in [&whole, &cut] {
        let pool = PgPool::connect(&db.url).await.unwrap();
        let shape: String = sqlx::query_scalar(SHAPE).fetch_one(&pool).await.unwrap();
        shapes.push(shape);
        assert_eq!(check_applied(&pool).await.unwrap(), Mode::Live);
        pool.close().await;
    }
    assert_eq!(shapes.first(), shapes.last());
    whole.remove().await;
    cut.remove().await;
}

/// Defaults are evaluated in attribute order; the fence of the readers needs the transaction's id before the position.
#[tokio::test]
async fn the_log_draws_its_transaction_before_its_position() {
    let db = TestDb::new().await;
    let mut connection = crate::support::owner(&db).await;
    let order: Vec<String> = sqlx::query_scalar(
        "select attname::text from pg_attribute where attrelid = 'public.events'::regclass and attname in ('xid', 'position')
        order by attnum",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert_eq!(order, ["xid", "position"]);
    let cache: i64 =
        sqlx::query_scalar("select seqcache from pg_sequence where seqrelid = 'public.events_position_seq'::regclass")
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert_eq!(cache, 1);
}
