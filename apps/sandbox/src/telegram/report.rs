//! The oracle: which texts stand in the groups, and which of them twice. Whoever judges sends no two equal texts on purpose.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Effect, Sent, Topic};
use crate::{SandboxError, journal};

/// The Bot API's journal, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TelegramReport {
    /// Every text, oldest first.
    pub texts: Vec<Sent>,
    /// Every topic that was ever made and its name, oldest first.
    pub topics: Vec<Topic>,
    /// Topics that were deleted.
    pub deleted_topics: Vec<i64>,
    /// Texts beyond the first that are equal to another of their group.
    pub duplicates: u64,
}

impl TelegramReport {
    /// How many texts hold these words.
    pub fn holding(&self, words: &str) -> usize {
        self.texts.iter().filter(|sent| sent.text.contains(words)).count()
    }
}

/// Reads the Bot API's journal of a data directory. A sandbox may be running on it.
///
/// # Errors
/// The journal cannot be read.
pub fn telegram_report(data_dir: &Path) -> Result<TelegramReport, SandboxError> {
    of_journal(&journal::path(&journal::dir(data_dir), "telegram"))
}

pub(super) fn of_journal(path: &Path) -> Result<TelegramReport, SandboxError> {
    let mut report = TelegramReport::default();
    let mut copies: BTreeMap<(i64, String), u64> = BTreeMap::new();
    journal::read_entries::<Effect>(path, |entry| match &entry.effect {
        Effect::Sent { sent } => {
            let count = copies.entry((sent.chat_id, sent.text.clone())).or_default();
            *count = count.saturating_add(1);
            report.texts.push(sent.clone());
        }
        Effect::TopicCreated { topic } => report.topics.push(topic.clone()),
        Effect::TopicRenamed { topic_id, name } => {
            if let Some(topic) = report.topics.iter_mut().find(|topic| topic.id == *topic_id) {
                topic.name.clone_from(name);
            }
        }
        Effect::TopicDeleted { topic_id } => report.deleted_topics.push(*topic_id),
    })?;
    report.duplicates = copies.values().map(|count| count.saturating_sub(1)).sum();
    Ok(report)
}
