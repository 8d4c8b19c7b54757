//! Events as the log holds them.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What travels beside an event: who did it, why, as part of what. Ids only, never personal data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Ties together everything that one request set off.
    pub correlation_id: String,
    /// The direct cause: a request id, `outbox:<id>`, `job:<operation id>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// Who acted: `customer:<id>`, `operator:<id>`, `provider:<name>`, `system:<pass or worker>`.
    pub actor: String,
    /// Why, where a person had to say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The command's own time.
    pub at: Timestamp,
}

/// One event of the log together with its place, as those who follow one kind of stream read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<E> {
    /// Place in the whole log.
    pub position: i64,
    /// The stream's id.
    pub aggregate_id: String,
    /// Place in the stream, from 1.
    pub sequence: i64,
    /// The event, in today's form.
    pub event: E,
}
