//! Topics: made for every kind when a group is new, and again when one is missing as a notice of its kind goes out.
//!
//! A group without topics, or a bot without the right to make them, gets its notices all the same: in the group at large. The reason is kept
//! with the topic, where `doctor` and `notices topics` show it.

use domain::notices::Kind;
use ports::notices::{ChannelError, ErrorClass, TopicId};
use store::{StoreError, notices};

use super::{Flow, Run};

/// A topic that could not be made is not asked for again sooner.
const AGAIN_SECONDS: i64 = 600;

impl Run<'_> {
    /// Makes the topics that were never tried.
    pub(super) async fn bind_new(&mut self, go_on: &(impl Fn() -> bool + Send + Sync)) -> Result<Flow, StoreError> {
        let new: Vec<Kind> = Kind::ALL
            .into_iter()
            .filter(|kind| {
                self.topics
                    .get(kind)
                    .is_some_and(|topic| topic.topic_id.is_none() && topic.tried_seconds.is_none())
            })
            .collect();
        for kind in new {
            if !go_on() {
                return Ok(Flow::Stop);
            }
            let Err(error) = self.make_topic(kind).await? else {
                continue;
            };
            match (error, error.class()) {
                (ChannelError::Moved { .. }, _)
                | (_, ErrorClass::Flood | ErrorClass::Transient | ErrorClass::Unanswered) => {
                    self.hold(error).await?;
                    return Ok(Flow::Stop);
                }
                // What keeps this one from being made keeps the others too; sending tells the rest.
                (_, ErrorClass::Configuration | ErrorClass::Topic | ErrorClass::Permanent) => {
                    tracing::warn!(code = error.topic_code(), "topics for notices cannot be made");
                    notices::fail_pending(self.of.store.pool(), self.chat.0, error.topic_code()).await?;
                    for topic in self.topics.values_mut().filter(|topic| topic.topic_id.is_none()) {
                        topic.tried_seconds = Some(0);
                    }
                    return Ok(Flow::GoOn);
                }
            }
        }
        Ok(Flow::GoOn)
    }

    /// Where a notice of this kind goes: its topic, made now when it is missing; or the group at large when it cannot be made.
    pub(super) async fn place(&mut self, kind: Kind) -> Result<Result<Option<TopicId>, ChannelError>, StoreError> {
        let (known, tried) = self
            .topics
            .get(&kind)
            .map_or((None, None), |topic| (topic.topic_id, topic.tried_seconds));
        if let Some(id) = known {
            return Ok(Ok(Some(TopicId(id))));
        }
        if tried.is_some_and(|seconds| seconds < AGAIN_SECONDS) {
            return Ok(Ok(None));
        }
        self.make_or_do_without(kind).await
    }

    /// The topic is gone: another one.
    pub(super) async fn replace(&mut self, kind: Kind) -> Result<Result<Option<TopicId>, ChannelError>, StoreError> {
        notices::forget(self.of.store.pool(), self.chat.0, kind).await?;
        if let Some(topic) = self.topics.get_mut(&kind) {
            topic.topic_id = None;
        }
        self.make_or_do_without(kind).await
    }

    async fn make_or_do_without(&mut self, kind: Kind) -> Result<Result<Option<TopicId>, ChannelError>, StoreError> {
        Ok(match self.make_topic(kind).await? {
            Ok(id) => Ok(Some(id)),
            Err(error) => match error.class() {
                ErrorClass::Topic | ErrorClass::Permanent => Ok(None),
                // The notice itself was not sent.
                ErrorClass::Unanswered => Err(ChannelError::Unavailable),
                ErrorClass::Flood | ErrorClass::Transient | ErrorClass::Configuration => Err(error),
            },
        })
    }

    /// One request, and what it came to in the table. A process that dies in between leaves a topic behind that nobody uses.
    async fn make_topic(&mut self, kind: Kind) -> Result<Result<TopicId, ChannelError>, StoreError> {
        let pool = self.of.store.pool();
        let made = self.of.channel.create_topic(self.chat, kind).await;
        match made {
            Ok(TopicId(id)) => {
                notices::bound(pool, self.chat.0, kind, id).await?;
                self.report.topics_made = self.report.topics_made.saturating_add(1);
            }
            Err(error) => match error.class() {
                ErrorClass::Configuration | ErrorClass::Topic | ErrorClass::Permanent => {
                    notices::failed(pool, self.chat.0, kind, error.topic_code()).await?;
                }
                ErrorClass::Flood | ErrorClass::Transient | ErrorClass::Unanswered => {}
            },
        }
        if let Some(topic) = self.topics.get_mut(&kind) {
            topic.topic_id = made.ok().map(|TopicId(id)| id);
            topic.tried_seconds = Some(0);
        }
        Ok(made)
    }
}
