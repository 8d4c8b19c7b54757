//! What the network and the servers in between do.

use std::fmt::Write as _;

use domain::notices::Kind;
use ports::notices::{ChannelError, OperatorChannel as _};
use sandbox::faults::Fault;
use secrets::Secret;
use serde_json::json;
use telegram::{Bot, BotOptions};

use crate::rig::{GROUP, Rig, notice, options};

#[tokio::test]
async fn an_answer_that_never_came_is_told_from_a_refusal() {
    let rig = Rig::start().await;
    let one = notice(Kind::Purchase, "o-1");
    let flood = json!({ "ok": false, "error_code": 429, "parameters": { "retry_after": 7 } });
    let cases = [
        (Fault::status(500), ChannelError::Unavailable, 0),
        (Fault::html(502), ChannelError::Unavailable, 0),
        (Fault::reset_before(), ChannelError::Unanswered, 0),
        (Fault::garbage(), ChannelError::Unanswered, 0),
        (Fault::oversized(2 * 1024 * 1024), ChannelError::Unanswered, 0),
        (Fault::html(200), ChannelError::Unanswered, 0),
        (
            Fault::status_with(429, flood),
            ChannelError::FloodWait {
                wait: std::time::Duration::from_secs(7),
            },
            0,
        ),
        // The last, because the text stands in the group.
        (Fault::lost_answer(), ChannelError::Unanswered, 1),
    ];
    for (fault, error, standing) in cases {
        rig.fault(fault.clone()).await;
        assert_eq!(rig.bot.send(GROUP, None, &one).await, Err(error), "{fault:?}");
        assert_eq!(rig.report().texts.len(), standing, "{fault:?}");
    }
}

#[tokio::test]
async fn a_slow_answer_is_no_answer_and_no_connection_is_no_request() {
    let rig = Rig::start().await;
    rig.fault(Fault::late_answer(1_500)).await;
    let one = notice(Kind::Purchase, "o-1");
    assert_eq!(
        rig.impatient().send(GROUP, None, &one).await,
        Err(ChannelError::Unanswered)
    );
    // A port that nobody listens on.
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = nowhere.local_addr().expect("an address").port();
    drop(nowhere);
    let nobody = BotOptions {
        base_url: format!("http://127.0.0.1:{port}"),
        ..options(&rig.sandbox)
    };
    let nobody = Bot::new(&nobody).expect("made");
    assert_eq!(nobody.send(GROUP, None, &one).await, Err(ChannelError::Unavailable));
}

#[tokio::test]
async fn nothing_printed_holds_the_token_or_the_address() {
    let rig = Rig::start().await;
    let token = rig.sandbox.addresses().telegram.token.clone();
    let mut printed = format!("{:?} {:?}", rig.bot, options(&rig.sandbox));
    for fault in [
        Fault::reset_before(),
        Fault::garbage(),
        Fault::status(500),
        Fault::html(401),
    ] {
        rig.fault(fault).await;
        let error = rig.bot.check().await.expect_err("refused");
        write!(printed, "{error} {error:?} {}", error.code()).expect("text grows");
    }
    let bad = BotOptions {
        token: Secret::from(format!("{token}/x").as_str()),
        ..options(&rig.sandbox)
    };
    let error = Bot::new(&bad).expect_err("no token");
    write!(printed, "{error} {error:?}").expect("text grows");
    assert!(!printed.contains(&token), "{printed}");
    assert!(!printed.contains("/bot"), "{printed}");
}
