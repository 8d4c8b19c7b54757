//! One request, one bounded answer. The token stands in the path, so no error of the HTTP client is kept.

use std::{fmt, time::Duration};

use ports::notices::ChannelError;
use reqwest::{Client, Url, redirect::Policy};
use secrets::Secret;
use serde::Serialize;

use crate::{BotOptions, SetupError, classify, tls};

/// Answers longer than this are not read.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// How long an answer is waited for.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);

pub(crate) struct BotApi {
    http: Client,
    base: Url,
    token: Secret,
}

impl BotApi {
    pub(crate) fn new(options: &BotOptions, timeout: Duration) -> Result<Self, SetupError> {
        let (base, private) = options.root()?;
        let builder = Client::builder()
            .tls_backend_preconfigured(tls::client_config(base.scheme() == "https")?)
            .timeout(timeout)
            // Shorter than the whole, so that a connection that was never made is told from an answer that never came.
            .connect_timeout(timeout / 2)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            // A kept connection may be closed under a request; a quiet repeat would be a second notice.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("omniflow/", env!("CARGO_PKG_VERSION")));
        let builder = if private { builder.no_proxy() } else { builder };
        Ok(Self {
            http: builder.build().map_err(|_| SetupError::TrustStore)?,
            base,
            token: options.token.clone(),
        })
    }

    /// Calls a method once and answers the `result` of what came back.
    pub(crate) async fn call(
        &self,
        method: &str,
        parameters: &(impl Serialize + Sync),
    ) -> Result<serde_json::Value, ChannelError> {
        let url = self.url(method).ok_or(ChannelError::Unavailable)?;
        let sent = self.http.post(url).json(parameters).send().await;
        let mut response = sent.map_err(|error| {
            // Without a connection nothing was sent.
            if error.is_connect() || error.is_builder() {
                ChannelError::Unavailable
            } else {
                ChannelError::Unanswered
            }
        })?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len().saturating_add(chunk.len()) <= MAX_ANSWER_BYTES => {
                    body.extend_from_slice(&chunk);
                }
                Ok(None) => return classify::answer(status, &body),
                Ok(Some(_)) | Err(_) => return Err(classify::cut_off(status)),
            }
        }
    }

    fn url(&self, method: &str) -> Option<Url> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .ok()?
            .pop_if_empty()
            .push(&format!("bot{}", self.token.expose()))
            .push(method);
        Some(url)
    }
}

impl fmt::Debug for BotApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BotApi")
            .field("base", &secrets::redact::address(self.base.as_str()))
            .finish_non_exhaustive()
    }
}
