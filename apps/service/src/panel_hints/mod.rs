//! Hints of the panel: taken in, stored, and turned into a look at the user that they name. A hint never changes anything by itself, so a
//! forged, repeated, late or reordered one costs at most a look.

mod intake;
mod process;

pub use intake::HintCall;
pub use process::{HintOutcome, HintReport};
