//! Rules for JSON: values under telling keys go whole, other strings go through the text rules, objects and arrays are walked.

use serde_json::{Map, Value};

use super::{REDACTED, text};

/// Anywhere in a key, whatever its spelling (`apiKey`, `api_key`, `X-Api-Key`).
const TELLING: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "authorization",
    "signature",
    "apikey",
    "hwid",
    "subscriptionurl",
    "checkouturl",
    "rawbody",
    "payload",
    "email",
    "phone",
    "cardnumber",
    "creditcard",
    "bankcard",
];
/// Only as words of their own: "pan" is in "company" and "panel", "card" in "discarded".
const TELLING_WORDS: &[&str] = &["pan", "card", "cvv", "cvc", "iban"];

/// A copy without secrets.
pub fn json(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, value)| (key.clone(), field(key, value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(json).collect()),
        Value::String(content) => Value::String(text(content)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn field(key: &str, value: &Value) -> Value {
    if is_telling(key) {
        Value::String(REDACTED.to_owned())
    } else {
        json(value)
    }
}

fn is_telling(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|it| it.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    TELLING.iter().any(|part| plain.contains(part))
        || words(key).iter().any(|word| TELLING_WORDS.contains(&word.as_str()))
}

/// The words of a key in lower case, without a plural s: `cardPan`, `card_pan`, `CARD-PANS` have two.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last_was_lower = false;
    for character in key.chars() {
        let breaks = !character.is_alphabetic() || (character.is_uppercase() && last_was_lower);
        if breaks {
            words.push(String::new());
        }
        if let (true, Some(word)) = (character.is_alphabetic(), words.last_mut()) {
            word.extend(character.to_lowercase());
        }
        last_was_lower = character.is_lowercase();
    }
    words
        .into_iter()
        .map(|word| word.strip_suffix('s').map_or_else(|| word.clone(), str::to_owned))
        .collect()
}
