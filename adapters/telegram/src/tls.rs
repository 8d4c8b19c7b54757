//! TLS by rustls on ring, checked against the machine's own certificate store.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::SetupError;

/// A plain connection gets no trust roots, so that a machine without a certificate store can still reach what needs none.
pub(crate) fn client_config(encrypted: bool) -> Result<ClientConfig, SetupError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| SetupError::TrustStore)?;
    let builder = if encrypted {
        builder.with_platform_verifier().map_err(|_| SetupError::TrustStore)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}
