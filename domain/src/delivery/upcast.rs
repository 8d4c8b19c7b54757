//! Steps from older versions of these events, oldest first. A shape that has landed is never edited: it gets a step.

use crate::upcast::Step;

/// No shape has changed yet.
pub(crate) const STEPS: &[Step] = &[];
