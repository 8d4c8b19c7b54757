//! A channel that answers by script and remembers what it was asked.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use async_trait::async_trait;
use domain::notices::Kind;
use ports::notices::{ChannelError, ChatId, Notice, OperatorChannel, TopicId};
use tokio::sync::Notify;

/// A text that reached the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) chat: i64,
    pub(crate) topic: Option<i64>,
    pub(crate) kind: Kind,
    pub(crate) key: String,
}

#[derive(Debug, Default)]
pub(crate) struct Inner {
    /// Answers of sends, in order; when there are none left, everything gets through.
    pub(crate) script: VecDeque<Result<(), ChannelError>>,
    /// Answers of topics, likewise.
    pub(crate) topic_script: VecDeque<ChannelError>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) made: Vec<(i64, Kind, i64)>,
    pub(crate) requests: usize,
    pub(crate) deleted: BTreeSet<i64>,
    /// A send reaches the group, then waits this long before it answers.
    pub(crate) slow: Duration,
    /// A send reaches the group, then answers when it is let through.
    pub(crate) gate: Option<Arc<Notify>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FakeChannel(Arc<Mutex<Inner>>);

impl FakeChannel {
    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(crate) fn answers(&self, script: impl IntoIterator<Item = Result<(), ChannelError>>) {
        self.inner().script = script.into_iter().collect();
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.inner().sent.iter().map(|sent| sent.key.clone()).collect()
    }

    fn send_now(&self, chat: ChatId, topic: Option<TopicId>, notice: &Notice) -> Result<(), ChannelError> {
        let mut inner = self.inner();
        inner.requests += 1;
        if topic.is_some_and(|TopicId(id)| inner.deleted.contains(&id)) {
            return Err(ChannelError::TopicNotFound);
        }
        let answer = inner.script.pop_front().unwrap_or(Ok(()));
        // An answer that never came: it stands there.
        if matches!(answer, Ok(()) | Err(ChannelError::Unanswered)) {
            let key = notice.payload["orderId"].as_str().unwrap_or_default().to_owned();
            inner.sent.push(Sent {
                chat: chat.0,
                topic: topic.map(|TopicId(id)| id),
                kind: notice.kind,
                key,
            });
        }
        answer
    }
}

#[async_trait]
impl OperatorChannel for FakeChannel {
    async fn check(&self) -> Result<(), ChannelError> {
        Ok(())
    }

    async fn create_topic(&self, chat: ChatId, kind: Kind) -> Result<TopicId, ChannelError> {
        let mut inner = self.inner();
        inner.requests += 1;
        if let Some(error) = inner.topic_script.pop_front() {
            return Err(error);
        }
        let id = i64::try_from(inner.made.len()).unwrap() + 1;
        inner.made.push((chat.0, kind, id));
        Ok(TopicId(id))
    }

    async fn send(&self, chat: ChatId, topic: Option<TopicId>, notice: &Notice) -> Result<(), ChannelError> {
        let (slow, gate) = {
            let inner = self.inner();
            (inner.slow, inner.gate.clone())
        };
        let answer = self.send_now(chat, topic, notice);
        if let Some(gate) = gate {
            gate.notified().await;
        }
        tokio::time::sleep(slow).await;
        answer
    }
}
