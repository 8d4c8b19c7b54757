//! The installation's data key.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    aead::{AES_256_GCM, LessSafeKey, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
};

use crate::{Secret, digest, sealing::Place};

const SALT: &[u8] = b"omniflow/seal/1";
const ID_LABEL: &[u8] = b"omniflow/key-id/1";

/// The text is not standard base64 of exactly 32 bytes. Does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a data key is standard base64 of exactly 32 bytes (`openssl rand -base64 32` makes one)")]
pub struct InvalidDataKey;

/// 32 bytes from which every sealing key is derived.
#[expect(missing_debug_implementations, reason = "printing a secret must not compile")]
#[derive(Clone)]
pub struct DataKey(Secret<[u8; 32]>);

impl DataKey {
    /// A key from its bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// Reads `APP_DATA_ENCRYPTION_KEY`.
    ///
    /// # Errors
    /// [`InvalidDataKey`] for anything but standard base64, padded, of exactly 32 bytes.
    pub fn parse(text: &str) -> Result<Self, InvalidDataKey> {
        let bytes = Secret::new(STANDARD.decode(text).map_err(|_| InvalidDataKey)?);
        let exact = <[u8; 32]>::try_from(bytes.expose().as_slice()).map_err(|_| InvalidDataKey)?;
        Ok(Self::new(exact))
    }

    /// A fresh key and its text, for a generated configuration.
    ///
    /// # Errors
    /// [`crate::token::RandomUnavailable`].
    pub fn generate() -> Result<(Self, Secret), crate::token::RandomUnavailable> {
        let bytes = crate::token::random_bytes::<32>()?;
        Ok((Self::new(bytes), Secret::new(STANDARD.encode(bytes))))
    }

    /// The byte that names this key inside sealed values. Two keys may share one; opening tries each of them.
    pub fn id(&self) -> u8 {
        let [id, ..] = digest::hmac_sha256(self.0.expose(), ID_LABEL);
        id
    }

    /// The key for one column.
    pub(super) fn column_key(&self, place: &Place<'_>) -> Option<LessSafeKey> {
        let mut info = Vec::new();
        bind(&mut info, place.table);
        bind(&mut info, place.column);
        let root = Salt::new(HKDF_SHA256, SALT).extract(self.0.expose());
        let parts = [info.as_slice()];
        let derived = root.expand(&parts, &AES_256_GCM).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(derived)))
    }
}

/// Appends a text with its length in front.
pub(super) fn bind(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
    to.extend_from_slice(text.as_bytes());
}
