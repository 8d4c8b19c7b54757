//! The answer of a commit that never comes. A binary of its own: failpoints belong to the whole process.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

#[path = "it/support.rs"]
#[expect(dead_code, reason = "shared with the other binary")]
mod support;

use store::{Loaded, StoreError, StreamId};
use support::{Counter, add, answer, id, keyed, metadata, number, store};
use tests::TestDb;

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_looked_up_and_never_repeated() {
    let db = TestDb::new().await;
    let store = store(&db, 2).await;
    let scenario = fail::FailScenario::setup();
    for (point, second_form, happened) in [
        ("append.after_commit", false, true),
        ("append.after_commit", true, true),
        ("append.before_commit", false, false),
        ("append.before_commit", true, false),
    ] {
        let (stream, key) = (id(), keyed(&format!("{point}-{second_form}"), 1));
        let ids = [StreamId::of::<Counter>(stream)];
        fail::cfg(point, "1*return").unwrap();
        let Loaded::Fresh(mut work) = store.load_keyed(&key, &ids, metadata()).await.unwrap() else {
            panic!("the key is new");
        };
        work.execute::<Counter>(stream, add(&[1])).unwrap();
        work.answer(&key, answer(201, "made"));
        let lost = if second_form {
            work.begin().await.unwrap().commit().await
        } else {
            work.commit().await
        };
        assert!(matches!(lost, Err(StoreError::CommitUnknown(_))), "{lost:?}");

        let again = store.load_keyed(&key, &ids, metadata()).await.unwrap();
        assert_eq!(
            matches!(again, Loaded::Answered(said) if said == answer(201, "made")),
            happened,
            "{point}"
        );
        assert_eq!(
            store.fold::<Counter>(stream).await.unwrap().sequence,
            i64::from(happened)
        );
    }
    scenario.teardown();
    assert_eq!(number(&db, "select count(*) from idempotency_keys").await, 2);
}
