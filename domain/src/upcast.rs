//! Steps that bring stored events of an older version to today's form. They change JSON only: the old Rust shape is gone.
//!
//! Versions are plain numbers, one more with each step. The list of an aggregate is read once from the front, so it is in ascending order.

use cqrs_es::persist::{EventUpcaster, SerializedEvent};
use serde_json::Value;

/// One step of one event type: from version `from` to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// As stored, `order.placed`. A step that renames changes the payload's `type`, which alone decides how it is read.
    pub(crate) event_type: &'static str,
    /// The version that it takes.
    pub(crate) from: u32,
    /// What it does to a payload. Total: a payload that it does not understand comes back as it was, and fails to be read.
    pub(crate) change: fn(Value) -> Value,
}

/// The list that a store folds over.
pub(crate) fn upcasters(steps: &[Step]) -> Vec<Box<dyn EventUpcaster>> {
    let boxed = |step: &Step| -> Box<dyn EventUpcaster> { Box::new(*step) };
    steps.iter().map(boxed).collect()
}

impl EventUpcaster for Step {
    fn can_upcast(&self, event_type: &str, event_version: &str) -> bool {
        event_type == self.event_type && event_version.parse() == Ok(self.from)
    }

    fn upcast(&self, event: SerializedEvent) -> SerializedEvent {
        let event_version = self.from.saturating_add(1).to_string();
        SerializedEvent {
            event_version,
            payload: (self.change)(event.payload),
            ..event
        }
    }
}

#[cfg(test)]
mod tests;
