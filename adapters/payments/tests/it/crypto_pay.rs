//! The Crypto Pay client and its simulator hold one contract, over real HTTP, also when things go wrong.

use crate::rig::{Rig, request};
use chrono::TimeDelta;
use payments::{CryptoBot, CryptoBotOptions};
use ports::payments::{PaymentProvider as _, ProviderError, Status};
use sandbox::faults::Fault;
use secrets::Secret;

fn code<T>(result: Result<T, ProviderError>) -> (&'static str, String) {
    match result {
        Ok(_) => panic!("this must fail"),
        Err(ProviderError::Unavailable { code }) => ("unavailable", code),
        Err(ProviderError::Refused { code }) => ("refused", code),
        Err(ProviderError::Malformed { code }) => ("malformed", code),
        Err(ProviderError::Unsupported) => ("unsupported", String::new()),
    }
}

#[tokio::test]
async fn an_invoice_is_made_seen_and_paid() {
    let rig = Rig::start().await;
    rig.provider.probe().await.expect("a good token");
    let wanted = request(1, 29_900, "RUB");
    let made = rig.provider.create(&wanted).await.expect("an invoice");
    assert_eq!(made.status, Status::Pending);
    assert!(!format!("{made:?}").contains("/pay/"), "a link is a bearer secret");
    assert!(
        made.checkout_url
            .as_deref()
            .is_some_and(|url| url.contains("/pay/web/"))
    );

    let open = rig
        .provider
        .poll(&made.reference)
        .await
        .expect("an answer")
        .expect("known");
    assert_eq!((open.status, open.amount), (Status::Pending, wanted.amount));
    assert_eq!(open.merchant_reference, Some(wanted.order_id.to_string()));

    assert_eq!(rig.pay(&made.reference).await, 200);
    let paid = rig
        .provider
        .poll(&made.reference)
        .await
        .expect("an answer")
        .expect("known");
    assert_eq!(
        (paid.status, paid.amount, paid.reference),
        (Status::Succeeded, wanted.amount, made.reference.clone())
    );
    assert_eq!(rig.pay(&made.reference).await, 409, "nobody pays twice");
}

#[tokio::test]
async fn every_currency_that_is_supported_is_taken() {
    let rig = Rig::start().await;
    for currency in [
        "USD", "EUR", "RUB", "BYN", "UAH", "GBP", "CNY", "KZT", "UZS", "GEL", "TRY", "AMD", "INR", "AZN", "AED", "PLN",
    ] {
        let wanted = request(1, 1_007, currency);
        let made = rig.provider.create(&wanted).await.expect(currency);
        let seen = rig
            .provider
            .poll(&made.reference)
            .await
            .expect("an answer")
            .expect("known");
        assert_eq!(seen.amount, wanted.amount);
    }
    for currency in ["XTR", "JPY", "CHF"] {
        assert!(!rig.provider.supports(currency.parse().expect("known")));
        assert_eq!(
            rig.provider.create(&request(1, 100, currency)).await,
            Err(ProviderError::Unsupported)
        );
    }
}

#[tokio::test]
async fn a_lost_answer_is_recovered_and_asking_again_would_double() {
    let rig = Rig::start().await;
    let wanted = request(1, 29_900, "RUB");
    rig.fault("POST /api/createInvoice", Fault::lost_answer()).await;
    assert_eq!(
        code(rig.provider.create(&wanted).await),
        ("unavailable", "cryptobot_unreachable".to_owned())
    );
    rig.control().clear_faults().await.expect("cleared");

    let found = rig
        .provider
        .recover(&wanted)
        .await
        .expect("an answer")
        .expect("the invoice was made");
    assert_eq!(
        rig.report().invoices_by_payload[&wanted.order_id.to_string()],
        [found.reference.parse::<i64>().expect("an id")]
    );
    assert_eq!(rig.report().duplicate_invoices, 0);

    rig.provider
        .create(&wanted)
        .await
        .expect("the provider has no idempotency");
    assert_eq!(rig.report().duplicate_invoices, 1);
}

