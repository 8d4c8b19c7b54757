//! What a connection of ours is, and that nobody inherits another one's half-done work.

use std::time::Duration;

use store::{StreamId, general_pool};
use tests::TestDb;

use crate::support::{Counter, id, metadata, number, options, store};

#[tokio::test]
async fn every_connection_has_the_role_the_path_and_the_limits() {
    let db = TestDb::new().await;
    for pool in [
        store(&db, 1).await.pool().clone(),
        general_pool(&options(&db, 1)).await.unwrap(),
    ] {
        let session: (String, String, String, String, String) = sqlx::query_as(
            "select current_user::text, current_setting('search_path'), current_setting('idle_in_transaction_session_timeout'),
                current_setting('statement_timeout'), current_setting('application_name')",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        let (user, path, idle, statement, name) = session;
        assert_eq!((user.as_str(), path.as_str()), ("omniflow_runtime", "read,public"));
        assert_eq!(
            (idle.as_str(), statement.as_str(), name.as_str()),
            ("5s", "10s", "omniflow-test")
        );
    }
    let plans: String = sqlx::query_scalar("select current_setting('plan_cache_mode')")
        .fetch_one(store(&db, 1).await.pool())
        .await
        .unwrap();
    assert_eq!(plans, "force_generic_plan");
}

#[tokio::test]
async fn a_future_dropped_in_the_middle_of_a_statement_leaves_no_trace_for_the_next_user() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let ids = [StreamId::of::<Counter>(id())];
    for open in [false, true] {
        let slow = async {
            let work = store.load(&ids, metadata()).await.unwrap();
            if open {
                let mut work = work.begin().await.unwrap();
                sqlx::raw_sql("insert into operator_notices (kind, dedupe_key, payload) values ('notice_test', 'cut', '{}'); select pg_sleep(0.5)")
                    .execute(work.conn())
                    .await
                    .unwrap();
                work.commit().await.unwrap();
            } else {
                let mut connection = store.pool().acquire().await.unwrap();
                sqlx::raw_sql("select pg_sleep(0.5)")
                    .execute(&mut *connection)
                    .await
                    .unwrap();
            }
        };
        assert!(tokio::time::timeout(Duration::from_millis(150), slow).await.is_err());
        let folded = store.fold::<Counter>(ids[0].id).await.unwrap();
        assert_eq!(folded.sequence, 0);
        let state: String = sqlx::query_scalar(
            "select case when xact_start < clock_timestamp() - interval '100 ms' then 'old transaction' else 'clean' end
            from pg_stat_activity where pid = pg_backend_pid()",
        )
        .fetch_one(store.pool())
        .await
        .unwrap();
        assert_eq!(state, "clean");
    }
    assert_eq!(number(&db, "select count(*) from operator_notices").await, 0);
}

/// Every await of load, begin and commit is cut off once, on a pool of one connection.
#[tokio::test]
async fn wherever_a_unit_of_work_is_cut_off_the_next_one_works() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    for micros in (0..60).map(|step| step * 100) {
        let stream = id();
        let ids = [StreamId::of::<Counter>(stream)];
        let run = async {
            let mut work = store.load(&ids, metadata()).await.unwrap().begin().await.unwrap();
            work.execute::<Counter>(stream, crate::support::add(&[1])).unwrap();
            work.commit().await.unwrap();
        };
        tokio::time::timeout(Duration::from_micros(micros), run).await.ok();
        // Whole or not at all, and not inside an old transaction: another connection sees it at once.
        let mut work = store.load(&ids, metadata()).await.unwrap();
        work.execute::<Counter>(stream, crate::support::add(&[1])).unwrap();
        let position = work.commit().await.unwrap().position.unwrap();
        assert_eq!(number(&db, "select max(position) from events").await, position);
    }
}

#[tokio::test]
async fn what_commands_keep_ready_neither_starves_the_pool_nor_stops_it_from_closing() {
    let db = TestDb::new().await;
    let store = store(&db, 4).await;
    let ids = [StreamId::of::<Counter>(id())];
    let works = futures_util::future::join_all((0..4).map(|_| store.load(&ids, metadata()))).await;
    drop(works);
    let two = async {
        (
            store.pool().acquire().await.unwrap(),
            store.pool().acquire().await.unwrap(),
        )
    };
    drop(tokio::time::timeout(Duration::from_secs(2), two).await.unwrap());
    tokio::time::timeout(Duration::from_secs(2), store.pool().close())
        .await
        .unwrap();
}
