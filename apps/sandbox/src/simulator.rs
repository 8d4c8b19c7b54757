//! What a simulator gets and what it gives. A simulator is two routers over one ledger; listening, faults and the
//! control token are wrapped around it here, so none of them knows of any.

use std::{fmt, path::PathBuf, sync::Arc};

use axum::Router;
use ports::clock::Clock;

use crate::{Background, SandboxError};

/// What a simulator is opened with.
#[derive(Clone)]
pub struct Context {
    /// Folder of the journals.
    pub dir: PathBuf,
    /// Own base URL, without a trailing slash.
    pub url: String,
    /// What the simulator accepts as credential.
    pub token: String,
    /// Decides what has expired.
    pub clock: Arc<dyn Clock>,
    /// For webhooks and late work.
    pub background: Background,
    /// For webhooks: no redirects, 10 s, no retries.
    pub http: reqwest::Client,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("dir", &self.dir)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A simulator's own summary of its journal, as JSON, for `/control/report`.
pub type Report = Arc<dyn Fn() -> Result<serde_json::Value, SandboxError> + Send + Sync>;

/// An opened simulator.
pub struct Parts {
    /// What the product talks to. Served at the simulator's own address, behind the fault script.
    pub service: Router,
    /// What tests and operators do to it. Nested under `/control/<name>`, behind the control token.
    pub control: Router,
    /// See [`Report`].
    pub report: Report,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

/// The client for webhooks and the control API. It has no trust roots: everything is on this machine, over plain HTTP.
pub(crate) fn http_client() -> Result<reqwest::Client, SandboxError> {
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| SandboxError::Client)?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .timeout(std::time::Duration::from_secs(10))
        .build()
        .map_err(|_| SandboxError::Client)
}
