//! The fence's rule, each half of it shown to be needed, on a server whose transaction ids are this test's alone.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection, PgPool, postgres::PgPoolOptions};
use store::{
    StoreError,
    high_water::{Fence, FenceError, Horizon, Observer, draw_xid, oldest_running, settle},
};
use tests::TestDb;

/// How long the slow writers below take between their two columns.
const SLOW: Duration = Duration::from_millis(700);

async fn pool(database: &TestDb) -> PgPool {
    PgPoolOptions::new()
        .max_connections(6)
        .connect(&database.owner_url)
        .await
        .unwrap()
}

async fn append(connection: &mut PgConnection, stream: &str, sequence: i64) {
    sqlx::query(
        "insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
         values ('order', $1, $2, 'order.expired', '1', '{}', '{}')",
    )
    .bind(stream)
    .bind(sequence)
    .execute(connection)
    .await
    .unwrap();
}

/// Two tables that differ only in the order of their columns; `slow` is computed between the two draws.
async fn two_orders(pool: &PgPool) {
    sqlx::raw_sql(
        "create function slow() returns text volatile language plpgsql as $$
         begin perform pg_sleep(0.7); return 'slow'; end $$;
         create table xid_first (xid xid8 default pg_current_xact_id(), pause text default slow(),
                                 position bigint generated always as identity (cache 1));
         create table position_first (position bigint generated always as identity (cache 1), pause text default slow(),
                                 xid xid8 default pg_current_xact_id());
         -- The first draw of a sequence writes WAL and so draws an id by itself: not what is looked at here.
         insert into xid_first (pause) values ('warm'); insert into position_first (pause) values ('warm')",
    )
    .execute(pool)
    .await
    .unwrap();
}

struct Statements {
    slow: &'static str,
    fast: &'static str,
    last: &'static str,
    seen: &'static str,
}

const POSITION_FIRST: Statements = Statements {
    slow: "insert into position_first default values",
    fast: "insert into position_first (pause) values ('fast')",
    last: "select last_value from position_first_position_seq",
    seen: "select position from position_first where position <= $1 order by position",
};

/// A slow writer and a fast one start together; a reader follows by the rule. Answers what it had seen when it moved its cursor to the end,
/// and what is there in the end.
async fn race(pool: &PgPool, statements: &Statements) -> (Vec<i64>, Vec<i64>) {
    let slow = tokio::spawn({
        let (pool, sql) = (pool.clone(), statements.slow);
        async move { sqlx::query(sql).execute(&pool).await.unwrap() }
    });
    tokio::time::sleep(SLOW / 4).await;
    sqlx::query(statements.fast).execute(pool).await.unwrap();
    let mut reader = pool.acquire().await.unwrap();
    let last: i64 = sqlx::query_scalar(statements.last)
        .fetch_one(&mut *reader)
        .await
        .unwrap();
    let mut horizon = Horizon::default();
    horizon.note(last, draw_xid(&mut reader).await.unwrap());
    while horizon.pass(oldest_running(&mut reader).await.unwrap()).is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let seen = sqlx::query_scalar(statements.seen)
        .bind(last)
        .fetch_all(&mut *reader)
        .await
        .unwrap();
    slow.await.unwrap();
    let there = sqlx::query_scalar(statements.seen)
        .bind(last)
        .fetch_all(&mut *reader)
        .await
        .unwrap();
    (seen, there)
}

#[tokio::test]
async fn a_writer_that_draws_its_position_before_its_id_is_skipped_and_ours_is_not() {
    let database = TestDb::own_cluster(false).await;
    let pool = pool(&database).await;
    two_orders(&pool).await;

    let (seen, there) = race(&pool, &POSITION_FIRST).await;
    assert!(seen.len() < there.len(), "the hazard is real: {seen:?} of {there:?}");

    // The cure for every writer, foreign ones included: the order of columns.
    let (seen, there) = race(
        &pool,
        &Statements {
            slow: "insert into xid_first default values",
            fast: "insert into xid_first (pause) values ('fast')",
            last: "select last_value from xid_first_position_seq",
            seen: "select position from xid_first where position <= $1 order by position",
        },
    )
    .await;
    assert_eq!(seen, there);

    // The cure of our own append: an id that is drawn in a materialized and referenced part of the statement.
    let drawn = "with x as materialized (select pg_current_xact_id() as xid)
                 insert into position_first (xid) select x.xid from x";
    let (seen, there) = race(
        &pool,
        &Statements {
            slow: drawn,
            ..POSITION_FIRST
        },
    )
    .await;
    assert_eq!(seen, there);

    // It looks the same and is none: what nobody refers to is never computed.
    let unused =
        "with x as materialized (select pg_current_xact_id() as xid) insert into position_first default values";
    let (seen, there) = race(
        &pool,
        &Statements {
            slow: unused,
            ..POSITION_FIRST
        },
    )
    .await;
    assert!(seen.len() < there.len(), "{seen:?} of {there:?}");
}

