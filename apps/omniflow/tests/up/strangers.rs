//! Started by anybody: root with a closed home, and an ordinary account.

use std::{fs, os::unix::fs::PermissionsExt as _};

use rustix::process::geteuid;

use crate::up::{
    folder::Folder,
    process::{NOBODY, Start},
    restarts::READY,
};

#[tokio::test]
async fn a_home_that_is_closed_to_others_is_no_obstacle() {
    let folder = Folder::in_a_closed_home();
    let mut up = Start::of(folder.path(), &["up"]).now();
    up.says("ready:", READY).await;
    if geteuid().is_root() {
        let place = folder.moved_to().expect("another account cannot reach it here");
        assert!(up.errors().contains(&place.display().to_string()), "{}", up.errors());
    }
    up.interrupt().await;
    let mut again = Start::of(folder.path(), &["up"]).now();
    again.says("ready:", READY).await;
    again.interrupt().await;
    assert!(folder.servers().is_empty());
}

#[tokio::test]
async fn an_ordinary_account_needs_nothing_of_root() {
    if !geteuid().is_root() {
        // Then every other test here shows it.
        return;
    }
    let folder = Folder::of(NOBODY);
    // The target directory may be closed to that account.
    let binary = folder.path().join("omniflow");
    fs::copy(env!("CARGO_BIN_EXE_omniflow"), &binary).expect("a copy");
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("ours");
    let start = Start {
        binary: &binary,
        account: Some(NOBODY),
        ..Start::of(folder.path(), &["up"])
    };
    let mut up = start.now();
    up.says("ready:", READY).await;
    up.interrupt().await;
    assert!(folder.servers().is_empty());
    assert_eq!(folder.moved_to(), None, "its own home is open to itself");
}
