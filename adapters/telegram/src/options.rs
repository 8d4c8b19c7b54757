//! Where the Bot API is and who we are to it.

use std::{fmt, net::IpAddr};

use reqwest::Url;
use secrets::Secret;

/// The address of the public Bot API.
pub const PUBLIC_API: &str = "https://api.telegram.org";

/// Settings of a bot.
#[derive(Clone)]
pub struct BotOptions {
    /// Without a trailing slash.
    pub base_url: String,
    /// `<digits>:<secret>`, as BotFather gives it.
    pub token: Secret,
    /// Stands in front of every title: notices of a sandbox must not pass for real ones.
    pub banner: Option<String>,
}

/// Why a bot cannot be made from its settings. Does not repeat them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A token must not be sent there.
    #[error(
        "the Bot API's address must be https, or http inside a private network, with no credentials, query or fragment"
    )]
    Address,
    /// It would not be one path segment, or is plainly no token.
    #[error("the bot's token is not of the form <digits>:<letters, digits, _ and ->")]
    Token,
    /// The machine has no usable certificate store.
    #[error("the machine's certificate store cannot be used")]
    TrustStore,
}

impl SetupError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Address => "telegram_address_invalid",
            Self::Token => "telegram_token_invalid",
            Self::TrustStore => "trust_store_unusable",
        }
    }
}

impl fmt::Debug for BotOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BotOptions")
            .field("base_url", &secrets::redact::address(&self.base_url))
            .finish_non_exhaustive()
    }
}

impl BotOptions {
    /// The address that methods are appended to, and whether it is inside a private network.
    pub(crate) fn root(&self) -> Result<(Url, bool), SetupError> {
        let base = Url::parse(&self.base_url).map_err(|_| SetupError::Address)?;
        let plain = base.username().is_empty()
            && base.password().is_none()
            && base.query().is_none()
            && base.fragment().is_none()
            && !base.cannot_be_a_base();
        let private = is_private(&base);
        if !plain || !(base.scheme() == "https" || base.scheme() == "http" && private) {
            return Err(SetupError::Address);
        }
        if !is_token(self.token.expose()) {
            return Err(SetupError::Token);
        }
        Ok((base, private))
    }
}

/// Whether it looks like a token: it becomes one segment of a path.
pub fn is_token(token: &str) -> bool {
    token.split_once(':').is_some_and(|(id, secret)| {
        (1..=16).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_digit())
            && (20..=100).contains(&secret.len())
            && secret
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn options(base_url: &str, token: &str) -> BotOptions {
        BotOptions {
            base_url: base_url.to_owned(),
            token: Secret::from(token),
            banner: None,
        }
    }

    const TOKEN: &str = "123456:AAabcdefghijklmnopqrstuvwxyz012345_";

    #[test]
    fn only_where_nobody_listens_in() {
        for base in [
            PUBLIC_API,
            "http://127.0.0.1:8081",
            "http://bot-api:8081",
            "http://10.0.0.2",
        ] {
            assert!(options(base, TOKEN).root().is_ok(), "{base}");
        }
        for base in [
            "",
            "http://api.telegram.org",
            "https://user:pw@api.telegram.org",
            "https://api.telegram.org/?x",
            "ftp://localhost",
        ] {
            assert_eq!(options(base, TOKEN).root(), Err(SetupError::Address), "{base}");
        }
    }

    #[test]
    fn only_what_is_one_segment_of_a_path() {
        for token in [
            "",
            "123456",
            "x:AAabcdefghijklmnopqrstuvwxyz",
            "1:short",
            "123456:AAabcdefghijklmnopqrstuv/getMe?",
            "123456:AAabcdefghijklmnopqr stuv",
            "123456:AAabcdefghijklmnopqrstuv:x",
        ] {
            assert_eq!(options(PUBLIC_API, token).root(), Err(SetupError::Token), "{token}");
        }
    }

    #[test]
    fn nothing_printed_holds_the_token() {
        let printed = format!("{:?}", options("https://bot.example/hidden", TOKEN));
        assert!(!printed.contains("AAabc") && !printed.contains("hidden"), "{printed}");
    }
}
