//! Load, decide, commit against a real server.

use crate::support::{Command, Counter, Negative, add, answer, id, keyed, metadata, number, operation, options, store};
use store::{ExecuteError, Loaded, NewDelivery, StoreError, StreamId, verify_chain};
use tests::TestDb;

#[tokio::test]
async fn what_was_decided_is_what_is_read_back() {
    let db = TestDb::new().await;
    let store = store(&db, 2).await;
    let (one, two) = (id(), id());
    let streams = [StreamId::of::<Counter>(one), StreamId::of::<Counter>(two)];

    let mut work = store.load(&streams, metadata()).await.unwrap();
    work.execute::<Counter>(two, add(&[1, 2])).unwrap();
    work.execute::<Counter>(one, add(&[7])).unwrap();
    work.execute::<Counter>(two, Command::Note("späť \"\\ 🙂".to_owned()))
        .unwrap();
    assert_eq!(work.state::<Counter>(two).unwrap().total, 3);
    let committed = work.commit().await.unwrap();

    assert_eq!(committed.position, Some(4));
    let folded = store.fold::<Counter>(two).await.unwrap();
    assert_eq!((folded.sequence, folded.state.total), (3, 3));
    assert_eq!(folded.state.notes, ["späť \"\\ 🙂"]);
    assert_eq!(store.fold::<Counter>(one).await.unwrap().state.total, 7);
    for stream in [one, two] {
        let report = verify_chain(store.pool(), "counter", &stream.to_string())
            .await
            .unwrap();
        assert!(report.is_intact() && report.foreign.is_empty(), "{report:?}");
    }
    // Sorted by (type, id): position order is stream order, whatever the order of the decisions was.
    assert_eq!(
        number(&db, "select count(*) from (select aggregate_id < lag(aggregate_id) over (order by position) as bad from events) x where bad").await,
        0
    );
}

#[tokio::test]
async fn everything_of_a_commit_stands_together() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let (stream, key) = (id(), keyed("order-key-1", 1));
    let Loaded::Fresh(mut work) = store
        .load_keyed(&key, &[StreamId::of::<Counter>(stream)], metadata())
        .await
        .unwrap()
    else {
        panic!("the key is new");
    };
    work.execute::<Counter>(stream, add(&[5, 1, 6])).unwrap();
    work.enqueue_operation(operation("op-1"));
    work.owe_delivery(NewDelivery {
        order_id: domain::ids::OrderId::new(id()),
        provider: "shop".to_owned(),
        correlation_id: "corr-1".to_owned(),
    });
    work.answer(&key, answer(201, "made"));
    work.commit().await.unwrap();

    assert_eq!(number(&db, "select count(*) from events").await, 3);
    assert_eq!(
        number(&db, "select count(*) from outbox o join events e using (position) where o.topic = 'entitlement.operation_opened'
            and o.stream = e.aggregate_type || '/' || e.aggregate_id and o.headers->>'correlationId' = 'corr-1'
            and o.published_at is null and not o.parked").await,
        2
    );
    assert_eq!(
        number(&db, "select count(*) from fulfillment_operations where status = 'pending' and next_attempt_at <= clock_timestamp()").await,
        1
    );
    assert_eq!(number(&db, "select count(*) from goods_deliveries").await, 1);
    let again = store
        .load_keyed(&key, &[StreamId::of::<Counter>(stream)], metadata())
        .await
        .unwrap();
    assert!(matches!(again, Loaded::Answered(said) if said == answer(201, "made")));
}

#[tokio::test]
async fn a_constraint_of_a_side_row_takes_everything_back_and_keeps_its_name() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let mut names = Vec::new();
    for attempt in 0..2 {
        let stream = id();
        let mut work = store
            .load(&[StreamId::of::<Counter>(stream)], metadata())
            .await
            .unwrap();
        work.execute::<Counter>(stream, add(&[attempt])).unwrap();
        work.enqueue_operation(operation("the same key"));
        names.push(work.commit().await.map_err(|error| error.to_string()));
    }
    assert_eq!(
        names[1],
        Err("refused by fulfillment_operations_idempotency_key_key".to_owned())
    );
    assert_eq!(number(&db, "select count(*) from events").await, 1);
}

