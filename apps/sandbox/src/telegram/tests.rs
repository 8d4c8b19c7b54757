use std::collections::BTreeSet;

use domain::time::Timestamp;

use super::{
    answer::Failure,
    change, markup,
    routes::{CreateIn, SendIn},
    state::State,
    *,
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + second, 0).expect("a time")
}

fn text(text: &str, topic: Option<i64>) -> SendIn {
    SendIn {
        chat_id: OPERATOR_GROUP,
        message_thread_id: topic,
        text: text.to_owned(),
        parse_mode: Some("HTML".to_owned()),
    }
}

fn topic(name: &str) -> CreateIn {
    CreateIn {
        chat_id: OPERATOR_GROUP,
        name: name.to_owned(),
    }
}

#[test]
fn markup_is_read_as_the_real_servers_read_it() {
    assert_eq!(
        markup::plain("<b>a</b> &lt;x&gt; &amp;&quot; & <code>y</code>"),
        Ok("a <x> &\" & y".to_owned())
    );
    for broken in [
        "<b>a",
        "a</b>",
        "<b><code>a</b></code>",
        "<script>a</script>",
        "a < b",
        "<a href=\"x\">y</a>",
    ] {
        assert!(markup::plain(broken).is_err(), "{broken}");
    }
}

#[test]
fn texts_and_topics_survive_a_restart_and_ids_are_never_used_twice() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = journal::path(dir.path(), "telegram");
    let knobs = TelegramKnobs::default();
    let mut ids = BTreeSet::new();
    for round in 0..3 {
        let ledger = Ledger::open(&path, State::default()).expect("opens");
        let made = ledger.change(
            at(round),
            |state| change::create(state, &knobs, topic("one")).map(Some),
            |state| Ok::<_, Failure>(state.next_id() - 1),
        );
        let made = made.expect("made");
        let sent = ledger.change(
            at(round),
            |state| change::send(state, at(round), &knobs, text("same", Some(made))).map(Some),
            |state| Ok::<_, Failure>(state.next_id() - 1),
        );
        assert!(ids.insert(made) && ids.insert(sent.expect("sent")));
        let gone = ledger.change(
            at(round),
            |_| Ok::<_, Failure>(Some(Effect::TopicDeleted { topic_id: made })),
            |_| Ok(()),
        );
        gone.expect("deleted");
        let refused = ledger.read(|state| change::send(state, at(round), &knobs, text("late", Some(made))));
        assert_eq!(refused, Err(Failure::bad_request("message thread not found")));
    }
    let report = report::of_journal(&path).expect("a journal");
    assert_eq!((report.texts.len(), report.topics.len(), report.duplicates), (3, 3, 2));
    assert_eq!(report.holding("same"), 3);
}

#[test]
fn a_group_takes_so_many_texts_a_minute_and_says_when_it_takes_the_next() {
    let dir = tempfile::tempdir().expect("a directory");
    let ledger = Ledger::open(&journal::path(dir.path(), "telegram"), State::default()).expect("opens");
    let knobs = TelegramKnobs {
        texts_per_minute: Some(2),
        ..TelegramKnobs::default()
    };
    let send = |second: i64| {
        ledger.change(
            at(second),
            |state| change::send(state, at(second), &knobs, text("x", None)).map(Some),
            |_| Ok::<_, Failure>(()),
        )
    };
    assert_eq!((send(0), send(10)), (Ok(()), Ok(())));
    assert_eq!(send(20), Err(Failure::flood(41)));
    assert_eq!(send(61), Ok(()));
    assert_eq!(send(62), Err(Failure::flood(9)));
}

#[test]
fn what_a_group_refuses_is_said_in_the_real_words() {
    let state = State::default();
    let group = |group: GroupKnobs| TelegramKnobs {
        groups: vec![group],
        ..TelegramKnobs::default()
    };
    let send = |knobs: &TelegramKnobs| change::send(&state, at(0), knobs, text("x", None)).expect_err("refused");
    let make = |knobs: &TelegramKnobs| change::create(&state, knobs, topic("x")).expect_err("refused");
    let open = GroupKnobs::open(OPERATOR_GROUP);
    assert_eq!(
        send(&group(GroupKnobs::open(-5))),
        Failure::bad_request("chat not found")
    );
    let moved = GroupKnobs {
        moved_to: Some(-7),
        ..open.clone()
    };
    assert_eq!(send(&group(moved)), Failure::moved(-7));
    let removed = GroupKnobs {
        is_member: false,
        ..open.clone()
    };
    assert_eq!(
        send(&group(removed)),
        Failure::forbidden("bot was kicked from the supergroup chat")
    );
    let flat = GroupKnobs {
        is_forum: false,
        ..open.clone()
    };
    assert_eq!(make(&group(flat)), Failure::bad_request("the chat is not a forum"));
    let weak = GroupKnobs {
        can_manage_topics: false,
        ..open
    };
    assert_eq!(
        make(&group(weak)),
        Failure::bad_request("not enough rights to create a topic")
    );
    let knobs = TelegramKnobs::default();
    let long = "x".repeat(4097);
    assert_eq!(
        change::send(&state, at(0), &knobs, text(&long, None)),
        Err(Failure::bad_request("message is too long"))
    );
    assert_eq!(
        change::send(&state, at(0), &knobs, text("<b> </b>", None)),
        Err(Failure::bad_request("message text is empty"))
    );
}
