//! Answers given to keyed requests. An answer is written by the same statement as the effect it answers for, so a repeated
//! request finds either both or neither.

use domain::ids::IdempotencyKey;
use serde_json::Value;

/// A request that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    /// Whose key it is: keys are unique per principal.
    pub principal: String,
    /// As the caller chose it.
    pub key: IdempotencyKey,
    /// SHA-256 over method, route, path and canonical body.
    pub fingerprint: [u8; 32],
}

/// What the first request was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// HTTP status, 200 to 599.
    pub status: u16,
    /// The body.
    pub body: Value,
}
