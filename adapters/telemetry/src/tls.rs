//! TLS by rustls on ring, checked against the machine's own certificate store.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::TelemetryError;

/// `encrypted`: the address is https. For plain http no store is read, so that a machine without one can still be used.
pub(crate) fn client_config(encrypted: bool) -> Result<ClientConfig, TelemetryError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| TelemetryError::Traces("TLS cannot be set up"))?;
    let builder = if encrypted {
        builder
            .with_platform_verifier()
            .map_err(|_| TelemetryError::Traces("the machine has no store of certificates"))?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}
