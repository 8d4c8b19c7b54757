//! What was asked of the simulators lately, reads and refusals included. In memory: the journals are the truth about effects.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::faults::SimulatorName;

/// How many are kept.
const KEPT: usize = 10_000;

/// One request, as it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenRequest {
    pub simulator: SimulatorName,
    /// When it had arrived whole.
    pub at: Timestamp,
    pub method: String,
    /// Without the query.
    pub path: String,
    /// What was answered; `None` when the connection was reset.
    pub status: Option<u16>,
    /// A fault met it.
    pub faulty: bool,
}

/// The latest requests, oldest first.
#[derive(Debug, Default)]
pub(crate) struct RequestLog(Mutex<VecDeque<SeenRequest>>);

impl RequestLog {
    pub(crate) fn add(&self, request: SeenRequest) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(request);
    }

    pub(crate) fn all(&self) -> Vec<SeenRequest> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}
