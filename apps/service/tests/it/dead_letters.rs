//! Jobs that ended without success, and operations as operators read and change them.

use queue::{FulfillmentArgs, GoodsDeliveryArgs, PeriodicArgs};
use serde_json::{Map, json};
use service::{
    DeadLetterRow, DeadLetterSearch, OperationSearch,
    passes::{Begun, Wanted},
};
use uuid::Uuid;

use crate::{
    operators::{failed, waiting},
    world::{World, caller, refusal},
};

const RESCUED: &str = "Stuck job rescued by JobRescuer";

fn all() -> DeadLetterSearch {
    DeadLetterSearch {
        limit: 50,
        ..DeadLetterSearch::default()
    }
}

async fn listed(world: &World, search: &DeadLetterSearch) -> Vec<DeadLetterRow> {
    world.service.list_dead_letters(search).await.unwrap().items
}

/// Ends a job as River does.
async fn end(world: &World, id: i64, state: &str, error: &str, days_ago: i32) {
    sqlx::query(
        "update river_job set state = $2::text::river_job_state, finalized_at = now() - make_interval(days => $4), attempt = 1,
           attempted_at = now() - make_interval(days => $4, secs => 5),
           errors = array[jsonb_build_object('error', $3::text, 'attempt', 1)] where id = $1",
    )
    .bind(id)
    .bind(state)
    .bind(error)
    .bind(days_ago)
    .execute(&world.pool)
    .await
    .unwrap();
}

async fn pass(world: &World, task: &str) -> i64 {
    let args = PeriodicArgs { task: task.to_owned() };
    world
        .service
        .queue()
        .unwrap()
        .insert(&args, &Map::new())
        .await
        .unwrap()
        .id
}

