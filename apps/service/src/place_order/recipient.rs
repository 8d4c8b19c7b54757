//! Who receives goods: a Telegram name in any of the forms that people paste.

use std::fmt;

use serde::Serialize;
use store::recipients::Recipient;

use crate::Refusal;

/// A recipient as a caller wrote it.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct RecipientIn {
    /// `name`, `@name`, `t.me/name`, `https://t.me/name?…`.
    pub username: String,
    /// Telegram id of the buyer, where known.
    pub telegram_user_id: Option<i64>,
}

impl fmt::Debug for RecipientIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecipientIn").finish_non_exhaustive()
    }
}

impl RecipientIn {
    /// The bare name.
    pub(super) fn normalised(&self) -> Result<Recipient, Refusal> {
        let name = bare(&self.username).ok_or(Refusal::new(
            422,
            "recipient_invalid",
            "the recipient is not a Telegram username",
        ))?;
        Ok(Recipient {
            username: name.to_owned(),
            telegram_user_id: self.telegram_user_id,
        })
    }
}

/// Cuts scheme, host, `@` and what follows the name; then it has 5 to 32 letters, digits or underscores and begins with a letter.
fn bare(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .unwrap_or(text);
    let text = text.strip_prefix("www.").unwrap_or(text);
    let text = text
        .strip_prefix("t.me/")
        .or_else(|| text.strip_prefix("telegram.me/"))
        .unwrap_or(text);
    let text = text.strip_prefix('@').unwrap_or(text);
    let name = text.split(['/', '?', '#']).next().unwrap_or_default();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    (plain && begins && (5..=32).contains(&name.len())).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_pasted_form_is_the_same_name() {
        for text in [
            "alice_w",
            "@alice_w",
            " t.me/alice_w ",
            "https://t.me/alice_w",
            "https://www.telegram.me/alice_w?start=1",
            "http://t.me/@alice_w/12#x",
        ] {
            assert_eq!(bare(text), Some("alice_w"), "{text}");
        }
        for text in [
            "",
            "@",
            "abcd",
            "1alice",
            "al-ice",
            "t.me/",
            "alice\u{0}w",
            "алиса",
            &"a".repeat(33),
        ] {
            assert_eq!(bare(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_passes_is_always_a_name_and_passes_again(text in "\\PC{0,60}") {
            if let Some(name) = bare(&text) {
                prop_assert!((5..=32).contains(&name.len()) && name.is_ascii());
                prop_assert_eq!(bare(name), Some(name));
            }
        }
    }
}
