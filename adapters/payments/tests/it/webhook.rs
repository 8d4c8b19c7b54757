//! Crypto Pay's webhooks: vectors, everything that must be refused, and bytes that nobody expects.

use std::sync::LazyLock;

use domain::money::Money;
use payments::{CryptoBot, CryptoBotOptions, MAINNET};
use ports::payments::{PaymentProvider as _, Status, WebhookError, WebhookEvent};
use proptest::prelude::*;
use secrets::{Secret, digest, hmac_sha256, sha256};

const HEADER: &str = "crypto-pay-api-signature";
const TOKEN: &str = "123:TESTTOKEN";
const ORDER: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Made once: it reads the machine's trust roots.
static PROVIDER: LazyLock<CryptoBot> = LazyLock::new(|| {
    CryptoBot::new(CryptoBotOptions {
        base_url: MAINNET.to_owned(),
        token: Secret::from(TOKEN),
    })
    .expect("a good address")
});

fn sign(token: &str, body: &[u8]) -> String {
    digest::hex(&hmac_sha256(&sha256(token.as_bytes()), body))
}

fn verify(signature: &str, body: &[u8]) -> Result<WebhookEvent, WebhookError> {
    PROVIDER.verify(
        &[("content-type", b"application/json"), (HEADER, signature.as_bytes())],
        body,
    )
}

fn signed(body: &str) -> Result<WebhookEvent, WebhookError> {
    verify(&sign(TOKEN, body.as_bytes()), body.as_bytes())
}

/// As the provider writes it: empty fields included, keys in its own order.
fn paid(update_id: i64, fiat: &str, amount: &str) -> String {
    format!(
        r#"{{"update_id":{update_id},"update_type":"invoice_paid","request_date":"2026-11-29T18:54:51.000Z","payload":{{"invoice_id":528890,"hash":"IVx","currency_type":"fiat","fiat":"{fiat}","amount":"{amount}","paid_asset":"USDT","paid_amount":"3.28","status":"paid","comment":"","payload":"{ORDER}","bot_invoice_url":"https://t.me/CryptoBot?start=IVx"}}}}"#
    )
}

#[test]
fn the_published_vector_verifies() {
    let body = br#"{"a":1}"#;
    let expected = "4a7033fe0a897a460dff39d846da205296c413dd47fbedf018e41b9d571e03ce";
    assert_eq!(sign(TOKEN, body), expected);
    // authentic, but no update: another refusal than a bad signature
    assert_eq!(verify(expected, body), Err(WebhookError::Malformed));
}

#[test]
fn a_paid_invoice_is_read() {
    let event = signed(&paid(7, "RUB", "299")).expect("authentic");
    assert_eq!(event.event_key, "invoice_paid:528890");
    let payment = event.payment.expect("a payment of ours");
    assert_eq!(payment.reference, "528890");
    assert_eq!(payment.merchant_reference.as_deref(), Some(ORDER));
    assert_eq!(payment.status, Status::Succeeded);
    assert_eq!(
        payment.amount,
        Money::new(29_900, "RUB".parse().expect("known")).expect("in range")
    );
}

#[test]
fn a_repeated_notice_has_the_same_key_whatever_its_number() {
    let keys: Vec<String> = [7, 8, -1]
        .iter()
        .map(|id| signed(&paid(*id, "RUB", "299.00")).expect("authentic").event_key)
        .collect();
    assert_eq!(keys, ["invoice_paid:528890"; 3]);
}

