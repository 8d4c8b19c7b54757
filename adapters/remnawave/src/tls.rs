//! TLS by rustls on ring, checked against the machine's own certificate store.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::ConfigError;

/// `encrypted`: the panel's address is https. For plain http no store is read, so that a machine without one can still be used.
pub(crate) fn client_config(encrypted: bool) -> Result<ClientConfig, ConfigError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| ConfigError::Client)?;
    let builder = if encrypted {
        builder.with_platform_verifier().map_err(|_| ConfigError::TrustStore)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_needs_no_trust_store_and_https_says_when_there_is_none() {
        assert!(client_config(false).is_ok());
        assert!(matches!(client_config(true), Ok(_) | Err(ConfigError::TrustStore)));
    }
}
