//! The keys of an installation: one that seals, and old ones that still open.

use ring::aead::{Aad, Nonce};

use crate::{
    Secret,
    sealing::{DataKey, Place, SealError, data_key::bind},
    token,
};

const FORMAT: u8 = 1;
const NONCE: usize = 12;
const TAG: usize = 16;

/// Seals with the active key, opens with any.
#[expect(missing_debug_implementations, reason = "holds keys")]
#[derive(Clone)]
pub struct KeyRing {
    active: DataKey,
    old: Vec<DataKey>,
}

impl KeyRing {
    /// A ring of one key.
    pub const fn new(active: DataKey) -> Self {
        Self {
            active,
            old: Vec::new(),
        }
    }

    /// Adds a key that only opens.
    #[must_use]
    pub fn with_old(mut self, key: DataKey) -> Self {
        self.old.push(key);
        self
    }

    /// Id of the key that seals.
    pub fn active_id(&self) -> u8 {
        self.active.id()
    }

    /// Whether a sealed value should be sealed again, because an old key sealed it.
    pub fn is_stale(&self, sealed: &[u8]) -> bool {
        sealed.get(1).is_none_or(|id| *id != self.active.id())
    }

    /// Seals a value for its place.
    ///
    /// # Errors
    /// [`SealError::CannotSeal`].
    pub fn seal(&self, place: &Place<'_>, value: &[u8]) -> Result<Vec<u8>, SealError> {
        let id = self.active.id();
        let key = self.active.column_key(place).ok_or(SealError::CannotSeal)?;
        let nonce = token::random_bytes::<NONCE>().map_err(|_| SealError::CannotSeal)?;
        let mut boxed = value.to_vec();
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(binding(id, place)),
            &mut boxed,
        )
        .map_err(|_| SealError::CannotSeal)?;
        let mut sealed = Vec::with_capacity(boxed.len().saturating_add(NONCE).saturating_add(2));
        sealed.extend_from_slice(&[FORMAT, id]);
        sealed.extend_from_slice(&nonce);
        sealed.append(&mut boxed);
        Ok(sealed)
    }

    /// Opens a value at its place.
    ///
    /// # Errors
    /// [`SealError::UnknownFormat`], [`SealError::UnknownKey`] or [`SealError::DoesNotOpen`].
    pub fn open(&self, place: &Place<'_>, sealed: &[u8]) -> Result<Secret<Vec<u8>>, SealError> {
        let (&[format, id], rest) = sealed.split_first_chunk::<2>().ok_or(SealError::UnknownFormat)?;
        let (nonce, boxed) = rest.split_first_chunk::<NONCE>().ok_or(SealError::UnknownFormat)?;
        if format != FORMAT || boxed.len() < TAG {
            return Err(SealError::UnknownFormat);
        }
        let mut outcome = Err(SealError::UnknownKey { key_id: id });
        for key in std::iter::once(&self.active)
            .chain(&self.old)
            .filter(|key| key.id() == id)
        {
            outcome = open_with(key, place, id, *nonce, boxed);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

fn open_with(
    key: &DataKey,
    place: &Place<'_>,
    id: u8,
    nonce: [u8; NONCE],
    boxed: &[u8],
) -> Result<Secret<Vec<u8>>, SealError> {
    let key = key.column_key(place).ok_or(SealError::DoesNotOpen)?;
    let mut work = Secret::new(boxed.to_vec());
    let value = key
        .open_in_place(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(binding(id, place)),
            work.expose_mut(),
        )
        .map_err(|_| SealError::DoesNotOpen)?;
    Ok(Secret::new(value.to_vec()))
}

/// What is authenticated beside the value.
fn binding(id: u8, place: &Place<'_>) -> Vec<u8> {
    let mut bytes = vec![FORMAT, id];
    for part in [place.table, place.column, place.row] {
        bind(&mut bytes, part);
    }
    bytes
}