#[test]
fn b06_without_a_valid_signature_over_the_raw_bytes_nothing_is_read() {
    let body = paid(7, "RUB", "299");
    let good = sign(TOKEN, body.as_bytes());
    assert!(verify(&good, body.as_bytes()).is_ok());

    // absent
    assert_eq!(
        PROVIDER.verify(&[], body.as_bytes()),
        Err(WebhookError::InvalidSignature)
    );
    assert_eq!(
        PROVIDER.verify(&[("x-signature", good.as_bytes())], body.as_bytes()),
        Err(WebhookError::InvalidSignature)
    );
    // one hex digit changed, each of them
    for at in 0..good.len() {
        let mut changed = good.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(changed).expect("hex");
        assert_eq!(
            verify(&changed, body.as_bytes()),
            Err(WebhookError::InvalidSignature),
            "digit {at}"
        );
    }
    // re-serialised: the same JSON with its keys in another order
    let reordered = serde_json::from_str::<serde_json::Value>(&body)
        .expect("JSON")
        .to_string();
    assert_ne!(reordered, body);
    assert_eq!(verify(&good, reordered.as_bytes()), Err(WebhookError::InvalidSignature));
    // an empty field dropped
    let dropped = body.replace(r#""comment":"","#, "");
    assert_ne!(dropped, body);
    assert_eq!(verify(&good, dropped.as_bytes()), Err(WebhookError::InvalidSignature));
}

#[test]
fn every_other_way_to_sign_badly_is_refused() {
    let body = paid(7, "RUB", "299");
    let good = sign(TOKEN, body.as_bytes());
    let refused = Err(WebhookError::InvalidSignature);

    let mut one_byte = body.clone().into_bytes();
    one_byte[20] ^= 1;
    assert_eq!(verify(&good, &one_byte), refused);
    assert_eq!(
        verify(&good, body.replace(':', ": ").as_bytes()),
        refused,
        "re-serialised with spaces"
    );
    assert_eq!(
        verify(&sign("123:OTHERTOKEN", body.as_bytes()), body.as_bytes()),
        refused,
        "another secret"
    );
    assert_eq!(
        verify(
            &digest::hex(&hmac_sha256(TOKEN.as_bytes(), body.as_bytes())),
            body.as_bytes()
        ),
        refused,
        "key not hashed"
    );
    for signature in [
        "",
        "no hex at all",
        &good[..63],
        &format!("{good}0"),
        &format!(" {good}"),
        &good.to_uppercase(),
    ] {
        assert_eq!(verify(signature, body.as_bytes()), refused, "{signature:?}");
    }
    let two: [(&str, &[u8]); 2] = [(HEADER, &[b'0'; 64]), (HEADER, good.as_bytes())];
    assert_eq!(
        PROVIDER.verify(&two, body.as_bytes()),
        refused,
        "two signatures, the second valid"
    );
    assert_eq!(PROVIDER.verify(&[(HEADER, &[0xff; 64])], body.as_bytes()), refused);
}

/// The provider repeats for three days and a replay repeats the event key, so the date decides nothing.
#[test]
fn stale_and_future_dates_are_accepted() {
    for date in ["2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"] {
        assert!(signed(&paid(7, "RUB", "299").replace("2026-11-29T18:54:51.000Z", date)).is_ok());
    }
}

#[test]
fn an_invoice_that_is_not_priced_in_our_currencies_is_authentic_but_no_payment_of_ours() {
    let crypto = paid(7, "", "3.5").replace(
        r#""currency_type":"fiat","fiat":"","#,
        r#""currency_type":"crypto","asset":"USDT","#,
    );
    for body in [crypto, paid(7, "", "3.5"), paid(7, "XXX", "3")] {
        let event = signed(&body).expect("authentic");
        assert_eq!((event.event_key.as_str(), event.payment), ("invoice_paid:528890", None));
    }
}

#[test]
fn an_update_of_an_unknown_kind_is_kept_apart() {
    let first = signed(r#"{"update_id":1,"update_type":"invoice_burnt","payload":{}}"#).expect("authentic");
    let second = signed(r#"{"update_id":2,"update_type":"invoice_burnt","payload":{}}"#).expect("authentic");
    assert_eq!((&first.payment, &second.payment), (&None, &None));
    assert_ne!(first.event_key, second.event_key);
}

#[test]
fn what_is_signed_but_not_of_the_form_is_malformed() {
    let deep = format!(
        "{{\"update_type\":\"invoice_paid\",\"payload\":{}{}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let overflow = paid(7, "RUB", "299").replace("528890", "99999999999999999999999");
    let twice = paid(7, "RUB", "299").replace(r#""update_id":7,"#, r#""update_type":"invoice_paid","#);
    for body in [
        "",
        "null",
        "[]",
        "{}",
        "not json",
        r#"{"update_type":"invoice_paid"}"#,
        r#"{"update_type":"invoice_paid","payload":null}"#,
        r#"{"update_type":7,"payload":{}}"#,
        &deep,
        &overflow,
        &twice,
        &paid(7, "RUB", "299.001"),
        &paid(7, "RUB", "-1"),
        &paid(7, "RUB", "1e3"),
        &paid(7, "RUB", "99999999999999999999"),
        &paid(7, "RUB", "299").replace("528890", "528890.5"),
    ] {
        assert_eq!(
            signed(body),
            Err(WebhookError::Malformed),
            "{}",
            &body[..body.len().min(80)]
        );
    }
}

#[test]
fn nothing_printed_holds_the_token() {
    let options = CryptoBotOptions {
        base_url: MAINNET.to_owned(),
        token: Secret::from(TOKEN),
    };
    let printed = format!("{options:?} {:?}", *PROVIDER);
    assert!(!printed.contains("TESTTOKEN"), "{printed}");
}

#[test]
fn a_token_goes_only_to_an_address_that_is_safe() {
    for base in [
        "http://pay.crypt.bot/api",
        "ftp://127.0.0.1/",
        "not an address",
        "",
        "https://user:pw@pay.crypt.bot/api",
        "https://pay.crypt.bot/api?x=1",
        "https://pay.crypt.bot/api#x",
    ] {
        let made = CryptoBot::new(CryptoBotOptions {
            base_url: base.to_owned(),
            token: Secret::from(TOKEN),
        });
        assert!(made.is_err(), "{base}");
    }
    for base in [
        "http://127.0.0.1:9/",
        "http://localhost:9",
        "http://[::1]:9/api",
        MAINNET,
        payments::TESTNET,
    ] {
        assert!(
            CryptoBot::new(CryptoBotOptions {
                base_url: base.to_owned(),
                token: Secret::from(TOKEN)
            })
            .is_ok(),
            "{base}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(body in any::<Vec<u8>>()) {
        let _ = verify(&sign(TOKEN, &body), &body);
        prop_assert_eq!(PROVIDER.verify(&[(HEADER, &body)], &body), Err(WebhookError::InvalidSignature));
    }

    #[test]
    fn no_json_like_text_makes_the_reader_panic(
        id in "[0-9eE.+-]{0,30}", amount in "\\PC{0,20}", kind in "\\PC{0,20}", fiat in "[A-Z]{0,4}", nesting in 0_usize..300,
    ) {
        let quoted = |text: &str| serde_json::to_string(text).expect("text");
        let body = format!(
            r#"{{"update_type":{},"payload":{{"invoice_id":{id},"amount":{},"fiat":"{fiat}","status":"paid","x":{}{}}},"payload":1}}"#,
            quoted(&kind), quoted(&amount), "[".repeat(nesting), "]".repeat(nesting),
        );
        let _ = signed(&body);
        let body = body.replace(r#","payload":1"#, "").replacen(&quoted(&kind), r#""invoice_paid""#, 1);
        let _ = signed(&body);
    }

    #[test]
    fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let body = paid(7, "RUB", "299");
        let good = sign(TOKEN, body.as_bytes());
        let mut changed = body.into_bytes();
        let at = at.index(changed.len());
        changed[at] ^= 1 << bit;
        prop_assert_eq!(verify(&good, &changed), Err(WebhookError::InvalidSignature));
    }
}
