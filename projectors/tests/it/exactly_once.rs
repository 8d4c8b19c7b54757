//! What the publisher does with rows: each once, in order, the bad ones apart.

use std::time::Duration;

use projectors::publisher::{Reactors, Refused, standard};
use serde_json::{Value, json};
use store::outbox;
use uuid::Uuid;

use crate::{
    log::Log,
    outbox_rows::{BLOCKED, OPENED, Running, UNPUBLISHED, job_order, opened, until, write},
};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn b53_every_topic_of_the_domain_has_a_reactor_or_says_that_it_has_none() {
    use domain::topics::{DeliveryOwed, Message, OperationOpened, OrderPaid};
    let id = Uuid::nil();
    let messages = [
        Message::OperationOpened(OperationOpened {
            operation_id: id.into(),
        }),
        Message::DeliveryOwed(DeliveryOwed { order_id: id.into() }),
        Message::OrderPaid(OrderPaid {
            event_id: String::new(),
            occurred_at: chrono::DateTime::UNIX_EPOCH,
            order_id: id.into(),
            entitlement_id: None,
            operation: None,
            currency: None,
            amount_minor: None,
        }),
    ];
    for message in messages {
        // A new topic does not compile here until it is in the list above.
        match &message {
            Message::OperationOpened(_) | Message::DeliveryOwed(_) | Message::OrderPaid(_) => {}
        }
        assert!(standard().knows(message.topic()), "{}", message.topic());
    }
}

#[tokio::test]
async fn b53_a_thousand_settlements_are_handed_over_and_counted() {
    let log = Log::new().await;
    for settlement in 0..1000_u32 {
        write(&log.pool, OPENED, &[opened(settlement, settlement)]).await;
        let paid = json!({ "eventId": "e", "occurredAt": "2026-01-01T00:00:00Z", "orderId": Uuid::from_u128(u128::from(settlement)) });
        write(&log.pool, "order.paid", &[(format!("order/{settlement}"), paid)]).await;
    }
    let backlog = outbox::backlog(&log.pool).await.unwrap();
    assert_eq!((backlog.pending, backlog.parked, backlog.blocked_streams), (2000, 0, 0));
    assert!(backlog.oldest_age_seconds > 0.0);
    let publisher = Running::start(&log);
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    publisher.stop().await;
    assert_eq!(outbox::backlog(&log.pool).await.unwrap(), outbox::Backlog::default());
    assert_eq!(
        job_order(&log.pool).await,
        (0..1000).map(Uuid::from_u128).collect::<Vec<_>>()
    );
    until(
        &log.pool,
        "select count(*) from operator_notices where kind = 'purchase'",
        1000,
        SOON,
    )
    .await;
}

#[tokio::test]
async fn b54_a_hundred_and_twenty_bad_rows_hold_up_their_own_streams_only() {
    let log = Log::new().await;
    let bad: Vec<(String, Value)> = (0..120)
        .map(|n| (format!("entitlement/bad-{n}"), json!({ "operationId": "no id" })))
        .collect();
    let bad_ids = write(&log.pool, OPENED, &bad).await;
    let good: Vec<_> = (0..50).map(|n| opened(n, n)).collect();
    write(&log.pool, OPENED, &good).await;
    let behind: Vec<_> = (0..120)
        .map(|n| (bad[n].0.clone(), opened(0, 1000 + u32::try_from(n).unwrap()).1))
        .collect();
    write(&log.pool, OPENED, &behind).await;

    let publisher = Running::start(&log);
    until(&log.pool, "select count(*) from public.river_job", 50, SOON).await;
    until(&log.pool, BLOCKED, 120, SOON).await;
    until(&log.pool, "select count(*) from outbox where parked", 240, SOON).await;
    let backlog = outbox::backlog(&log.pool).await.unwrap();
    assert_eq!(
        (backlog.pending, backlog.parked, backlog.blocked_streams),
        (240, 240, 120)
    );
    let blocked = outbox::list_blocked(&log.pool, 500).await.unwrap();
    assert!(
        blocked
            .iter()
            .all(|one| one.code == "payload_unreadable" && one.attempts >= 1 && one.parked == 2)
    );
    assert!(
        !blocked[0].detail.as_deref().unwrap_or_default().contains("no id"),
        "no payload in a reason"
    );

    // Somebody mends the rows; each stream drains in order.
    for (n, id) in bad_ids.iter().enumerate() {
        sqlx::query("update outbox set payload = $2 where id = $1")
            .bind(id)
            .bind(opened(0, 2000 + u32::try_from(n).unwrap()).1)
            .execute(&log.pool)
            .await
            .unwrap();
    }
    assert_eq!(
        outbox::retry_in(&mut log.pool.acquire().await.unwrap(), None)
            .await
            .unwrap(),
        120
    );
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    until(&log.pool, BLOCKED, 0, SOON).await;
    publisher.stop().await;
    let jobs = job_order(&log.pool).await;
    assert_eq!(jobs.len(), 290);
    for n in 0..120_u128 {
        let place = |wanted: u128| jobs.iter().position(|job| *job == Uuid::from_u128(wanted)).unwrap();
        assert!(place(2000 + n) < place(1000 + n), "stream {n}");
    }
}