async fn unknown_kind(world: &World) -> i64 {
    sqlx::query_scalar(
        r#"insert into river_job (kind, queue, args, max_attempts, metadata)
           values ('of_a_later_version', 'default', '{"secret": "abcdefgh-secret"}', 3, '{"correlationId": "c-9"}') returning id"#,
    )
    .fetch_one(&world.pool)
    .await
    .unwrap()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one job of every kind, told in one piece")]
async fn every_end_without_success_is_recorded_once_whatever_the_kind() {
    let world = World::new().await;
    let queue = world.service.queue().unwrap();
    let id = Uuid::from_u128(7);
    let operation = queue
        .insert(&FulfillmentArgs { operation_id: id }, &Map::new())
        .await
        .unwrap()
        .id;
    let goods = queue
        .insert(&GoodsDeliveryArgs { order_id: id }, &Map::new())
        .await
        .unwrap()
        .id;
    let lost = pass(&world, "retention").await;
    let unknown = unknown_kind(&world).await;
    end(
        &world,
        operation,
        "discarded",
        "GET https://panel.example/x token=abcdefghijkl\u{1b}[31m",
        0,
    )
    .await;
    end(&world, goods, "cancelled", "", 0).await;
    end(&world, lost, "discarded", RESCUED, 0).await;
    end(&world, unknown, "discarded", "card 4111111111111111", 0).await;
    pass(&world, "alive").await;

    // A reader does not wait for the sweep.
    let rows = listed(&world, &all()).await;
    assert_eq!(rows.len(), 4);
    let of = |job: i64| rows.iter().find(|row| row.job_id == job).unwrap();
    assert_eq!(of(operation).last_error, "GET [redacted] token=[redacted]");
    assert_eq!(of(operation).args_summary, json!({ "operationId": id }));
    assert_eq!(
        (of(goods).state.as_str(), of(goods).args_summary.clone()),
        ("cancelled", json!({ "orderId": id }))
    );
    assert_eq!(
        (of(lost).open, of(lost).args_summary.clone()),
        (true, json!({ "task": "retention" }))
    );
    assert_eq!((of(unknown).open, of(unknown).args_summary.clone()), (true, json!({})));
    assert_eq!(
        (of(unknown).last_error.as_str(), of(unknown).correlation_id.as_str()),
        ("card [redacted]", "c-9")
    );
    // Operations and deliveries speak for themselves when they end.
    assert!(!of(operation).open && !of(goods).open);
    let codes: Vec<String> = sqlx::query_scalar("select code from dead_letters order by code")
        .fetch_all(&world.pool)
        .await
        .unwrap();
    assert_eq!(codes, ["job_discarded", "run_lost"]);

    // Two sweeps at once, and again: nothing twice.
    let (one, two) = tokio::join!(world.service.sweep_dead_letters(), world.service.sweep_dead_letters());
    assert_eq!((one.unwrap().recorded, two.unwrap().recorded), (0, 0));
    // The same job, given another try by hand, may end again: that is another end.
    queue
        .retry_in(&mut world.pool.acquire().await.unwrap(), unknown)
        .await
        .unwrap();
    end(&world, unknown, "discarded", "again", 0).await;
    assert_eq!(world.service.sweep_dead_letters().await.unwrap().recorded, 1);
    assert_eq!(world.count("select count(*) from dead_jobs").await, 5);
    assert_eq!(
        world.count("select count(*) from dead_letters").await,
        2,
        "one open letter says it"
    );
}

#[tokio::test]
async fn the_queue_forgets_only_what_is_recorded() {
    let world = World::new().await;
    let old = pass(&world, "one").await;
    let recent = pass(&world, "two").await;
    let cancelled = pass(&world, "three").await;
    // Nobody looked for a month.
    end(&world, old, "discarded", "x", 30).await;
    end(&world, recent, "discarded", "x", 6).await;
    end(&world, cancelled, "cancelled", "", 2).await;
    let queue = world.service.queue().unwrap();
    let hour = std::time::Duration::from_hours(1);
    assert_eq!(
        queue.prune_recorded(hour, hour, 100).await.unwrap(),
        0,
        "none of them is recorded"
    );

    let report = world.service.sweep_dead_letters().await.unwrap();
    assert_eq!(
        (report.found, report.recorded, report.removed_jobs, report.failed),
        (3, 3, 2, 0)
    );
    assert_eq!(world.count("select count(*) from river_job").await, 1);
    assert_eq!(world.count("select count(*) from dead_jobs").await, 3);
    let rows = listed(&world, &all()).await;
    assert!(
        rows.iter().any(|row| row.job_id == old && row.open),
        "it outlives the queue's row"
    );
}

#[tokio::test]
async fn more_than_one_batch_is_recorded_by_one_sweep_and_paged_without_gaps() {
    let world = World::new().await;
    sqlx::query(
        "insert into river_job (kind, queue, args, max_attempts, state, finalized_at, attempt)
         select 'periodic_task', 'default', '{\"task\": \"x\"}', 1, 'discarded', now() - make_interval(secs => n), 1
         from generate_series(1, 450) n",
    )
    .execute(&world.pool)
    .await
    .unwrap();
    let report = world.service.sweep_dead_letters().await.unwrap();
    assert_eq!((report.found, report.recorded), (450, 450));
    assert_eq!(
        world.count("select count(*) from dead_letters").await,
        1,
        "one pass, one code, one letter"
    );
    let (mut seen, mut cursor) = (std::collections::BTreeSet::new(), None);
    loop {
        let search = DeadLetterSearch {
            kind: Some("periodic_task".to_owned()),
            cursor,
            limit: 200,
            ..all()
        };
        let page = world.service.list_dead_letters(&search).await.unwrap();
        seen.extend(page.items.iter().map(|row| row.job_id));
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen.len(), 450);
    for (search, code) in [
        (
            DeadLetterSearch {
                cursor: Some("j00".to_owned()),
                ..all()
            },
            "invalid_cursor",
        ),
        (
            DeadLetterSearch {
                state: Some("completed".to_owned()),
                ..all()
            },
            "invalid_state",
        ),
    ] {
        assert_eq!(refusal(world.service.list_dead_letters(&search).await).code, code);
    }
}

#[tokio::test]
async fn a_pass_that_went_well_again_closes_its_letter() {
    let world = World::new().await;
    let begun = async || {
        let wanted = Wanted {
            task: "retention",
            every: None,
            runner: "test",
            job_id: None,
        };
        match world.service.begin_pass(wanted).await.unwrap() {
            Begun::Run(run) => run,
            other => panic!("{other:?}"),
        }
    };
    let open = "select count(*) from dead_letters where resolved_at is null";
    let failed = begun().await;
    world.service.end_pass(&failed, Err("pass_timed_out")).await.unwrap();
    assert_eq!(world.count(open).await, 1);
    let succeeded = begun().await;
    world.service.end_pass(&succeeded, Ok(&json!({}))).await.unwrap();
    assert_eq!(world.count(open).await, 0);
    // The job of the failed run is recorded late: what was dealt with stays dealt with.
    let job = pass(&world, "retention").await;
    end(&world, job, "discarded", "pass_timed_out", 0).await;
    assert_eq!(world.service.sweep_dead_letters().await.unwrap().recorded, 1);
    assert_eq!(world.count(open).await, 0);
}

#[tokio::test]
async fn b74_operators_who_click_at_once_retry_an_operation_once() {
    let world = World::new().await;
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
    let world = World::new().await;
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

#[tokio::test]
async fn forged_webhooks_are_kept_up_to_a_bound_and_hold_up_no_authentic_one() {
    let world = World::new().await;
    let order_id = world.placed("order", &world.purchase("month")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    let forge = |number: u32| {
        let world = &world;
        async move {
            let body = number.to_be_bytes();
            let call = service::webhooks::WebhookCall {
                provider: "fakepay",
                headers: &[("x-fake-signature", b"bad")],
                body: &body,
            };
            assert_eq!(
                refusal(world.service.receive_webhook(&caller(), call).await).code,
                "webhook_rejected"
            );
        }
    };
    let kept = "select count(*) from webhook_events where not signature_valid";
    for number in 0..100 {
        forge(number).await;
    }
    assert_eq!(world.count(kept).await, 30);
    world.pay.set("pay-1", ports::payments::Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    assert_eq!(world.state(order_id).await, "paid");
    // Another process has a count of its own; what is kept is bounded all the same.
    let other = service::Service::builder(world.service.store().clone())
        .clock(world.service.clock().clone())
        .providers(world.service.providers().clone())
        .build();
    let call = service::webhooks::WebhookCall {
        provider: "fakepay",
        headers: &[("x-fake-signature", b"bad")],
        body: b"another",
    };
    assert_eq!(
        refusal(other.receive_webhook(&caller(), call).await).code,
        "webhook_rejected"
    );
    assert_eq!(world.count(kept).await, 30);
    world.clock.advance(chrono::TimeDelta::minutes(1));
    forge(1_000).await;
    assert_eq!(world.count(kept).await, 31);
    assert_eq!(
        world.count("select count(*) from webhook_events where not signature_valid and retain_until > received_at + interval '1 day'").await,
        0
    );
}
