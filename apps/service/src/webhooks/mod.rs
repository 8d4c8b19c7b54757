//! Calls of payment providers: stored before anything else, then processed by one path, at once and again by a pass.

mod forgeries;
mod intake;
mod process;
mod told;

pub(crate) use forgeries::{A_MINUTE, Forgeries};
pub(crate) use intake::hex;
pub use intake::{Received, WebhookCall};
pub use process::{ProcessReport, Processed};
