//! Bringing stored events of older versions to today's form, oldest step first.

use cqrs_es::persist::EventUpcaster;

/// No shape has changed yet.
pub(super) fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
    Vec::new()
}
