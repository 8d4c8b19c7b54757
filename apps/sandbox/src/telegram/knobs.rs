//! What a test may set about the groups. Kept in memory.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::OPERATOR_GROUP;

/// Settings of the simulated Bot API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TelegramKnobs {
    /// The groups there are.
    pub groups: Vec<GroupKnobs>,
    /// Texts that a group takes in any minute before it answers 429; `None` is any number.
    pub texts_per_minute: Option<u32>,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupKnobs {
    /// Negative.
    pub id: i64,
    /// The bot was let in and not removed.
    pub is_member: bool,
    /// The group has topics.
    pub is_forum: bool,
    /// The bot may make topics.
    pub can_manage_topics: bool,
    /// The group became another one.
    pub moved_to: Option<i64>,
}

impl GroupKnobs {
    /// A group in which everything is allowed.
    pub const fn open(id: i64) -> Self {
        Self {
            id,
            is_member: true,
            is_forum: true,
            can_manage_topics: true,
            moved_to: None,
        }
    }
}

impl Default for TelegramKnobs {
    fn default() -> Self {
        Self {
            groups: vec![GroupKnobs::open(OPERATOR_GROUP)],
            texts_per_minute: None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct KnobCell(Mutex<TelegramKnobs>);

impl KnobCell {
    pub(super) fn get(&self) -> TelegramKnobs {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, knobs: TelegramKnobs) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = knobs;
    }
}
