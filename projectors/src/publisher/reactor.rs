//! What becomes of an outbox row: a pure function of the row, one for each topic.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use queue::{BulkJob, JobArgs, QueueError, bulk_row};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::outbox::Pending;

/// Something that handing a row over does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A job, unless an equal one is live.
    Job(BulkJob),
    /// A notice to operators, unless there is one of the same kind and key.
    Notice(Notice),
}

/// What operators are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// As `purchase`.
    pub kind: &'static str,
    /// Once per kind and key.
    pub dedupe_key: String,
    /// Ids and amounts; no personal data.
    pub payload: Value,
}

/// Why a row cannot be handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Stable machine value.
    pub code: &'static str,
    /// What is wrong; no payload.
    pub detail: String,
}

impl From<QueueError> for Refused {
    fn from(error: QueueError) -> Self {
        Self {
            code: "job_not_encodable",
            detail: error.code().to_owned(),
        }
    }
}

/// A reactor: no clock, no database, the same row always has the same effects.
pub type React = fn(&Pending) -> Result<Vec<Effect>, Refused>;

/// What is registered for a topic.
#[derive(Clone, Copy, Debug)]
enum Consumer {
    React(React),
    /// Nobody in this product wants it, and that is known.
    Nobody,
}

/// The reactors of all topics.
#[derive(Clone, Debug, Default)]
pub struct Reactors {
    by_topic: BTreeMap<&'static str, Consumer>,
}

impl Reactors {
    /// None at all: every row is refused.
    pub const fn none() -> Self {
        Self {
            by_topic: BTreeMap::new(),
        }
    }

    /// Registers the reactor of a topic.
    #[must_use]
    pub fn with(mut self, topic: &'static str, react: React) -> Self {
        self.by_topic.insert(topic, Consumer::React(react));
        self
    }

    /// Says that nobody consumes a topic here: its rows are published without effect.
    #[must_use]
    pub fn without_consumer(mut self, topic: &'static str) -> Self {
        self.by_topic.insert(topic, Consumer::Nobody);
        self
    }

    /// Whether something is registered for the topic.
    pub fn knows(&self, topic: &str) -> bool {
        self.by_topic.contains_key(topic)
    }

    /// The effects of a row. A panic is a refusal like any other.
    pub(super) fn react(&self, row: &Pending) -> Result<Vec<Effect>, Refused> {
        match self.by_topic.get(row.topic.as_str()) {
            Some(Consumer::React(react)) => catch_unwind(AssertUnwindSafe(|| react(row))).unwrap_or_else(|_| {
                Err(Refused {
                    code: "reactor_panicked",
                    detail: format!("the reactor of `{}` panicked", row.topic),
                })
            }),
            Some(Consumer::Nobody) => Ok(Vec::new()),
            None => Err(Refused {
                code: "topic_unknown",
                detail: format!("no reactor for `{}`", row.topic),
            }),
        }
    }
}

/// The payload of a row as its topic's type.
///
/// # Errors
/// `payload_unreadable`.
pub fn payload<T: DeserializeOwned>(row: &Pending) -> Result<T, Refused> {
    serde_json::from_str(&row.payload).map_err(|error| Refused {
        code: "payload_unreadable",
        // The error's own text may quote the payload.
        detail: format!("{:?} error at column {}", error.classify(), error.column()),
    })
}

/// A job that carries the row's headers as its metadata: they are no part of what makes it unique.
///
/// # Errors
/// Arguments that River refuses, or headers that are no object.
pub fn job<A: JobArgs>(row: &Pending, args: &A) -> Result<Effect, Refused> {
    let mut job = bulk_row(args, &Map::new())?;
    job.metadata_json = metadata(row)?;
    Ok(Effect::Job(job))
}

/// The headers with the row's id among them. They come from a `jsonb` column, so text that is bracketed like an object is one.
fn metadata(row: &Pending) -> Result<String, Refused> {
    let inside = row
        .headers
        .trim()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let inside = inside.map(str::trim).ok_or_else(|| Refused {
        code: "headers_unreadable",
        detail: "the headers are no object".to_owned(),
    })?;
    let separator = if inside.is_empty() { "" } else { "," };
    Ok(format!("{{{inside}{separator}\"outboxId\":{}}}", row.id))
}
