//! Every way a submission can go wrong: its class, and what the gateway really did. The class may be more careful than the truth, never
//! less: where goods were delivered and the answer was lost, nobody may submit again.

use std::time::Duration;

use domain::{
    delivery::{
        FailureClass::{self, Ambiguous, Permanent, ProviderUnavailable, Retryable},
        Submission,
    },
    goods::Kind,
};
use goods::Fragment;
use ports::goods::GoodsProvider as _;
use sandbox::faults::Fault;
use serde_json::json;

use crate::rig::{Rig, options, stars};

fn class_and_code(outcome: Submission) -> Option<(FailureClass, String)> {
    match outcome {
        Submission::Failed { class, code } => Some((class, code)),
        Submission::Delivered | Submission::Accepted { .. } => None,
    }
}

#[tokio::test]
async fn every_fault_has_its_class() {
    let rig = Rig::start().await;
    for (number, (fault, class, code, delivered)) in [
        (Fault::rate_limited(3), Retryable, "http_429", 0),
        (Fault::status(401), ProviderUnavailable, "http_401", 0),
        (Fault::status(403), ProviderUnavailable, "http_403", 0),
        (Fault::status(404), Permanent, "http_404", 0),
        (
            Fault::status_with(422, json!({ "secret": "SECRET" })),
            Permanent,
            "http_422",
            0,
        ),
        (
            Fault::status_with(200, json!({ "ok": false })),
            Permanent,
            "gateway_rejected",
            0,
        ),
        (Fault::status(500), Ambiguous, "http_500", 0),
        (Fault::status(500).after_handling(), Ambiguous, "http_500", 1),
        (Fault::html(502), Ambiguous, "http_502", 0),
        (Fault::html(504).after_handling(), Ambiguous, "http_504", 1),
        (Fault::status(302), Ambiguous, "http_302", 0),
        (Fault::garbage(), Ambiguous, "gateway_unreachable", 0),
        (Fault::garbage().after_handling(), Ambiguous, "gateway_unreachable", 1),
        (Fault::html(200).after_handling(), Ambiguous, "gateway_unreachable", 1),
        (Fault::status(204), Ambiguous, "gateway_unreachable", 0),
        (
            Fault::oversized(2 * 1024 * 1024).after_handling(),
            Ambiguous,
            "gateway_unreachable",
            1,
        ),
        (Fault::reset_before(), Ambiguous, "gateway_unreachable", 0),
        (Fault::lost_answer(), Ambiguous, "gateway_unreachable", 1),
    ]
    .into_iter()
    .enumerate()
    {
        let recipient = format!("recipient_{number}");
        rig.fault(fault.clone()).await;
        let outcome = rig
            .provider
            .submit(&stars(&recipient, 50))
            .await
            .expect("everything here has a class");
        assert_eq!(class_and_code(outcome), Some((class, code.to_owned())), "{fault:?}");
        assert_eq!(rig.report().submissions_to(&recipient), delivered, "{fault:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_late_leaves_it_open() {
    let rig = Rig::start().await;
    rig.fault(Fault::late_answer(3_000)).await;
    let outcome = rig
        .impatient()
        .submit(&stars("alice_1", 50))
        .await
        .expect("has a class");
    assert_eq!(
        class_and_code(outcome),
        Some((Ambiguous, "gateway_unreachable".to_owned()))
    );
    assert_eq!(rig.report().submissions_to("alice_1"), 1, "delivered, and nobody heard");
}

#[tokio::test]
async fn a_request_can_be_carried_out_after_the_client_gave_up() {
    let rig = Rig::start().await;
    rig.fault(Fault::slow(600)).await;
    let outcome = rig
        .impatient()
        .submit(&stars("alice_1", 50))
        .await
        .expect("has a class");
    assert_eq!(
        class_and_code(outcome),
        Some((Ambiguous, "gateway_unreachable".to_owned()))
    );
    assert_eq!(rig.report().submissions_to("alice_1"), 0);
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(rig.report().submissions_to("alice_1"), 1);
}

#[tokio::test]
async fn a_wrong_token_and_a_closed_door() {
    let rig = Rig::start().await;
    let outcome = rig
        .with_token("wrong")
        .submit(&stars("alice_1", 50))
        .await
        .expect("has a class");
    assert_eq!(
        class_and_code(outcome),
        Some((ProviderUnavailable, "http_401".to_owned()))
    );
    let options = options(&rig.sandbox);
    let report = rig.report();
    rig.sandbox.stop().await;
    let gone = Fragment::new(options).expect("a good address");
    let outcome = gone.submit(&stars("alice_1", 50)).await.expect("has a class");
    assert_eq!(
        class_and_code(outcome),
        Some((Ambiguous, "gateway_unreachable".to_owned()))
    );
    assert_eq!(report.accepted, 0);
}

#[tokio::test]
async fn one_submission_is_one_request_even_when_connections_are_cut() {
    let rig = Rig::start().await;
    for turn in 0..30 {
        if turn % 2 == 0 {
            rig.fault(Fault::lost_answer()).await;
        } else {
            rig.control().clear_faults().await.expect("cleared");
        }
        let recipient = format!("recipient_{turn}");
        let _ = rig.provider.submit(&stars(&recipient, 50)).await;
        assert_eq!(rig.report().submissions_to(&recipient), 1, "turn {turn}");
    }
}

#[tokio::test]
async fn a_price_that_cannot_be_had_is_an_error_without_secrets() {
    let rig = Rig::start().await;
    let rub = "RUB".parse().expect("known");
    for fault in [
        Fault::status(500),
        Fault::garbage(),
        Fault::reset_before(),
        Fault::html(200),
        Fault::oversized(2 * 1024 * 1024),
    ] {
        rig.fault(fault).await;
        let error = rig
            .provider
            .unit_cost_minor(Kind::TelegramStars { quantity: 50 }, rub)
            .await
            .expect_err("no price");
        let printed = format!("{error} {error:?}");
        assert!(
            !printed.contains("127.0.0.1") && !printed.contains(&rig.sandbox.addresses().goods.token),
            "{printed}"
        );
    }
}
