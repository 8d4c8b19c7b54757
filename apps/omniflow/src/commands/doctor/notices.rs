//! Whether operators are told what happens.

use sqlx::PgPool;
use store::{
    StoreError,
    notices::{self, Group, Topic, Waiting},
};

use super::Finding;
use crate::{
    config::Config,
    wiring::{adapters::real_bot, database::Database},
};

const CHECK: &str = "notices";
/// A notice is sent within seconds; one that waits this long waits for something.
const LONG_WAIT_SECONDS: i64 = 600;

struct Seen {
    waiting: Vec<Waiting>,
    group: Option<Group>,
    topics: Vec<Topic>,
}

pub(super) async fn findings(database: &Database, config: &Config) -> Vec<Finding> {
    let seen = match database.checked_pool("doctor", 1).await {
        Ok((pool, _mode)) => look(&pool).await,
        // Said by the checks of the server.
        Err(_) => return Vec::new(),
    };
    let mut findings = match seen {
        Ok(seen) => judge(&seen),
        Err(error) => vec![Finding::warning(CHECK, format!("could not be looked at: {error}"), "")],
    };
    findings.extend(bot(config).await);
    findings
}

async fn look(pool: &PgPool) -> Result<Seen, StoreError> {
    let group = notices::group(pool).await?;
    let topics = match &group {
        Some(group) => notices::topics(pool, group.chat_id).await?,
        None => Vec::new(),
    };
    Ok(Seen {
        waiting: notices::waiting(pool).await?,
        group,
        topics,
    })
}

/// What the settings name, asked whether it knows the token. A simulator is not asked.
async fn bot(config: &Config) -> Option<Finding> {
    let operators = match real_bot(config, None) {
        Ok(operators) => operators?,
        Err(failure) => return Some(Finding::bad("telegram", failure.to_string(), "see APP_TELEGRAM_TOKEN")),
    };
    Some(match operators.channel.check().await {
        Ok(()) => Finding::good("telegram", "the Bot API knows the bot"),
        Err(error) => Finding::bad(
            "telegram",
            format!("{error} ({})", error.code()),
            "see APP_TELEGRAM_TOKEN, and whether api.telegram.org can be reached from here",
        ),
    })
}

fn judge(seen: &Seen) -> Vec<Finding> {
    let Some(group) = &seen.group else {
        return vec![Finding::warning(
            CHECK,
            "operators are told nothing: no group was ever written to",
            "set APP_TELEGRAM_TOKEN and APP_OPERATOR_CHAT_ID, restart the worker, then: omniflow notices test",
        )];
    };
    let mut findings = Vec::new();
    if let Some(topic) = seen.topics.iter().find(|topic| topic.last_error_code.is_some()) {
        let code = topic.last_error_code.as_deref().unwrap_or_default();
        findings.push(Finding::warning(
            CHECK,
            format!("topics cannot be made: {code}"),
            advice(code),
        ));
    }
    if group.paused_seconds > 0 {
        let code = group.pause_code.as_deref().unwrap_or("unknown");
        let said = format!("the group is left alone for {} s: {code}", group.paused_seconds);
        findings.push(Finding::warning(CHECK, said, advice(code)));
    }
    let count = |status: &str| -> i64 {
        let of_status = seen.waiting.iter().filter(|one| one.status == status);
        of_status.map(|one| one.count).sum()
    };
    if count("failed") > 0 {
        let said = format!("{} notices did not get through", count("failed"));
        findings.push(Finding::warning(
            CHECK,
            said,
            "omniflow notices list --status failed, then: omniflow notices retry --failed",
        ));
    }
    let oldest = seen
        .waiting
        .iter()
        .filter(|one| one.status == "pending")
        .map(|one| one.oldest_seconds)
        .max();
    if let Some(oldest) = oldest.filter(|oldest| *oldest > LONG_WAIT_SECONDS) {
        let said = format!("{} notices wait, the oldest for {oldest} s", count("pending"));
        findings.push(Finding::warning(CHECK, said, "see that a worker runs, and its log"));
    }
    if findings.is_empty() {
        findings.push(Finding::good(CHECK, "operators are told what happens"));
    }
    findings
}

fn advice(code: &str) -> &'static str {
    match code {
        "missing_manage_topics_permission" => "make the bot an administrator that may manage topics",
        "forum_topics_disabled" => "turn topics on in the group's settings",
        "chat_not_found" => "see APP_OPERATOR_CHAT_ID; the bot has to be a member of that group",
        "bot_not_in_group" => "add the bot to the group again, and let it write",
        "unauthorized" => "see APP_TELEGRAM_TOKEN",
        "flood_wait" => "it passes by itself; a lower APP_OPERATOR_NOTIFICATION_CAP avoids it",
        _ => "it is tried again by itself; see the worker's log",
    }
}

#[cfg(test)]
mod tests {
    use domain::notices::Kind;

    use super::*;
    use crate::commands::doctor::Level;

    fn healthy() -> Seen {
        Seen {
            waiting: Vec::new(),
            group: Some(Group {
                chat_id: -1,
                paused_seconds: 0,
                pause_code: None,
            }),
            topics: Vec::new(),
        }
    }

    fn waiting(status: &str, oldest_seconds: i64) -> Waiting {
        Waiting {
            kind: Kind::Incident,
            status: status.to_owned(),
            count: 3,
            oldest_seconds,
        }
    }

    #[test]
    fn a_group_that_is_told_is_good() {
        let seen = Seen {
            waiting: vec![waiting("pending", 5)],
            ..healthy()
        };
        assert!(judge(&seen).iter().all(|finding| finding.level == Level::Good));
    }

    #[test]
    fn whatever_keeps_notices_back_is_told_with_advice() {
        let topic = Topic {
            kind: Kind::Purchase,
            topic_id: None,
            last_error_code: Some("forum_topics_disabled".to_owned()),
            tried_seconds: Some(1),
        };
        let paused = Group {
            chat_id: -1,
            paused_seconds: 9,
            pause_code: Some("unauthorized".to_owned()),
        };
        let cases = [
            (
                Seen {
                    group: None,
                    ..healthy()
                },
                "told nothing",
            ),
            (
                Seen {
                    topics: vec![topic],
                    ..healthy()
                },
                "forum_topics_disabled",
            ),
            (
                Seen {
                    group: Some(paused),
                    ..healthy()
                },
                "left alone for 9 s: unauthorized",
            ),
            (
                Seen {
                    waiting: vec![waiting("failed", 1)],
                    ..healthy()
                },
                "3 notices did not",
            ),
            (
                Seen {
                    waiting: vec![waiting("pending", 700)],
                    ..healthy()
                },
                "the oldest for 700 s",
            ),
        ];
        for (seen, words) in cases {
            let [finding]: [Finding; 1] = judge(&seen).try_into().expect("one finding");
            assert!(
                finding.level == Level::Warning && finding.said.contains(words),
                "{finding:?}"
            );
            assert!(!finding.advice.is_empty(), "{finding:?}");
        }
    }
}
