use proptest::prelude::*;
use serde_json::json as value;

use super::*;

#[track_caller]
fn check(input: &str, expected: &str) {
    assert_eq!(text(input), expected, "of {input:?}");
}

#[test]
fn rule_1_addresses_go_whole() {
    check(
        "GET https://panel.example/api/users?key=1 failed",
        "GET [redacted] failed",
    );
    check(
        "link 'vless://uuid@host:443?x=y#name' is dead",
        "link '[redacted]' is dead",
    );
    check("<a href=\"http://x.example/y\">", "<a href=\"[redacted]\">");
    for scheme in ["vmess", "trojan", "ss", "HTTPS", "postgres"] {
        check(&format!("see {scheme}://user:pw@host/path"), "see [redacted]");
    }
    check("two http://a/b https://c/d.", "two [redacted] [redacted]");
    check(":// alone and a://", ":// alone and [redacted]");
}

#[test]
fn rule_2_bot_tokens_go() {
    let token = format!("123456789:{}", "AAE-x_9".repeat(5));
    check(&format!("bot{token} answered 401"), "bot[redacted] answered 401");
    check("at 12:30:59 and 1234567:short", "at 12:30:59 and 1234567:short");
    check(
        &format!("12345:{}", "a".repeat(35)),
        &format!("12345:{}", "a".repeat(35)),
    );
}

#[test]
fn rule_3_credentials_behind_their_names_go() {
    check(
        "Authorization: Bearer abcdef.ghij-klmn",
        "Authorization: Bearer [redacted]",
    );
    check(
        "authorization=Basic b21uaWZsb3c6dG9rZW4=",
        "authorization=Basic [redacted]",
    );
    check("sent token abcdefgh to it", "sent token [redacted] to it");
    check("api key: ABCDEFGH1", "api key: [redacted]");
    check("API_KEY=ABCDEFGH1&x=1", "API_KEY=[redacted]&x=1");
    check(
        "{\"accessToken\":\"abcdefgh12\",\"n\":1}",
        "{\"accessToken\":\"[redacted]\",\"n\":1}",
    );
    check(
        "{\\\"secret\\\":\\\"abcdefgh12\\\"}",
        "{\\\"secret\\\":\\\"[redacted]\\\"}",
    );
    check("password = 'p@ss!word$'", "password = '[redacted]'");
    check("passwd hunter2hunter2", "passwd [redacted]");
    check("token ok", "token ok");
    check("the broken tokens of secretaries", "the broken tokens of secretaries");
}

#[test]
fn rule_4_runs_of_13_to_19_digits_go() {
    check("card 4111111111111111 declined", "card [redacted] declined");
    check("1234567890123", "[redacted]");
    check("1234567890123456789", "[redacted]");
    check(
        "123456789012 and 12345678901234567890",
        "123456789012 and 12345678901234567890",
    );
}

#[test]
fn rule_5_device_and_payment_identifiers_go() {
    check("hwid ABC-123 is over the limit", "hwid [redacted] is over the limit");
    check("device id: 00ff12aa", "device id: [redacted]");
    check("deviceId=00ff12aa", "deviceId=[redacted]");
    check("charge_id 4x7b9c12", "charge_id [redacted]");
    check("invoice payload 'ord-1234'", "invoice payload '[redacted]'");
    check("hwid 12345", "hwid 12345");
}

#[test]
fn ordinary_text_stays() {
    for plain in [
        "remnawave_http_503 on attempt 3 of 12",
        "operation 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b superseded at 2026-11-29T18:54:51.123456Z",
        "проверка: всё хорошо — 日本語",
        "",
    ] {
        check(plain, plain);
    }
}

#[test]
fn structured_values_under_telling_keys_go_whole() {
    let redacted = json(&value!({
        "orderId": "o-1", "token": "x", "clientSecret": {"a": 1}, "Authorization": ["Basic", "x"], "webhook_signature": "s",
        "apiKey": 7, "X-Api-Key": "k", "subscription_url": "u", "checkoutUrl": "u", "rawBody": "b", "payload": {"n": 1}, "hwid": "h",
        "userEmail": "e", "phone_number": "p", "cardPan": "1", "PAN": "1", "cvv": 1, "cards": [], "iban": "i", "passwd": "q", "cardnumber": "9",
    }));
    let fields = redacted.as_object().expect("an object");
    for (key, field) in fields {
        if key == "orderId" {
            assert_eq!(field, "o-1");
        } else {
            assert_eq!(field, REDACTED, "{key}");
        }
    }
}

#[test]
fn short_keys_are_words_of_their_own() {
    let plain =
        value!({"company": "c", "panel": "p", "discarded": true, "expanded": 1, "cardinality": 3, "participant": "x"});
    assert_eq!(json(&plain), plain);
}

#[test]
fn objects_and_arrays_are_walked() {
    let redacted = json(
        &value!([{"items": [{"note": "see https://x/y"}, ["token=abcdefgh", 5, null], {"deep": {"secret": "s"}}]}]),
    );
    assert_eq!(
        redacted,
        value!([{"items": [{"note": "see [redacted]"}, ["token=[redacted]", 5, null], {"deep": {"secret": "[redacted]"}}]}])
    );
}

