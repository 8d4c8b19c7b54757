//! What a person says about a window: why, and what customers are told meanwhile.

use crate::{
    aggregate::Rejection,
    time::{Timestamp, to_stored_precision, within_calendar},
};

/// Most characters of a reason.
pub const REASON_LIMIT: usize = 200;

/// Most characters of a notice.
pub const NOTICE_LIMIT: usize = 1_000;

/// Checked words about a window. Notices are plain text: who shows them escapes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    reason: String,
    notice_ru: String,
    notice_en: String,
    expected_return_at: Option<Timestamp>,
}

/// Why an announcement cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// More than [`REASON_LIMIT`] characters.
    #[error("a reason has at most 200 characters")]
    ReasonTooLong,
    /// More than [`NOTICE_LIMIT`] characters.
    #[error("a notice has at most 1000 characters")]
    NoticeTooLong,
    /// Characters that steer a terminal or cannot be stored. A notice may hold line breaks.
    #[error("control characters are not allowed")]
    ControlCharacter,
    /// A return that is not ahead, or that no calendar holds.
    #[error("the expected return has to lie ahead")]
    ReturnNotAhead,
}

impl Rejection for Rejected {
    fn code(&self) -> &'static str {
        match self {
            Self::ReasonTooLong => "reason_too_long",
            Self::NoticeTooLong => "notice_too_long",
            Self::ControlCharacter => "control_character",
            Self::ReturnNotAhead => "return_not_ahead",
        }
    }
}

impl Announcement {
    /// Checks and trims the words. `now` is the time of the command.
    ///
    /// # Errors
    /// [`Rejected`], the first rule that does not hold.
    pub fn new(
        reason: &str,
        notice_ru: &str,
        notice_en: &str,
        expected_return_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Self, Rejected> {
        let (reason, notice_ru, notice_en) = (reason.trim(), notice_ru.trim(), notice_en.trim());
        if reason.chars().count() > REASON_LIMIT {
            return Err(Rejected::ReasonTooLong);
        }
        if [notice_ru, notice_en]
            .iter()
            .any(|notice| notice.chars().count() > NOTICE_LIMIT)
        {
            return Err(Rejected::NoticeTooLong);
        }
        let steers = |text: &str, line_breaks: bool| {
            text.chars()
                .any(|letter| letter.is_control() && !(line_breaks && letter == '\n'))
        };
        if steers(reason, false) || steers(notice_ru, true) || steers(notice_en, true) {
            return Err(Rejected::ControlCharacter);
        }
        let expected_return_at = expected_return_at.map(to_stored_precision);
        if expected_return_at.is_some_and(|at| at <= now || !within_calendar(at)) {
            return Err(Rejected::ReturnNotAhead);
        }
        Ok(Self {
            reason: reason.to_owned(),
            notice_ru: notice_ru.to_owned(),
            notice_en: notice_en.to_owned(),
            expected_return_at,
        })
    }

    /// Only a reason: what a transition says that nobody asked for.
    pub fn automatic(reason: &'static str) -> Self {
        Self {
            reason: reason.to_owned(),
            ..Self::default()
        }
    }

    /// Why the window is open or was closed; may be empty.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What customers read in Russian; empty is the built-in text.
    pub fn notice_ru(&self) -> &str {
        &self.notice_ru
    }

    /// What customers read in English; empty is the built-in text.
    pub fn notice_en(&self) -> &str {
        &self.notice_en
    }

    /// When the shop is expected to open again.
    pub const fn expected_return_at(&self) -> Option<Timestamp> {
        self.expected_return_at
    }
}
