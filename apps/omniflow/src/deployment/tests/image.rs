//! `deploy/Dockerfile`.

use super::{file, parses};

#[test]
fn the_image_builds_our_binary_and_runs_it_as_nobody_special() {
    let text = file("deploy/Dockerfile");
    let workspace = file("Cargo.toml");
    let least = workspace
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .unwrap()
        .trim_end_matches('"');
    assert!(
        text.contains(&format!("FROM rust:{least}-")),
        "the compiler is the oldest supported: {least}"
    );
    assert!(text.contains("cargo build --release --locked --bin omniflow"));
    assert!(text.contains("ENV SQLX_OFFLINE=true"));
    let last = text.rsplit("\nFROM ").next().unwrap();
    assert!(last.contains("\nUSER omniflow\n"), "not root");
    assert!(
        last.contains("ca-certificates"),
        "TLS is checked against the system's store"
    );
    assert!(last.contains("\nENTRYPOINT [\"omniflow\"]\n"));
    parses(&["db", "migrate", "--mode", "live"]);
}
