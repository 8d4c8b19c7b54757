//! The HTTP client: one request, 90 s, no redirects, no repeats, bounded answers; failures carry neither address nor body.

use std::{
    fmt,
    net::IpAddr,
    time::{Duration, Instant},
};

use reqwest::{Client, RequestBuilder, Url, redirect::Policy};
use secrets::Secret;
use tracing::{Instrument as _, field::Empty};

use super::{FragmentOptions, outcome::Reply, product::Purchase, tls};

const USER: &str = "omniflow";
/// Answers longer than this are not read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// The gateway settles on chain before it answers.
pub(super) const TIMEOUT: Duration = Duration::from_secs(90);

/// Why a provider cannot be made from its settings. Does not repeat them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A credential must not be sent there.
    #[error(
        "the gateway's address must be https, or http inside a private network, with no credentials, query or fragment"
    )]
    Address,
    /// The machine has no usable certificate store.
    #[error("the machine's certificate store cannot be used")]
    TrustStore,
}

impl SetupError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Address => "goods_gateway_address_invalid",
            Self::TrustStore => "trust_store_unusable",
        }
    }
}

/// The gateway, by its address.
pub(super) struct Gateway {
    http: Client,
    base: Url,
    token: Secret,
}

impl Gateway {
    pub(super) fn new(options: FragmentOptions, timeout: Duration) -> Result<Self, SetupError> {
        let base = Url::parse(&options.base_url).map_err(|_| SetupError::Address)?;
        let plain = base.username().is_empty()
            && base.password().is_none()
            && base.query().is_none()
            && base.fragment().is_none();
        let private = is_private(&base);
        if !plain || base.cannot_be_a_base() || !(base.scheme() == "https" || base.scheme() == "http" && private) {
            return Err(SetupError::Address);
        }
        let builder = Client::builder()
            .tls_backend_preconfigured(tls::client_config(base.scheme() == "https")?)
            .timeout(timeout)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            // A kept connection may be closed under a request, and a client that then quietly sends it again could buy twice.
            .pool_max_idle_per_host(0)
            .user_agent("omniflow");
        let builder = if private { builder.no_proxy() } else { builder };
        let http = builder.build().map_err(|_| SetupError::TrustStore)?;
        Ok(Self {
            http,
            base,
            token: options.token,
        })
    }

    /// Buys. Sent once.
    pub(super) async fn send(&self, purchase: &Purchase) -> Reply {
        let Some(url) = self.url(purchase.path) else {
            return Reply::Nothing;
        };
        self.metered("submit", "POST", self.http.post(url).json(&purchase.body))
            .await
    }

    /// Asks for the price of a Star.
    pub(super) async fn star_value(&self) -> Reply {
        let Some(url) = self.url(&["admin", "stars", "value"]) else {
            return Reply::Nothing;
        };
        self.metered("star_value", "GET", self.http.get(url)).await
    }

    fn url(&self, path: &[&str]) -> Option<Url> {
        let mut url = self.base.clone();
        url.path_segments_mut().ok()?.pop_if_empty().extend(path);
        Some(url)
    }

    async fn metered(&self, operation: &'static str, method: &'static str, request: RequestBuilder) -> Reply {
        let started = Instant::now();
        let span = tracing::info_span!(
            "goods.request",
            otel.kind = "client",
            otel.name = format!("goods {operation}"),
            otel.status_code = Empty,
            operation,
            http.request.method = method,
            server.address = self.base.host_str().unwrap_or_default(),
            http.response.status_code = Empty,
        );
        let reply = self.reply(request).instrument(span.clone()).await;
        let (outcome, status) = match &reply {
            Reply::Success(_) => ("ok", Some(200)),
            Reply::Status(status) => ("refused", Some(*status)),
            Reply::Nothing => ("error", None),
        };
        span.record("http.response.status_code", status);
        if outcome != "ok" {
            span.record("otel.status_code", "ERROR");
        }
        metrics::counter!("omniflow_goods_requests_total", "operation" => operation, "outcome" => outcome).increment(1);
        metrics::histogram!("omniflow_goods_request_duration_seconds", "operation" => operation, "outcome" => outcome)
            .record(started.elapsed());
        reply
    }

    async fn reply(&self, request: RequestBuilder) -> Reply {
        let Ok(mut response) = request.basic_auth(USER, Some(self.token.expose())).send().await else {
            return Reply::Nothing;
        };
        if !response.status().is_success() {
            return Reply::Status(response.status().as_u16());
        }
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len().saturating_add(chunk.len()) <= MAX_ANSWER_BYTES => {
                    body.extend_from_slice(&chunk);
                }
                Ok(None) => return Reply::Success(body),
                Ok(Some(_)) | Err(_) => return Reply::Nothing,
            }
        }
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("base", &secrets::redact::address(self.base.as_str()))
            .finish_non_exhaustive()
    }
}

/// A loopback or private address, or a name without a dot, which only a private network knows.
fn is_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    match host.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => !host.is_empty() && !host.contains('.'),
    }
}
