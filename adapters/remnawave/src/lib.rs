//! Client of a Remnawave panel, 3.0.0 or later.
//!
//! Why apart: everything that is known of the panel's wire is here, and nothing else is. One call of the port is one request; the
//! client never repeats one, follows no redirect and reads no more than a bound of any answer. No error holds a body, a URL or a
//! token. Users are addressed by their numeric id; a 404 means "no such user" only when the panel itself says so.

mod classify;
mod client;
mod config;
mod explicit;
mod panel;
mod tls;
mod version;
pub mod webhook;
mod wire;

pub use config::{Config, ConfigError};
pub use panel::{Remnawave, Squad};
pub use webhook::Webhooks;
