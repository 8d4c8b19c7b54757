//! Operations as operators read and change them.

use service::OperationSearch;
use uuid::Uuid;

use crate::{
    operators::{failed, waiting},
    world::{World, caller, refusal},
};

#[tokio::test]
async fn b74_operators_who_click_at_once_retry_an_operation_once() {
    let world = World::racing().await;
    let (operation_id, _) = failed(&world).await;
    let retry = || async { world.service.retry_operation(&caller(), operation_id.into()).await };
    let (one, two, three) = tokio::join!(retry(), retry(), retry());
    let outcomes = [one, two, three];
    assert_eq!(
        outcomes.iter().filter(|outcome| outcome.is_ok()).count(),
        1,
        "{outcomes:?}"
    );
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_eq!(refusal(outcome).code, "state_conflict");
    }
    assert_eq!(
        world
            .count("select count(*) from river_job where state = 'available'")
            .await,
        1
    );
    assert_eq!(world.count("select count(*) from audit_events").await, 1);
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'entitlement.operation_retried'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_retry_and_a_cancel_at_once_leave_one_whole_outcome() {
    let world = World::racing().await;
    let (operation_id, _) = failed(&world).await;
    let caller = caller();
    let (retried, cancelled) = tokio::join!(
        world.service.retry_operation(&caller, operation_id.into()),
        world.service.cancel_operation(&caller, operation_id.into())
    );
    let row = world.service.get_operation(operation_id.into()).await.unwrap();
    let live = world
        .count("select count(*) from river_job where state = 'available'")
        .await;
    match (retried.is_ok(), cancelled.is_ok()) {
        // The cancel came last and took the new job with it, or was refused, or won.
        (_, true) => assert_eq!((row.status.as_str(), live), ("cancelled", 0)),
        (true, false) => assert_eq!((row.status.as_str(), live), ("pending", 1)),
        (false, false) => panic!("{retried:?} {cancelled:?}"),
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one history, told in one piece")]
async fn operations_are_listed_by_filter_and_their_history_counts_what_repeats() {
    let world = World::new().await;
    let (operation_id, _) = waiting(&world).await;
    let mut conn = world.pool.acquire().await.unwrap();
    for turn in 0..10 {
        // A run that finds the lease taken, then waits for its time, over and over.
        for (kind, code) in [("refusal", Some("lease_held")), ("snooze", None)] {
            let entry = store::history::Entry {
                operation_id,
                kind,
                status: "pending",
                attempt: 0,
                error_code: code,
                correlation_id: "request-1",
            };
            store::history::append_in(&mut conn, entry).await.unwrap();
        }
        if turn == 4 {
            let entry = store::history::Entry {
                operation_id,
                kind: "attempt",
                status: "retrying",
                attempt: 1,
                error_code: Some("remnawave_http_503"),
                correlation_id: "request-1",
            };
            store::history::append_in(&mut conn, entry).await.unwrap();
        }
    }
    drop(conn);
    let history = world.service.operation_history(operation_id.into()).await.unwrap();
    let told: Vec<_> = history.iter().map(|entry| (entry.kind.as_str(), entry.count)).collect();
    assert_eq!(
        told,
        [
            ("refusal", 5),
            ("snooze", 5),
            ("attempt", 1),
            ("refusal", 5),
            ("snooze", 5)
        ]
    );

    let search = |status: Option<&str>, operation: Option<&str>| OperationSearch {
        status: status.map(str::to_owned),
        operation: operation.map(str::to_owned),
        limit: 10,
        ..OperationSearch::default()
    };
    for (search, expected) in [
        (search(None, None), 1),
        (search(Some("pending"), Some("create")), 1),
        (search(Some("failed"), None), 0),
        (search(Some("pending"), Some("extend")), 0),
        (
            OperationSearch {
                entitlement_id: Some(Uuid::nil()),
                ..search(None, None)
            },
            0,
        ),
    ] {
        let found = world.service.list_operations(&search).await.unwrap();
        assert_eq!(
            (found.items.len(), found.next.is_none()),
            (expected, true),
            "{search:?}"
        );
    }
    assert_eq!(
        refusal(world.service.list_operations(&search(Some("lost"), None)).await).code,
        "invalid_state"
    );
    assert_eq!(
        refusal(world.service.operation_history(Uuid::nil().into()).await).code,
        "operation_not_found"
    );
}

#[tokio::test]
async fn pages_of_failed_operations_follow_each_other() {
    let world = World::new().await;
    sqlx::query(
        "insert into fulfillment_operations (operation_id, entitlement_id, subscription_id, operation, status, version, idempotency_key,
             correlation_id, completed_at)
         select lpad(to_hex(n), 32, '0')::uuid, $1, $1, 'create', case when n % 2 = 0 then 'failed' else 'succeeded' end, 1, 'k' || n, 'c', now()
         from generate_series(1, 25) n",
    )
    .bind(Uuid::from_u128(1))
    .execute(&world.pool)
    .await
    .unwrap();
    for (status, count) in [(Some("failed"), 12), (None, 25), (Some("succeeded"), 13)] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let search = OperationSearch {
                status: status.map(str::to_owned),
                cursor,
                limit: 5,
                ..OperationSearch::default()
            };
            let page = world.service.list_operations(&search).await.unwrap();
            seen.extend(page.items.iter().map(|row| row.operation_id));
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen.len(), count, "{status:?}");
        assert!(seen.is_sorted_by(|newer, older| newer > older), "newest first");
    }
}
