//! What an answer of the Bot API means (spec/contracts 6). Descriptions are no stable interface, so a few words of each are looked for
//! without regard to case, and every code has a class for what is not recognised.
//!
//! | code | description holds | error |
//! |---|---|---|
//! | 400 | message thread not found, topic_deleted, topic_id_invalid | topic not found |
//! | 400 | chat not found, peer_id_invalid | chat not found |
//! | 400 | upgraded, migrated (with `migrate_to_chat_id`) | moved |
//! | 400 | not a forum, topics disabled | topics disabled |
//! | 400 | not enough rights | the right to manage topics |
//! | 400, 413 | anything else | rejected |
//! | 401, 404 | | unauthorized: no bot has this token |
//! | 403 | manage topics, not enough rights | the right to manage topics |
//! | 403 | anything else | not in the group |
//! | 429 | | flood wait |
//! | 5xx, and what no Bot API answers | | unavailable |
//!
//! A 5xx is the server's own word that it failed. A 2xx that cannot be read is no answer: the notice may stand in the group.

use std::time::Duration;

use ports::notices::{ChannelError, ChatId};
use serde::Deserialize;
use serde_json::Value;

/// The longest wait that is obeyed; a server that asks for a year is wrong.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// Used where a wait is asked for without saying how long.
const SHORTEST_WAIT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct Answer {
    ok: bool,
    result: Option<Value>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

pub(crate) fn answer(status: u16, body: &[u8]) -> Result<Value, ChannelError> {
    match serde_json::from_slice::<Answer>(body) {
        Ok(Answer { ok: true, result, .. }) if (200..=299).contains(&status) => Ok(result.unwrap_or(Value::Null)),
        Ok(answer) => Err(refusal(status, &answer.description, &answer.parameters)),
        Err(_) if (200..=299).contains(&status) => Err(ChannelError::Unanswered),
        Err(_) => Err(refusal(status, "", &Parameters::default())),
    }
}

/// An answer whose body was cut off, or is longer than any of ours.
pub(crate) fn cut_off(status: u16) -> ChannelError {
    if (200..=299).contains(&status) {
        return ChannelError::Unanswered;
    }
    refusal(status, "", &Parameters::default())
}

fn refusal(status: u16, description: &str, parameters: &Parameters) -> ChannelError {
    let said = description.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match status {
        400 => {
            if let Some(to) = parameters.migrate_to_chat_id {
                return ChannelError::Moved { to: ChatId(to) };
            }
            if says(&["thread not found", "topic_deleted", "topic_id_invalid"]) {
                ChannelError::TopicNotFound
            } else if says(&["chat not found", "peer_id_invalid"]) {
                ChannelError::ChatNotFound
            } else if says(&["not a forum", "forum is disabled", "topics are disabled"]) {
                ChannelError::TopicsDisabled
            } else if says(&[
                "not enough rights to create a topic",
                "not enough rights to manage topics",
            ]) {
                ChannelError::MissingTopicPermission
            } else if says(&[
                "not enough rights",
                "have no rights",
                "chat_write_forbidden",
                "not a member",
            ]) {
                ChannelError::NotInGroup
            } else {
                ChannelError::Rejected
            }
        }
        413 => ChannelError::Rejected,
        401 | 404 => ChannelError::Unauthorized,
        403 if says(&["manage topics", "create a topic"]) => ChannelError::MissingTopicPermission,
        403 => ChannelError::NotInGroup,
        429 => ChannelError::FloodWait {
            wait: parameters
                .retry_after
                .map_or(SHORTEST_WAIT, |seconds| Duration::from_secs(seconds.max(1)))
                .min(LONGEST_WAIT),
        },
        _ => ChannelError::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(status: u16, description: &str) -> ChannelError {
        let body = serde_json::json!({ "ok": false, "error_code": status, "description": description });
        answer(status, body.to_string().as_bytes()).expect_err("refused")
    }

    #[test]
    fn the_table_row_by_row() {
        for (status, description, expected) in [
            (
                400,
                "Bad Request: message thread not found",
                ChannelError::TopicNotFound,
            ),
            (400, "Bad Request: chat not found", ChannelError::ChatNotFound),
            (
                400,
                "Bad Request: the chat is not a forum",
                ChannelError::TopicsDisabled,
            ),
            (
                400,
                "Bad Request: not enough rights to create a topic",
                ChannelError::MissingTopicPermission,
            ),
            (
                400,
                "Bad Request: not enough rights to send text messages to the chat",
                ChannelError::NotInGroup,
            ),
            (400, "Bad Request: can't parse entities", ChannelError::Rejected),
            (400, "Bad Request: message is too long", ChannelError::Rejected),
            (413, "Request Entity Too Large", ChannelError::Rejected),
            (401, "Unauthorized", ChannelError::Unauthorized),
            (404, "Not Found", ChannelError::Unauthorized),
            (
                403,
                "Forbidden: bot was kicked from the supergroup chat",
                ChannelError::NotInGroup,
            ),
            (
                403,
                "Forbidden: bot is not a member of the supergroup chat",
                ChannelError::NotInGroup,
            ),
            (500, "Internal Server Error", ChannelError::Unavailable),
            (409, "Conflict", ChannelError::Unavailable),
        ] {
            assert_eq!(refused(status, description), expected, "{description}");
            assert_eq!(refused(status, &description.to_uppercase()), expected, "{description}");
        }
    }

    #[test]
    fn waits_are_obeyed_within_reason() {
        let wait = |body: &str| answer(429, body.as_bytes());
        let flood = |seconds| {
            Err(ChannelError::FloodWait {
                wait: Duration::from_secs(seconds),
            })
        };
        assert_eq!(wait(r#"{"ok":false,"parameters":{"retry_after":7}}"#), flood(7));
        assert_eq!(wait(r#"{"ok":false,"parameters":{"retry_after":0}}"#), flood(1));
        assert_eq!(
            wait(r#"{"ok":false,"parameters":{"retry_after":99999999}}"#),
            flood(3600)
        );
        assert_eq!(wait("<html>"), flood(5));
    }

    #[test]
    fn a_group_that_moved_tells_where() {
        let body = r#"{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat",
                       "parameters":{"migrate_to_chat_id":-1001234567890}}"#;
        let to = ChatId(-1_001_234_567_890);
        assert_eq!(answer(400, body.as_bytes()), Err(ChannelError::Moved { to }));
    }

    #[test]
    fn a_success_that_cannot_be_read_is_no_answer() {
        assert_eq!(answer(200, b"<<<"), Err(ChannelError::Unanswered));
        assert_eq!(cut_off(200), ChannelError::Unanswered);
        assert_eq!(cut_off(502), ChannelError::Unavailable);
        assert_eq!(answer(200, br#"{"ok":true,"result":true}"#), Ok(Value::Bool(true)));
        // A refusal under a 200 is no Bot API's; nothing tells that it was carried out.
        assert_eq!(answer(200, br#"{"ok":false}"#), Err(ChannelError::Unavailable));
    }

    proptest! {
        /// Whatever comes back has a class, and only a 2xx with `ok` is a success.
        #[test]
        fn the_table_is_total(status in 100_u16..600, body in any::<Vec<u8>>()) {
            let outcome = answer(status, &body);
            prop_assert!(outcome.is_err() || (200..=299).contains(&status));
        }
    }
}
