//! A field of a request that is left out, emptied, or set: three different things to the panel.

use serde::{Serialize, Serializer};

/// What a request says about one field. Use with `skip_serializing_if = "Explicit::is_kept"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explicit<T> {
    /// Not sent: the panel keeps what it has.
    Keep,
    /// Sent, and so replaced.
    Set(T),
}

impl<T> Explicit<T> {
    pub(crate) const fn is_kept(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T: Serialize> Serialize for Explicit<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}
