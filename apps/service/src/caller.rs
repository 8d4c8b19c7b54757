//! Who asks, and as part of what.

use domain::{log::Metadata, time::Timestamp};
use serde_json::{Map, Value};
use store::audit::{self, Category, Outcome, Target};

/// The caller of a use case. Ids only: nothing personal gets into the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// `customer:<id>`, `operator:<id>`, `provider:<name>`, `system:<pass or worker>`.
    pub actor: String,
    /// Ties together everything that one request sets off: the id of the request.
    pub correlation_id: String,
    /// The direct cause, where it is another thing than the request: `webhook:<id>`, `job:<id>`.
    pub causation_id: Option<String>,
    /// Why, where a person had to say so.
    pub reason: Option<String>,
}

impl Caller {
    /// A caller that acts by itself.
    pub fn new(actor: impl Into<String>, correlation_id: impl Into<String>) -> Self {
        Self {
            actor: actor.into(),
            correlation_id: correlation_id.into(),
            causation_id: None,
            reason: None,
        }
    }

    /// With the direct cause.
    #[must_use]
    pub fn caused_by(mut self, causation_id: impl Into<String>) -> Self {
        self.causation_id = Some(causation_id.into());
        self
    }

    /// With a person's reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// With a person's reason, where one was given.
    #[must_use]
    pub fn with_reason(mut self, reason: Option<String>) -> Self {
        self.reason = reason;
        self
    }

    /// The audit record of a change that this caller made, to be written by [`audit::record_in`] in the transaction of the change.
    /// `facts` is a JSON object of ids and states; anything else counts as none.
    pub fn audit<'a>(
        &'a self,
        action: &'a str,
        category: Category,
        target: Target<'a>,
        facts: Value,
        at: Timestamp,
    ) -> audit::Entry<'a> {
        let metadata = match facts {
            Value::Object(metadata) => metadata,
            _ => Map::new(),
        };
        audit::Entry {
            actor: &self.actor,
            action,
            category,
            outcome: Outcome::Success,
            target,
            reason: self.reason.as_deref(),
            request_id: &self.correlation_id,
            metadata,
            at,
        }
    }

    /// What travels beside the events of a command at `at`.
    pub fn metadata(&self, at: Timestamp) -> Metadata {
        Metadata {
            correlation_id: self.correlation_id.clone(),
            causation_id: self.causation_id.clone(),
            actor: self.actor.clone(),
            reason: self.reason.clone(),
            at,
        }
    }
}
