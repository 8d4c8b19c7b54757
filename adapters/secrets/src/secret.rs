//! A value that cannot be printed, logged or serialised by accident.

use serde::{Deserialize, Deserializer};
use zeroize::Zeroize;

use crate::digest;

/// A secret. It has no `Debug`, no `Display` and no `Serialize`, and its memory is overwritten when it is dropped; the value is read only
/// by a visible [`Secret::expose`].
///
/// ```compile_fail
/// println!("{:?}", secrets::Secret::from("token"));
/// ```
/// ```compile_fail
/// println!("{}", secrets::Secret::from("token"));
/// ```
/// ```compile_fail
/// fn needs<T: serde::Serialize>(_: T) {}
/// needs(secrets::Secret::from("token"));
/// ```
#[expect(missing_debug_implementations, reason = "printing a secret must not compile")]
#[derive(Clone)]
pub struct Secret<T: Zeroize = String>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes a value into custody.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value. Every use is a place to review.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    pub(crate) const fn expose_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Zeroize + AsRef<[u8]>> Secret<T> {
    /// Whether a presented value is this secret. Takes the same time wherever they differ and whatever their lengths are.
    pub fn matches(&self, presented: impl AsRef<[u8]>) -> bool {
        let ours = digest::sha256(self.0.as_ref());
        let theirs = digest::sha256(presented.as_ref());
        digest::constant_time_eq(&ours, &theirs)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_empty()
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl From<String> for Secret<String> {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl<'de, T: Zeroize + Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn matches_only_itself() {
        let secret = Secret::from("correct horse");
        assert!(secret.matches("correct horse"));
        for other in ["", "correct hors", "correct horse ", "Correct horse", "correct horsf"] {
            assert!(!secret.matches(other), "{other:?}");
        }
    }

    #[test]
    fn reads_itself_from_json() {
        let secret: Result<Secret, _> = serde_json::from_str("\"abc\"");
        assert!(secret.is_ok_and(|it| it.expose() == "abc"));
    }
}
