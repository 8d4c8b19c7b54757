//! Rules for free text, applied one after another. Hand-written scanners over ASCII, linear in the text.

use super::{REDACTED, url};

const CREDENTIALS: &[&[&str]] = &[
    &["bearer"],
    &["basic"],
    &["token"],
    &["api", "key"],
    &["secret"],
    &["password"],
    &["passwd"],
    &["authorization"],
];
const IDENTIFIERS: &[&[&str]] = &[&["hwid"], &["device", "id"], &["charge", "id"], &["invoice", "payload"]];
/// A value this long after a bare word is taken for a secret.
const CREDENTIAL_LENGTH: usize = 8;
/// A value this long after an identifier's name, or after an explicit `=` or `:`, is hidden.
const NAMED_LENGTH: usize = 6;
/// White space, quotes and separators between a name and its value.
const GAP: usize = 8;

/// Hides addresses, bot tokens, credentials behind their names, card numbers and device or payment identifiers.
///
/// What one pass hides can uncover the start of a word for another rule, so passes go on until one changes nothing.
pub fn text(text: &str) -> String {
    let mut hidden = pass(text);
    for _ in 0..4 {
        let again = pass(&hidden);
        if again == hidden {
            break;
        }
        hidden = again;
    }
    hidden
}

fn pass(text: &str) -> String {
    let text = url::urls(text);
    let text = hide(&text, bot_token);
    let text = hide(&text, |bytes, at| {
        named_value(bytes, at, CREDENTIALS, CREDENTIAL_LENGTH)
    });
    let text = hide(&text, card_number);
    hide(&text, |bytes, at| named_value(bytes, at, IDENTIFIERS, NAMED_LENGTH))
}

/// What a scanner found: the bytes from `start` to before `end` go.
struct Hit {
    start: usize,
    end: usize,
}

fn hide(text: &str, scan: impl Fn(&[u8], usize) -> Option<Hit>) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut kept) = (0, 0);
    while at < bytes.len() {
        if let Some(hit) = scan(bytes, at).filter(|hit| hit.end > at) {
            out.push_str(text.get(kept..hit.start).unwrap_or(""));
            out.push_str(REDACTED);
            kept = hit.end;
            at = hit.end;
        } else {
            at = at.saturating_add(1);
        }
    }
    out.push_str(text.get(kept..).unwrap_or(""));
    out
}

/// 6 to 12 digits, a colon, at least 30 of the URL-safe alphabet.
fn bot_token(bytes: &[u8], at: usize) -> Option<Hit> {
    if !starts_run(bytes, at, is_digit) {
        return None;
    }
    let digits = run(bytes, at, 13, is_digit);
    let colon = at.checked_add(digits)?;
    let start = colon.checked_add(1)?;
    let length = run(bytes, start, usize::MAX, is_url_safe);
    ((6..=12).contains(&digits) && bytes.get(colon) == Some(&b':') && length >= 30).then_some(Hit {
        start: at,
        end: start.saturating_add(length),
    })
}

/// A run of 13 to 19 digits.
fn card_number(bytes: &[u8], at: usize) -> Option<Hit> {
    if !starts_run(bytes, at, is_digit) {
        return None;
    }
    let digits = run(bytes, at, 20, is_digit);
    (13..=19).contains(&digits).then_some(Hit {
        start: at,
        end: at.saturating_add(digits),
    })
}

/// A name out of the list and the value behind it; the name stays readable.
fn named_value(bytes: &[u8], at: usize, names: &[&[&str]], bare_length: usize) -> Option<Hit> {
    let after_name = names.iter().find_map(|words| name(bytes, at, words))?;
    let gap = run(bytes, after_name, GAP, is_gap);
    let start = after_name.checked_add(gap)?;
    let between = bytes.get(after_name..start)?;
    let assigned = between.iter().any(|byte| matches!(byte, b':' | b'='));
    if !assigned && (gap == 0 || !starts_word(bytes, at)) {
        return None;
    }
    // What was hidden before stays as it is, unless something was put behind it.
    let hidden = bytes.get(start..)?.starts_with(REDACTED.as_bytes());
    let from = start.checked_add(if hidden { REDACTED.len() } else { 0 })?;
    let (length, least) = if assigned {
        (
            run(bytes, from, usize::MAX, |byte| !ends_value(byte)),
            NAMED_LENGTH.min(bare_length),
        )
    } else {
        (run(bytes, from, usize::MAX, is_credential), bare_length)
    };
    let end = from.checked_add(length)?;
    // `Authorization: Bearer …`: the value is behind the second name
    let another_name = names.iter().any(|words| name(bytes, start, words) == Some(end));
    (length >= least && !another_name).then_some(Hit { start, end })
}

/// The end of a name that starts here: its words, joined by nothing, a space, `_` or `-`, in any case.
fn name(bytes: &[u8], at: usize, words: &[&str]) -> Option<usize> {
    let mut end = at;
    for (index, word) in words.iter().enumerate() {
        if index > 0 && bytes.get(end).is_some_and(|byte| matches!(byte, b' ' | b'_' | b'-')) {
            end = end.checked_add(1)?;
        }
        let next = end.checked_add(word.len())?;
        if !bytes.get(end..next)?.eq_ignore_ascii_case(word.as_bytes()) {
            return None;
        }
        end = next;
    }
    Some(end)
}

/// Not in the middle of a word: `access_token` and `accessToken` start a word at the `t`, `broken` does not at the `k`.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let first = bytes.get(at);
    before.is_none_or(|before| {
        !before.is_ascii_alphanumeric() || (!before.is_ascii_uppercase() && first.is_some_and(u8::is_ascii_uppercase))
    })
}

fn starts_run(bytes: &[u8], at: usize, of: impl Fn(u8) -> bool) -> bool {
    !at.checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|byte| of(*byte))
}

fn run(bytes: &[u8], at: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(at..)
        .unwrap_or(&[])
        .iter()
        .take(most)
        .take_while(|byte| of(**byte))
        .count()
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_credential(byte: u8) -> bool {
    is_url_safe(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=')
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b':' | b'=' | b'"' | b'\'' | b'`' | b'\\' | b'>')
}

fn ends_value(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>' | b',' | b';' | b'&' | b')' | b'}' | b']'
        )
}
