//! The chain over what is stored: rows of other writers, edits, gaps.

use store::{StreamId, verify_chain};
use tests::TestDb;
use uuid::Uuid;

use crate::support::{Command, Counter, add, id, metadata, owner, store};

async fn write(store: &store::Store, stream: Uuid, command: Command) {
    let mut work = store
        .load(&[StreamId::of::<Counter>(stream)], metadata())
        .await
        .unwrap();
    work.execute::<Counter>(stream, command).unwrap();
    work.commit().await.unwrap();
}

/// Two events in one commit, two rows that somebody else wrote (no hash), then ours: the foreign rows are reported, and ours link to
/// the hash that those would have had.
#[tokio::test]
async fn rows_of_another_writer_are_reported_and_linked_over() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let stream = id();
    write(&store, stream, add(&[1, 2])).await;
    let mut connection = owner(&db).await;
    for (sequence, total) in [(3, 13), (4, 23)] {
        sqlx::query(
            "insert into events (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata)
            values ('counter', $1, $2, 'counter.added', '1', jsonb_build_object('type', 'counter.added', 'amount', 10, 'newTotal', $3::bigint),
                '{\"z\": \"1.50\", \"a\": \"ü\"}')",
        )
        .bind(stream.to_string())
        .bind(sequence)
        .bind(total)
        .execute(&mut connection)
        .await
        .unwrap();
    }
    write(&store, stream, add(&[4])).await;
    write(&store, stream, add(&[5])).await;

    assert_eq!(store.fold::<Counter>(stream).await.unwrap().state.total, 32);
    let report = verify_chain(store.pool(), "counter", &stream.to_string())
        .await
        .unwrap();
    assert_eq!(report.events, 6);
    assert_eq!(report.foreign, [3, 4]);
    assert!(report.is_intact(), "{report:?}");
}

#[tokio::test]
async fn an_edit_and_a_removal_are_each_found_where_they_are() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let stream = id();
    write(&store, stream, add(&[1, 2, 3, 4, 5, 6])).await;
    let mut connection = owner(&db).await;
    for change in [
        "update events set payload = jsonb_set(payload, '{amount}', '9') where sequence = 2",
        "delete from events where sequence = 4",
    ] {
        // Only a superuser gets this far.
        for sql in [
            "set session_replication_role = replica",
            change,
            "set session_replication_role = origin",
        ] {
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        }
    }
    let report = verify_chain(store.pool(), "counter", &stream.to_string())
        .await
        .unwrap();
    assert_eq!(
        (report.mismatched.as_slice(), report.missing.as_slice()),
        ([2, 5].as_slice(), [4].as_slice())
    );
    assert!(!report.is_intact());
}

#[tokio::test]
async fn the_streams_of_the_log_can_be_walked() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let streams = [id(), id(), id()];
    for stream in streams {
        write(&store, stream, add(&[1])).await;
    }
    let mut seen = Vec::new();
    let mut after = (String::new(), String::new());
    loop {
        let page = store::verify::streams_after(store.pool(), (&after.0, &after.1), 2)
            .await
            .unwrap();
        let Some(last) = page.last().cloned() else { break };
        seen.extend(page.into_iter().map(|(_, id)| id));
        after = last;
    }
    assert_eq!(seen, streams.map(|id| id.to_string()));
}