#[tokio::test]
async fn b54_a_reactor_that_panics_is_a_bad_row_and_the_process_survives() {
    #[expect(clippy::unnecessary_wraps, reason = "the shape of a reactor")]
    fn picky(row: &outbox::Pending) -> Result<Vec<projectors::publisher::Effect>, Refused> {
        assert!(!row.payload.contains("boom"), "a defect");
        Ok(Vec::new())
    }
    let log = Log::new().await;
    let (boom, fine) = (json!({ "say": "boom" }), json!({ "say": "fine" }));
    let stream = |n: u32| format!("table/{n}");
    let ids = write(
        &log.pool,
        "a.topic",
        &[
            (stream(1), fine.clone()),
            (stream(2), boom),
            (stream(2), fine.clone()),
            (stream(3), fine.clone()),
        ],
    )
    .await;
    write(&log.pool, "no.such_topic", &[(stream(4), fine)]).await;
    let publisher = Running::with(&log, Reactors::none().with("a.topic", picky));
    until(&log.pool, UNPUBLISHED, 3, SOON).await;
    until(&log.pool, BLOCKED, 2, SOON).await;
    let codes: Vec<(String, i64, String)> =
        sqlx::query_as("select stream, row_id, code from outbox_blocked order by stream")
            .fetch_all(&log.pool)
            .await
            .unwrap();
    assert_eq!(codes[0], (stream(2), ids[1], "reactor_panicked".to_owned()));
    assert_eq!((codes[1].0.clone(), codes[1].2.as_str()), (stream(4), "topic_unknown"));
    publisher.stop().await;
}

#[tokio::test]
async fn a_row_that_the_database_refuses_is_found_by_halves() {
    let log = Log::new().await;
    sqlx::raw_sql("alter table public.river_job add constraint no_unlucky check (args->>'operationId' <> '00000000-0000-0000-0000-00000000002a')")
        .execute(&log.owner)
        .await
        .unwrap();
    // 0x2a = 42, in the stream of the even ones.
    let rows: Vec<_> = (0..300).map(|n| opened(n % 2, n)).collect();
    write(&log.pool, OPENED, &rows).await;
    let publisher = Running::start(&log);
    until(&log.pool, BLOCKED, 1, SOON).await;
    until(&log.pool, UNPUBLISHED, 129, SOON).await;
    let blocked = outbox::list_blocked(&log.pool, 10).await.unwrap().remove(0);
    assert_eq!(
        (blocked.stream.as_str(), blocked.code.as_str()),
        ("entitlement/0", "row_constraint_refused")
    );
    assert_eq!(blocked.detail.as_deref(), Some("SQLSTATE 23514 no_unlucky"));
    sqlx::raw_sql("alter table public.river_job drop constraint no_unlucky")
        .execute(&log.owner)
        .await
        .unwrap();
    outbox::retry_in(&mut log.pool.acquire().await.unwrap(), Some("entitlement/0"))
        .await
        .unwrap();
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    publisher.stop().await;
    let jobs = job_order(&log.pool).await;
    for parity in 0..2 {
        let of: Vec<u128> = jobs.iter().map(Uuid::as_u128).filter(|job| job % 2 == parity).collect();
        assert!(of.is_sorted(), "{of:?}");
    }
}

