//! Users as a fold over effects. Ids grow for ever, deleted ones included: an id never means two users.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::user::User;
use crate::journal::{Entry, Replay};

/// One line of `panel.journal.jsonl`. A user is recorded whole, as it is after the effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    UserCreated {
        user: User,
    },
    UserPatched {
        user: User,
    },
    UserEnabled {
        user: User,
    },
    UserDisabled {
        user: User,
    },
    TrafficReset {
        user: User,
    },
    UserDeleted {
        id: i64,
    },
    /// By a test, in place of real use.
    TrafficSet {
        user: User,
    },
}

impl Effect {
    /// The call behind it, for counts.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::UserCreated { .. } => "create",
            Self::UserPatched { .. } => "update",
            Self::UserEnabled { .. } => "enable",
            Self::UserDisabled { .. } => "disable",
            Self::TrafficReset { .. } => "reset_traffic",
            Self::UserDeleted { .. } => "delete",
            Self::TrafficSet { .. } => "set_traffic",
        }
    }

    /// The user after it; `None` when it is gone.
    pub const fn user(&self) -> Option<&User> {
        match self {
            Self::UserCreated { user }
            | Self::UserPatched { user }
            | Self::UserEnabled { user }
            | Self::UserDisabled { user }
            | Self::TrafficReset { user }
            | Self::TrafficSet { user } => Some(user),
            Self::UserDeleted { .. } => None,
        }
    }
}

/// All users of the simulator.
#[derive(Debug, Default)]
pub(super) struct State {
    users: BTreeMap<i64, User>,
    by_username: HashMap<String, i64>,
    by_short_uuid: HashMap<String, i64>,
    last_id: i64,
}

impl State {
    pub(super) const fn next_id(&self) -> i64 {
        self.last_id.saturating_add(1)
    }

    pub(super) fn get(&self, id: i64) -> Option<&User> {
        self.users.get(&id)
    }

    pub(super) fn by_username(&self, username: &str) -> Option<&User> {
        self.by_username.get(username).and_then(|id| self.users.get(id))
    }

    pub(super) fn by_short_uuid(&self, short_uuid: &str) -> Option<&User> {
        self.by_short_uuid.get(short_uuid).and_then(|id| self.users.get(id))
    }

    /// Users with a greater id, ascending.
    pub(super) fn after(&self, id: i64) -> impl Iterator<Item = &User> {
        self.users.range(id.saturating_add(1)..).map(|(_, user)| user)
    }

    pub(super) fn len(&self) -> usize {
        self.users.len()
    }
}

impl Replay for State {
    type Effect = Effect;

    fn apply(&mut self, entry: &Entry<Effect>) {
        match &entry.effect {
            Effect::UserDeleted { id } => {
                if let Some(user) = self.users.remove(id) {
                    self.by_username.remove(&user.username);
                    self.by_short_uuid.remove(&user.short_uuid);
                }
            }
            effect => {
                if let Some(user) = effect.user() {
                    self.last_id = self.last_id.max(user.id);
                    self.by_username.insert(user.username.clone(), user.id);
                    self.by_short_uuid.insert(user.short_uuid.clone(), user.id);
                    self.users.insert(user.id, user.clone());
                }
            }
        }
    }
}
