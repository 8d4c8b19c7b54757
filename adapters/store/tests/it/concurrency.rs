//! Writers that meet, and connections that die.

use std::{collections::BTreeSet, sync::Arc};

use sqlx::Connection as _;
use store::{Committed, KeyedRequest, Loaded, Store, StoreError, StoredAnswer, StreamId};
use tests::TestDb;
use tokio::sync::Barrier;
use uuid::Uuid;

use crate::support::{Counter, add, answer, id, keyed, metadata, number, owner, store};

#[tokio::test]
async fn of_two_writers_of_one_stream_one_meets_a_conflict() {
    let db = TestDb::new().await;
    let store = store(&db, 2).await;
    let stream = id();
    let ids = [StreamId::of::<Counter>(stream)];
    let mut first = store.load(&ids, metadata()).await.unwrap();
    let mut second = store.load(&ids, metadata()).await.unwrap();
    first.execute::<Counter>(stream, add(&[1])).unwrap();
    second.execute::<Counter>(stream, add(&[2])).unwrap();
    first.commit().await.unwrap();
    let refused = second.commit().await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(store.fold::<Counter>(stream).await.unwrap().state.total, 1);
}

#[tokio::test]
async fn a_conflict_inside_the_second_form_takes_its_side_rows_back() {
    let db = TestDb::new().await;
    let store = store(&db, 2).await;
    let stream = id();
    let ids = [StreamId::of::<Counter>(stream)];
    let mut open = store.load(&ids, metadata()).await.unwrap().begin().await.unwrap();
    let mut other = store.load(&ids, metadata()).await.unwrap();
    other.execute::<Counter>(stream, add(&[2])).unwrap();
    other.commit().await.unwrap();
    sqlx::query("insert into operator_notices (kind, dedupe_key, payload) values ('notice_test', 'one', '{}')")
        .execute(open.conn())
        .await
        .unwrap();
    open.execute::<Counter>(stream, add(&[1])).unwrap();
    assert!(matches!(open.commit().await, Err(StoreError::Conflict)));
    assert_eq!(number(&db, "select count(*) from operator_notices").await, 0);
}

