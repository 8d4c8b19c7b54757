//! The HTTP client: rustls on ring, no redirects, bounded time, bounded answers, failures without address or body.

use std::{net::IpAddr, time::Duration};

use reqwest::{Client, RequestBuilder, Url, redirect::Policy};

/// Answers longer than this are not read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// From the first byte sent to the last byte read.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);

/// An address that no credential may be sent to, or a client that cannot be made. Does not repeat the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the provider's address must be https, or http on the loopback interface, with no credentials, query or fragment"
)]
pub struct InvalidEndpoint;

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
pub(crate) fn client(base: &str, timeout: Duration) -> Result<(Client, Url), InvalidEndpoint> {
    let url = Url::parse(base).map_err(|_| InvalidEndpoint)?;
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    let loopback = is_loopback(&url);
    if !plain || !(url.scheme() == "https" || url.scheme() == "http" && loopback) {
        return Err(InvalidEndpoint);
    }
    // A provider that another part of the process has installed is as good: there is only ring in this build.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .timeout(timeout)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .user_agent("omniflow");
    let builder = if loopback { builder.no_proxy() } else { builder };
    Ok((builder.build().map_err(|_| InvalidEndpoint)?, url))
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
