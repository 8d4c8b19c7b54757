//! Tokens: unguessable texts for bearers and passwords of private parts.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::Secret;

/// The operating system gave no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness")]
pub struct RandomUnavailable;

/// Fresh random bytes.
///
/// # Errors
/// [`RandomUnavailable`].
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomUnavailable> {
    let mut bytes = [0_u8; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| RandomUnavailable)?;
    Ok(bytes)
}

/// A token of 256 random bits, 43 characters of URL-safe base64.
///
/// # Errors
/// [`RandomUnavailable`].
pub fn generate() -> Result<Secret, RandomUnavailable> {
    let bytes = Secret::new(random_bytes::<32>()?);
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes.expose())))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::generate;

    #[test]
    fn tokens_are_long_url_safe_and_different() {
        let tokens: HashSet<String> = (0..64)
            .filter_map(|_| generate().ok())
            .map(|token| token.expose().clone())
            .collect();
        assert_eq!(tokens.len(), 64);
        for token in tokens {
            assert_eq!(token.len(), 43);
            assert!(
                token
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            );
        }
    }
}
