//! The trace of a request is part of what it wrote, of its hash, and of what it owes.

use ports::trace::{TraceParent, within};
use store::{StreamId, verify_chain};
use tests::TestDb;

use crate::support::{Counter, add, id, metadata, number, store};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn it_stands_beside_events_and_outbox_rows_and_the_chain_covers_it() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let stream = id();
    let trace: TraceParent = TRACE.parse().unwrap();
    for (trace, amounts) in [(Some(trace), &[1, 6][..]), (None, &[5][..]), (Some(trace), &[3][..])] {
        within(trace, async {
            let mut work = store
                .load(&[StreamId::of::<Counter>(stream)], metadata())
                .await
                .unwrap();
            work.execute::<Counter>(stream, add(amounts)).unwrap();
            work.commit().await.unwrap();
        })
        .await;
    }
    let report = verify_chain(store.pool(), "counter", &stream.to_string())
        .await
        .unwrap();
    assert!(report.is_intact() && report.foreign.is_empty(), "{report:?}");
    for (sql, expected) in [
        (
            "select count(*) from events where metadata ->> 'traceparent' = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'",
            3,
        ),
        ("select count(*) from events where not metadata ? 'traceparent'", 1),
        (
            "select count(*) from outbox o join events e using (position)
           where o.headers ->> 'traceparent' is distinct from e.metadata ->> 'traceparent'",
            0,
        ),
    ] {
        assert_eq!(number(&db, sql).await, expected, "{sql}");
    }
    assert!(number(&db, "select count(*) from outbox where headers ? 'traceparent'").await > 0);
}

#[tokio::test]
async fn a_rerun_of_the_same_request_writes_the_same_bytes() {
    let trace: TraceParent = TRACE.parse().unwrap();
    let mut hashes = Vec::new();
    let stream = id();
    for _ in 0..2 {
        let db = TestDb::new().await;
        let store = store(&db, 1).await;
        within(Some(trace), async {
            let mut work = store
                .load(&[StreamId::of::<Counter>(stream)], metadata())
                .await
                .unwrap();
            work.execute::<Counter>(stream, add(&[1])).unwrap();
            work.commit().await.unwrap();
        })
        .await;
        let hash: Vec<u8> = sqlx::query_scalar("select hash from events")
            .fetch_one(store.pool())
            .await
            .unwrap();
        hashes.push(hash);
    }
    assert_eq!(hashes[0], hashes[1]);
}
