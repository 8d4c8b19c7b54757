//! Processes that die, hang, or come back late. A run that is dropped stands for a process that is gone: nothing of it goes on.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use domain::notices::Kind;
use ports::notices::ChannelError;
use tokio::sync::Notify;

use super::{Desk, answer};

/// Runs until the channel holds one text more, and dies with its answer outstanding.
async fn die_while_sending(desk: &Desk) {
    let before = desk.channel.inner().sent.len();
    desk.channel.inner().gate = Some(Arc::default());
    let dispatch = desk.dispatch();
    let run = dispatch.run_once(|| true);
    let sent = async {
        while desk.channel.inner().sent.len() == before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        ended = run => panic!("it should hang: {ended:?}"),
        () = sent => {}
    }
    desk.channel.inner().gate = None;
}

#[tokio::test]
async fn a_crash_between_sending_and_recording_sends_once_more_and_never_a_third_time() {
    let desk = Desk::new().await;
    desk.queue(Kind::Incident, "a").await;
    die_while_sending(&desk).await;
    assert_eq!(desk.status(Kind::Incident, "a").await.0, "sending");
    assert_eq!(desk.run().await.sent, 0, "the lease still holds");
    desk.later().await;
    die_while_sending(&desk).await;
    desk.later().await;
    assert_eq!(desk.run().await.failed, 1);
    desk.later().await;
    desk.run().await;
    assert_eq!(desk.channel.keys(), ["a", "a"]);
    let (status, code, _) = desk.status(Kind::Incident, "a").await;
    assert_eq!((status.as_str(), code.as_deref()), ("failed", Some("outcome_unknown")));
}

#[tokio::test]
async fn after_one_crash_it_arrives_and_what_was_only_leased_arrives_once() {
    let desk = Desk::new().await;
    desk.queue_many(Kind::Incident, 5).await;
    die_while_sending(&desk).await;
    desk.later().await;
    assert_eq!(desk.run().await.sent, 5);
    let mut copies: BTreeMap<String, usize> = BTreeMap::new();
    for key in desk.channel.keys() {
        *copies.entry(key).or_default() += 1;
    }
    assert_eq!(copies.remove("incident-000"), Some(2), "the one that was under way");
    assert!(
        copies.values().all(|count| *count == 1) && copies.len() == 4,
        "{copies:?}"
    );
    assert_eq!(
        desk.count("select max(unanswered)::bigint from operator_notices").await,
        1
    );
}

#[tokio::test]
async fn an_answer_that_never_comes_is_waited_for_twice() {
    let desk = Desk::new().await;
    desk.queue(Kind::Incident, "a").await;
    desk.channel.answers(vec![Err(ChannelError::Unanswered); 5]);
    assert_eq!(desk.run().await.retrying, 1);
    assert_eq!(
        desk.status(Kind::Incident, "a").await,
        answer("pending", Some("timeout"), 1)
    );
    desk.later().await;
    assert_eq!(desk.run().await.failed, 1);
    assert_eq!(
        desk.status(Kind::Incident, "a").await,
        answer("failed", Some("outcome_unknown"), 2)
    );
    desk.later().await;
    desk.run().await;
    assert_eq!(desk.channel.keys().len(), 2);
}

#[tokio::test]
async fn of_many_processes_one_sends_and_each_notice_once() {
    let desk = Desk::new().await;
    desk.run().await;
    desk.queue_many(Kind::Purchase, 25).await;
    desk.channel.inner().slow = Duration::from_millis(3);
    let mut sent = 0;
    for _ in 0..10 {
        let dispatches = [desk.dispatch(), desk.dispatch(), desk.dispatch()];
        let [a, b, c] = &dispatches;
        let (a, b, c) = tokio::join!(a.run_once(|| true), b.run_once(|| true), c.run_once(|| true));
        let reports = [a.unwrap(), b.unwrap(), c.unwrap()];
        sent += reports.iter().map(|report| report.sent).sum::<u32>();
    }
    assert_eq!(sent, 25);
    let mut keys = desk.channel.keys();
    keys.sort();
    keys.dedup();
    assert_eq!((keys.len(), desk.channel.keys().len()), (25, 25));
}

#[tokio::test]
async fn who_comes_back_after_its_lease_neither_sends_nor_overwrites() {
    let desk = Desk::new().await;
    desk.run().await;
    desk.queue_many(Kind::Purchase, 2).await;
    let gate: Arc<Notify> = Arc::default();
    desk.channel.inner().gate = Some(gate.clone());
    let dispatch = desk.dispatch();
    let slow = tokio::spawn(async move { dispatch.run_once(|| true).await });
    while desk.channel.inner().sent.is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // It was stopped for longer than its lease; another process has the turn now.
    desk.channel.inner().gate = None;
    desk.later().await;
    assert_eq!(desk.run().await.sent, 2);
    gate.notify_one();
    let late = slow.await.unwrap().unwrap();
    assert_eq!(late.sent, 0, "what it comes back with is not its to record");
    assert_eq!(desk.channel.keys(), ["purchase-000", "purchase-000", "purchase-001"]);
    assert_eq!(
        desk.status(Kind::Purchase, "purchase-001").await,
        answer("sent", None, 1)
    );
}

#[tokio::test]
async fn who_is_told_to_stop_gives_back_what_it_did_not_send() {
    let desk = Desk::new().await;
    desk.run().await;
    desk.queue_many(Kind::Purchase, 3).await;
    let channel = desk.channel.clone();
    let report = desk
        .dispatch()
        .run_once(move || channel.inner().sent.is_empty())
        .await
        .unwrap();
    assert_eq!(report.sent, 1);
    assert_eq!(
        desk.count("select count(*) from operator_notices where lease_token is not null")
            .await,
        0
    );
    assert_eq!(desk.run().await.sent, 2, "at once");
}