#[test]
fn an_address_keeps_scheme_and_host() {
    assert_eq!(
        address("https://user:pw@panel.example:8443/x?y#z"),
        "https://panel.example:8443"
    );
    assert_eq!(address("http://[::1]:80"), "http://[::1]:80");
    for hidden in [
        "",
        "panel.example/secret",
        "://x",
        "https://",
        "https://a b/c",
        "ht tp://x",
    ] {
        assert_eq!(address(hidden), REDACTED, "{hidden:?}");
    }
}

#[test]
fn a_line_obeys_nobody_and_is_bounded() {
    assert_eq!(line("a\r\nb\tc\u{1b}[31md\u{7}\u{9b}e\u{202e}f", 100), "a  b c[31mdef");
    assert_eq!(line("to\u{200b}ken=abc\u{0}defgh", 100), "token=[redacted]");
    assert_eq!(line("0123456789", 10), "0123456789");
    assert_eq!(line("01234567890", 10), "012345678…");
    // Twenty digits are no card number, but the first fifteen of them would be.
    assert_eq!(line("01234567890123456789 ok", 16), "[redacted]…");
    assert_eq!(
        (line("", 5), line("abc", 0), line("проверка", 4)),
        (String::new(), String::new(), "про…".to_owned())
    );
}

#[test]
fn what_was_hidden_stays_as_it_is() {
    for hidden in [
        "token=[redacted]",
        "password: '[redacted]', x",
        "Authorization: Bearer [redacted]",
        "hwid [redacted] y",
    ] {
        assert_eq!(text(hidden), hidden);
    }
    check("token=[redacted]abcdefgh", "token=[redacted]");
}

/// Pieces that meet the rules, in any order and glued in any way.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "token",
        "Bearer",
        "authorization",
        "api_key",
        "hwid",
        "charge id",
        "=",
        ": ",
        " ",
        "\"",
        "'",
        "\\",
        ",",
        "]",
        "[redacted]",
        "https://",
        "h.example/x",
        "4111111111111111",
        "123456789:",
        "abcdefgh",
        "AAE-x_9AAE-x_9AAE-x_9AAE-x_9AAE-x_9",
        "…",
        "\u{200b}",
        "\n",
        "слово",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// A JSON tree with the secret planted at one leaf, below keys and in arrays; its key tells of it or its text does.
fn planted() -> impl Strategy<Value = (serde_json::Value, String)> {
    let leaf = ("[A-Za-z0-9]{16,32}", any::<bool>(), 0..3_u8).prop_map(|(secret, by_key, form)| {
        let leaf = if by_key {
            let key = ["clientSecret", "X-Api-Key", "rawBody"][usize::from(form)];
            value!({ key: { "deep": [secret.clone()] } })
        } else {
            let text = [
                format!("sent token={secret} to it"),
                format!("see vless://{secret}@h:1#x"),
                format!("{{\"password\":\"{secret}\"}}"),
            ][usize::from(form)]
            .clone();
            value!({ "note": text })
        };
        (leaf, secret)
    });
    (leaf, prop::collection::vec(any::<bool>(), 0..8)).prop_map(|((leaf, secret), path)| {
        let wrap = |inner, is_array| {
            if is_array {
                value!(["x", inner, 5])
            } else {
                value!({ "a": inner, "b": null })
            }
        };
        (path.into_iter().fold(leaf, wrap), secret)
    })
}

proptest! {
    #[test]
    fn pieces_of_rules_settle_after_one_pass(input in pieces(), most in 0..120_usize) {
        let once = text(&input);
        prop_assert_eq!(&text(&once), &once);
        let short = line(&input, most);
        prop_assert!(short.chars().count() <= most);
        prop_assert!(!short.chars().any(char::is_control));
        prop_assert_eq!(line(&short, most), short);
    }

    #[test]
    fn b84_a_planted_secret_never_survives_structure((tree, secret) in planted()) {
        let redacted = json(&tree);
        prop_assert!(!redacted.to_string().contains(&secret), "{redacted}");
        prop_assert_eq!(json(&redacted), redacted);
        prop_assert!(!line(&tree.to_string(), 400).contains(&secret));
    }

    #[test]
    fn any_text_passes_and_a_second_pass_changes_nothing(input in "\\PC{0,200}") {
        let once = text(&input);
        prop_assert_eq!(text(&once), once);
    }

    #[test]
    fn a_named_secret_never_survives(
        before in "\\PC{0,30}",
        name in prop::sample::select(vec!["token", "Secret", "api_key", "PASSWORD", "bearer", "authorization", "hwid", "chargeId"]),
        gap in prop::sample::select(vec!["=", ": ", "\":\"", " = '"]),
        secret in "[A-Za-z0-9]{12,40}",
        after in prop::sample::select(vec!["", " rest", "\" rest", ", rest"]),
    ) {
        let input = format!("{before} {name}{gap}{secret}{after}");
        prop_assert!(!text(&input).contains(&secret), "{}", input);
    }

    #[test]
    fn a_link_never_survives(before in "\\PC{0,30}", path in "[a-zA-Z0-9]{12,30}", after in prop::sample::select(vec!["", " x", "> y"])) {
        let input = format!("{before}https://h.example/{path}{after}");
        prop_assert!(!text(&input).contains(&path), "{}", input);
    }
}
