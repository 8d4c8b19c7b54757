//! The gateway when nothing goes wrong.

use domain::{
    delivery::{FailureClass, Submission},
    goods::Kind,
};
use ports::goods::GoodsProvider as _;
use sandbox::goods::GoodsKnobs;

use crate::rig::{Rig, request, stars};

fn failed(class: FailureClass, code: &str) -> Submission {
    Submission::Failed {
        class,
        code: code.to_owned(),
    }
}

#[tokio::test]
async fn what_is_accepted_is_delivered_to_whom_it_was_sold() {
    let rig = Rig::start().await;
    assert_eq!(
        rig.provider.submit(&stars("alice_1", 50)).await,
        Ok(Submission::Delivered)
    );
    let premium = request("bob_22", Kind::TelegramPremium { months: 6 });
    assert_eq!(rig.provider.submit(&premium).await, Ok(Submission::Delivered));
    let anonymous = ports::goods::SubmitRequest {
        telegram_user_id: None,
        ..stars("carol", 60)
    };
    assert_eq!(rig.provider.submit(&anonymous).await, Ok(Submission::Delivered));

    let report = rig.report();
    assert_eq!((report.accepted, report.rejected, report.duplicates), (3, 0, 0));
    assert_eq!(
        (
            report.by_recipient["alice_1"].stars,
            report.by_recipient["alice_1"].premium_months
        ),
        (50, 0)
    );
    assert_eq!(report.by_recipient["bob_22"].premium_months, 6);
}

#[tokio::test]
async fn the_gateway_keeps_no_key_so_a_second_submission_buys_again() {
    let rig = Rig::start().await;
    assert!(!rig.provider.is_idempotent());
    for _ in 0..2 {
        assert_eq!(
            rig.provider.submit(&stars("Alice_1", 50)).await,
            Ok(Submission::Delivered)
        );
    }
    let report = rig.report();
    assert_eq!(
        (report.accepted, report.duplicates, report.submissions_to("ALICE_1")),
        (2, 1, 2)
    );
    assert_eq!(report.duplicate_recipients, ["alice_1"]);
}

#[tokio::test]
async fn a_refusal_is_final_and_nothing_is_bought() {
    let rig = Rig::start().await;
    rig.knobs(GoodsKnobs {
        rejected_usernames: vec!["Mallory".to_owned()],
        ..GoodsKnobs::default()
    })
    .await;
    let refused = failed(FailureClass::Permanent, "gateway_rejected");
    assert_eq!(rig.provider.submit(&stars("mallory", 50)).await, Ok(refused));
    assert_eq!(
        rig.provider.submit(&stars("alice_1", 50)).await,
        Ok(Submission::Delivered)
    );
    assert_eq!((rig.report().accepted, rig.report().rejected), (1, 1));
}

#[tokio::test]
async fn what_cannot_be_sold_is_not_sent() {
    let rig = Rig::start().await;
    for (order, expected) in [
        (
            stars("al", 50),
            failed(FailureClass::RecipientInvalid, "invalid_username"),
        ),
        (
            stars("alice_1", 49),
            failed(FailureClass::Permanent, "unsellable_product"),
        ),
        (
            request("alice_1", Kind::TelegramPremium { months: 1 }),
            failed(FailureClass::Permanent, "unsellable_product"),
        ),
    ] {
        assert_eq!(rig.provider.submit(&order).await, Ok(expected));
    }
    assert_eq!((rig.report().accepted, rig.report().rejected), (0, 0));
}

#[tokio::test]
async fn a_star_has_a_price_and_premium_has_none() {
    let rig = Rig::start().await;
    let rub = "RUB".parse().expect("known");
    let cost = |kind| rig.provider.unit_cost_minor(kind, rub);
    assert_eq!(cost(Kind::TelegramStars { quantity: 50 }).await, Ok(Some(5_900)));
    assert_eq!(cost(Kind::TelegramPremium { months: 3 }).await, Ok(None));
    let usd = "USD".parse().expect("known");
    assert_eq!(
        rig.provider
            .unit_cost_minor(Kind::TelegramStars { quantity: 50 }, usd)
            .await,
        Ok(None)
    );
    for (value, expected) in [
        ("1.005", Some(5_050)),
        ("2", Some(10_000)),
        ("0", None),
        ("\"1.18\"", None),
        ("null", None),
    ] {
        rig.knobs(GoodsKnobs {
            star_value: value.to_owned(),
            ..GoodsKnobs::default()
        })
        .await;
        assert_eq!(
            cost(Kind::TelegramStars { quantity: 50 }).await.ok().flatten(),
            expected,
            "{value}"
        );
    }
}

#[tokio::test]
async fn there_is_nothing_to_poll() {
    let rig = Rig::start().await;
    assert_eq!(
        rig.provider.poll("x").await,
        Ok(Some(failed(FailureClass::Ambiguous, "poll_unsupported")))
    );
}
