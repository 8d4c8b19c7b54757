//! The HTTP client: rustls on ring, no redirects, bounded time, bounded answers, failures without address or body.

use std::{net::IpAddr, time::Duration};

use reqwest::{Client, RequestBuilder, Url, redirect::Policy};

use crate::tls;

/// Answers longer than this are not read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// From the first byte sent to the last byte read.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);

/// Why a provider cannot be made from its settings. Does not repeat them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A credential must not be sent there.
    #[error(
        "the provider's address must be https, or http on the loopback interface, with no credentials, query or fragment"
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
            Self::Address => "payment_provider_address_invalid",
            Self::TrustStore => "trust_store_unusable",
        }
    }
}

/// Why there is no answer that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nothing came in time.
    Timeout,
    /// The connection failed or was cut.
    Unreachable,
    /// The answer is longer than we read.
    Oversized,
}

/// Status and bounded body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Checks a base address and makes the client for it.
pub(crate) fn client(base: &str, timeout: Duration) -> Result<(Client, Url), SetupError> {
    let url = Url::parse(base).map_err(|_| SetupError::Address)?;
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    let loopback = is_loopback(&url);
    if !plain || !(url.scheme() == "https" || url.scheme() == "http" && loopback) {
        return Err(SetupError::Address);
    }
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::client_config(url.scheme() == "https")?)
        .timeout(timeout)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .user_agent("omniflow");
    let builder = if loopback { builder.no_proxy() } else { builder };
    Ok((builder.build().map_err(|_| SetupError::TrustStore)?, url))
}

/// Sends one request and reads a bounded answer. Never repeats.
pub(crate) async fn send(request: RequestBuilder) -> Result<Answer, NoAnswer> {
    let mut response = request.send().await.map_err(|error| no_answer(&error))?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| no_answer(&error))? {
        if body.len().saturating_add(chunk.len()) > MAX_ANSWER_BYTES {
            return Err(NoAnswer::Oversized);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer {
        status: response.status().as_u16(),
        body,
    })
}

fn no_answer(error: &reqwest::Error) -> NoAnswer {
    if error.is_timeout() {
        NoAnswer::Timeout
    } else {
        NoAnswer::Unreachable
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
