//! What a failure means. Decisions rest on status and `errorCode`, never on a message, which differs between versions.

use std::time::Duration;

use ports::panel::{FailureKind, PanelError};
use reqwest::StatusCode;
use serde::Deserialize;

use crate::client::{Answer, Effect};

/// The panel's own "there is no such user". Any other 404 is a wrong address, version or proxy.
const USER_MISSING: [&str; 3] = ["A025", "A062", "A063"];

/// The panel's error envelope. Anything that is not one has no code.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default)]
    error_code: Option<String>,
}

/// The request could not be sent, or was sent and not answered.
pub(crate) fn transport(error: &reqwest::Error, effect: Effect) -> PanelError {
    if error.is_builder() {
        return failed(FailureKind::Permanent, "remnawave_request_invalid");
    }
    if error.is_connect() {
        return failed(FailureKind::Transient, "remnawave_unavailable");
    }
    let code = if error.is_timeout() {
        "remnawave_timeout"
    } else {
        "remnawave_unavailable"
    };
    failed(unanswered(effect), code)
}

/// The answer is larger than any that the panel gives.
pub(crate) fn too_large(status: StatusCode, effect: Effect) -> PanelError {
    PanelError {
        http_status: Some(status.as_u16()),
        ..failed(unanswered(effect), "remnawave_answer_too_large")
    }
}

/// A success that cannot be read: for a write, as good as no answer.
pub(crate) fn unreadable(status: StatusCode, effect: Effect) -> PanelError {
    PanelError {
        http_status: Some(status.as_u16()),
        ..failed(unanswered(effect), "remnawave_bad_answer")
    }
}

/// An answer that is not a success.
pub(crate) fn refused(answer: &Answer, effect: Effect) -> PanelError {
    let status = answer.status.as_u16();
    let panel_code = panel_code(&answer.body);
    let kind = kind_of(status, panel_code.as_deref(), answer.retry_after, effect);
    let code = match (status, panel_code.as_deref()) {
        (404, Some(code)) if USER_MISSING.contains(&code) => "remote_user_not_found".to_owned(),
        (400, Some("A019")) => "remote_username_taken".to_owned(),
        _ => format!("remnawave_http_{status}"),
    };
    PanelError {
        kind,
        code,
        http_status: Some(status),
        panel_code,
    }
}

/// Whether a refusal is the panel's word that a user does not exist.
pub(crate) fn says_missing(error: &PanelError) -> bool {
    error.code == "remote_user_not_found"
}

/// Whether a refusal says that what was asked for is already so.
pub(crate) fn says_done(error: &PanelError) -> bool {
    error.http_status == Some(400) && matches!(error.panel_code.as_deref(), Some("A029" | "A030"))
}

fn kind_of(status: u16, panel_code: Option<&str>, retry_after: Option<Duration>, effect: Effect) -> FailureKind {
    match (status, panel_code) {
        (429, _) => FailureKind::RateLimited { retry_after },
        // Set by hand what only the panel may set: told with 400 or 500, depending on the version.
        (_, Some("A089")) => FailureKind::Permanent,
        (300..=399 | 401 | 403, _) | (404, None) => FailureKind::Misconfigured,
        // A proxy's word that it lost the panel while the request was under way.
        (408 | 502 | 504, None) => unanswered(effect),
        // A taken name or a missing user: the next run looks first, and finds out whose it is or creates it anew.
        (400, Some("A019" | "A020")) | (408 | 425 | 500..=599, _) => FailureKind::Transient,
        (404, Some(code)) if USER_MISSING.contains(&code) => FailureKind::Transient,
        _ => FailureKind::Permanent,
    }
}

const fn unanswered(effect: Effect) -> FailureKind {
    match effect {
        Effect::Reads => FailureKind::Transient,
        Effect::Writes => FailureKind::Unanswered,
    }
}

fn failed(kind: FailureKind, code: &str) -> PanelError {
    PanelError {
        kind,
        code: code.to_owned(),
        http_status: None,
        panel_code: None,
    }
}

/// `A` or `E` and up to five digits; anything else is not the panel's and might be anything.
fn panel_code(body: &[u8]) -> Option<String> {
    let code = serde_json::from_slice::<Envelope>(body).ok()?.error_code?;
    let (head, digits) = code.split_at_checked(1)?;
    let known =
        matches!(head, "A" | "E") && (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    known.then_some(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn classified(status: u16, body: &[u8], effect: Effect) -> PanelError {
        let status = StatusCode::from_u16(status).unwrap();
        refused(
            &Answer {
                status,
                retry_after: None,
                body: body.to_vec(),
            },
            effect,
        )
    }

    fn business(code: &str) -> Vec<u8> {
        format!(r#"{{"timestamp":"x","path":"/api/users","message":"m","errorCode":"{code}"}}"#).into_bytes()
    }

    #[test]
    fn a_missing_user_is_only_what_the_panel_calls_so() {
        for code in ["A025", "A062", "A063"] {
            assert!(says_missing(&classified(404, &business(code), Effect::Reads)), "{code}");
        }
        for body in [
            &b""[..],
            b"<html>404</html>",
            br#"{"statusCode":404,"message":"Cannot GET /api/x"}"#,
            b"[]",
        ] {
            let error = classified(404, body, Effect::Reads);
            assert!(!says_missing(&error));
            assert_eq!(error.kind, FailureKind::Misconfigured);
        }
        assert!(!says_missing(&classified(404, &business("A118"), Effect::Reads)));
        assert!(!says_missing(&classified(500, &business("A025"), Effect::Reads)));
    }

    #[test]
    fn classes_by_status_and_code() {
        use FailureKind::{Misconfigured, Permanent, RateLimited, Transient, Unanswered};
        for (status, code, kind) in [
            (400, None, Permanent),
            (400, Some("A019"), Transient),
            (400, Some("A089"), Permanent),
            (500, Some("A089"), Permanent),
            (401, None, Misconfigured),
            (401, Some("A003"), Misconfigured),
            (403, Some("E000"), Misconfigured),
            (302, None, Misconfigured),
            (404, None, Misconfigured),
            (404, Some("A118"), Permanent),
            (429, None, RateLimited { retry_after: None }),
            (500, None, Transient),
            (500, Some("A018"), Transient),
            (502, None, Unanswered),
            (503, None, Transient),
            (504, None, Unanswered),
            (504, Some("A001"), Transient),
            (422, None, Permanent),
        ] {
            let body = code.map(business).unwrap_or_default();
            assert_eq!(
                classified(status, &body, Effect::Writes).kind,
                kind,
                "{status} {code:?}"
            );
        }
        assert_eq!(classified(504, b"", Effect::Reads).kind, Transient);
    }

    proptest! {
        #[test]
        fn any_answer_has_a_class_and_a_short_code(status in 100_u16..1000, body in any::<Vec<u8>>(), writes: bool) {
            let effect = if writes { Effect::Writes } else { Effect::Reads };
            let error = classified(status, &body, effect);
            prop_assert!(error.code.len() <= 40);
            prop_assert_eq!(error.http_status, Some(status));
        }

        #[test]
        fn no_text_of_a_body_reaches_the_error(text in "[a-z]{12}", status in 300_u16..600, code in ".{0,20}") {
            let body = serde_json::json!({ "message": text, "errorCode": code, "path": text }).to_string();
            let error = classified(status, body.as_bytes(), Effect::Writes);
            let shown = format!("{error} {error:?}");
            prop_assert!(!shown.contains(&text));
            if let Some(kept) = error.panel_code {
                prop_assert!(kept.len() <= 6);
            }
        }
    }
}
