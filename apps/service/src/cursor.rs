//! Cursors of lists: opaque to whoever sends them back. Each names the last item of its page, so nothing is missed or shown twice however
//! much is added meanwhile.

use std::fmt;

use uuid::Uuid;

use crate::Refusal;

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// A list of the queue's jobs.
    Job(i64),
    /// A list of operations.
    Operation(Uuid),
    /// A list of the audit trail.
    Audit(i64),
    /// A list of dead letters.
    DeadLetter(i64),
}

impl Cursor {
    /// A job.
    ///
    /// # Errors
    /// `invalid_cursor` (400) for a text that no list of jobs gave.
    pub fn job(text: &str) -> Result<i64, Refusal> {
        number(text, 'j')
    }

    /// An operation.
    ///
    /// # Errors
    /// `invalid_cursor` (400) for a text that no list of operations gave.
    pub fn operation(text: &str) -> Result<Uuid, Refusal> {
        let digits = text.strip_prefix('o').filter(|digits| digits.len() == 32);
        digits.and_then(|digits| digits.parse().ok()).ok_or(INVALID)
    }

    /// A record of the audit trail.
    ///
    /// # Errors
    /// `invalid_cursor` (400) for a text that no list of the audit trail gave.
    pub fn audit(text: &str) -> Result<i64, Refusal> {
        number(text, 'a')
    }

    /// A dead letter.
    ///
    /// # Errors
    /// `invalid_cursor` (400) for a text that no list of dead letters gave.
    pub fn dead_letter(text: &str) -> Result<i64, Refusal> {
        number(text, 'd')
    }
}

const INVALID: Refusal = Refusal::new(400, "invalid_cursor", "the cursor is not one that this list gave");

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(id) => write!(f, "j{id:016x}"),
            Self::Operation(id) => write!(f, "o{}", id.simple()),
            Self::Audit(id) => write!(f, "a{id:016x}"),
            Self::DeadLetter(id) => write!(f, "d{id:016x}"),
        }
    }
}

fn number(text: &str, list: char) -> Result<i64, Refusal> {
    let is_hex = |digits: &&str| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.strip_prefix(list)
        .filter(is_hex)
        .and_then(|digits| i64::from_str_radix(digits, 16).ok())
        .filter(|number| *number >= 0)
        .ok_or(INVALID)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_reads_back_on_its_own_list_only(number in 0..=i64::MAX, bits: u128) {
            let id = Uuid::from_u128(bits);
            prop_assert_eq!(Cursor::job(&Cursor::Job(number).to_string()), Ok(number));
            prop_assert_eq!(Cursor::audit(&Cursor::Audit(number).to_string()), Ok(number));
            prop_assert_eq!(Cursor::dead_letter(&Cursor::DeadLetter(number).to_string()), Ok(number));
            prop_assert_eq!(Cursor::operation(&Cursor::Operation(id).to_string()), Ok(id));
            prop_assert!(Cursor::job(&Cursor::Audit(number).to_string()).is_err());
            prop_assert!(Cursor::operation(&Cursor::Job(number).to_string()).is_err());
        }

        #[test]
        fn any_other_text_is_refused_and_never_panics(text in "\\PC{0,40}") {
            let known = ["j", "a", "d", "o"].iter().any(|list| text.starts_with(list));
            prop_assume!(!known);
            prop_assert!(Cursor::job(&text).is_err() && Cursor::operation(&text).is_err());
        }
    }

    #[test]
    fn near_misses_are_refused() {
        for text in [
            "",
            "j",
            "j1",
            "j00000000000000zz",
            "j8000000000000000",
            "j+000000000000001",
            "j0000000000000001x",
        ] {
            assert!(Cursor::job(text).is_err(), "{text}");
        }
        for text in [
            "o",
            "o0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "o0190a1b2c3d47e5f8a9b0c1d2e3f4a5",
        ] {
            assert!(Cursor::operation(text).is_err(), "{text}");
        }
    }
}
