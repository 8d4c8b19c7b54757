//! The group and its topics.

use domain::notices::{Cap, Kind};
use ports::notices::{ChannelError, ChatId};

use super::{Desk, GROUP, answer};

#[tokio::test]
async fn every_kind_has_its_topic_from_the_start_and_notices_go_there() {
    let desk = Desk::new().await;
    let report = desk.run().await;
    assert_eq!(report.topics_made, 11);
    desk.queue(Kind::Incident, "a").await;
    assert_eq!(desk.run().await.topics_made, 0, "made once");
    let (_, _, topic) = *desk
        .channel
        .inner()
        .made
        .iter()
        .find(|(_, kind, _)| *kind == Kind::Incident)
        .unwrap();
    let sent = desk.channel.inner().sent[0].clone();
    assert_eq!((sent.chat, sent.topic), (GROUP, Some(topic)));
}

#[tokio::test]
async fn a_deleted_topic_is_made_again_once_and_the_notice_sent_once_more() {
    let desk = Desk::new().await;
    desk.run().await;
    desk.channel.inner().deleted = (1..=11).collect();
    desk.queue(Kind::Purchase, "a").await;
    let requests = desk.channel.inner().requests;
    let report = desk.run().await;
    assert_eq!((report.topics_made, report.sent), (1, 1));
    assert_eq!(desk.channel.inner().requests - requests, 3, "refused, made, sent");
    assert_eq!(desk.channel.inner().sent[0].topic, Some(12));

    // A topic that is gone again at once is not made a second time for one notice.
    desk.channel.inner().deleted = (1..=100).collect();
    desk.queue(Kind::Purchase, "b").await;
    let requests = desk.channel.inner().requests;
    assert_eq!(desk.run().await.failed, 1);
    assert_eq!(desk.channel.inner().requests - requests, 3, "refused, made, refused");
    assert_eq!(
        desk.status(Kind::Purchase, "b").await,
        answer("failed", Some("topic_not_found"), 1)
    );
}

#[tokio::test]
async fn a_group_without_topics_is_told_at_large() {
    for (error, code) in [
        (ChannelError::TopicsDisabled, "forum_topics_disabled"),
        (ChannelError::MissingTopicPermission, "missing_manage_topics_permission"),
        (ChannelError::Rejected, "telegram_error"),
    ] {
        let desk = Desk::new().await;
        desk.queue(Kind::Purchase, "a").await;
        desk.channel.inner().topic_script = std::iter::repeat_n(error, 100).collect();
        let report = desk.run().await;
        assert_eq!((report.sent, report.topics_made), (1, 0));
        assert_eq!(desk.channel.inner().sent[0].topic, None);
        let topics = store::notices::topics(&desk.pool, GROUP).await.unwrap();
        assert!(
            topics
                .iter()
                .all(|topic| topic.last_error_code.as_deref() == Some(code)),
            "{topics:?}"
        );
        assert_eq!(desk.channel.inner().requests, 2, "one topic was tried for all of them");

        // Asked for again with a later notice of its kind, not with each.
        desk.channel.inner().topic_script.clear();
        desk.queue(Kind::Purchase, "b").await;
        assert_eq!(desk.run().await.topics_made, 0);
        desk.sql("update operator_topics set tried_at = tried_at - interval '11 minutes'")
            .await;
        desk.queue(Kind::Purchase, "c").await;
        assert_eq!(desk.run().await.topics_made, 1);
        assert!(desk.channel.inner().sent[2].topic.is_some());
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_group_is_kept_and_everything_arrives_when_it_is_mended() {
    for (error, code) in [
        (ChannelError::ChatNotFound, "chat_not_found"),
        (ChannelError::NotInGroup, "bot_not_in_group"),
        (ChannelError::Unauthorized, "unauthorized"),
    ] {
        let desk = Desk::new().await;
        desk.queue_many(Kind::Purchase, 3).await;
        desk.channel.inner().topic_script = std::iter::once(error).collect();
        desk.channel.answers([Err(error)]);
        let report = desk.run().await;
        assert_eq!((report.retrying, report.sent), (1, 0), "the rest is not even tried");
        let group = store::notices::group(&desk.pool).await.unwrap().unwrap();
        assert_eq!(group.pause_code.as_deref(), Some(code));
        assert_eq!(
            desk.status(Kind::Purchase, "purchase-000").await,
            answer("pending", Some(code), 1)
        );
        desk.later().await;
        assert_eq!(desk.run().await.sent, 3);
    }
}

#[tokio::test]
async fn a_group_that_became_another_one_is_followed_and_gets_its_topics() {
    let desk = Desk::new().await;
    desk.queue(Kind::Purchase, "a").await;
    let to = ChatId(-1_009);
    desk.channel.inner().topic_script = [ChannelError::Moved { to }].into_iter().collect();
    assert_eq!(desk.run().await.sent, 0);
    let report = desk.run().await;
    assert_eq!((report.sent, report.topics_made), (1, 11));
    assert_eq!(desk.channel.inner().sent[0].chat, to.0);
    assert_eq!(desk.status(Kind::Purchase, "a").await, answer("sent", None, 1));

    desk.queue(Kind::Purchase, "b").await;
    let further = ChatId(-1_010);
    desk.channel.answers([Err(ChannelError::Moved { to: further })]);
    assert_eq!(desk.run().await.sent, 0);
    assert_eq!(desk.run().await.sent, 1);
    assert_eq!(desk.channel.inner().sent[1].chat, further.0);
}

#[tokio::test]
async fn another_group_in_the_settings_begins_anew() {
    let desk = Desk::new().await;
    desk.run().await;
    desk.sql("update operator_group set paused_until = clock_timestamp() + interval '1 hour', pauses = 5")
        .await;
    desk.queue(Kind::Purchase, "a").await;
    let other = desk.dispatch_to(-2_002, Cap::default());
    let report = other.run_once(|| true).await.unwrap();
    assert_eq!((report.topics_made, report.sent, report.paused_seconds), (11, 1, 0));
    assert_eq!(desk.channel.inner().sent[0].chat, -2_002);
    assert!(store::notices::topics(&desk.pool, GROUP).await.unwrap().is_empty());
}
