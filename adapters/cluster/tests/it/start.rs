//! Starting, stopping, starting again; what is refused.

use crate::ground::{count, is_alive, open_directory, quick, run, settings};
use cluster::{Cluster, Options};
use sqlx::{Connection as _, PgConnection};
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn nothing_becomes_a_server_and_a_second_start_keeps_the_data() {
    let directory = open_directory();
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    run(&cluster, "create table kept as select 7 as n").await;
    assert!(cluster.ensure_database("shop").await.unwrap(), "made");
    assert!(!cluster.ensure_database("shop").await.unwrap(), "there already");
    let pid = cluster.pid();
    cluster.stop().await.unwrap();
    assert!(!is_alive(pid));

    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    assert_eq!(count(&cluster, "select n::int8 from kept").await.unwrap(), 7);
    let pid = cluster.pid();
    drop(cluster);
    assert!(!is_alive(pid), "dropping stops the server");
}

#[tokio::test]
async fn the_product_defaults_are_durable_private_and_scram() {
    let directory = open_directory();
    let options = Options {
        settings: settings(),
        ..Options::new(directory.path())
    };
    let cluster = Cluster::start(&options).await.unwrap();
    let durable =
        "select count(*) from pg_settings where (name, setting) in (('fsync', 'on'), ('full_page_writes', 'on'),
        ('synchronous_commit', 'on'), ('listen_addresses', ''), ('password_encryption', 'scram-sha-256'),
        ('server_encoding', 'UTF8'), ('unix_socket_permissions', '0700'), ('TimeZone', 'UTC'))";
    assert_eq!(count(&cluster, durable).await.unwrap(), 8);
    let lax = "select count(*) from pg_hba_file_rules where auth_method <> 'scram-sha-256'";
    assert_eq!(count(&cluster, lax).await.unwrap(), 0);
    let password = std::fs::metadata(cluster.directory().join("password")).unwrap();
    assert_eq!(password.permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let directory = open_directory();
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    let url = cluster.owner_url("postgres");
    let password = url
        .split_once("omniflow:")
        .and_then(|(_, rest)| rest.split_once('@'))
        .unwrap()
        .0;
    let error = PgConnection::connect(&url.replace(password, "wrong"))
        .await
        .unwrap_err();
    let code = error
        .as_database_error()
        .and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    assert_eq!(code.as_deref(), Some("28P01"));
    assert!(!format!("{cluster:?}").contains(password), "the password is not shown");
}

#[tokio::test]
async fn one_directory_has_one_owner_and_guests() {
    let directory = open_directory();
    let owner = Cluster::start(&quick(&directory)).await.unwrap();
    let refused = Cluster::start(&quick(&directory)).await.unwrap_err();
    assert_eq!(refused.code(), "cluster_in_use");
    let guest = Cluster::attach(directory.path()).await.unwrap();
    assert_eq!(count(&guest, "select 1::int8").await.unwrap(), 1);
    guest.stop().await.unwrap();
    assert!(is_alive(owner.pid()), "a guest does not stop the server");
    owner.stop().await.unwrap();
    assert_eq!(
        Cluster::attach(directory.path()).await.unwrap_err().code(),
        "cluster_not_running"
    );
}

#[tokio::test]
async fn loopback_and_long_paths_work() {
    let directory = open_directory();
    let deep = directory.path().join("a-directory-with-a-rather-long-name".repeat(4));
    let options = Options {
        data_dir: deep,
        loopback: true,
        throw_away: true,
        ..quick(&directory)
    };
    let cluster = Cluster::start(&options).await.unwrap();
    assert!(cluster.owner_url("postgres").contains("@127.0.0.1:"));
    assert_eq!(count(&cluster, "select 1::int8").await.unwrap(), 1);
    let root = cluster.directory().to_owned();
    cluster.stop().await.unwrap();
    assert!(!root.exists(), "a throw-away cluster leaves nothing");
}

#[tokio::test]
async fn a_half_made_cluster_is_made_again_and_a_foreign_version_refused() {
    let directory = open_directory();
    let half = directory.path().join("postgres/data.unfinished/base");
    std::fs::create_dir_all(&half).unwrap();
    for part in [
        directory.path().join("postgres"),
        directory.path().join("postgres/data.unfinished"),
    ] {
        std::fs::set_permissions(part, std::fs::Permissions::from_mode(0o711)).unwrap();
    }
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    let version = cluster.directory().join("data/PG_VERSION");
    cluster.stop().await.unwrap();
    std::fs::write(version, "12\n").unwrap();
    let error = Cluster::start(&quick(&directory)).await.unwrap_err();
    assert_eq!(error.code(), "cluster_wrong_major");
    assert!(error.to_string().contains("APP_PG_BIN"), "{error}");
}