#[tokio::test]
async fn the_log_draws_the_id_first() {
    let database = TestDb::new().await;
    let columns: Vec<String> = sqlx::query_scalar(
        "select attname::text from pg_attribute where attrelid = 'events'::regclass and attname in ('xid', 'position') order by attnum",
    )
    .fetch_all(&pool(&database).await)
    .await
    .unwrap();
    assert_eq!(columns, ["xid", "position"]);
}

#[tokio::test]
async fn the_snapshots_xmax_would_lose_an_event_that_our_rule_waits_for() {
    let database = TestDb::own_cluster(false).await;
    let pool = pool(&database).await;
    let mut writer = PgConnection::connect(&database.owner_url).await.unwrap();
    append(&mut writer, "before", 1).await;

    let mut open = writer.begin().await.unwrap();
    append(&mut open, "late", 1).await;
    let position: i64 = sqlx::query_scalar("select position from events where aggregate_id = 'late'")
        .fetch_one(&mut *open)
        .await
        .unwrap();

    let mut reader = pool.acquire().await.unwrap();
    let (xmin, xmax): (i64, i64) = sqlx::query_as(
        "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
    )
    .fetch_one(&mut *reader)
    .await
    .unwrap();
    assert!(xmin >= xmax, "with X = xmax nothing older than X runs: {xmin} {xmax}");
    let visible: bool = sqlx::query_scalar("select exists (select from events where position = $1)")
        .bind(position)
        .fetch_one(&mut *reader)
        .await
        .unwrap();
    assert!(!visible, "and yet the event is not there");

    let mut fence = Fence::default();
    for _ in 0..20 {
        assert!(fence.look(&mut reader).await.unwrap() < position);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(fence.lag() >= Duration::from_millis(80));
    let impatient = settle(&mut reader, Duration::from_millis(50)).await.unwrap_err();
    assert!(
        matches!(impatient, FenceError::NotSettled { wanted, .. } if wanted == position),
        "{impatient}"
    );
    open.commit().await.unwrap();
    assert_eq!(fence.look(&mut reader).await.unwrap(), position);
    assert!(fence.is_idle());
}

#[tokio::test]
async fn a_quiet_log_costs_no_transaction_ids() {
    let database = TestDb::own_cluster(false).await;
    let pool = pool(&database).await;
    let mut connection = pool.acquire().await.unwrap();
    let mut fence = Fence::default();
    assert_eq!(
        fence.look(&mut connection).await.unwrap(),
        0,
        "a sequence that was never used says nothing"
    );
    append(&mut connection, "one", 1).await;
    while fence.look(&mut connection).await.unwrap() < 1 {}
    let next = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    let before: i64 = sqlx::query_scalar(next).fetch_one(&mut *connection).await.unwrap();
    for _ in 0..100 {
        assert_eq!(fence.look(&mut connection).await.unwrap(), 1);
    }
    let after: i64 = sqlx::query_scalar(next).fetch_one(&mut *connection).await.unwrap();
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_position_that_was_rolled_back_is_settled_too() {
    let database = TestDb::own_cluster(false).await;
    let pool = pool(&database).await;
    let mut gone = pool.begin().await.unwrap();
    append(&mut gone, "gone", 1).await;
    gone.rollback().await.unwrap();
    let settled = settle(&mut pool.acquire().await.unwrap(), Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(settled, 1);
}

#[tokio::test]
async fn a_session_that_may_not_write_is_refused() {
    let database = TestDb::new().await;
    let mut connection = PgConnection::connect(&database.url).await.unwrap();
    sqlx::query("set default_transaction_read_only = on")
        .execute(&mut connection)
        .await
        .unwrap();
    let refused = settle(&mut connection, Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(refused.code(), "fence_read_only");
    assert!(!matches!(refused, FenceError::Store(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn one_observer_serves_many_and_survives_its_connection() {
    let database = TestDb::own_cluster(false).await;
    let pool = pool(&database).await;
    let (observer, mut first) = Observer::new(pool.clone());
    let mut second = first.clone();
    let observing = tokio::spawn(observer.run());
    append(&mut pool.acquire().await.unwrap(), "a", 1).await;
    first.wait_for(|settled| *settled >= 1).await.unwrap();
    second.wait_for(|settled| *settled >= 1).await.unwrap();
    sqlx::query("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
        .execute(&pool)
        .await
        .unwrap();
    let mut writer = PgConnection::connect(&database.owner_url).await.unwrap();
    append(&mut writer, "a", 2).await;
    tokio::time::timeout(Duration::from_secs(10), first.wait_for(|settled| *settled >= 2))
        .await
        .unwrap()
        .unwrap();
    drop((first, second));
    observing.await.unwrap().unwrap();
}
