//! Digests, keyed digests and comparison in constant time.

use ring::{digest, hmac};
use subtle::ConstantTimeEq as _;

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    fixed(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// HMAC-SHA-256 of a text under a key of any length.
pub fn hmac_sha256(key: &[u8], text: &[u8]) -> [u8; 32] {
    fixed(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref())
}

/// Whether `tag` is the HMAC-SHA-256 of a text under a key, in constant time. A shortened tag is refused.
pub fn verify_hmac_sha256(key: &[u8], text: &[u8], tag: &[u8]) -> bool {
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), text, tag).is_ok()
}

/// Equality of two byte strings; the time taken tells at most whether their lengths are equal.
pub fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0x0f])
        .filter_map(|nibble| char::from_digit(u32::from(nibble), 16))
        .collect()
}

/// Reads exactly `N` bytes of lower-case hex. Upper case is refused on purpose: where a signature is spelt in hex there is one spelling of
/// it, so that a signed text cannot be presented under two.
pub fn from_hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    if text.len() != N.checked_mul(2)? {
        return None;
    }
    let mut bytes = [0_u8; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = (nibble(*high)? << 4) | nibble(*low)?;
    }
    Some(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => digit.checked_sub(b'0'),
        b'a'..=b'f' => digit.checked_sub(b'a')?.checked_add(10),
        _ => None,
    }
}

/// SHA-256 is 32 bytes long by definition; a shorter slice would leave zeros, never panic.
fn fixed(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0_u8; 32];
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(
            hex(&sha256(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let tag = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(
            hex(&tag),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn a_signature_has_one_spelling() {
        assert_eq!(from_hex::<2>(b"0aff"), Some([0x0a, 0xff]));
        for refused in [&b"0AFF"[..], b"0af", b"0aff0", b"0agf", b"", b"0a f"] {
            assert_eq!(from_hex::<2>(refused), None);
        }
    }

    proptest! {
        #[test]
        fn hex_round_trips(bytes in any::<[u8; 32]>()) {
            prop_assert_eq!(from_hex::<32>(hex(&bytes).as_bytes()), Some(bytes));
        }

        #[test]
        fn a_tag_verifies_only_as_it_is(key in any::<Vec<u8>>(), text in any::<Vec<u8>>(), at in 0_usize..32, bit in 0_u8..8) {
            let mut tag = hmac_sha256(&key, &text);
            prop_assert!(verify_hmac_sha256(&key, &text, &tag));
            prop_assert!(!verify_hmac_sha256(&key, &text, &tag[..31]));
            tag[at] ^= 1 << bit;
            prop_assert!(!verify_hmac_sha256(&key, &text, &tag));
        }
    }
}
