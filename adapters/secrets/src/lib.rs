//! Secrets: a type that cannot be printed by accident, sealing of stored values, keyed digests, tokens, and the redactor of free text.
//!
//! Why apart: everything that must not leak goes through few small files, on `ring` only. Nothing here reads configuration, talks to the
//! network or logs.

pub mod digest;
pub mod redact;
pub mod sealing;
mod secret;
pub mod token;

pub use digest::{constant_time_eq, hmac_sha256, sha256, verify_hmac_sha256};
pub use sealing::{DataKey, KeyRing, Place, SealError};
pub use secret::Secret;