#[tokio::test]
async fn a_refusal_stores_its_answer_and_no_event() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let (stream, key) = (id(), keyed("refused-1", 1));
    let Loaded::Fresh(mut work) = store
        .load_keyed(&key, &[StreamId::of::<Counter>(stream)], metadata())
        .await
        .unwrap()
    else {
        panic!("the key is new");
    };
    let refused = work.execute::<Counter>(stream, add(&[1, -2]));
    assert!(matches!(refused, Err(ExecuteError::Rejected(Negative))));
    work.answer(&key, answer(422, "no"));
    let committed = work.commit().await.unwrap();
    assert_eq!(committed.position, None);
    assert_eq!(number(&db, "select count(*) from events").await, 0);
    let again = store
        .load_keyed(&key, &[StreamId::of::<Counter>(stream)], metadata())
        .await
        .unwrap();
    assert!(matches!(again, Loaded::Answered(said) if said.status == 422));
}

#[tokio::test]
async fn text_that_cannot_be_stored_is_refused_before_anything_is_buffered() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let stream = id();
    let mut work = store
        .load(&[StreamId::of::<Counter>(stream)], metadata())
        .await
        .unwrap();
    let refused = work.execute::<Counter>(stream, Command::Note("a\0b".to_owned()));
    assert!(matches!(refused, Err(ExecuteError::Store(StoreError::Unstorable))));
    assert!(work.state::<Counter>(stream).unwrap().notes.is_empty());
    work.execute::<Counter>(stream, Command::Note("a literal \\u0000 is fine".to_owned()))
        .unwrap();
    work.commit().await.unwrap();
    assert_eq!(
        store.fold::<Counter>(stream).await.unwrap().state.notes,
        ["a literal \\u0000 is fine"]
    );
}

#[tokio::test]
async fn a_stream_that_was_not_loaded_is_not_decided_upon() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let mut work = store.load(&[StreamId::of::<Counter>(id())], metadata()).await.unwrap();
    let refused = work.execute::<Counter>(id(), add(&[1]));
    assert!(matches!(
        refused,
        Err(ExecuteError::Store(StoreError::NotLoaded { .. }))
    ));
    let four = [(); 4].map(|()| StreamId::of::<Counter>(id()));
    assert!(matches!(
        store.load(&four, metadata()).await,
        Err(StoreError::NotLoaded { .. })
    ));
}

#[tokio::test]
async fn the_second_form_holds_side_rows_and_events_in_one_transaction() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let stream = id();
    for (commit, expected) in [(false, 0), (true, 1)] {
        let work = store
            .load(&[StreamId::of::<Counter>(stream)], metadata())
            .await
            .unwrap();
        let mut open = work.begin().await.unwrap();
        sqlx::query("insert into operator_notices (kind, dedupe_key, payload) values ('notice_test', 'one', '{}')")
            .execute(open.conn())
            .await
            .unwrap();
        open.execute::<Counter>(stream, add(&[1])).unwrap();
        if commit {
            open.commit().await.unwrap();
        } else {
            drop(open);
        }
        // The pool has one connection: what follows would wait, or read inside the old transaction, if that were still open.
        assert_eq!(store.fold::<Counter>(stream).await.unwrap().sequence, expected);
        assert_eq!(number(&db, "select count(*) from operator_notices").await, expected);
    }
}

#[tokio::test]
async fn a_hint_reaches_the_listener_after_the_commit() {
    let db = TestDb::new().await;
    let mut listener = sqlx::postgres::PgListener::connect(&db.owner_url).await.unwrap();
    listener.listen(store::hint::CHANNEL).await.unwrap();
    let store = store(&db, 1)
        .await
        .with_hinter(store::Hinter::start(&options(&db, 1)).unwrap());
    let stream = id();
    for (amount, hinted) in [(1, false), (5, true)] {
        let mut work = store
            .load(&[StreamId::of::<Counter>(stream)], metadata())
            .await
            .unwrap();
        work.execute::<Counter>(stream, add(&[amount])).unwrap();
        assert_eq!(work.commit().await.unwrap().hinted, hinted);
    }
    let woken = tokio::time::timeout(std::time::Duration::from_secs(5), listener.recv()).await;
    assert_eq!(woken.unwrap().unwrap().channel(), store::hint::CHANNEL);
}
