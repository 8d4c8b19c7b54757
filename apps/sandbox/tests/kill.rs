//! The simulators' promise under `kill -9`: whatever was answered is in the journal, and no id is ever used twice.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may be blunt")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sandbox::{Addresses, SandboxOptions, panel::Effect};
use tokio::task::JoinSet;

const CHILD_DIR: &str = "SANDBOX_KILL_TEST_DIR";

/// Not a test of its own: the process that gets killed.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn child() {
    #[expect(clippy::disallowed_methods, reason = "how the parent tells its child where to work")]
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let _running = sandbox::start(SandboxOptions::new(dir)).await.unwrap();
        std::future::pending::<()>().await;
    });
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(dir: &Path) -> Killed {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--ignored", "--nocapture"])
        .env(CHILD_DIR, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Killed(child)
}

fn http() -> reqwest::Client {
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .timeout(Duration::from_secs(5))
        .build()
        .unwrap()
}

async fn ready(dir: &Path, http: &reqwest::Client) -> Addresses {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        assert!(Instant::now() < deadline, "the child never listened");
        if let Some(addresses) = Addresses::read(dir).unwrap() {
            let request = http.get(format!("{}/control/report", addresses.control.url));
            let answer = request.bearer_auth(&addresses.control.token).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return addresses;
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Creates users until the process is gone; notes the id of every user that it was told of.
async fn create_until_killed(
    http: reqwest::Client,
    addresses: Addresses,
    prefix: String,
    told: Arc<Mutex<Vec<(i64, String)>>>,
) {
    for number in 0_u32.. {
        let username = format!("{prefix}-{number}");
        let answer = http
            .post(format!("{}/api/users", addresses.panel.url))
            .bearer_auth(&addresses.panel.token)
            .header("x-forwarded-for", "127.0.0.1")
            .header("x-forwarded-proto", "https")
            .json(&serde_json::json!({ "username": username, "expireAt": "2030-01-01T00:00:00Z" }))
            .send()
            .await;
        let Ok(answer) = answer else { return };
        let Ok(body) = answer.json::<serde_json::Value>().await else {
            return;
        };
        let id = body
            .pointer("/response/id")
            .and_then(serde_json::Value::as_i64)
            .expect("a created user has an id");
        told.lock().unwrap().push((id, username));
    }
}

#[tokio::test]
async fn what_was_answered_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let http = http();
    let told = Arc::new(Mutex::new(Vec::new()));
    for round in 0_u64..4 {
        let killed = spawn(dir.path());
        let addresses = ready(dir.path(), &http).await;
        let mut clients = JoinSet::new();
        for client in 0..4 {
            let prefix = format!("r{round}c{client}");
            clients.spawn(create_until_killed(
                http.clone(),
                addresses.clone(),
                prefix,
                told.clone(),
            ));
        }
        tokio::time::sleep(Duration::from_millis(120 + 70 * round)).await;
        drop(killed);
        clients.join_all().await;
    }

    let mut made: BTreeMap<i64, String> = BTreeMap::new();
    let journal = sandbox::journal::path(&sandbox::journal::dir(dir.path()), "panel");
    sandbox::journal::read_entries::<Effect>(&journal, |entry| {
        let user = entry.effect.user().unwrap();
        assert!(
            made.insert(user.id, user.username.clone()).is_none(),
            "id {} was used twice",
            user.id
        );
    })
    .unwrap();
    let told = told.lock().unwrap();
    assert!(
        told.len() > 40,
        "only {} users were created: the test proves little",
        told.len()
    );
    for (id, username) in told.iter() {
        assert_eq!(made.get(id), Some(username), "an answered user is lost");
    }
    let names: BTreeSet<&String> = made.values().collect();
    assert_eq!(names.len(), made.len());
}
