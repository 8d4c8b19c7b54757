//! One request, one bounded answer.

use std::time::Duration;

use ports::panel::PanelError;
use reqwest::{Method, Response, StatusCode, Url, header};
use serde::Serialize;

use crate::{Config, ConfigError, classify, tls};

/// No answer about one user is larger.
const SMALL: usize = 1024 * 1024;
/// No list is larger.
const LARGE: usize = 16 * 1024 * 1024;
/// The longest pause that a panel may ask for; one that asks for a year is wrong, not to be obeyed.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// What a request does on the panel: decides what a lost answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Call<'a, B: Serialize> {
    /// For metrics: a fixed word.
    pub(crate) operation: &'static str,
    pub(crate) method: Method,
    /// Segments after `/api`, unescaped.
    pub(crate) path: &'a [&'a str],
    pub(crate) body: Option<&'a B>,
    pub(crate) effect: Effect,
    /// The answer is a list.
    pub(crate) list: bool,
}

/// A complete answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Client {
    http: reqwest::Client,
    root: Url,
}

impl Client {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        let root = config.api_root()?;
        let encrypted = root.scheme() == "https";
        let builder = reqwest::Client::builder();
        // Plain HTTP is for one machine or one private network; a proxy in between would read the token.
        let builder = if encrypted { builder } else { builder.no_proxy() };
        let http = builder
            .tls_backend_preconfigured(tls::client_config(encrypted)?)
            .default_headers(config.headers()?)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(concat!("omniflow/", env!("CARGO_PKG_VERSION")))
            // The panel closes idle connections after 5 s; a request sent into that moment would look unanswered.
            .pool_idle_timeout(Duration::from_secs(4))
            .timeout(config.timeout)
            // Shorter than the whole, so that a connection that was never made is told from an answer that never came.
            .connect_timeout(config.timeout / 2)
            .build()
            .map_err(|_| ConfigError::Client)?;
        Ok(Self { http, root })
    }

    /// Whom it talks to, for traces.
    pub(crate) fn host(&self) -> &str {
        self.root.host_str().unwrap_or_default()
    }

    /// Sends once. Whatever status comes back is an answer.
    pub(crate) async fn send<B: Serialize + Sync>(&self, call: &Call<'_, B>) -> Result<Answer, PanelError> {
        let mut url = self.root.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(call.path);
        }
        let mut request = self.http.request(call.method.clone(), url);
        if let Some(body) = call.body {
            request = request.json(body);
        }
        let response = request
            .send()
            .await
            .map_err(|error| classify::transport(&error, call.effect))?;
        let (status, retry_after) = (response.status(), retry_after(&response));
        let bound = if call.list { LARGE } else { SMALL };
        let body = read(response, bound, call.effect).await?;
        Ok(Answer {
            status,
            retry_after,
            body,
        })
    }
}

/// Reads a body up to a bound. What is longer is given up at once, whatever its header promised.
async fn read(mut response: Response, bound: usize, effect: Effect) -> Result<Vec<u8>, PanelError> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len().saturating_add(chunk.len()) <= bound => body.extend_from_slice(&chunk),
            Ok(Some(_)) => return Err(classify::too_large(response.status(), effect)),
            Ok(None) => return Ok(body),
            Err(error) => return Err(classify::transport(&error, effect)),
        }
    }
}

/// Seconds only; a date is as good as none, because it needs a clock that agrees.
fn retry_after(response: &Response) -> Option<Duration> {
    let text = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    text.trim()
        .parse()
        .ok()
        .map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE))
}
