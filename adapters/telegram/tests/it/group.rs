//! What a group takes and what it refuses.

use std::time::Duration;

use domain::notices::Kind;
use ports::notices::{ChannelError, ChatId, Notice, OperatorChannel as _, TopicId};
use sandbox::telegram::{GroupKnobs, OPERATOR_GROUP, TelegramKnobs};
use secrets::Secret;
use serde_json::json;
use telegram::{Bot, BotOptions};

use crate::rig::{GROUP, Rig, notice, options};

#[tokio::test]
async fn topics_are_made_and_written_to_and_one_that_was_deleted_is_told_from_the_rest() {
    let rig = Rig::start().await;
    assert_eq!(rig.bot.check().await, Ok(()));
    let mut topics = Vec::new();
    for kind in Kind::ALL {
        topics.push(rig.bot.create_topic(GROUP, kind).await.expect("made"));
    }
    let first = notice(Kind::Purchase, "o-1");
    assert_eq!(rig.bot.send(GROUP, Some(topics[0]), &first).await, Ok(()));
    assert_eq!(rig.bot.send(GROUP, None, &notice(Kind::Incident, "o-2")).await, Ok(()));
    let report = rig.report();
    assert_eq!(report.topics.len(), Kind::ALL.len());
    assert_eq!(report.texts[0].topic_id, Some(topics[0].0));
    assert_eq!(
        report.texts[0].text,
        "<b>🛒 Purchases</b>\norderId: <code>o-1</code>\nat: 2026-03-01T12:00:00Z"
    );
    assert_eq!((report.texts[1].topic_id, report.duplicates), (None, 0));

    rig.control().delete_topic(topics[0].0).await.expect("deleted");
    for gone in [topics[0], TopicId(9_999)] {
        assert_eq!(
            rig.bot.send(GROUP, Some(gone), &first).await,
            Err(ChannelError::TopicNotFound)
        );
    }
}

#[tokio::test]
async fn each_refusal_of_a_group_has_its_code() {
    let rig = Rig::start().await;
    let open = GroupKnobs::open(OPERATOR_GROUP);
    let one = notice(Kind::Purchase, "o-1");
    let to = ChatId(-1_009);
    let cases = [
        (
            GroupKnobs::open(-5),
            ChannelError::ChatNotFound,
            Some(ChannelError::ChatNotFound),
        ),
        (
            GroupKnobs {
                moved_to: Some(to.0),
                ..open.clone()
            },
            ChannelError::Moved { to },
            Some(ChannelError::Moved { to }),
        ),
        (
            GroupKnobs {
                is_member: false,
                ..open.clone()
            },
            ChannelError::NotInGroup,
            Some(ChannelError::NotInGroup),
        ),
        (
            GroupKnobs {
                is_forum: false,
                ..open.clone()
            },
            ChannelError::TopicsDisabled,
            None,
        ),
        (
            GroupKnobs {
                can_manage_topics: false,
                ..open
            },
            ChannelError::MissingTopicPermission,
            None,
        ),
    ];
    for (group, topic, text) in cases {
        rig.knobs(TelegramKnobs {
            groups: vec![group],
            ..TelegramKnobs::default()
        })
        .await;
        assert_eq!(rig.bot.create_topic(GROUP, Kind::Purchase).await, Err(topic));
        assert_eq!(rig.bot.send(GROUP, None, &one).await.err(), text);
    }
    let stranger = BotOptions {
        token: Secret::from("999999999:AAzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"),
        ..options(&rig.sandbox)
    };
    let stranger = Bot::new(&stranger).expect("made");
    assert_eq!(stranger.check().await, Err(ChannelError::Unauthorized));
}

#[tokio::test]
async fn a_flood_wait_says_how_long() {
    let rig = Rig::start().await;
    rig.knobs(TelegramKnobs {
        texts_per_minute: Some(1),
        ..TelegramKnobs::default()
    })
    .await;
    assert_eq!(rig.bot.send(GROUP, None, &notice(Kind::Purchase, "o-1")).await, Ok(()));
    let Err(ChannelError::FloodWait { wait }) = rig.bot.send(GROUP, None, &notice(Kind::Purchase, "o-2")).await else {
        panic!("a flood wait")
    };
    assert!(
        (Duration::from_secs(1)..=Duration::from_mins(1)).contains(&wait),
        "{wait:?}"
    );
    assert_eq!(rig.report().texts.len(), 1);
}

/// The simulator reads markup and counts lengths as the real servers do, so what it takes is whole.
#[tokio::test]
async fn b76_hostile_and_endless_fields_are_taken_as_text() {
    let rig = Rig::start().await;
    let payload = json!({
        "orderId": "</code></b><a href='https://evil.example'>x</a>&amp;<script>", "reason": "<".repeat(10_000),
        "provider": "\u{202e}\n\norderId: forged", "source": "😀".repeat(5_000), "classification": "&".repeat(9_000),
        "status": "\"'><b>", "event": "\u{0}\u{1}", "method": "@all /stop",
    });
    let hostile = Notice {
        payload,
        ..notice(Kind::Incident, "")
    };
    assert_eq!(rig.bot.send(GROUP, None, &hostile).await, Ok(()));
    let text = &rig.report().texts[0].text;
    assert!(
        !text.contains("evil.example") && !text.contains("<script") && !text.contains("<a"),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("orderId:")).count(), 1);
}
