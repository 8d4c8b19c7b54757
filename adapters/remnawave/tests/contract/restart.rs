//! What survives: users, ids, tokens, and where it listens.

use std::{fs::OpenOptions, io::Write as _, os::unix::fs::PermissionsExt as _};

use ports::panel::{PanelReader as _, PanelWriter as _};
use sandbox::{Addresses, SandboxError, SandboxOptions};

use crate::{raw, rig::Rig};

#[tokio::test]
async fn state_survives_and_ids_are_never_reused() {
    let rig = Rig::start().await;
    let first = rig.panel.create_user("first", "omniflow:a", &rig.push()).await.unwrap();
    let gone = rig.panel.create_user("gone", "omniflow:b", &rig.push()).await.unwrap();
    assert_eq!(raw::delete(&rig, gone.id).await, 204);
    let before = rig.sandbox.addresses().clone();

    let rig = rig.restart().await;
    assert_eq!(rig.sandbox.addresses().panel.token, before.panel.token);
    assert_eq!(
        rig.sandbox.addresses().panel.url,
        before.panel.url,
        "a free port is used again"
    );
    assert_eq!(rig.panel.user(first.id).await.unwrap(), Some(first.clone()));
    assert_eq!(rig.panel.user(gone.id).await.unwrap(), None);
    let again = rig.panel.create_user("gone", "omniflow:b", &rig.push()).await.unwrap();
    assert!(again.id > gone.id, "an id means one user for ever");

    let rig = rig.crash().await;
    assert_eq!(rig.panel.user(again.id).await.unwrap(), Some(again.clone()));
    let report = rig.report();
    assert_eq!((report.users, report.duplicate_users), (2, 0));
    assert_eq!(report.calls["create"], 3);
    assert_eq!(rig.control.report().await.unwrap().panel, report);
}

#[tokio::test]
async fn a_torn_last_line_is_forgotten_and_a_damaged_one_is_not() {
    let rig = Rig::start().await;
    let user = rig.panel.create_user("whole", "d", &rig.push()).await.unwrap();
    let journal = rig.data_dir().join("sandbox/panel.journal.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    let mut file = OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(&whole[..whole.len() / 2]).unwrap();
    assert_eq!(rig.report().users, 1, "the oracle reads past a torn line");

    let rig = rig.restart().await;
    assert_eq!(rig.panel.user(user.id).await.unwrap(), Some(user));
    rig.panel.create_user("second", "d", &rig.push()).await.unwrap();
    assert_eq!(rig.report().users, 2);

    let mut edited = std::fs::read(&journal).unwrap();
    edited[2] = b'#';
    std::fs::write(&journal, edited).unwrap();
    assert!(matches!(
        sandbox::journal::panel_report(rig.data_dir()),
        Err(SandboxError::DamagedJournal { line: 1, .. })
    ));
}

#[tokio::test]
async fn one_sandbox_a_data_directory_and_files_are_private() {
    let rig = Rig::start().await;
    let second = sandbox::start(SandboxOptions::new(rig.data_dir())).await;
    assert!(matches!(second, Err(SandboxError::InUse { .. })));
    let path = Addresses::path(rig.data_dir());
    for path in [
        path,
        rig.data_dir().join("sandbox/tokens.json"),
        rig.data_dir().join("sandbox/panel.journal.jsonl"),
    ] {
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600,
            "{path:?}"
        );
    }
    assert_eq!(
        Addresses::read(rig.data_dir()).unwrap().as_ref(),
        Some(rig.sandbox.addresses())
    );
    assert!(rig.sandbox.addresses().panel.url.starts_with("http://127.0.0.1:"));
}