#[tokio::test]
async fn what_is_not_about_the_data_counts_against_no_row() {
    let log = Log::new().await;
    sqlx::raw_sql(
        "create table moods (bad boolean); insert into moods values (true); grant select on moods to omniflow_runtime;
         create function moody() returns trigger language plpgsql as $$
         begin if (select bad from moods) then raise exception 'not now' using errcode = '55P03'; end if; return new; end $$;
         create trigger moody before insert on public.river_job for each row execute function moody()",
    )
    .execute(&log.owner)
    .await
    .unwrap();
    write(&log.pool, OPENED, &[opened(1, 1), opened(2, 2)]).await;
    let publisher = Running::start(&log);
    tokio::time::sleep(Duration::from_millis(1200)).await;
    until(&log.pool, UNPUBLISHED, 2, SOON).await;
    until(&log.pool, BLOCKED, 0, SOON).await;
    until(
        &log.pool,
        "select coalesce(max(attempts), 0)::bigint from outbox",
        0,
        SOON,
    )
    .await;
    sqlx::raw_sql("update moods set bad = false")
        .execute(&log.owner)
        .await
        .unwrap();
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    publisher.stop().await;
}

#[tokio::test]
async fn a_late_commit_with_a_smaller_id_is_handed_over_before_what_followed_it() {
    let log = Log::new().await;
    let publisher = Running::start(&log);
    for round in 0..15_u32 {
        // A row whose transaction stays open while larger ids of other streams are published…
        let mut late = log.pool.begin().await.unwrap();
        sqlx::query("select pg_current_xact_id()")
            .execute(&mut *late)
            .await
            .unwrap();
        let (stream, payload) = opened(round, round * 10 + 1);
        sqlx::query("insert into outbox (topic, stream, payload) values ($1, $2, $3)")
            .bind(OPENED)
            .bind(&stream)
            .bind(&payload)
            .execute(&mut *late)
            .await
            .unwrap();
        write(&log.pool, OPENED, &[opened(1000 + round, round * 10 + 5)]).await;
        until(&log.pool, UNPUBLISHED, 0, SOON).await;
        tokio::time::sleep(Duration::from_millis(u64::from(round) * 9)).await;
        // …and is followed at once by the next of its own stream.
        late.commit().await.unwrap();
        write(&log.pool, OPENED, &[opened(round, round * 10 + 2)]).await;
    }
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    publisher.stop().await;
    let jobs = job_order(&log.pool).await;
    for round in 0..15_u128 {
        let place = |wanted: u128| jobs.iter().position(|job| job.as_u128() == wanted).unwrap();
        assert!(place(round * 10 + 1) < place(round * 10 + 2), "round {round}: {jobs:?}");
    }
}

#[tokio::test]
async fn a_hint_is_answered_at_once_and_so_is_a_row_without_one() {
    let log = Log::new().await;
    let publisher = Running::start(&log);
    write(&log.pool, OPENED, &[opened(1, 1)]).await;
    until(&log.pool, UNPUBLISHED, 0, SOON).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    let mut fastest = Duration::MAX;
    for n in 0..20_u32 {
        write(&log.pool, OPENED, &[opened(n, n + 2)]).await;
        sqlx::query("select pg_notify('omniflow_outbox', '')")
            .execute(&log.pool)
            .await
            .unwrap();
        let start = std::time::Instant::now();
        until(&log.pool, UNPUBLISHED, 0, SOON).await;
        fastest = fastest.min(start.elapsed());
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
    publisher.stop().await;
}
