//! The table: what an answer, or none, says about whether the goods were bought.
//!
//! | outcome | class | code |
//! |---|---|---|
//! | 2xx `{ok: true}` | delivered | |
//! | 2xx `{ok: false}` | permanent | `gateway_rejected` |
//! | 429 | retryable | `http_429` |
//! | 401, 403 | provider unavailable | `http_<status>` |
//! | other 4xx | permanent | `http_<status>` |
//! | 5xx, and any status that is none of these | ambiguous | `http_<status>` |
//! | no answer in time, no connection, an answer that cannot be read | ambiguous | `gateway_unreachable` |
//!
//! A refused connection is ambiguous too, although nothing of ours can have been carried out over it: in front of the gateway may stand
//! something that took the request over another path (a proxy that reconnects, a name with several addresses), the client's word for
//! "could not connect" is no proof, and being wrong costs a second purchase while a person's look costs a minute.

use domain::delivery::{FailureClass, Submission};
use serde::Deserialize;

/// Nothing that could be read came back.
pub(super) const UNREACHABLE: &str = "gateway_unreachable";

/// What came back from a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// 2xx, with its body.
    Success(Vec<u8>),
    /// Any other status; its body is not read.
    Status(u16),
    /// No answer, or one that is too long.
    Nothing,
}

#[derive(Deserialize)]
struct Sent {
    ok: bool,
}

pub(super) fn of(reply: &Reply) -> Submission {
    match reply {
        Reply::Success(body) => match serde_json::from_slice::<Sent>(body) {
            Ok(Sent { ok: true }) => Submission::Delivered,
            Ok(Sent { ok: false }) => failed(FailureClass::Permanent, "gateway_rejected"),
            Err(_) => failed(FailureClass::Ambiguous, UNREACHABLE),
        },
        Reply::Status(status) => failed(class(*status), &format!("http_{status}")),
        Reply::Nothing => failed(FailureClass::Ambiguous, UNREACHABLE),
    }
}

pub(super) fn failed(class: FailureClass, code: &str) -> Submission {
    Submission::Failed {
        class,
        code: code.to_owned(),
    }
}

const fn class(status: u16) -> FailureClass {
    match status {
        429 => FailureClass::Retryable,
        401 | 403 => FailureClass::ProviderUnavailable,
        400..=499 => FailureClass::Permanent,
        _ => FailureClass::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn success(body: &str) -> Submission {
        of(&Reply::Success(body.as_bytes().to_vec()))
    }

    #[test]
    fn the_table_row_by_row() {
        use FailureClass::{Ambiguous, Permanent, ProviderUnavailable, Retryable};
        assert_eq!(success(r#"{"ok":true}"#), Submission::Delivered);
        assert_eq!(success(r#"{"ok":true,"tx":"abc"}"#), Submission::Delivered);
        assert_eq!(
            success(r#"{"ok":false,"error":"no"}"#),
            failed(Permanent, "gateway_rejected")
        );
        for garbage in [
            "",
            "null",
            "{}",
            "ok",
            r#"{"ok":"true"}"#,
            r#"{"ok":1}"#,
            r#"{"ok":null}"#,
            r#"{"ok":true,"ok":false}"#,
            r#"{"ok":true"#,
            r#"{"ok":true}x"#,
        ] {
            assert_eq!(success(garbage), failed(Ambiguous, UNREACHABLE), "{garbage:?}");
        }
        assert_eq!(of(&Reply::Nothing), failed(Ambiguous, UNREACHABLE));
        for (status, class) in [
            (429, Retryable),
            (401, ProviderUnavailable),
            (403, ProviderUnavailable),
            (400, Permanent),
            (404, Permanent),
            (408, Permanent),
            (422, Permanent),
            (500, Ambiguous),
            (502, Ambiguous),
            (503, Ambiguous),
            (504, Ambiguous),
            (599, Ambiguous),
            (302, Ambiguous),
            (101, Ambiguous),
        ] {
            assert_eq!(of(&Reply::Status(status)), failed(class, &format!("http_{status}")));
        }
    }

    proptest! {
        /// Whatever comes back has a class, only `{ok: true}` is delivered, and nothing but 429, 401 and 403 may be sent again.
        #[test]
        fn the_table_is_total(status in any::<u16>(), body in any::<Vec<u8>>()) {
            let Submission::Failed { class, .. } = of(&Reply::Status(status)) else {
                return Err(TestCaseError::fail("a failed status is no delivery"));
            };
            let sent_again = matches!(class, FailureClass::Retryable | FailureClass::ProviderUnavailable | FailureClass::ProviderBalance);
            prop_assert_eq!(sent_again, matches!(status, 401 | 403 | 429));
            prop_assert_eq!(class == FailureClass::Permanent, (400..=499).contains(&status) && !sent_again);

            let known = serde_json::from_slice::<serde_json::Value>(&body).ok().and_then(|it| it.get("ok")?.as_bool());
            if known.is_none() {
                prop_assert_eq!(of(&Reply::Success(body)), failed(FailureClass::Ambiguous, UNREACHABLE));
            }
        }

        #[test]
        fn json_like_bodies_have_a_class(ok in "(true|false|null|1|\"true\"|\\[\\])", nesting in 0_usize..3_000) {
            let body = format!(r#"{{"x":{}{},"ok":{ok}}}"#, "[".repeat(nesting), "]".repeat(nesting));
            let expected = match ok.as_str() {
                "true" => Submission::Delivered,
                "false" => failed(FailureClass::Permanent, "gateway_rejected"),
                _ => failed(FailureClass::Ambiguous, UNREACHABLE),
            };
            prop_assert_eq!(success(&body), expected);
        }
    }
}