/// A use case as the service writes them: look up, decide, answer; rerun with the same ids.
async fn add_once(store: &Store, key: &KeyedRequest, stream: Uuid, amount: i64) -> Result<StoredAnswer, StoreError> {
    for _ in 0..20 {
        let ids = [StreamId::of::<Counter>(stream)];
        let mut work = match store.load_keyed(key, &ids, metadata()).await? {
            Loaded::Fresh(work) => work,
            Loaded::Answered(said) => return Ok(said),
            Loaded::KeyReused => return Ok(answer(422, "reused")),
            Loaded::InProgress => return Ok(answer(409, "in progress")),
        };
        work.execute::<Counter>(stream, add(&[amount])).unwrap();
        let said = answer(201, &format!("sequence {}", work.sequence::<Counter>(stream)?));
        work.answer(key, said.clone());
        match work.commit().await {
            Ok(_) => return Ok(said),
            Err(error) if error.is_rerunnable() => {}
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Conflict)
}

async fn race(streams: impl Fn(usize) -> Uuid) -> (TestDb, Store, BTreeSet<String>) {
    let db = TestDb::new().await;
    let store = store(&db, 16).await;
    let start = Arc::new(Barrier::new(50));
    let runs: Vec<_> = (0..50)
        .map(|run| {
            let (store, start, stream) = (store.clone(), Arc::clone(&start), streams(run));
            tokio::spawn(async move {
                start.wait().await;
                add_once(&store, &keyed("the-one-key", 7), stream, 1)
                    .await
                    .unwrap()
                    .body
                    .to_string()
            })
        })
        .collect();
    let mut answers = BTreeSet::new();
    for run in runs {
        answers.insert(run.await.unwrap());
    }
    (db, store, answers)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_runs_with_one_key_on_one_stream_have_one_effect_and_one_answer() {
    let stream = id();
    let (db, store, answers) = race(|_| stream).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(number(&db, "select count(*) from events").await, 1);
    let reused = add_once(&store, &keyed("the-one-key", 8), stream, 1).await.unwrap();
    assert_eq!(reused.status, 422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_runs_with_one_key_that_each_chose_a_new_stream_have_one_effect_too() {
    let (db, _store, answers) = race(|_| id()).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(number(&db, "select count(*) from events").await, 1);
    assert_eq!(number(&db, "select count(*) from idempotency_keys").await, 1);
}

#[tokio::test]
async fn an_answer_never_replaces_an_answer() {
    let db = TestDb::new().await;
    let store = store(&db, 2).await;
    let (stream, key) = (id(), keyed("provider-key", 1));
    let hold = std::time::Duration::from_millis(1);
    assert_eq!(
        store::idempotency::claim(store.pool(), &key, hold).await.unwrap(),
        store::Claim::Taken
    );
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    let hold = std::time::Duration::from_mins(1);
    assert_eq!(
        store::idempotency::claim(store.pool(), &key, hold).await.unwrap(),
        store::Claim::Taken
    );
    assert_eq!(
        store::idempotency::claim(store.pool(), &key, hold).await.unwrap(),
        store::Claim::InProgress
    );
    let ids = [StreamId::of::<Counter>(stream)];
    assert!(matches!(
        store.load_keyed(&key, &ids, metadata()).await.unwrap(),
        Loaded::InProgress
    ));

    // Both claimants come back from the provider; the slower one must not act a second time.
    let mut results = Vec::new();
    for said in ["first", "second"] {
        let stream = id();
        let mut work = store
            .load(&[StreamId::of::<Counter>(stream)], metadata())
            .await
            .unwrap();
        work.execute::<Counter>(stream, add(&[1])).unwrap();
        work.answer(&key, answer(200, said));
        results.push(work.commit().await);
    }
    assert!(
        results[0].is_ok() && matches!(results[1], Err(StoreError::Conflict)),
        "{results:?}"
    );
    assert_eq!(number(&db, "select count(*) from events").await, 1);
    assert!(matches!(
        store::idempotency::claim(store.pool(), &key, hold).await.unwrap(),
        store::Claim::Answered(said) if said == answer(200, "first")
    ));
}

async fn kill_others(db: &TestDb) {
    let mut connection = owner(db).await;
    sqlx::query(
        "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'omniflow-test'",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    // Terminated is not yet gone.
    for _ in 0..100 {
        let left: i64 = sqlx::query_scalar(
            "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'omniflow-test'",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        if left == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_backend_killed_between_load_and_commit_leaves_the_outcome_open_and_a_rerun_settles_it() {
    let db = TestDb::new().await;
    let store = store(&db, 2).await;
    let (stream, key) = (id(), keyed("killed-key", 1));
    let ids = [StreamId::of::<Counter>(stream)];
    let Loaded::Fresh(mut work) = store.load_keyed(&key, &ids, metadata()).await.unwrap() else {
        panic!("the key is new");
    };
    work.execute::<Counter>(stream, add(&[1])).unwrap();
    work.answer(&key, answer(201, "lost"));
    kill_others(&db).await;
    let lost = work.commit().await;
    assert!(matches!(lost, Err(StoreError::CommitUnknown(_))), "{lost:?}");
    let said = add_once(&store, &key, stream, 1).await.unwrap();
    assert_eq!(said, answer(201, "sequence 1"));
    assert_eq!(number(&db, "select count(*) from events").await, 1);
}

#[tokio::test]
async fn a_load_on_connections_that_all_died_is_tried_once_more_on_one_that_answers() {
    let db = TestDb::new().await;
    let store = store(&db, 4).await;
    let stream = id();
    let ids = [StreamId::of::<Counter>(stream)];
    // Four connections, all idle.
    let held: Vec<_> = futures_util::future::join_all((0..4).map(|_| store.load(&ids, metadata())))
        .await
        .into_iter()
        .collect();
    drop(held);
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    kill_others(&db).await;
    let mut work = store.load(&ids, metadata()).await.unwrap();
    work.execute::<Counter>(stream, add(&[1])).unwrap();
    let committed: Committed = work.commit().await.unwrap();
    assert_eq!(committed.position, Some(1));
}
