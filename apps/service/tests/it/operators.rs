//! What operators may do to stuck work.

use queue::{FulfillmentArgs, JobState, ListingFilter, QueueError};
use service::{Cancellation, Error, ResolveDelivery};
use uuid::Uuid;

use crate::world::{World, caller, keyed, refusal};

/// A granted entitlement whose operation failed for good, and the job that carried it.
pub(crate) async fn failed(world: &World) -> (Uuid, i64) {
    let (operation_id, job) = waiting(world).await;
    let entitlement: Uuid = sqlx::query_scalar("select entitlement_id from fulfillment_operations")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    let stream = store::StreamId::of::<domain::entitlement::Entitlement>(entitlement);
    let store = world.service.store();
    let mut work = store.load(&[stream], caller().metadata(world.now())).await.unwrap();
    let command = domain::entitlement::Command::RecordFailed {
        operation_id: operation_id.into(),
        code: "remnawave_http_500".to_owned(),
        attempts: 12,
        at: world.now(),
    };
    work.execute::<domain::entitlement::Entitlement>(entitlement, command)
        .unwrap();
    let mut work = work.begin().await.unwrap();
    let end = store::operations::End::Failed {
        code: "remnawave_http_500",
    };
    assert!(store::operations::end_in(work.conn(), operation_id, end).await.unwrap());
    work.commit().await.unwrap();
    world
        .run("update river_job set state = 'cancelled', finalized_at = now()")
        .await;
    (operation_id, job)
}

/// A granted entitlement and the waiting job of its operation.
pub(crate) async fn waiting(world: &World) -> (Uuid, i64) {
    world.place("order", &world.purchase("trial")).await.unwrap();
    let operation_id = sqlx::query_scalar("select operation_id from fulfillment_operations")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    let queue = world.service.queue().unwrap();
    let job = queue
        .insert(&FulfillmentArgs { operation_id }, &serde_json::Map::new())
        .await
        .unwrap();
    (operation_id, job.id)
}

async fn status(world: &World, operation_id: Uuid) -> String {
    sqlx::query_scalar("select status from fulfillment_operations where operation_id = $1")
        .bind(operation_id)
        .fetch_one(&world.pool)
        .await
        .unwrap()
}

