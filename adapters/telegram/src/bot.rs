//! A bot that writes to the operators' group.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use domain::notices::Kind;
use ports::notices::{ChannelError, ChatId, Notice, OperatorChannel, TopicId};
use serde_json::json;

use crate::{BotOptions, SetupError, client, client::BotApi, render, titles::title};

/// The Bot API as a channel to operators.
pub struct Bot {
    api: BotApi,
    banner: Option<String>,
}

impl Bot {
    /// Makes the bot, which waits 15 s for an answer. Sends nothing.
    ///
    /// # Errors
    /// [`SetupError`] when the token must not be sent to that address, is no token, or TLS cannot be set up.
    pub fn new(options: &BotOptions) -> Result<Self, SetupError> {
        Self::with_timeout(options, client::TIMEOUT)
    }

    /// As [`Self::new`], with another patience.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_timeout(options: &BotOptions, timeout: Duration) -> Result<Self, SetupError> {
        Ok(Self {
            api: BotApi::new(options, timeout)?,
            banner: options.banner.clone(),
        })
    }
}

impl fmt::Debug for Bot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bot").field("api", &self.api).finish_non_exhaustive()
    }
}

#[async_trait]
impl OperatorChannel for Bot {
    async fn check(&self) -> Result<(), ChannelError> {
        self.api.call("getMe", &json!({})).await.map(|_| ())
    }

    async fn create_topic(&self, chat: ChatId, kind: Kind) -> Result<TopicId, ChannelError> {
        let made = self
            .api
            .call("createForumTopic", &json!({ "chat_id": chat.0, "name": title(kind) }))
            .await?;
        made.get("message_thread_id")
            .and_then(serde_json::Value::as_i64)
            .filter(|id| *id > 0)
            .map(TopicId)
            .ok_or(ChannelError::Unanswered)
    }

    async fn send(&self, chat: ChatId, topic: Option<TopicId>, notice: &Notice) -> Result<(), ChannelError> {
        let mut parameters = json!({
            "chat_id": chat.0,
            "text": render::text(notice, self.banner.as_deref()),
            "parse_mode": "HTML",
            "link_preview_options": { "is_disabled": true },
        });
        if let (Some(TopicId(id)), Some(fields)) = (topic, parameters.as_object_mut()) {
            fields.insert("message_thread_id".to_owned(), id.into());
        }
        let sent = self.api.call("sendMessage", &parameters).await;
        let outcome = sent.as_ref().err().map_or("sent", |error| error.code());
        metrics::counter!("omniflow_telegram_sends_total", "outcome" => outcome).increment(1);
        sent.map(|_| ())
    }
}
