//! A sandbox and the real client against it.

use std::time::Duration;

use domain::{goods::Kind, ids::OrderId};
use goods::{Fragment, FragmentOptions};
use ports::goods::SubmitRequest;
use sandbox::{
    RunningSandbox, SandboxOptions,
    control::Client,
    faults::{Fault, FaultRule, SimulatorName},
    goods::GoodsKnobs,
    journal::GoodsReport,
};
use secrets::Secret;
use tempfile::TempDir;

/// Everything a test of the contract needs.
pub(crate) struct Rig {
    dir: TempDir,
    pub(crate) sandbox: RunningSandbox,
    pub(crate) provider: Fragment,
}

impl Rig {
    pub(crate) async fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let sandbox = sandbox::start(SandboxOptions::new(dir.path()))
            .await
            .expect("a sandbox");
        let provider = Fragment::new(options(&sandbox)).expect("a good address");
        Self { dir, sandbox, provider }
    }

    pub(crate) fn with_token(&self, token: &str) -> Fragment {
        Fragment::new(FragmentOptions {
            token: Secret::from(token),
            ..options(&self.sandbox)
        })
        .expect("a good address")
    }

    pub(crate) fn impatient(&self) -> Fragment {
        Fragment::with_timeout(options(&self.sandbox), Duration::from_millis(200)).expect("a good address")
    }

    pub(crate) fn control(&self) -> Client {
        Client::new(self.sandbox.addresses()).expect("a client")
    }

    pub(crate) async fn fault(&self, fault: Fault) {
        let rule = FaultRule::new(SimulatorName::Goods, "* /admin/**", fault);
        self.control().set_faults(&[rule]).await.expect("a usable rule");
    }

    pub(crate) async fn knobs(&self, knobs: GoodsKnobs) {
        self.control().set_goods_knobs(&knobs).await.expect("set");
    }

    pub(crate) fn report(&self) -> GoodsReport {
        sandbox::journal::goods_report(self.dir.path()).expect("a journal")
    }
}

pub(crate) fn options(sandbox: &RunningSandbox) -> FragmentOptions {
    let address = &sandbox.addresses().goods;
    FragmentOptions {
        base_url: address.url.clone(),
        token: Secret::from(address.token.as_str()),
        currency: None,
    }
}

pub(crate) fn stars(username: &str, quantity: i64) -> SubmitRequest {
    request(username, Kind::TelegramStars { quantity })
}

pub(crate) fn request(username: &str, kind: Kind) -> SubmitRequest {
    SubmitRequest {
        order_id: OrderId::default(),
        idempotency_key: "goods:00000000-0000-0000-0000-000000000000".to_owned(),
        kind,
        username: username.to_owned(),
        telegram_user_id: Some(42),
    }
}