#[tokio::test]
async fn recovery_takes_only_what_can_be_paid_for_this_order() {
    let rig = Rig::start().await;
    let wanted = request(1, 29_900, "RUB");
    assert_eq!(rig.provider.recover(&wanted).await, Ok(None), "nothing was ever made");
    for other in [
        request(2, 29_900, "RUB"),
        request(1, 29_901, "RUB"),
        request(1, 29_900, "USD"),
    ] {
        rig.provider.create(&other).await.expect("an invoice");
    }
    assert_eq!(
        rig.provider.recover(&wanted).await,
        Ok(None),
        "other order, other amount, other currency"
    );

    let ended = rig.provider.create(&wanted).await.expect("an invoice");
    assert_eq!(rig.expire(&ended.reference).await, 200);
    assert_eq!(
        rig.provider.recover(&wanted).await,
        Ok(None),
        "an expired invoice is a dead end"
    );

    let first = rig.provider.create(&wanted).await.expect("an invoice");
    let second = rig.provider.create(&wanted).await.expect("an invoice");
    assert_eq!(
        rig.provider.recover(&wanted).await,
        Ok(Some(second)),
        "the youngest open one"
    );
    rig.pay(&first.reference).await;
    let found = rig.provider.recover(&wanted).await.expect("an answer").expect("found");
    assert_eq!(
        (found.reference, found.status),
        (first.reference, Status::Succeeded),
        "a paid one wins"
    );

    rig.clock.advance(TimeDelta::hours(2));
    let unpaid = request(3, 29_900, "RUB");
    rig.provider.create(&unpaid).await.expect("an invoice");
    rig.clock.advance(TimeDelta::hours(2));
    assert_eq!(rig.provider.recover(&unpaid).await, Ok(None), "ended by time");
}

#[tokio::test]
async fn recovery_looks_behind_a_full_page() {
    let rig = Rig::start().await;
    let wanted = request(1, 29_900, "RUB");
    let made = rig.provider.create(&wanted).await.expect("an invoice");
    for other in 2..=231 {
        rig.provider
            .create(&request(other, 29_900, "RUB"))
            .await
            .expect("an invoice");
    }
    assert_eq!(rig.provider.recover(&wanted).await, Ok(Some(made)));
}

#[tokio::test]
async fn withdrawing_is_done_when_there_is_nothing_left_to_pay() {
    let rig = Rig::start().await;
    let open = rig.provider.create(&request(1, 100, "RUB")).await.expect("an invoice");
    assert_eq!(rig.provider.cancel(&open.reference).await, Ok(()));
    assert_eq!(rig.provider.poll(&open.reference).await, Ok(None));
    assert_eq!(
        rig.provider.cancel(&open.reference).await,
        Ok(()),
        "INVOICE_NOT_FOUND is success"
    );
    for unknown in ["999999", "", "not an id", "-1", "99999999999999999999"] {
        assert_eq!(rig.provider.cancel(unknown).await, Ok(()), "{unknown:?}");
        assert_eq!(rig.provider.poll(unknown).await, Ok(None), "{unknown:?}");
    }
    let paid = rig.provider.create(&request(2, 100, "RUB")).await.expect("an invoice");
    rig.pay(&paid.reference).await;
    assert_eq!(
        code(rig.provider.cancel(&paid.reference).await),
        ("refused", "cryptobot_invoice_already_paid".to_owned())
    );
}

#[tokio::test]
async fn an_invoice_ends_with_its_time() {
    let rig = Rig::start().await;
    let made = rig.provider.create(&request(1, 100, "RUB")).await.expect("an invoice");
    rig.clock.advance(TimeDelta::seconds(3_600));
    let seen = rig
        .provider
        .poll(&made.reference)
        .await
        .expect("an answer")
        .expect("known");
    assert_eq!(seen.status, Status::Expired);
    assert_eq!(rig.pay(&made.reference).await, 409);
}

