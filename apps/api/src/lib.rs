//! The HTTP door: routes, their documents, and nothing that decides.
//!
//! A handler parses, calls one use case and maps its answer. SQL and domain rules are not written here. Every error leaves as an
//! RFC 9457 problem with a stable code; its inner detail is logged once, in `problem.rs`, and never sent.

mod envelope;
mod extract;
pub mod health;
mod openapi;
mod problem;
mod routes;
mod serve;
mod state;

pub use openapi::document;
pub use routes::router;
pub use serve::serve;
pub use state::ApiState;
