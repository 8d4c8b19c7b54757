//! Where operators are told: a group with one topic for each kind of notice.

use std::{fmt, fmt::Debug, time::Duration};

use async_trait::async_trait;
use domain::{notices::Kind, time::Timestamp};
use serde_json::Value;

/// A group, by its id. Negative for groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatId(pub i64);

/// A topic of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicId(pub i64);

/// One notice to send. Which of its fields are shown, and how, the channel knows.
#[derive(Clone, PartialEq)]
pub struct Notice {
    /// What it is about.
    pub kind: Kind,
    /// Ids, amounts and codes, by name.
    pub payload: Value,
    /// When it was queued.
    pub at: Timestamp,
}

impl Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notice")
            .field("kind", &self.kind)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// Why something did not reach the group. Holds no text of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// Too much at once; nothing was sent.
    #[error("the group may not be written to for {} s", wait.as_secs())]
    FloodWait {
        /// How long nothing may be sent.
        wait: Duration,
    },
    /// Not reached, or it said itself that it failed: nothing was sent.
    #[error("the channel is not available")]
    Unavailable,
    /// Sent, and no answer came that could be read: it may stand in the group.
    #[error("no answer came")]
    Unanswered,
    /// The token is not, or no longer, a bot's.
    #[error("the bot's token is not accepted")]
    Unauthorized,
    /// There is no such group, or the bot never saw it.
    #[error("there is no such group")]
    ChatNotFound,
    /// The bot was removed, or may not write.
    #[error("the bot may not write to the group")]
    NotInGroup,
    /// The group became another one.
    #[error("the group has another id now")]
    Moved {
        /// Its id from now on.
        to: ChatId,
    },
    /// The topic was deleted.
    #[error("the topic is gone")]
    TopicNotFound,
    /// Topics cannot be made: the bot lacks the right.
    #[error("the bot may not manage topics")]
    MissingTopicPermission,
    /// Topics cannot be made: the group has none.
    #[error("the group has no topics")]
    TopicsDisabled,
    /// This notice will never be taken.
    #[error("the notice was refused")]
    Rejected,
}

/// What an error says about everything else that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Wait as told; it costs the notice nothing.
    Flood,
    /// Nothing gets through for now; nothing was sent.
    Transient,
    /// Nothing gets through for now, and this one may have.
    Unanswered,
    /// Nothing gets through until somebody changes the settings, the group or the bot's rights.
    Configuration,
    /// About the topic alone.
    Topic,
    /// About this notice alone, for good.
    Permanent,
}

impl ChannelError {
    /// Stable machine value.
    pub const fn code(self) -> &'static str {
        match self {
            Self::FloodWait { .. } => "flood_wait",
            Self::Unavailable => "telegram_unavailable",
            Self::Unanswered => "timeout",
            Self::Unauthorized => "unauthorized",
            Self::ChatNotFound => "chat_not_found",
            Self::NotInGroup => "bot_not_in_group",
            Self::Moved { .. } => "chat_moved",
            Self::TopicNotFound => "topic_not_found",
            Self::MissingTopicPermission => "missing_manage_topics_permission",
            Self::TopicsDisabled => "forum_topics_disabled",
            Self::Rejected => "rejected",
        }
    }

    /// As a topic that could not be made remembers it: what has no name of its own there is `telegram_error`.
    pub const fn topic_code(self) -> &'static str {
        match self {
            Self::ChatNotFound | Self::NotInGroup | Self::MissingTopicPermission | Self::TopicsDisabled => self.code(),
            Self::FloodWait { .. }
            | Self::Unavailable
            | Self::Unanswered
            | Self::Unauthorized
            | Self::Moved { .. }
            | Self::TopicNotFound
            | Self::Rejected => "telegram_error",
        }
    }

    /// What it says about everything else that waits.
    pub const fn class(self) -> ErrorClass {
        match self {
            Self::FloodWait { .. } => ErrorClass::Flood,
            Self::Unavailable => ErrorClass::Transient,
            Self::Unanswered => ErrorClass::Unanswered,
            Self::Unauthorized | Self::ChatNotFound | Self::NotInGroup | Self::Moved { .. } => {
                ErrorClass::Configuration
            }
            Self::TopicNotFound | Self::MissingTopicPermission | Self::TopicsDisabled => ErrorClass::Topic,
            Self::Rejected => ErrorClass::Permanent,
        }
    }
}

/// The group's service. One method is one request.
#[async_trait]
pub trait OperatorChannel: Send + Sync + Debug {
    /// Whether the bot is one, and is let in.
    async fn check(&self) -> Result<(), ChannelError>;
    /// Makes the topic of a kind. Not idempotent: asked twice, there are two.
    async fn create_topic(&self, chat: ChatId, kind: Kind) -> Result<TopicId, ChannelError>;
    /// Sends a notice to a topic, or to the group at large. Not idempotent: after [`ChannelError::Unanswered`] it may stand there.
    async fn send(&self, chat: ChatId, topic: Option<TopicId>, notice: &Notice) -> Result<(), ChannelError>;
}
