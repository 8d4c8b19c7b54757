//! The API dies in the middle of a request, and the client asks again with the same key.

use std::time::Duration;

use omniflow::driver::{Bought, Paid, Shop, ShopError};
use ports::ids::{Ids as _, SystemIds};
use sandbox::journal::cryptopay_report;
use tokio::time::Instant;
use uuid::Uuid;

use crate::fire::installation::{Installation, PLAN};

async fn events(installation: &Installation, event_type: &str, order: Uuid) -> i64 {
    sqlx::query_scalar("select count(*) from events where event_type = $1 and aggregate_id = $2")
        .bind(event_type)
        .bind(order.to_string())
        .fetch_one(&installation.pool)
        .await
        .expect("the log can be read")
}

async fn orders_of(installation: &Installation, customer: Uuid) -> i64 {
    sqlx::query_scalar(
        "select count(*) from events where event_type = 'order.placed' and payload ->> 'customerId' = $1",
    )
    .bind(customer.to_string())
    .fetch_one(&installation.pool)
    .await
    .expect("the log can be read")
}

/// Places an order at an API that crashes in it, and places it again with the same key.
async fn place_through_a_crash(installation: &mut Installation, failpoints: &str) -> Bought {
    let (key, customer, shop) = (SystemIds.next(), SystemIds.next(), installation.shop());
    installation.crashing_api(failpoints).await;
    let asking = tokio::spawn(async move { shop.buy_plan(key, customer, PLAN).await });
    installation.recover_api().await;
    let answered = asking.await.expect("it asks until it is answered");
    let first = answered.unwrap_or_else(|error| panic!("{failpoints}: {error}"));
    let again = installation
        .shop()
        .buy_plan(key, customer, PLAN)
        .await
        .expect("answered");
    assert_eq!(
        (first.id, first.subscription_id),
        (again.id, again.subscription_id),
        "{failpoints}"
    );
    assert_eq!(orders_of(installation, customer).await, 1, "{failpoints}");
    first
}

/// Settles its payment likewise.
async fn settle_through_a_crash(installation: &mut Installation, failpoints: &str, order: &Bought) {
    let (key, shop) = (SystemIds.next(), installation.shop());
    let payment = shop.ask_for_money(SystemIds.next(), order.id, "manual").await;
    let payment = payment.expect("the payment is asked for");
    installation.crashing_api(failpoints).await;
    let asking = tokio::spawn(async move { shop.approve(key, payment.id).await });
    installation.recover_api().await;
    let answered = asking.await.expect("it asks until it is answered");
    answered.unwrap_or_else(|error| panic!("{failpoints}: {error}"));
    let again = installation.shop().approve(key, payment.id).await;
    again.expect("the same answer");
    assert_eq!(events(installation, "order.paid", order.id).await, 1, "{failpoints}");
}

pub(crate) async fn b57_a_request_repeated_after_a_crash_has_its_effect_once_and_read_models_equal_a_replay() {
    let mut installation = Installation::start().await;
    let _worker = installation.worker();
    let mut plans = Vec::new();
    for failpoints in ["append.before_commit=1*panic", "append.after_commit=1*panic"] {
        let order = place_through_a_crash(&mut installation, failpoints).await;
        settle_through_a_crash(&mut installation, failpoints, &order).await;
        plans.push((order.id, order.subscription_id.expect("of a plan")));
    }
    let (_, summary, parked) = installation.settle(2, Duration::from_secs(30)).await;
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
    assert_eq!((summary.placed, summary.paid, summary.fulfilled), (2, 2, 2));
    installation.verify();
}

/// Asks for a payment, with one key, for longer than an earlier call of it may still be with the provider (45 s).
async fn ask_patiently(shop: Shop, key: Uuid, order: Uuid, provider: &'static str) -> Paid {
    let deadline = Instant::now() + Duration::from_secs(100);
    loop {
        match shop.ask_for_money(key, order, provider).await {
            Ok(payment) => return payment,
            Err(ShopError::Silent { .. }) if Instant::now() < deadline => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits about 45 s: as long as a crashed call may still be with the provider.
pub(crate) async fn a_crash_around_the_providers_call_leaves_one_invoice_and_one_settlement() {
    let mut installation = Installation::start().await;
    let _worker = installation.worker();
    let mut asking = Vec::new();
    let mut plans = Vec::new();
    for failpoints in ["payment.after_claim=1*panic", "payment.after_call=1*panic"] {
        let order = installation.place_plan().await;
        installation.crashing_api(failpoints).await;
        asking.push(tokio::spawn(ask_patiently(
            installation.shop(),
            SystemIds.next(),
            order.id,
            "cryptobot",
        )));
        installation.recover_api().await;
        plans.push((order.id, order.subscription_id.expect("of a plan")));
    }
    let mut invoices = Vec::new();
    for asked in asking {
        let payment = asked.await.expect("it is answered in the end");
        let reference = payment.provider_reference.expect("the provider's own name");
        invoices.push(reference.parse::<i64>().expect("a number"));
    }
    let report = cryptopay_report(installation.path()).expect("the journal can be read");
    assert_eq!((report.invoices, report.duplicate_invoices), (2, 0), "{report:?}");

    let control = installation.control();
    let webhook = format!("{}/v1/payments/webhooks/cryptobot", installation.shop_url);
    control.set_cryptopay_webhook(Some(&webhook)).await.expect("set");
    installation.crashing_api("webhook.after_record=1*panic").await;
    control.pay_invoice(invoices[0]).await.expect("paid");
    installation.recover_api().await;
    control.pay_invoice(invoices[1]).await.expect("paid");
    let (_, summary, parked) = installation.settle(2, Duration::from_secs(60)).await;
    assert_eq!((summary.paid, summary.fulfilled), (2, 2), "{summary:?}");
    let verdict = installation.verdict(&plans, &[], &parked);
    assert!(verdict.lost.is_empty() && verdict.duplicate_users == 0, "{verdict:?}");
    installation.verify();
}
