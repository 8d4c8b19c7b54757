//! What is sent, what is not, and what is tried again.

use std::time::Duration;

use domain::notices::{Cap, Kind, MAX_ATTEMPTS};
use ports::notices::ChannelError;

use super::{Desk, answer};

#[tokio::test]
async fn the_same_is_queued_once_and_sent_once() {
    let desk = Desk::new().await;
    desk.queue(Kind::Purchase, "a").await;
    let mut conn = desk.pool.acquire().await.unwrap();
    let again = store::notices::insert_in(&mut conn, "purchase", "a", &serde_json::json!({})).await;
    assert!(!again.unwrap());
    drop(conn);
    desk.queue(Kind::Renewal, "a").await;
    assert_eq!(desk.run().await.sent, 2);
    desk.later().await;
    assert_eq!(desk.run().await.sent, 0);
    assert_eq!(desk.channel.keys(), ["a", "a"]);
}

#[tokio::test]
async fn the_thirty_first_in_five_minutes_is_suppressed_and_the_suppressed_do_not_count() {
    let desk = Desk::new().await;
    desk.queue_many(Kind::Purchase, 32).await;
    desk.queue(Kind::Incident, "other").await;
    let report = desk.run().await;
    assert_eq!((report.sent, report.suppressed), (31, 2));
    for late in ["purchase-030", "purchase-031"] {
        assert_eq!(
            desk.status(Kind::Purchase, late).await,
            answer("suppressed", Some("volume_cap"), 0)
        );
    }
    // One of the thirty leaves the window: there is room for one, whatever was suppressed meanwhile.
    desk.sql("update operator_notices set sent_at = sent_at - interval '6 minutes' where dedupe_key = 'purchase-000'")
        .await;
    desk.queue(Kind::Purchase, "next").await;
    desk.queue(Kind::Purchase, "over").await;
    let report = desk.run().await;
    assert_eq!((report.sent, report.suppressed), (1, 1));
    assert_eq!(desk.status(Kind::Purchase, "next").await, answer("sent", None, 1));
}

#[tokio::test]
async fn without_a_cap_the_pace_of_the_group_is_kept_and_what_is_urgent_goes_first() {
    let desk = Desk::new().await;
    desk.queue_many(Kind::Purchase, 40).await;
    desk.queue(Kind::FulfillmentFailure, "urgent").await;
    let open = Cap {
        most: None,
        ..Cap::default()
    };
    let dispatch = desk.dispatch_to(super::GROUP, open).with_pace(18);
    assert_eq!(dispatch.run_once(|| true).await.unwrap().sent, 18);
    assert_eq!(desk.channel.keys()[0], "urgent");
    assert_eq!(dispatch.run_once(|| true).await.unwrap().sent, 0, "the minute is full");
    desk.later().await;
    assert_eq!(dispatch.run_once(|| true).await.unwrap().sent, 18);
    assert_eq!(
        desk.count("select count(*) from operator_notices where status = 'suppressed'")
            .await,
        0
    );
}

#[tokio::test]
async fn b80_a_flood_wait_costs_nothing_and_holds_every_process_back() {
    let desk = Desk::new().await;
    desk.queue_many(Kind::Purchase, 50).await;
    let open = Cap {
        most: None,
        ..Cap::default()
    };
    let dispatch = || desk.dispatch_to(super::GROUP, open).with_pace(1_000);
    let wait = Duration::from_secs(40);
    let flood = std::iter::once(Err(ChannelError::FloodWait { wait }));
    desk.channel.answers(std::iter::repeat_n(Ok(()), 6).chain(flood));
    let report = dispatch().run_once(|| true).await.unwrap();
    assert_eq!((report.sent, report.retrying), (6, 1));
    assert_eq!(
        desk.status(Kind::Purchase, "purchase-006").await,
        answer("pending", Some("flood_wait"), 0)
    );
    // Another process, a moment later: the wait is not its own memory.
    let report = dispatch().run_once(|| true).await.unwrap();
    assert!((20..=40).contains(&report.paused_seconds), "{report:?}");
    assert_eq!(desk.channel.keys().len(), 6);
    desk.later().await;
    assert_eq!(dispatch().run_once(|| true).await.unwrap().sent, 44);
    let expected: Vec<_> = (0..50).map(|number| format!("purchase-{number:03}")).collect();
    assert_eq!(desk.channel.keys(), expected, "each once, in order");
}

