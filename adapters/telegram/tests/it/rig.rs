//! A sandbox and the real client against it.

use std::time::Duration;

use domain::notices::Kind;
use ports::notices::{ChatId, Notice};
use sandbox::{
    RunningSandbox, SandboxOptions,
    control::Client,
    faults::{Fault, FaultRule, SimulatorName},
    journal::TelegramReport,
    telegram::{OPERATOR_GROUP, TelegramKnobs},
};
use secrets::Secret;
use serde_json::json;
use telegram::{Bot, BotOptions};
use tempfile::TempDir;

pub(crate) const GROUP: ChatId = ChatId(OPERATOR_GROUP);

/// Everything a test of the contract needs.
pub(crate) struct Rig {
    dir: TempDir,
    pub(crate) sandbox: RunningSandbox,
    pub(crate) bot: Bot,
}

impl Rig {
    pub(crate) async fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let sandbox = sandbox::start(SandboxOptions::new(dir.path()))
            .await
            .expect("a sandbox");
        let bot = Bot::new(&options(&sandbox)).expect("a good address");
        Self { dir, sandbox, bot }
    }

    pub(crate) fn impatient(&self) -> Bot {
        Bot::with_timeout(&options(&self.sandbox), Duration::from_millis(300)).expect("a good address")
    }

    pub(crate) fn control(&self) -> Client {
        Client::new(self.sandbox.addresses()).expect("a client")
    }

    pub(crate) async fn fault(&self, fault: Fault) {
        let rule = FaultRule::new(SimulatorName::Telegram, "POST /*/*", fault);
        self.control().set_faults(&[rule]).await.expect("a usable rule");
    }

    pub(crate) async fn knobs(&self, knobs: TelegramKnobs) {
        self.control().set_telegram_knobs(&knobs).await.expect("set");
    }

    pub(crate) fn report(&self) -> TelegramReport {
        sandbox::journal::telegram_report(self.dir.path()).expect("a journal")
    }
}

pub(crate) fn options(sandbox: &RunningSandbox) -> BotOptions {
    let address = &sandbox.addresses().telegram;
    BotOptions {
        base_url: address.url.clone(),
        token: Secret::from(address.token.as_str()),
        banner: None,
    }
}

pub(crate) fn notice(kind: Kind, order: &str) -> Notice {
    Notice {
        kind,
        payload: json!({ "orderId": order }),
        at: "2026-03-01T12:00:00Z".parse().expect("a time"),
    }
}
