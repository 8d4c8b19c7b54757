use domain::notices::Kind;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn notice(payload: Value) -> Notice {
    Notice {
        kind: Kind::FulfillmentFailure,
        payload,
        at: "2026-03-01T12:00:00.123456Z".parse().expect("a time"),
    }
}

fn rendered(payload: Value) -> String {
    text(&notice(payload), None)
}

#[test]
fn shown_fields_stand_in_their_order_and_nothing_else_does() {
    let text = rendered(json!({
        "status": "retrying", "errorCode": "remnawave_unavailable", "entitlementId": "e-1", "operation": "create", "amountMinor": 29_900,
        "email": "a@b.c", "username": "someone", "operationId": "o-1", "reference": "r", "payload": {"x": 1}, "reason": null,
        "source": ["a"], "method": {"a": 1},
    }));
    assert_eq!(
        text,
        "<b>🚨 Fulfillment failures</b>\nentitlementId: <code>e-1</code>\noperation: <code>create</code>\namountMinor: <code>29900</code>\n\
         errorCode: <code>remnawave_unavailable</code>\nstatus: <code>retrying</code>\nat: 2026-03-01T12:00:00Z"
    );
}

#[test]
fn a_payload_that_is_no_object_leaves_title_and_time() {
    for payload in [json!(null), json!([1]), json!("orderId"), json!({})] {
        assert_eq!(
            rendered(payload),
            "<b>🚨 Fulfillment failures</b>\nat: 2026-03-01T12:00:00Z"
        );
    }
}

#[test]
fn a_banner_stands_in_front() {
    assert!(text(&notice(json!({})), Some("[sandbox]")).starts_with("<b>[sandbox] 🚨"));
}

#[test]
fn b76_hostile_values_stay_values() {
    let text = rendered(json!({
        "reason": "</code><a href=\"tg://user?id=1\">x</a> & @admin /start\nstatus: <b>ok</b>\u{202e}evil\u{0}",
        "source": "see https://evil.example/?token=1 and 123456789:AAabcdefghijklmnopqrstuvwxyz0123456",
        "provider": "card 4111111111111111",
    }));
    assert_eq!(text.matches("<a ").count(), 0, "{text}");
    assert_eq!(text.matches("</code>").count(), 3, "{text}");
    assert_eq!(text.lines().count(), 5, "no line is forged: {text}");
    assert!(
        text.contains("&lt;/code&gt;&lt;a href=&quot;[redacted]&quot;&gt;x&lt;/a&gt; &amp; @admin"),
        "{text}"
    );
    for hidden in ["evil.example", "AAabc", "4111111111111111", "\u{202e}", "\u{0}"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
}

#[test]
fn one_long_value_does_not_push_the_others_out() {
    let text = rendered(json!({ "orderId": "x".repeat(100_000), "status": "failed" }));
    assert!(
        text.contains("…</code>") && text.contains("status: <code>failed</code>"),
        "{text}"
    );
}

proptest! {
    /// Whatever the fields hold, the text is within its bound, whole, and ends with the time.
    #[test]
    fn any_text_fits_and_is_well_formed(values in proptest::collection::vec(any::<String>(), 18), heavy in "[<>&\"]{0,500}") {
        let mut fields: serde_json::Map<String, Value> =
            SHOWN.iter().zip(values).map(|(name, value)| ((*name).to_owned(), Value::String(value))).collect();
        for name in ["orderId", "provider", "reason", "source", "fileName", "event", "method"] {
            fields.insert(name.to_owned(), Value::String(heavy.clone()));
        }
        let text = rendered(Value::Object(fields));
        prop_assert!(units(&text) <= MAX_UNITS, "{}", units(&text));
        prop_assert!(text.ends_with("\nat: 2026-03-01T12:00:00Z"));
        let plain = text.replace("<b>", "").replace("</b>", "").replace("<code>", "").replace("</code>", "");
        prop_assert!(!plain.contains(['<', '>']), "{plain}");
        for part in plain.split('&').skip(1) {
            prop_assert!(["lt;", "gt;", "amp;", "quot;"].iter().any(|entity| part.starts_with(entity)), "a cut entity: {part}");
        }
        prop_assert_eq!(text.matches("<code>").count(), text.matches("</code>").count());
    }
}
