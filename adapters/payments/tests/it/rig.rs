//! A sandbox, the real client against it, and the control API as a test uses it.

use std::{path::Path, sync::Arc, time::Duration};

use domain::{
    ids::{IntentId, OrderId},
    money::Money,
};
use payments::{CryptoBot, CryptoBotOptions};
use ports::{clock::ManualClock, payments::CreateRequest};
use sandbox::{
    RunningSandbox, SandboxError, SandboxOptions,
    control::Client,
    faults::{Fault, FaultRule, SimulatorName},
};
use secrets::Secret;
use tempfile::TempDir;
use uuid::Uuid;

/// Everything a test of the contract needs.
pub(crate) struct Rig {
    pub(crate) dir: TempDir,
    pub(crate) clock: ManualClock,
    pub(crate) sandbox: RunningSandbox,
    pub(crate) provider: CryptoBot,
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
        }
    }

    /// The same installation after a restart of the simulators.
    pub(crate) async fn restart(self) -> Self {
        let Self {
            dir, clock, sandbox, ..
        } = self;
        sandbox.stop().await;
        let sandbox = open(dir.path(), &clock).await;
        let provider = provider(&sandbox, &sandbox.addresses().cryptopay.token, Duration::from_secs(15));
        Self {
            dir,
            clock,
            sandbox,
            provider,
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

    pub(crate) fn control(&self) -> Client {
        Client::new(self.sandbox.addresses()).expect("a client")
    }

    pub(crate) async fn fault(&self, route: &str, fault: Fault) {
        let rule = FaultRule::new(SimulatorName::Cryptopay, route, fault);
        self.control().set_faults(&[rule]).await.expect("a usable rule");
    }

    /// Somebody pays: the status of the control API's answer.
    pub(crate) async fn pay(&self, reference: &str) -> u16 {
        status(self.control().pay_invoice(reference.parse().expect("an id")).await)
    }

    /// Time passes for one invoice: the status of the control API's answer.
    pub(crate) async fn expire(&self, reference: &str) -> u16 {
        status(self.control().expire_invoice(reference.parse().expect("an id")).await)
    }

    pub(crate) fn report(&self) -> sandbox::journal::CryptopayReport {
        sandbox::journal::cryptopay_report(self.dir.path()).expect("a journal")
    }
}

fn status(answer: Result<(), SandboxError>) -> u16 {
    match answer {
        Ok(()) => 200,
        Err(SandboxError::ControlRefused { status }) => status,
        Err(error) => panic!("the control API failed: {error}"),
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
