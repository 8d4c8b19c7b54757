//! One call: a form in, `{ok, result}` or `{ok, error}` out, every failure a code.

use std::{
    fmt,
    time::{Duration, Instant},
};

use ports::payments::ProviderError;
use reqwest::Url;
use secrets::Secret;
use serde::de::DeserializeOwned;
use tracing::{Instrument as _, field::Empty};

use super::wire::Envelope;
use crate::http::{self, Answer, NoAnswer, SetupError};

const MAX_ERROR_NAME: usize = 48;

/// Sends calls of the API.
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: Secret,
    timeout: Duration,
}

impl Client {
    pub(super) fn new(base_url: &str, token: Secret, timeout: Duration) -> Result<Self, SetupError> {
        let (http, base) = http::client(base_url, timeout)?;
        Ok(Self {
            http,
            base,
            token,
            timeout,
        })
    }

    /// Lets several calls together take no longer than one may.
    pub(super) async fn within_one_timeout<T>(
        &self,
        calls: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        tokio::time::timeout(self.timeout, calls)
            .await
            .unwrap_or_else(|_| Err(unavailable("cryptobot_timeout")))
    }

    /// Calls a method once.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        parameters: &[(&str, &str)],
    ) -> Result<T, ProviderError> {
        let started = Instant::now();
        let span = tracing::info_span!(
            "payment.request",
            otel.kind = "client",
            otel.name = format!("cryptobot {method}"),
            otel.status_code = Empty,
            operation = method,
            http.request.method = "POST",
            server.address = self.base.host_str().unwrap_or_default(),
        );
        let answer = self.send(method, parameters).instrument(span.clone()).await;
        let outcome = if answer.is_ok() { "ok" } else { "error" };
        if answer.is_err() {
            span.record("otel.status_code", "ERROR");
        }
        metrics::histogram!(
            "omniflow_payment_request_duration_seconds",
            "provider" => "cryptobot", "operation" => method.to_owned(), "outcome" => outcome,
        )
        .record(started.elapsed());
        answer
    }

    async fn send<T: DeserializeOwned>(&self, method: &str, parameters: &[(&str, &str)]) -> Result<T, ProviderError> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| malformed("cryptobot_address"))?
            .pop_if_empty()
            .push(method);
        let request = self
            .http
            .post(url)
            .header("Crypto-Pay-API-Token", self.token.expose())
            .form(parameters);
        match http::send(request).await {
            Ok(answer) => read(&answer),
            Err(NoAnswer::Timeout) => Err(unavailable("cryptobot_timeout")),
            Err(NoAnswer::Unreachable) => Err(unavailable("cryptobot_unreachable")),
            Err(NoAnswer::Oversized) => Err(malformed("cryptobot_oversized")),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &secrets::redact::address(self.base.as_str()))
            .finish_non_exhaustive()
    }
}

/// 2xx must be `{ok: true, result}`. A 4xx is a refusal, named when the body names it. 429 and 5xx leave it open, and so do refused
/// credentials: an operator will mend them, and no customer's payment should have failed for good until then.
fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, ProviderError> {
    let envelope = serde_json::from_slice::<Envelope<T>>(&answer.body);
    match (answer.status, envelope) {
        (
            200..=299,
            Ok(Envelope {
                ok: true,
                result: Some(result),
                ..
            }),
        ) => Ok(result),
        (
            200..=299,
            Ok(Envelope {
                ok: false,
                error: Some(error),
                ..
            }),
        ) => Err(refused(error.name.as_deref(), answer.status)),
        (200..=299, _) => Err(malformed("cryptobot_malformed")),
        (401 | 403 | 429 | 500..=599, _) => Err(unavailable(&format!("cryptobot_http_{}", answer.status))),
        (400..=499, Ok(Envelope { error: Some(error), .. })) => Err(refused(error.name.as_deref(), answer.status)),
        (400..=499, _) => Err(refused(None, answer.status)),
        _ => Err(malformed(&format!("cryptobot_http_{}", answer.status))),
    }
}

/// The provider's own name of an error, if it looks like one: `INVOICE_NOT_FOUND` is `cryptobot_invoice_not_found`.
fn refused(name: Option<&str>, status: u16) -> ProviderError {
    let named = name.filter(|name| {
        (1..=MAX_ERROR_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    let code = named.map_or_else(
        || format!("cryptobot_http_{status}"),
        |name| format!("cryptobot_{}", name.to_ascii_lowercase()),
    );
    ProviderError::Refused { code }
}

fn unavailable(code: &str) -> ProviderError {
    ProviderError::Unavailable { code: code.to_owned() }
}

pub(super) fn malformed(code: &str) -> ProviderError {
    ProviderError::Malformed { code: code.to_owned() }
}
