//! Groups as a fold over effects. Topics and texts are numbered together, as in a real group, where a topic is its first text.

use std::collections::{BTreeMap, VecDeque};

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::{Entry, Replay};

/// A text that stands in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// From 1, never reused.
    pub id: i64,
    /// The group.
    pub chat_id: i64,
    /// The topic; `None` is the group at large.
    pub topic_id: Option<i64>,
    /// As it came over the wire, markup included.
    pub text: String,
}

/// A topic of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Topic {
    /// From 1, never reused.
    pub id: i64,
    /// The group.
    pub chat_id: i64,
    /// Its name.
    pub name: String,
}

/// One line of `telegram.journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Effect {
    /// A text stands in a group, whatever the caller got to see.
    Sent {
        /// The text.
        sent: Sent,
    },
    /// A topic was made.
    TopicCreated {
        /// The topic.
        topic: Topic,
    },
    /// A topic was renamed.
    TopicRenamed {
        /// Which.
        topic_id: i64,
        /// Its name from now on.
        name: String,
    },
    /// Somebody deleted a topic.
    TopicDeleted {
        /// Which.
        topic_id: i64,
    },
}

#[derive(Debug, Default)]
pub(super) struct State {
    last_id: i64,
    topics: BTreeMap<i64, Topic>,
    /// When each group got its texts, the latest last; no more of them than a minute's limit could need.
    lately: BTreeMap<i64, VecDeque<Timestamp>>,
}

/// Texts of a group that are remembered for its limit.
const REMEMBERED: usize = 1_000;

impl State {
    pub(super) const fn next_id(&self) -> i64 {
        self.last_id.saturating_add(1)
    }

    pub(super) fn topic(&self, id: i64) -> Option<&Topic> {
        self.topics.get(&id)
    }

    /// When each of the latest texts of a group came.
    pub(super) fn lately(&self, chat_id: i64) -> impl DoubleEndedIterator<Item = Timestamp> {
        self.lately.get(&chat_id).into_iter().flatten().copied()
    }
}

impl Replay for State {
    type Effect = Effect;

    fn apply(&mut self, entry: &Entry<Effect>) {
        match &entry.effect {
            Effect::Sent { sent } => {
                self.last_id = self.last_id.max(sent.id);
                let times = self.lately.entry(sent.chat_id).or_default();
                times.push_back(entry.at);
                if times.len() > REMEMBERED {
                    times.pop_front();
                }
            }
            Effect::TopicCreated { topic } => {
                self.last_id = self.last_id.max(topic.id);
                self.topics.insert(topic.id, topic.clone());
            }
            Effect::TopicRenamed { topic_id, name } => {
                if let Some(topic) = self.topics.get_mut(topic_id) {
                    topic.name.clone_from(name);
                }
            }
            Effect::TopicDeleted { topic_id } => {
                self.topics.remove(topic_id);
            }
        }
    }
}
