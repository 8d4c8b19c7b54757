//! Addresses: they carry bearer secrets in path, query and user part.

use super::REDACTED;

/// Everything from a scheme to the next white space, quote or angle bracket goes. Not only the schemes of web and VPN links: a database
/// address holds a password too.
pub(super) fn urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once("://") {
        let scheme = head.bytes().rev().take_while(|byte| is_scheme(*byte)).count();
        let kept = head.get(..head.len().saturating_sub(scheme)).unwrap_or(head);
        out.push_str(kept);
        out.push_str(if scheme == 0 { "://" } else { REDACTED });
        let end = if scheme == 0 {
            0
        } else {
            tail.find(ends_url).unwrap_or(tail.len())
        };
        rest = tail.get(end..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Scheme and host of an address, for places where the host helps: `https://panel.example`. Anything that is no address is hidden whole.
pub fn address(text: &str) -> String {
    let parts = text.split_once("://").map(|(scheme, rest)| {
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or("");
        let host = authority.rsplit('@').next().unwrap_or("");
        (scheme, host)
    });
    match parts {
        Some((scheme, host)) if !scheme.is_empty() && scheme.bytes().all(is_scheme) && is_host(host) => {
            format!("{scheme}://{host}")
        }
        _ => REDACTED.to_owned(),
    }
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn is_host(host: &str) -> bool {
    !host.is_empty()
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']'))
}

fn ends_url(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '`' | '<' | '>')
}