/// Actions of the audit trail, oldest first.
async fn audited(world: &World) -> Vec<String> {
    sqlx::query_scalar("select action from audit_events order by id")
        .fetch_all(&world.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn the_job_of_a_failed_operation_is_retried_by_a_new_budget() {
    let world = World::new().await;
    let (operation_id, job) = failed(&world).await;
    let dead = ListingFilter {
        states: vec![JobState::Cancelled, JobState::Discarded],
        limit: 50,
        before: None,
    };
    assert_eq!(world.service.list_jobs(&dead).await.unwrap().jobs[0].id, job);

    let fresh = world.service.retry_job(&caller(), job).await.unwrap();
    assert_ne!(fresh.id, job);
    assert_eq!(fresh.state, JobState::Available);
    assert_eq!(status(&world, operation_id).await, "pending");
    let budget = "select count(*) from fulfillment_operations where attempt_count = 0 and last_error_code is null";
    assert_eq!(world.count(budget).await, 1);
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'entitlement.operation_retried'")
            .await,
        1
    );

    assert_eq!(audited(&world).await, ["panel.fulfillment.retried"]);

    // It is open now: nothing to retry, and nothing happens twice.
    assert_eq!(
        refusal(world.service.retry_operation(&caller(), operation_id.into()).await).code,
        "state_conflict"
    );
    assert_eq!(
        world
            .count("select count(*) from river_job where state = 'available'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_retry_whose_job_is_not_inserted_changes_nothing() {
    let world = World::new().await;
    let (operation_id, _) = failed(&world).await;
    // The run that recorded the failure has not let go of its job.
    world
        .run("update river_job set state = 'running', finalized_at = null, attempted_at = now()")
        .await;
    let began = std::time::Instant::now();
    let outcome = world.service.retry_operation(&caller(), operation_id.into()).await;
    assert!(
        matches!(outcome, Err(Error::Queue(QueueError::StillLive))),
        "{outcome:?}"
    );
    assert!(began.elapsed().as_secs_f32() >= 1.8);
    assert_eq!(status(&world, operation_id).await, "failed");
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'entitlement.operation_retried'")
            .await,
        0
    );
}

#[tokio::test]
async fn cancelling_a_waiting_job_cancels_its_operation() {
    let world = World::new().await;
    let (operation_id, job) = waiting(&world).await;
    let cancelled = world.service.cancel_job(&caller(), job).await.unwrap();
    assert_eq!(cancelled.state, JobState::Cancelled);
    assert_eq!(status(&world, operation_id).await, "cancelled");
    assert_eq!(
        world
            .count("select count(*) from events where event_type = 'entitlement.operation_cancelled'")
            .await,
        1
    );
    for outcome in [
        world.service.cancel_job(&caller(), job).await,
        world.service.retry_job(&caller(), job).await,
    ] {
        let code = outcome.unwrap_err().code().to_owned();
        assert_eq!(code, "job_mutation_rejected");
    }
    // One record of the one change, with who and what; refused changes leave none.
    let record: (String, String, String, String) = sqlx::query_as(
        "select action, actor_type || ':' || actor_id, target_id, metadata ->> 'operation' from audit_events",
    )
    .fetch_one(&world.pool)
    .await
    .unwrap();
    let expected = (
        "panel.fulfillment.cancelled",
        "operator:test",
        operation_id.to_string(),
        "create",
    );
    assert_eq!(
        (record.0.as_str(), record.1.as_str(), record.2, record.3.as_str()),
        expected
    );
}

#[tokio::test]
async fn retrying_a_job_that_waits_makes_it_and_its_operation_due() {
    let world = World::new().await;
    let (_, job) = waiting(&world).await;
    world
        .run("update fulfillment_operations set status = 'retrying', next_attempt_at = now() + interval '20 minutes'")
        .await;
    world
        .run("update river_job set state = 'retryable', scheduled_at = now() + interval '20 minutes'")
        .await;
    let retried = world.service.retry_job(&caller(), job).await.unwrap();
    assert_eq!((retried.id, retried.state), (job, JobState::Available));
    assert_eq!(
        world
            .count("select count(*) from fulfillment_operations where next_attempt_at <= now()")
            .await,
        1
    );
}

#[tokio::test]
async fn a_running_operation_is_only_marked() {
    let world = World::new().await;
    let (operation_id, job) = waiting(&world).await;
    world.run("update fulfillment_operations set status = 'running'").await;
    world
        .run("update river_job set state = 'running', attempted_at = now()")
        .await;
    let refused = world.service.retry_job(&caller(), job).await.unwrap_err();
    assert_eq!(refused.code(), "job_mutation_rejected");
    let outcome = world
        .service
        .cancel_operation(&caller(), operation_id.into())
        .await
        .unwrap();
    assert_eq!(outcome, Cancellation::Marked);
    assert_eq!(
        world
            .count("select count(*) from fulfillment_operations where cancel_requested")
            .await,
        1
    );
    assert_eq!(
        world
            .count("select count(*) from river_job where metadata ? 'cancel_attempted_at'")
            .await,
        0,
        "its call is not cut off: that would only leave a request without an answer"
    );
}

#[tokio::test]
async fn unknown_jobs_and_a_missing_queue_have_their_own_answers() {
    let world = World::new().await;
    assert_eq!(
        world.service.retry_job(&caller(), 404).await.unwrap_err().code(),
        "job_mutation_rejected"
    );
    let bare = service::Service::builder(world.service.store().clone()).build();
    let refused = refusal(bare.retry_job(&caller(), 1).await);
    assert_eq!((refused.status, &*refused.code), (503, "jobs_unavailable"));
}

#[tokio::test]
async fn only_a_parked_delivery_gets_a_verdict() {
    let world = World::new().await;
    let order_id = world.placed("stars", &world.stars("alice_w")).await;
    let verdict = ResolveDelivery {
        order_id,
        delivered: true,
        reason: "seen in the gateway".to_owned(),
    };
    let early = refusal(
        world
            .service
            .resolve_delivery(&caller(), &keyed("v1", &verdict), &verdict)
            .await,
    );
    assert_eq!(early.code, "delivery_not_found");

    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", ports::payments::Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    let refused = refusal(
        world
            .service
            .resolve_delivery(&caller(), &keyed("v2", &verdict), &verdict)
            .await,
    );
    assert_eq!((refused.status, &*refused.code), (409, "state_conflict"));

    park(&world, order_id).await;
    let done = world
        .service
        .resolve_delivery(&caller(), &keyed("v3", &verdict), &verdict)
        .await
        .unwrap();
    assert_eq!(
        (done.value.state.as_str(), done.value.refund_owed_minor),
        ("delivered", 0)
    );
    assert_eq!(world.state(order_id).await, "fulfilled");
    assert_eq!(
        world
            .count("select count(*) from goods_deliveries where status = 'delivered'")
            .await,
        1
    );
}

#[tokio::test]
async fn goods_that_never_came_leave_a_visible_debt() {
    let world = World::new().await;
    let order_id = world.placed("stars", &world.stars("alice_w")).await;
    world.start("pay", order_id, "fakepay").await.unwrap();
    world.pay.set("pay-1", ports::payments::Status::Succeeded);
    world.webhook("pay-1").await.unwrap();
    park(&world, order_id).await;
    let verdict = ResolveDelivery {
        order_id,
        delivered: false,
        reason: "the gateway has nothing".to_owned(),
    };
    let done = world
        .service
        .resolve_delivery(&caller(), &keyed("v1", &verdict), &verdict)
        .await
        .unwrap();
    assert_eq!(
        (done.value.state.as_str(), done.value.refund_owed_minor),
        ("failed", 19_900)
    );
    assert_eq!(world.state(order_id).await, "paid");
}

/// A submission whose outcome nobody knows.
async fn park(world: &World, order_id: domain::ids::OrderId) {
    use domain::delivery::{Command, Delivery};
    let stream = store::StreamId::of::<Delivery>(order_id);
    let mut work = world
        .service
        .store()
        .load(&[stream], caller().metadata(world.now()))
        .await
        .unwrap();
    let at = world.now();
    work.execute::<Delivery>(order_id, Command::StartSubmission { deadline: at, at })
        .unwrap();
    work.execute::<Delivery>(order_id, Command::ParkAbandoned { attempt: 1, at })
        .unwrap();
    work.commit().await.unwrap();
}
