//! Jobs that ended without success.

use queue::{FulfillmentArgs, GoodsDeliveryArgs, PeriodicArgs};
use serde_json::{Map, json};
use service::{
    DeadLetterRow, DeadLetterSearch,
    passes::{Begun, Wanted},
};
use uuid::Uuid;

use crate::world::{World, refusal};

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
    let world = World::racing().await;
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
