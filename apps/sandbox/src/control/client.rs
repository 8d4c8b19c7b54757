//! Client of the control API, for tests, `demo` and drills.

use std::{fmt, path::Path};

use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Addresses, SandboxError,
    cryptopay::CryptopayKnobs,
    faults::{FaultCounts, FaultRule},
    goods::GoodsKnobs,
    journal::{CryptopayReport, GoodsReport, PanelReport, TelegramReport},
    panel::Knobs,
    requests::SeenRequest,
    simulator::http_client,
    telegram::TelegramKnobs,
};

/// Speaks to the control API of a running sandbox, in this process or another.
pub struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
}

/// What all journals say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    pub panel: PanelReport,
    pub cryptopay: CryptopayReport,
    pub goods: GoodsReport,
    pub telegram: TelegramReport,
}

const NOTHING: Option<&()> = None;

impl Client {
    /// For a sandbox whose addresses are known. Nothing is sent.
    ///
    /// # Errors
    /// The HTTP client cannot be made.
    pub fn new(addresses: &Addresses) -> Result<Self, SandboxError> {
        let Addresses { control, .. } = addresses;
        Ok(Self {
            http: http_client()?,
            url: control.url.clone(),
            token: control.token.clone(),
        })
    }

    /// For the sandbox of a data directory.
    ///
    /// # Errors
    /// No sandbox was ever started there, or its addresses cannot be read.
    pub fn of(data_dir: &Path) -> Result<Self, SandboxError> {
        Self::new(&Addresses::read(data_dir)?.ok_or(SandboxError::ControlUnreachable)?)
    }

    /// Puts rules in force in place of all others.
    pub async fn set_faults(&self, rules: &[FaultRule]) -> Result<(), SandboxError> {
        self.tell(Method::PUT, "faults", Some(rules)).await
    }

    /// Puts further rules in force.
    pub async fn add_faults(&self, rules: &[FaultRule]) -> Result<(), SandboxError> {
        self.tell(Method::POST, "faults", Some(rules)).await
    }

    /// Ends all faults.
    pub async fn clear_faults(&self) -> Result<(), SandboxError> {
        self.tell(Method::DELETE, "faults", NOTHING).await
    }

    /// The rules in force with their counters.
    pub async fn faults(&self) -> Result<Vec<FaultCounts>, SandboxError> {
        self.ask("faults").await
    }

    /// What the journals say.
    pub async fn report(&self) -> Result<SandboxReport, SandboxError> {
        self.ask("report").await
    }

    /// The latest requests to the simulators, oldest first.
    pub async fn requests(&self) -> Result<Vec<SeenRequest>, SandboxError> {
        self.ask("requests").await
    }

    /// Pays an invoice of the simulated Crypto Pay, by its id.
    pub async fn pay_invoice(&self, invoice_id: i64) -> Result<(), SandboxError> {
        self.tell(Method::POST, &format!("cryptopay/invoices/{invoice_id}/pay"), NOTHING)
            .await
    }

    /// Lets an invoice expire now.
    pub async fn expire_invoice(&self, invoice_id: i64) -> Result<(), SandboxError> {
        self.tell(
            Method::POST,
            &format!("cryptopay/invoices/{invoice_id}/expire"),
            NOTHING,
        )
        .await
    }

    /// Where Crypto Pay's webhooks go; `None` is nowhere. Kept over restarts.
    pub async fn set_cryptopay_webhook(&self, url: Option<&str>) -> Result<(), SandboxError> {
        self.tell(
            Method::PUT,
            "cryptopay/webhook",
            Some(&serde_json::json!({ "url": url })),
        )
        .await
    }

    /// Sends the webhook of a paid invoice once more, now. The receiver's status; `None` when it did not answer.
    pub async fn repeat_webhook(&self, invoice_id: i64) -> Result<Option<u16>, SandboxError> {
        #[derive(Deserialize)]
        struct Sent {
            status: Option<u16>,
        }
        let path = format!("cryptopay/invoices/{invoice_id}/webhook");
        self.answered::<Sent>(Method::POST, &path).await.map(|sent| sent.status)
    }

    /// Sends every webhook that Crypto Pay owes, once each, one after another, oldest or youngest first. What fails stays owed.
    pub async fn release_webhooks(&self, reversed: bool) -> Result<(), SandboxError> {
        let body = serde_json::json!({ "reversed": reversed });
        self.tell(Method::POST, "cryptopay/webhook/release", Some(&body)).await
    }

    /// Changes settings of Crypto Pay, all at once.
    pub async fn set_cryptopay_knobs(&self, knobs: &CryptopayKnobs) -> Result<(), SandboxError> {
        self.tell(Method::PUT, "cryptopay/knobs", Some(knobs)).await
    }

    /// Changes settings of the goods gateway, all at once.
    pub async fn set_goods_knobs(&self, knobs: &GoodsKnobs) -> Result<(), SandboxError> {
        self.tell(Method::PUT, "goods/knobs", Some(knobs)).await
    }

    /// Changes settings of the Bot API, all at once.
    pub async fn set_telegram_knobs(&self, knobs: &TelegramKnobs) -> Result<(), SandboxError> {
        self.tell(Method::PUT, "telegram/knobs", Some(knobs)).await
    }

    /// Deletes a topic, as a person in the group does.
    pub async fn delete_topic(&self, topic_id: i64) -> Result<(), SandboxError> {
        self.tell(Method::POST, &format!("telegram/topics/{topic_id}/delete"), NOTHING)
            .await
    }

    /// Lets a user of the panel have used so many bytes.
    pub async fn set_traffic(&self, user_id: i64, used_bytes: i64) -> Result<(), SandboxError> {
        let body = serde_json::json!({ "usedTrafficBytes": used_bytes });
        self.tell(Method::PUT, &format!("panel/users/{user_id}/traffic"), Some(&body))
            .await
    }

    /// Settings of the panel.
    pub async fn panel_knobs(&self) -> Result<Knobs, SandboxError> {
        self.ask("panel/knobs").await
    }

    /// Changes settings of the panel, all at once.
    pub async fn set_panel_knobs(&self, knobs: &Knobs) -> Result<(), SandboxError> {
        self.tell(Method::PUT, "panel/knobs", Some(knobs)).await
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str) -> Result<T, SandboxError> {
        self.answered(Method::GET, path).await
    }

    async fn answered<T: DeserializeOwned>(&self, method: Method, path: &str) -> Result<T, SandboxError> {
        let answer = self.send(method, path, NOTHING).await?;
        answer.json().await.map_err(|_| SandboxError::ControlUnreachable)
    }

    async fn tell<B: Serialize + Sync + ?Sized>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<(), SandboxError> {
        self.send(method, path, body).await.map(|_| ())
    }

    async fn send<B: Serialize + Sync + ?Sized>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<reqwest::Response, SandboxError> {
        let mut request = self
            .http
            .request(method, format!("{}/control/{path}", self.url))
            .bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.map_err(|_| SandboxError::ControlUnreachable)?;
        let status: StatusCode = answer.status();
        if status.is_success() {
            Ok(answer)
        } else {
            Err(SandboxError::ControlRefused {
                status: status.as_u16(),
            })
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.url).finish_non_exhaustive()
    }
}
