//! How a panel is reached.

use std::time::Duration;

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrets::Secret;

/// A request takes at most so long by default.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Address and credentials of a panel.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "holds secrets")]
pub struct Config {
    /// `https://panel.example.com`, with or without a trailing slash. A front path is kept.
    pub base_url: String,
    /// An API token of the panel.
    pub token: Secret,
    /// For one whole request. Under it, half is left for connecting.
    pub timeout: Duration,
    /// For proxies in front of the panel, as `X-Api-Key`.
    pub extra_headers: Vec<(String, Secret)>,
    /// `name=value`, for proxies in front of the panel.
    pub cookie: Option<Secret>,
}

/// Why a configuration cannot be used. Names the setting, never its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not an `http` or `https` address of a host, or one with credentials, a query or a fragment in it.
    #[error("the panel's address is not an http(s) address of a host without credentials, query or fragment")]
    Address,
    /// Empty, or not fit for a header.
    #[error("the panel's token is empty or has characters that a header cannot carry")]
    Token,
    /// A name or value not fit for a header, or a header that the client sets itself.
    #[error("an extra header for the panel cannot be used: {name}")]
    Header { name: String },
    /// Not fit for a header.
    #[error("the cookie for the panel has characters that a header cannot carry")]
    Cookie,
    /// The machine's trust store cannot be read, so `https` cannot be checked.
    #[error("the machine's certificate store cannot be used")]
    TrustStore,
    /// The HTTP client refuses to be made.
    #[error("the HTTP client cannot be made")]
    Client,
}

impl ConfigError {
    /// Stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address => "remnawave_address_invalid",
            Self::Token => "remnawave_token_invalid",
            Self::Header { .. } => "remnawave_header_invalid",
            Self::Cookie => "remnawave_cookie_invalid",
            Self::TrustStore => "remnawave_trust_store",
            Self::Client => "remnawave_client",
        }
    }
}

impl Config {
    /// With the default timeout and nothing extra.
    pub fn new(base_url: impl Into<String>, token: impl Into<Secret>) -> Self {
        Self {
            base_url: base_url.into(),
            token: token.into(),
            timeout: DEFAULT_TIMEOUT,
            extra_headers: Vec::new(),
            cookie: None,
        }
    }

    /// The address with `/api` at its end.
    pub(crate) fn api_root(&self) -> Result<Url, ConfigError> {
        let mut url = Url::parse(self.base_url.trim()).map_err(|_| ConfigError::Address)?;
        let bare =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        if !bare || !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(ConfigError::Address);
        }
        let ends_in_api = url.path().trim_end_matches('/').ends_with("/api");
        let mut segments = url.path_segments_mut().map_err(|()| ConfigError::Address)?;
        segments.pop_if_empty();
        if !ends_in_api {
            segments.push("api");
        }
        drop(segments);
        Ok(url)
    }

    /// What every request carries. The panel drops connections that do not come through a proxy, so we say that we did.
    pub(crate) fn headers(&self) -> Result<HeaderMap, ConfigError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.extra_headers {
            let invalid = || ConfigError::Header { name: name.clone() };
            let header = HeaderName::try_from(name.as_str()).map_err(|_| invalid())?;
            if header == reqwest::header::AUTHORIZATION || header == reqwest::header::HOST {
                return Err(invalid());
            }
            headers.insert(header, sensitive(value.expose()).ok_or_else(invalid)?);
        }
        headers.insert("x-forwarded-for", HeaderValue::from_static("127.0.0.1"));
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
        headers.insert(reqwest::header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(cookie) = &self.cookie {
            headers.insert(
                reqwest::header::COOKIE,
                sensitive(cookie.expose()).ok_or(ConfigError::Cookie)?,
            );
        }
        if self.token.is_empty() {
            return Err(ConfigError::Token);
        }
        let bearer = Secret::from(format!("Bearer {}", self.token.expose()));
        headers.insert(
            reqwest::header::AUTHORIZATION,
            sensitive(bearer.expose()).ok_or(ConfigError::Token)?,
        );
        Ok(headers)
    }
}

/// A header value that is not shown in debug output.
fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (given, expected) in [
            ("https://panel.example.com", Some("https://panel.example.com/api")),
            ("https://panel.example.com/", Some("https://panel.example.com/api")),
            ("https://panel.example.com/api/", Some("https://panel.example.com/api")),
            ("http://127.0.0.1:3000/front/", Some("http://127.0.0.1:3000/front/api")),
            ("panel.example.com", None),
            ("ftp://panel.example.com", None),
            ("https://user:pw@panel.example.com", None),
            ("https://panel.example.com/?x=1", None),
        ] {
            let root = Config::new(given, "t").api_root().ok().map(String::from);
            assert_eq!(root.as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn headers_that_cannot_be_sent_are_refused() {
        assert_eq!(
            Config::new("https://x.test", "").headers().err(),
            Some(ConfigError::Token)
        );
        assert_eq!(
            Config::new("https://x.test", "a\nb").headers().err(),
            Some(ConfigError::Token)
        );
        let mut config = Config::new("https://x.test", "t");
        config.extra_headers = vec![("Authorization".to_owned(), "x".into())];
        assert!(matches!(config.headers(), Err(ConfigError::Header { .. })));
    }
}
