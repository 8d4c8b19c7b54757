//! One notice: marked, sent, recorded. What an error means for it, and for everything behind it.

use std::time::Duration;

use domain::notices::{MAX_ATTEMPTS, MAX_UNANSWERED, OUTCOME_UNKNOWN, pause, retry_delay};
use ports::notices::{ChannelError, ErrorClass, Notice};
use store::{
    StoreError,
    notices::{self, Claimed, Outcome},
};

use super::{Flow, Run};

impl Run<'_> {
    pub(super) async fn deliver(&mut self, one: &Claimed) -> Result<Flow, StoreError> {
        let pool = self.of.store.pool();
        if !notices::begin(pool, one.notice_id, self.token).await? {
            return Ok(Flow::Stop);
        }
        fail::fail_point!("notices.before_send");
        let notice = Notice {
            kind: one.kind,
            payload: one.payload.clone(),
            at: one.created_at,
        };
        let sent = self.send(&notice).await?;
        fail::fail_point!("notices.after_send");
        let outcome = outcome(one, sent);
        if notices::record(pool, one.notice_id, self.token, outcome).await? {
            self.count(one, outcome);
        } else {
            tracing::warn!(
                notice_id = one.notice_id,
                "a notice was taken over while it was being sent"
            );
        }
        match sent {
            Ok(()) => self.got_through().await,
            Err(error) => self.hold(error).await,
        }
    }

    /// Sends to the kind's topic. A topic that is gone is made again, once, and the notice sent once more.
    async fn send(&mut self, notice: &Notice) -> Result<Result<(), ChannelError>, StoreError> {
        let topic = match self.place(notice.kind).await? {
            Ok(topic) => topic,
            Err(error) => return Ok(Err(error)),
        };
        let sent = self.of.channel.send(self.chat, topic, notice).await;
        if sent != Err(ChannelError::TopicNotFound) || topic.is_none() {
            return Ok(sent);
        }
        Ok(match self.replace(notice.kind).await? {
            Ok(topic) => self.of.channel.send(self.chat, topic, notice).await,
            Err(error) => Err(error),
        })
    }

    async fn got_through(&mut self) -> Result<Flow, StoreError> {
        if self.pauses > 0 {
            notices::resume(self.of.store.pool()).await?;
            self.pauses = 0;
        }
        Ok(Flow::GoOn)
    }

    /// Leaves the group alone when the error says that nothing else would get through either.
    pub(super) async fn hold(&mut self, error: ChannelError) -> Result<Flow, StoreError> {
        let pool = self.of.store.pool();
        match (error, error.class()) {
            (ChannelError::Moved { to }, _) => {
                tracing::warn!("the operators' group became another one; it is addressed by its new id from now on");
                notices::moved(pool, self.chat.0, to.0).await?;
            }
            (ChannelError::FloodWait { wait }, _) => {
                tracing::info!(
                    seconds = wait.as_secs(),
                    "the operators' group is left alone: flood wait"
                );
                notices::pause(pool, wait, error.code(), false).await?;
            }
            (_, ErrorClass::Topic | ErrorClass::Permanent) => return Ok(Flow::GoOn),
            (_, ErrorClass::Flood | ErrorClass::Transient | ErrorClass::Unanswered | ErrorClass::Configuration) => {
                self.pauses = self.pauses.saturating_add(1);
                let span = pause(self.pauses);
                tracing::warn!(
                    code = error.code(),
                    seconds = span.as_secs(),
                    "notices do not get through; the operators' group is left alone for a while"
                );
                notices::pause(pool, span, error.code(), true).await?;
            }
        }
        Ok(Flow::Stop)
    }

    fn count(&mut self, one: &Claimed, outcome: Outcome<'_>) {
        let word = match outcome {
            Outcome::Sent => "sent",
            Outcome::Later { .. } => "retrying",
            Outcome::Failed { code, .. } => {
                tracing::warn!(notice_id = one.notice_id, kind = %one.kind, code, "a notice to operators failed");
                "failed"
            }
        };
        self.report.count(one.kind, word);
    }
}

/// What an answer, or none, means for the notice itself.
fn outcome(one: &Claimed, sent: Result<(), ChannelError>) -> Outcome<'static> {
    let Err(error) = sent else {
        return Outcome::Sent;
    };
    let attempts = one.attempts.saturating_add(1);
    let code = error.code();
    let is_unanswered = error.class() == ErrorClass::Unanswered;
    match (error, error.class()) {
        (ChannelError::FloodWait { wait }, _) => given_back(wait, code),
        (ChannelError::Moved { .. }, _) => given_back(Duration::ZERO, code),
        (_, ErrorClass::Topic | ErrorClass::Permanent) => Outcome::Failed { code, is_unanswered },
        (_, ErrorClass::Unanswered) if one.unanswered.saturating_add(1) >= MAX_UNANSWERED => Outcome::Failed {
            code: OUTCOME_UNKNOWN,
            is_unanswered,
        },
        _ if attempts >= MAX_ATTEMPTS => Outcome::Failed { code, is_unanswered },
        _ => Outcome::Later {
            delay: retry_delay(attempts),
            code,
            is_unanswered,
            counted: true,
        },
    }
}

const fn given_back(delay: Duration, code: &'static str) -> Outcome<'static> {
    Outcome::Later {
        delay,
        code,
        is_unanswered: false,
        counted: false,
    }
}