#[tokio::test]
async fn what_does_not_get_through_is_tried_again_until_its_budget_is_spent() {
    let desk = Desk::new().await;
    desk.queue(Kind::Incident, "a").await;
    desk.channel.answers(vec![Err(ChannelError::Unavailable); 30]);
    for attempt in 1..MAX_ATTEMPTS {
        assert_eq!(desk.run().await.retrying, 1, "{attempt}");
        let expected = answer("pending", Some("telegram_unavailable"), attempt);
        assert_eq!(desk.status(Kind::Incident, "a").await, expected);
        assert!(desk.run().await.paused_seconds > 0, "the group is left alone");
        desk.later().await;
    }
    assert_eq!(desk.run().await.failed, 1);
    desk.later().await;
    assert_eq!(desk.run().await.retrying, 0);
    assert_eq!(
        desk.status(Kind::Incident, "a").await,
        answer("failed", Some("telegram_unavailable"), MAX_ATTEMPTS)
    );
    // A person retries it, with a new budget.
    desk.retry(Kind::Incident, "a").await.unwrap();
    desk.channel.answers([]);
    desk.later().await;
    assert_eq!(desk.run().await.sent, 1);
    assert_eq!(desk.status(Kind::Incident, "a").await, answer("sent", None, 1));
    let refused = desk.retry(Kind::Incident, "a").await.unwrap_err();
    assert_eq!(
        refused.code(),
        "notice_not_retryable",
        "what was sent is not sent again"
    );
    assert_eq!(
        desk.count("select count(*) from audit_events where action = 'admin.notice.retried'")
            .await,
        1
    );
    assert_eq!(
        desk.count("select pauses::bigint from operator_group").await,
        0,
        "failures are counted anew"
    );
}

#[tokio::test]
async fn a_notice_that_is_refused_fails_at_once_and_holds_nobody_up() {
    let desk = Desk::new().await;
    desk.queue(Kind::Purchase, "bad").await;
    desk.queue(Kind::Purchase, "good").await;
    desk.channel.answers([Err(ChannelError::Rejected)]);
    let report = desk.run().await;
    assert_eq!((report.failed, report.sent, report.paused_seconds), (1, 1, 0));
    assert_eq!(
        desk.status(Kind::Purchase, "bad").await,
        answer("failed", Some("rejected"), 1)
    );
    let caller = service::Caller::new("operator:test", "request");
    assert_eq!(desk.service.retry_failed_notices(&caller).await.unwrap(), 1);
    assert_eq!(desk.run().await.sent, 1);
}

#[tokio::test]
async fn a_group_that_is_configured_late_is_not_flooded_with_the_past() {
    let desk = Desk::new().await;
    desk.queue_many(Kind::Purchase, 40).await;
    desk.sql(
        "update operator_notices set queued_at = queued_at - interval '25 hours' where dedupe_key < 'purchase-005'",
    )
    .await;
    let report = desk.run().await;
    assert_eq!((report.sent, report.suppressed), (30, 10));
    assert_eq!(
        desk.status(Kind::Purchase, "purchase-004").await,
        answer("suppressed", Some("too_old"), 0)
    );
    // Old ones are urgent no more, but a person may still want one.
    desk.retry(Kind::Purchase, "purchase-004").await.unwrap();
    desk.sql("update operator_notices set sent_at = sent_at - interval '6 minutes'")
        .await;
    assert_eq!(desk.run().await.sent, 1);
}
