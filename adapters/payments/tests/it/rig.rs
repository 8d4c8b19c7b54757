//! A sandbox, the real client against it, and the control API as a test uses it.

use std::{path::Path, sync::Arc, time::Duration};

use domain::{
    ids::{IntentId, OrderId},
    money::Money,
};
use payments::{CryptoBot, CryptoBotOptions};
use ports::{clock::ManualClock, payments::CreateRequest};
use sandbox::{
    RunningSandbox, SandboxOptions,
    faults::{Fault, FaultRule, SimulatorName},
};
use secrets::Secret;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

/// Everything a test of the contract needs.
pub(crate) struct Rig {
    pub(crate) dir: TempDir,
    pub(crate) clock: ManualClock,
    pub(crate) sandbox: RunningSandbox,
    pub(crate) provider: CryptoBot,
    http: reqwest::Client,
}

impl Rig {
    pub(crate) async fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let clock = ManualClock::at("2026-11-29T12:00:00Z".parse().expect("a time"));
        let sandbox = open(dir.path(), &clock).await;
        let provider = provider(&sandbox, &sandbox.addresses().cryptopay.token, Duration::from_secs(15));
        Self {
            dir,
            clock,
            sandbox,
            provider,
            http: reqwest::Client::builder().no_proxy().build().expect("a client"),
        }
    }

    /// The same installation after a restart of the simulators.
    pub(crate) async fn restart(self) -> Self {
        let Self {
            dir,
            clock,
            sandbox,
            http,
            ..
        } = self;
        sandbox.stop().await;
        let sandbox = open(dir.path(), &clock).await;
        let provider = provider(&sandbox, &sandbox.addresses().cryptopay.token, Duration::from_secs(15));
        Self {
            dir,
            clock,
            sandbox,
            provider,
            http,
        }
    }

    pub(crate) fn with_token(&self, token: &str) -> CryptoBot {
        provider(&self.sandbox, token, Duration::from_secs(15))
    }

    pub(crate) fn impatient(&self) -> CryptoBot {
        provider(
            &self.sandbox,
            &self.sandbox.addresses().cryptopay.token,
            Duration::from_millis(200),
        )
    }

    pub(crate) async fn fault(&self, route: &str, fault: Fault) {
        let rule = FaultRule::new(SimulatorName::Cryptopay, route, fault);
        self.send("PUT", "faults", json!([rule])).await;
    }

    pub(crate) async fn no_faults(&self) {
        self.send("PUT", "faults", json!([])).await;
    }

    pub(crate) async fn pay(&self, reference: &str) -> u16 {
        self.send("POST", &format!("cryptopay/invoices/{reference}/pay"), Value::Null)
            .await
    }

    pub(crate) async fn expire(&self, reference: &str) -> u16 {
        self.send("POST", &format!("cryptopay/invoices/{reference}/expire"), Value::Null)
            .await
    }

    /// Sends to the control API; the status of the answer.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> u16 {
        let control = &self.sandbox.addresses().control;
        self.http
            .request(
                method.parse().expect("a method"),
                format!("{}/control/{path}", control.url),
            )
            .bearer_auth(&control.token)
            .json(&body)
            .send()
            .await
            .expect("the control API answers")
            .status()
            .as_u16()
    }

    pub(crate) fn report(&self) -> sandbox::journal::CryptopayReport {
        sandbox::journal::cryptopay_report(self.dir.path()).expect("a journal")
    }
}

async fn open(dir: &Path, clock: &ManualClock) -> RunningSandbox {
    let options = SandboxOptions {
        clock: Arc::new(clock.clone()),
        ..SandboxOptions::new(dir)
    };
    sandbox::start(options).await.expect("a sandbox")
}

fn provider(sandbox: &RunningSandbox, token: &str, timeout: Duration) -> CryptoBot {
    let base_url = format!("{}/api", sandbox.addresses().cryptopay.url);
    CryptoBot::with_timeout(
        CryptoBotOptions {
            base_url,
            token: Secret::from(token),
        },
        timeout,
    )
    .expect("a good address")
}

/// A request of order number `order`.
pub(crate) fn request(order: u128, amount_minor: i64, currency: &str) -> CreateRequest {
    CreateRequest {
        order_id: OrderId::new(Uuid::from_u128(order)),
        intent_id: IntentId::new(Uuid::from_u128(order)),
        amount: Money::new(amount_minor, currency.parse().expect("known")).expect("in range"),
        description: "30 days".to_owned(),
        expires_in_seconds: 3600,
    }
}
