//! The link between the events of a stream: SHA-256(previous link ‖ RFC 8785 JSON of the event's seven stored columns).
//!
//! It is taken over what is stored, before upcasting. The payload and the metadata come in canonical form already (made once, used for
//! the insert as well), so the rest of the JSON is a fixed envelope whose keys are in order as they stand here.

use ring::digest::{Context, SHA256};

/// A link of the chain.
pub type Hash = [u8; 32];

/// What the first event of a stream links to.
pub const GENESIS: Hash = [0; 32];

/// An event as it is hashed.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// As stored.
    pub aggregate_type: &'a str,
    /// As stored.
    pub aggregate_id: &'a str,
    /// From 1.
    pub sequence: i64,
    /// As stored.
    pub event_type: &'a str,
    /// As stored.
    pub event_version: &'a str,
    /// Canonical JSON.
    pub payload: &'a str,
    /// Canonical JSON.
    pub metadata: &'a str,
}

/// The link of an event to the one before it.
pub fn link(previous: &Hash, event: &Envelope<'_>) -> Hash {
    let mut digest = Context::new(&SHA256);
    digest.update(previous);
    digest.update(br#"{"aggregate_id":"#);
    quoted(&mut digest, event.aggregate_id);
    digest.update(br#","aggregate_type":"#);
    quoted(&mut digest, event.aggregate_type);
    digest.update(br#","event_type":"#);
    quoted(&mut digest, event.event_type);
    digest.update(br#","event_version":"#);
    quoted(&mut digest, event.event_version);
    digest.update(br#","metadata":"#);
    digest.update(event.metadata.as_bytes());
    digest.update(br#","payload":"#);
    digest.update(event.payload.as_bytes());
    digest.update(br#","sequence":"#);
    digest.update(event.sequence.to_string().as_bytes());
    digest.update(b"}");
    let mut hash = GENESIS;
    for (to, from) in hash.iter_mut().zip(digest.finish().as_ref()) {
        *to = *from;
    }
    hash
}

/// A JSON string. Ours never need an escape; a foreign writer's might.
fn quoted(digest: &mut Context, text: &str) {
    let plain = text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if plain {
        digest.update(b"\"");
        digest.update(text.as_bytes());
        digest.update(b"\"");
    } else {
        digest.update(serde_json_canonicalizer::to_vec(&text).unwrap_or_default().as_slice());
    }
}

#[cfg(test)]
mod tests;
