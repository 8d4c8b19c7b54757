//! A client of the admin routes. Every request carries its own key, so a lost answer is asked for again.

use std::time::Duration;

use secrets::Secret;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// How often an unanswered request is sent again, and how long apart. Together longer than a process takes to be restarted.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_millis(500);

/// The API of one installation, as an operator.
#[expect(missing_debug_implementations, reason = "it holds the operator's token")]
#[derive(Clone)]
pub struct Shop {
    http: reqwest::Client,
    base: String,
    token: Secret<String>,
}

/// The API did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// It answered with a problem.
    #[error("{method} {path}: {status} {code}")]
    Refused {
        /// Of the request.
        method: &'static str,
        /// Of the request.
        path: String,
        /// Of the answer.
        status: u16,
        /// Last part of the problem's type.
        code: String,
    },
    /// It never answered.
    #[error("{method} {path}: no answer")]
    Silent {
        /// Of the request.
        method: &'static str,
        /// Of the request.
        path: String,
    },
    /// It answered with something else.
    #[error("{path}: an answer of another form")]
    Malformed {
        /// Of the request.
        path: String,
    },
}

/// An order that was placed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bought {
    /// Its id.
    pub id: Uuid,
    /// How far it came.
    pub state: String,
    /// The remote user that a plan order is for.
    pub subscription_id: Option<Uuid>,
    /// The right that a plan order grants or extends.
    pub entitlement_id: Option<Uuid>,
    /// What a provider must bring.
    pub external_minor: i64,
}

/// A payment that was asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paid {
    /// Its id.
    pub id: Uuid,
    /// The provider's own name for it.
    pub provider_reference: Option<String>,
}

/// Digital goods for one recipient.
#[derive(Clone, Debug)]
pub struct Goods<'a> {
    /// Code of the catalog.
    pub product: &'a str,
    /// Telegram name.
    pub username: &'a str,
}

impl Shop {
    /// The API at this address.
    ///
    /// # Errors
    /// [`ShopError::Silent`] when no client can be made.
    pub fn new(base: impl Into<String>, token: Secret<String>) -> Result<Self, ShopError> {
        let base = base.into();
        // The client brings no provider of its own; one that is installed already stays.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(Duration::from_secs(30))
            .build()
            .map_err(|_| ShopError::Silent {
                method: "GET",
                path: base.clone(),
            })?;
        Ok(Self { http, base, token })
    }

    /// A new subscription.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn buy_plan(&self, key: Uuid, customer: Uuid, plan_version: Uuid) -> Result<Bought, ShopError> {
        let body =
            json!({"customerId": customer, "currency": "RUB", "operation": "purchase", "planVersionId": plan_version});
        self.post("/v1/admin/orders", key, &body).await
    }

    /// More time on a subscription.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn extend(
        &self,
        key: Uuid,
        customer: Uuid,
        plan_version: Uuid,
        entitlement: Uuid,
    ) -> Result<Bought, ShopError> {
        let body = json!({"customerId": customer, "currency": "RUB", "operation": "extension", "planVersionId": plan_version,
            "entitlementId": entitlement});
        self.post("/v1/admin/orders", key, &body).await
    }

    /// Digital goods.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn buy_goods(&self, key: Uuid, customer: Uuid, goods: Goods<'_>) -> Result<Bought, ShopError> {
        let body = json!({"customerId": customer, "currency": "RUB", "operation": "goods", "product": goods.product,
            "recipient": {"username": goods.username}});
        self.post("/v1/admin/orders", key, &body).await
    }

    /// Asks a provider for the money of an order.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn ask_for_money(&self, key: Uuid, order: Uuid, provider: &str) -> Result<Paid, ShopError> {
        self.post(
            &format!("/v1/admin/orders/{order}/payments"),
            key,
            &json!({"provider": provider}),
        )
        .await
    }

    /// Says as an operator that the money of a manual payment arrived.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn approve(&self, key: Uuid, payment: Uuid) -> Result<(), ShopError> {
        let body = json!({"approved": true, "operatorId": "sample", "reason": "sample order"});
        let _decision: Value = self
            .post(&format!("/v1/admin/payments/{payment}/manual-decision"), key, &body)
            .await?;
        Ok(())
    }

    /// One order, as it is now.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn order(&self, id: Uuid) -> Result<Bought, ShopError> {
        self.send("GET", &format!("/v1/admin/orders/{id}"), None).await
    }

    async fn post<T: for<'de> Deserialize<'de>>(&self, path: &str, key: Uuid, body: &Value) -> Result<T, ShopError> {
        self.send("POST", path, Some((key, body))).await
    }

    async fn send<T: for<'de> Deserialize<'de>>(
        &self,
        method: &'static str,
        path: &str,
        body: Option<(Uuid, &Value)>,
    ) -> Result<T, ShopError> {
        for _ in 0..TRIES {
            let request = match body {
                Some((key, body)) => self
                    .http
                    .post(format!("{}{path}", self.base))
                    .header("Idempotency-Key", key.to_string())
                    .json(body),
                None => self.http.get(format!("{}{path}", self.base)),
            };
            let Ok(answer) = request.bearer_auth(self.token.expose()).send().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let status = answer.status().as_u16();
            let Ok(document) = answer.json::<Value>().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if (200..300).contains(&status) {
                return serde_json::from_value(document).map_err(|_| ShopError::Malformed { path: path.to_owned() });
            }
            let code = problem_code(&document);
            // Busy, restarting, or still working on the first sending of this very request.
            if status >= 500 || status == 429 || code == "request_in_progress" {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            return Err(ShopError::Refused {
                method,
                path: path.to_owned(),
                status,
                code,
            });
        }
        Err(ShopError::Silent {
            method,
            path: path.to_owned(),
        })
    }
}

fn problem_code(document: &Value) -> String {
    let kind = document.get("type").and_then(Value::as_str).unwrap_or_default();
    kind.rsplit('/').next().unwrap_or_default().to_owned()
}
