//! Who receives digital goods. Personal data: it lives in a side table that can be erased, never in an event, a log line or an error.

use std::fmt;

/// A Telegram username in its normal form. It does not print itself.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Recipient(String);

/// The text names no Telegram user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a recipient is a Telegram username: a letter, then 4 to 31 letters, digits or underscores")]
pub struct InvalidRecipient;

/// What people paste before the name, in the order in which it is taken off.
const PREFIXES: [&[&str]; 4] = [&["https://", "http://"], &["www."], &["t.me/", "telegram.me/"], &["@"]];

impl InvalidRecipient {
    /// Stable machine value, as in problem documents.
    pub const fn code(self) -> &'static str {
        "recipient_invalid"
    }
}

impl Recipient {
    /// Takes a name as people write or paste it: `@name`, `t.me/name`, `https://www.telegram.me/name?start=1`.
    ///
    /// # Errors
    /// [`InvalidRecipient`] when what is left is no username.
    pub fn parse(text: &str) -> Result<Self, InvalidRecipient> {
        let mut rest = text.trim();
        for group in PREFIXES {
            rest = group.iter().find_map(|prefix| without(rest, prefix)).unwrap_or(rest);
        }
        let name = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let mut bytes = name.bytes();
        let fits = (5..=32).contains(&name.len())
            && bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if fits {
            Ok(Self(name.to_owned()))
        } else {
            Err(InvalidRecipient)
        }
    }

    /// The name, for the provider's request and for the side table.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recipient(…)")
    }
}

/// `text` without `prefix`, whatever its case.
fn without<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..))
        .flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pasted_forms_lead_to_one_name() {
        let forms = [
            "durov_1",
            "@durov_1",
            "  durov_1\n",
            "t.me/durov_1",
            "T.ME/durov_1",
            "https://t.me/durov_1",
            "http://www.telegram.me/durov_1",
            "https://t.me/durov_1?start=x",
            "t.me/durov_1/12",
            "durov_1#a",
            "t.me/@durov_1",
        ];
        for form in forms {
            assert_eq!(
                Recipient::parse(form).map(|name| name.as_str().to_owned()),
                Ok("durov_1".to_owned()),
                "{form}"
            );
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let long = "a".repeat(33);
        let texts = [
            "",
            "@",
            "abcd",
            "1abcd",
            "_abcd",
            "ab-cd",
            "ab cd",
            "Ян_Ян_Ян",
            "@@durov",
            "t.me/",
            "https://example.com/durov",
            "durov\u{0}",
            "../../x",
            long.as_str(),
            "https://https://t.me/durov",
        ];
        for text in texts {
            assert_eq!(Recipient::parse(text), Err(InvalidRecipient), "{text}");
        }
    }

    #[test]
    fn a_recipient_does_not_print_its_name() {
        let recipient = Recipient::parse("secretname").expect("a valid name");
        assert!(!format!("{recipient:?}").contains("secret"));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_normal(text in "\\PC*") {
            if let Ok(recipient) = Recipient::parse(&text) {
                prop_assert_eq!(Recipient::parse(recipient.as_str()), Ok(recipient.clone()));
            }
        }
    }
}
