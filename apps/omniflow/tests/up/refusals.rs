//! What `up` does not do, and how it says so.

use std::time::Duration;

use rustix::process::Signal;

use crate::up::{folder::Folder, process::Start, restarts::READY};

const SOON: Duration = Duration::from_secs(60);

#[tokio::test]
async fn real_credentials_beside_a_sandbox_are_named_and_nothing_stays_running() {
    let folder = Folder::new();
    let real = [
        ("APP_REMNAWAVE_URL", "https://panel.example"),
        ("APP_REMNAWAVE_TOKEN", "a-real-token"),
        ("APP_CRYPTOBOT_TOKEN", "12345:real"),
    ];
    let start = Start {
        settings: &real,
        ..Start::of(folder.path(), &["up"])
    };
    let mut up = start.now();
    let status = up.ends(SOON).await;
    let errors = up.errors();
    assert_eq!(status.code(), Some(2), "{errors}");
    for (name, value) in real {
        assert!(errors.contains(name), "{name} is not named: {errors}");
        assert!(!errors.contains(value), "a value was printed: {errors}");
    }
    assert!(folder.servers().is_empty());
}

#[tokio::test]
async fn a_second_one_in_the_same_folder_is_refused_and_the_first_goes_on() {
    let folder = Folder::new();
    let mut first = Start::of(folder.path(), &["up"]).now();
    let url = first.says("ready:", READY).await;
    let mut second = Start::of(folder.path(), &["up"]).now();
    assert_eq!(second.ends(SOON).await.code(), Some(3), "{}", second.errors());
    assert!(
        second.errors().contains("another process works in"),
        "{}",
        second.errors()
    );
    assert_eq!(folder.servers().len(), 1);
    let address = url.trim_start_matches("http://");
    assert!(std::net::TcpStream::connect(address).is_ok(), "the first still listens");
    first.signal(Signal::TERM);
    assert!(first.ends(SOON).await.success(), "{}", first.errors());
    assert!(folder.servers().is_empty());
}

#[tokio::test]
async fn a_sandbox_never_becomes_live() {
    let folder = Folder::new();
    let mut sandbox = Start::of(folder.path(), &["up"]).now();
    sandbox.says("ready:", READY).await;
    sandbox.interrupt().await;
    let real = [
        ("APP_REMNAWAVE_URL", "https://panel.example"),
        ("APP_REMNAWAVE_TOKEN", "a-real-token"),
    ];
    let start = Start {
        settings: &real,
        ..Start::of(folder.path(), &["up", "--live"])
    };
    let mut live = start.now();
    let status = live.ends(SOON).await;
    let errors = live.errors();
    assert!(!status.success());
    assert!(errors.contains("sandbox") && errors.contains("live"), "{errors}");
    assert!(folder.servers().is_empty());
}
