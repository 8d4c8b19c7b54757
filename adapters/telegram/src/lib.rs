//! Telegram's Bot API as a channel to operators: one request a call, its answer classified, the text rendered so that nothing that stands
//! in a notice can become markup, a link or a mention.
//!
//! Why apart: the token is part of every address, so no address, no error of the HTTP client and no description of the other side may
//! leave this crate. Nothing here retries, stores or decides.

mod bot;
mod classify;
mod client;
mod options;
mod render;
mod titles;
mod tls;

pub use bot::Bot;
pub use options::{BotOptions, PUBLIC_API, SetupError, is_token};
pub use render::{MAX_UNITS, text};
