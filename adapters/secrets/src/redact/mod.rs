//! Takes secrets and personal data out of what people get to read: last errors, notices, log lines.
//!
//! A net, not a licence: adapters keep bodies, addresses and tokens out of their errors in the first place. It prefers to hide too much.

mod line;
mod structured;
mod text;
mod url;

pub use line::line;
pub use structured::json;
pub use text::text;
pub use url::address;

/// What stands in the place of what was taken out.
pub const REDACTED: &str = "[redacted]";

#[cfg(test)]
mod tests;
