//! The port, call by call.

use std::{fmt, time::Instant};

use async_trait::async_trait;
use ports::panel::{FailureKind, PanelError, PanelReader, PanelWriter, Push, RemoteUser};
use reqwest::Method;
use serde::{Serialize, de::DeserializeOwned};
use tracing::{Instrument as _, Span, field::Empty};
use uuid::Uuid;

use crate::{
    Config, ConfigError, classify,
    client::{Call, Client, Effect},
    version,
    wire::{CreateIn, Envelope, MetadataOut, SquadsOut, UpdateIn, UserOut},
};

/// A panel. Cheap to share by reference; connections are pooled inside.
pub struct Remnawave {
    client: Client,
}

/// A squad of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Squad {
    pub id: Uuid,
    pub name: String,
}

/// A request without a body.
const NOTHING: Option<&()> = None;

impl Remnawave {
    /// Makes the client. Nothing is sent.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Client::new(config).map(|client| Self { client })
    }

    /// The squads of the panel, for a catalog to be checked against.
    ///
    /// # Errors
    /// As any call of the port.
    pub async fn squads(&self) -> Result<Vec<Squad>, PanelError> {
        let call = get("list_squads", &["internal-squads"]);
        let squads: SquadsOut = self.call(Call { list: true, ..call }).await?;
        let squads = squads.internal_squads.into_iter();
        Ok(squads
            .map(|squad| Squad {
                id: squad.uuid,
                name: squad.name,
            })
            .collect())
    }

    /// Sends, reads, counts.
    async fn call<B: Serialize + Sync, T: DeserializeOwned>(&self, call: Call<'_, B>) -> Result<T, PanelError> {
        let started = Instant::now();
        let span = tracing::info_span!(
            "panel.request",
            otel.kind = "client",
            otel.name = format!("panel {}", call.operation),
            otel.status_code = Empty,
            operation = call.operation,
            http.request.method = call.method.as_str(),
            server.address = self.client.host(),
            http.response.status_code = Empty,
            error.type = Empty,
        );
        let outcome = self.exchange(&call).instrument(span.clone()).await;
        let class = outcome.as_ref().err().map_or("ok", |error| class(&error.kind));
        metrics::histogram!("omniflow_remnawave_request_duration_seconds", "operation" => call.operation, "outcome" => class)
            .record(started.elapsed());
        let label = if outcome.is_ok() { "ok" } else { "error" };
        metrics::counter!("omniflow_remnawave_requests_total", "operation" => call.operation, "outcome" => label)
            .increment(1);
        if let Err(error) = &outcome {
            metrics::counter!("omniflow_remnawave_errors_total", "code" => error.code.clone()).increment(1);
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error.code.as_str());
            tracing::debug!(operation = call.operation, code = %error.code, "the panel call failed");
        }
        outcome
    }

    async fn exchange<B: Serialize + Sync, T: DeserializeOwned>(&self, call: &Call<'_, B>) -> Result<T, PanelError> {
        let answer = self.client.send(call).await?;
        Span::current().record("http.response.status_code", answer.status.as_u16());
        if !answer.status.is_success() {
            return Err(classify::refused(&answer, call.effect));
        }
        serde_json::from_slice::<Envelope<T>>(&answer.body)
            .map(|envelope| envelope.response)
            .map_err(|_| classify::unreadable(answer.status, call.effect))
    }

    /// An action on a user, which answers with the user.
    async fn act(&self, operation: &'static str, id: i64, action: &str) -> Result<RemoteUser, PanelError> {
        let id = id.to_string();
        let path = ["users", &id, "actions", action];
        let call = Call {
            method: Method::POST,
            effect: Effect::Writes,
            ..get(operation, &path)
        };
        self.call::<_, UserOut>(call).await.map(RemoteUser::from)
    }
}

const fn get<'a>(operation: &'static str, path: &'a [&'a str]) -> Call<'a, ()> {
    Call {
        operation,
        method: Method::GET,
        path,
        body: NOTHING,
        effect: Effect::Reads,
        list: false,
    }
}

const fn send<'a, B: Serialize>(operation: &'static str, method: Method, body: &'a B) -> Call<'a, B> {
    Call {
        operation,
        method,
        path: &["users"],
        body: Some(body),
        effect: Effect::Writes,
        list: false,
    }
}

/// Classes of outcomes, for metrics.
const fn class(kind: &FailureKind) -> &'static str {
    match kind {
        FailureKind::Permanent => "permanent",
        FailureKind::Transient => "transient",
        FailureKind::Unanswered => "unanswered",
        FailureKind::RateLimited { .. } => "rate_limited",
        FailureKind::Misconfigured => "misconfigured",
    }
}

/// `None` for what the panel calls missing.
fn found(outcome: Result<UserOut, PanelError>) -> Result<Option<RemoteUser>, PanelError> {
    match outcome {
        Ok(user) => Ok(Some(user.into())),
        Err(error) if classify::says_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Success for what the panel calls already so.
fn done(outcome: Result<RemoteUser, PanelError>) -> Result<(), PanelError> {
    match outcome {
        Err(error) if !classify::says_done(&error) => Err(error),
        _ => Ok(()),
    }
}

#[async_trait]
impl PanelReader for Remnawave {
    async fn version(&self) -> Result<String, PanelError> {
        let metadata: MetadataOut = self.call(get("version", &["system", "metadata"])).await?;
        if version::is_supported(&metadata.version) {
            return Ok(metadata.version);
        }
        Err(PanelError {
            kind: FailureKind::Misconfigured,
            code: "remnawave_version_unsupported".to_owned(),
            http_status: Some(200),
            panel_code: None,
        })
    }

    async fn user(&self, id: i64) -> Result<Option<RemoteUser>, PanelError> {
        found(self.call(get("get_user", &["users", &id.to_string()])).await)
    }

    async fn user_by_username(&self, username: &str) -> Result<Option<RemoteUser>, PanelError> {
        found(
            self.call(get("get_user_by_username", &["users", "by-username", username]))
                .await,
        )
    }

    async fn squad_ids(&self) -> Result<Vec<Uuid>, PanelError> {
        Ok(self.squads().await?.into_iter().map(|squad| squad.id).collect())
    }
}

#[async_trait]
impl PanelWriter for Remnawave {
    async fn create_user(&self, username: &str, description: &str, push: &Push) -> Result<RemoteUser, PanelError> {
        let body = CreateIn::new(username, description, push);
        self.call::<_, UserOut>(send("create_user", Method::POST, &body))
            .await
            .map(RemoteUser::from)
    }

    async fn update_user(&self, id: i64, push: &Push) -> Result<RemoteUser, PanelError> {
        let body = UpdateIn::new(id, push);
        self.call::<_, UserOut>(send("update_user", Method::PATCH, &body))
            .await
            .map(RemoteUser::from)
    }

    async fn reset_traffic(&self, id: i64) -> Result<RemoteUser, PanelError> {
        self.act("reset_traffic", id, "reset-traffic").await
    }

    async fn enable_user(&self, id: i64) -> Result<(), PanelError> {
        done(self.act("enable_user", id, "enable").await)
    }

    async fn disable_user(&self, id: i64) -> Result<(), PanelError> {
        done(self.act("disable_user", id, "disable").await)
    }
}

impl fmt::Debug for Remnawave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remnawave").finish_non_exhaustive()
    }
}
