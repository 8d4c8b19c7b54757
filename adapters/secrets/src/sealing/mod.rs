//! Sealing of stored values: AES-256-GCM, bound to the place where the value lives.
//!
//! Form: one format byte, one key id byte, 12 bytes nonce, ciphertext with its 16-byte tag. The key of a value is derived (HKDF-SHA-256)
//! from the data key for its table and column; table, column and row are authenticated with it, so a ciphertext that is moved to another
//! column or row does not open. The key id follows from the key, so that a ring of old and new keys needs no numbering by hand.

mod data_key;
mod key_ring;

pub use data_key::{DataKey, InvalidDataKey};
pub use key_ring::KeyRing;

/// Where a sealed value lives. The parts are bound with their lengths: no two places share a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its table.
    pub table: &'a str,
    /// Its column.
    pub column: &'a str,
    /// The row's key as text.
    pub row: &'a str,
}

/// Why a value was not sealed or opened. Says nothing about the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Too short, or of another format.
    #[error("not a sealed value of a known format")]
    UnknownFormat,
    /// Sealed under a key that the ring does not hold.
    #[error("the value is sealed under key {key_id}, which is not in the ring")]
    UnknownKey {
        /// The id in the value.
        key_id: u8,
    },
    /// Altered, or sealed for another table, column or row, or under another key.
    #[error("the sealed value does not open here")]
    DoesNotOpen,
    /// The operating system gave no randomness, or the value is too long.
    #[error("the value cannot be sealed")]
    CannotSeal,
}

impl SealError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnknownFormat => "sealed_format_unknown",
            Self::UnknownKey { .. } => "sealed_key_unknown",
            Self::DoesNotOpen => "sealed_value_does_not_open",
            Self::CannotSeal => "sealing_failed",
        }
    }
}

#[cfg(test)]
mod tests;
