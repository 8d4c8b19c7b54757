//! Calls of payment providers: stored before anything else, then processed by one path, at once and again by a pass.

mod intake;
mod process;
mod told;

pub use intake::{Received, WebhookCall};
pub use process::{ProcessReport, Processed};
