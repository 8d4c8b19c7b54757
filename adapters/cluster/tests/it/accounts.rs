//! Root and ordinary users; directories that the server's account cannot reach.

use crate::child;
use crate::ground::{count, is_alive, open_directory, quick};
use cluster::{Account, Cluster, is_root};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

#[tokio::test]
async fn root_drops_to_an_account_without_rights() {
    let directory = open_directory();
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    let data = std::fs::metadata(cluster.directory().join("data")).unwrap();
    assert_ne!(data.uid(), 0, "the server's files do not belong to root");
    assert_eq!(data.permissions().mode() & 0o777, 0o700);
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", cluster.pid())) {
        let ids = |name| {
            status
                .lines()
                .find_map(|line: &str| line.strip_prefix(name))
                .unwrap_or_default()
                .to_owned()
        };
        assert!(ids("Uid:").split_whitespace().all(|id| id != "0"), "{}", ids("Uid:"));
        if is_root() {
            assert_eq!(ids("Groups:").trim(), "", "no supplementary groups");
        }
    }
}

#[tokio::test]
async fn a_closed_ancestor_moves_the_files_says_so_and_is_remembered() {
    if !is_root() {
        return;
    }
    let closed = tempfile::tempdir().unwrap();
    std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let cluster = Cluster::start(&quick(&closed)).await.unwrap();
    let place = cluster.directory().to_owned();
    assert!(!place.starts_with(closed.path()));
    let said = cluster.notices().join("\n");
    assert!(
        said.contains(&place.display().to_string()) && said.contains(&closed.path().display().to_string()),
        "{said}"
    );
    cluster.stop().await.unwrap();
    // The directory opens, yet the files stay where they are.
    std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let options = cluster::Options {
        throw_away: true,
        ..quick(&closed)
    };
    let cluster = Cluster::start(&options).await.unwrap();
    assert_eq!(cluster.directory(), place);
    cluster.stop().await.unwrap();
    assert!(!place.exists());
}

#[tokio::test]
async fn an_ordinary_user_runs_the_server_as_himself() {
    if !is_root() {
        return;
    }
    let directory = open_directory();
    let user = Account {
        name: "someone".to_owned(),
        uid: 65_534,
        gid: 65_534,
    };
    std::os::unix::fs::chown(directory.path(), Some(user.uid), Some(user.gid)).unwrap();
    let parent = child::own_a_server(directory.path(), Some(&user));
    let owner = std::fs::metadata(format!("/proc/{}", parent.server));
    assert!(owner.is_err() || owner.is_ok_and(|found| found.uid() == user.uid));
    let server = parent.server;
    parent.end();
    assert!(!is_alive(server));
    // Root finds the files of another and runs the server as their owner.
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    assert_eq!(
        count(&cluster, "select n::int8 from written_by_child").await.unwrap(),
        7
    );
    assert_eq!(
        std::fs::metadata(cluster.directory().join("data")).unwrap().uid(),
        user.uid
    );
}