#[tokio::test]
async fn every_fault_has_its_class_and_tells_no_secret() {
    let rig = Rig::start().await;
    let wanted = request(1, 29_900, "RUB");
    let echoed =
        serde_json::json!({ "ok": false, "error": { "code": 400, "name": "Bad token 123:TOKEN https://x/y" } });
    let named = serde_json::json!({ "ok": false, "error": { "code": 400, "name": "AMOUNT_TOO_SMALL" } });
    for (fault, class, expected) in [
        (Fault::status(500), "unavailable", "cryptobot_http_500"),
        (Fault::status(502).after_handling(), "unavailable", "cryptobot_http_502"),
        (Fault::html(503), "unavailable", "cryptobot_http_503"),
        (Fault::rate_limited(7), "unavailable", "cryptobot_http_429"),
        (Fault::reset_before(), "unavailable", "cryptobot_unreachable"),
        (Fault::status(404), "refused", "cryptobot_http_404"),
        (
            Fault::status_with(400, named.clone()),
            "refused",
            "cryptobot_amount_too_small",
        ),
        (Fault::status_with(200, named), "refused", "cryptobot_amount_too_small"),
        (Fault::status_with(400, echoed), "refused", "cryptobot_http_400"),
        (Fault::garbage(), "malformed", "cryptobot_malformed"),
        (Fault::html(200), "malformed", "cryptobot_malformed"),
        (
            Fault::status_with(200, serde_json::json!({ "ok": true })),
            "malformed",
            "cryptobot_malformed",
        ),
        (
            Fault::status_with(200, serde_json::json!({ "ok": true, "result": {} })),
            "malformed",
            "cryptobot_malformed",
        ),
        (Fault::oversized(2 * 1024 * 1024), "malformed", "cryptobot_oversized"),
        (Fault::status(302), "malformed", "cryptobot_http_302"),
    ] {
        rig.fault("POST /api/createInvoice", fault.clone()).await;
        let failed = rig.provider.create(&wanted).await;
        let printed = format!(
            "{failed:?} {}",
            failed.as_ref().map_or_else(ToString::to_string, |_| String::new())
        );
        let address = &rig.sandbox.addresses().cryptopay;
        for secret in [
            address.token.as_str(),
            address.url.as_str(),
            "127.0.0.1",
            "TOKEN",
            "nginx",
        ] {
            assert!(!printed.contains(secret), "{printed}");
        }
        assert_eq!(code(failed), (class, expected.to_owned()), "{fault:?}");
    }
    assert_eq!(rig.report().invoices, 1, "only the 502 that came after handling");
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_is_given_up() {
    let rig = Rig::start().await;
    rig.fault("POST /api/**", Fault::late_answer(3_000)).await;
    let failed = rig.impatient().create(&request(1, 100, "RUB")).await;
    assert!(failed.as_ref().is_err_and(ProviderError::may_have_happened));
    assert_eq!(code(failed), ("unavailable", "cryptobot_timeout".to_owned()));
    assert_eq!(rig.report().invoices, 1, "and yet it was made");
}

#[tokio::test]
async fn a_recovery_of_many_pages_takes_no_longer_than_one_call() {
    let rig = Rig::start().await;
    for other in 2..=460 {
        rig.provider
            .create(&request(other, 29_900, "RUB"))
            .await
            .expect("an invoice");
    }
    rig.fault("POST /api/getInvoices", Fault::slow(90)).await;
    assert_eq!(
        rig.provider.recover(&request(1, 29_900, "RUB")).await,
        Ok(None),
        "four calls of 90 ms each"
    );
    let failed = rig.impatient().recover(&request(1, 29_900, "RUB")).await;
    assert_eq!(code(failed), ("unavailable", "cryptobot_timeout".to_owned()));
}

#[tokio::test]
async fn a_wrong_token_and_a_closed_door_are_told_apart() {
    let rig = Rig::start().await;
    let stranger = rig.with_token("1:wrong");
    assert_eq!(
        code(stranger.probe().await),
        ("unavailable", "cryptobot_http_401".to_owned())
    );
    let base_url = rig.sandbox.addresses().cryptopay.url.clone();
    rig.sandbox.stop().await;
    let gone = CryptoBot::new(CryptoBotOptions {
        base_url,
        token: Secret::from("1:x"),
    })
    .expect("a good address");
    assert_eq!(
        code(gone.probe().await),
        ("unavailable", "cryptobot_unreachable".to_owned())
    );
}

#[tokio::test]
async fn invoices_survive_a_restart_and_ids_are_never_used_again() {
    let rig = Rig::start().await;
    let kept = rig.provider.create(&request(1, 100, "RUB")).await.expect("an invoice");
    let withdrawn = rig.provider.create(&request(2, 100, "RUB")).await.expect("an invoice");
    rig.provider.cancel(&withdrawn.reference).await.expect("withdrawn");
    rig.pay(&kept.reference).await;
    let rig = rig.restart().await;
    let seen = rig
        .provider
        .poll(&kept.reference)
        .await
        .expect("an answer")
        .expect("known");
    assert_eq!(seen.status, Status::Succeeded);
    let next = rig.provider.create(&request(3, 100, "RUB")).await.expect("an invoice");
    assert!(next.reference.parse::<i64>().expect("an id") > withdrawn.reference.parse::<i64>().expect("an id"));
}
