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
        let name = domain::goods::Recipient::parse(&self.username)
            .map_err(|invalid| Refusal::new(422, invalid.code(), "the recipient is not a Telegram username"))?;
        Ok(Recipient {
            username: name.as_str().to_owned(),
            telegram_user_id: self.telegram_user_id,
        })
    }
}
