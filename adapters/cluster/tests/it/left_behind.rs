//! What a killed process leaves: pid files of the dead, servers without a parent, pid numbers that others got.

use crate::child;
use crate::ground::{count, is_alive, kill, open_directory, quick, run};
use cluster::{Cluster, Options};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_stale_pid_file_does_not_keep_the_server_from_starting() {
    let directory = open_directory();
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    let pid_file = cluster.directory().join("data/postmaster.pid");
    let claim = std::fs::read_to_string(&pid_file).unwrap();
    let pid = cluster.pid().to_string();
    cluster.stop().await.unwrap();
    // A number that nobody has, then one that a process of somebody else got.
    for claimed in [i32::MAX.to_string(), std::process::id().to_string()] {
        std::fs::write(&pid_file, claim.replacen(&pid, &claimed, 1)).unwrap();
        let cluster = Cluster::start(&quick(&directory)).await.unwrap();
        assert_eq!(count(&cluster, "select 1::int8").await.unwrap(), 1);
        cluster.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_outlived_its_killed_parent_is_adopted_and_stopped() {
    let directory = open_directory();
    let parent = child::own_a_server(directory.path(), None);
    let server = parent.server;
    parent.kill();
    assert!(is_alive(server), "the server lives on");
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    assert_eq!(cluster.pid(), server, "adopted, not started anew");
    assert_eq!(
        count(&cluster, "select n::int8 from written_by_child").await.unwrap(),
        7
    );
    cluster.stop().await.unwrap();
    wait_until(|| !is_alive(server)).await;
}

#[tokio::test]
async fn a_left_server_with_other_parameters_is_restarted() {
    let directory = open_directory();
    let parent = child::own_a_server(directory.path(), None);
    let server = parent.server;
    parent.kill();
    let cluster = Cluster::start(&Options {
        max_connections: 33,
        ..quick(&directory)
    })
    .await
    .unwrap();
    assert_ne!(cluster.pid(), server);
    wait_until(|| !is_alive(server)).await;
    let admitted = "select setting::int8 from pg_settings where name = 'max_connections'";
    assert_eq!(count(&cluster, admitted).await.unwrap(), 33);
    assert_eq!(
        count(&cluster, "select n::int8 from written_by_child").await.unwrap(),
        7
    );
}

#[tokio::test]
async fn a_killed_server_recovers() {
    let directory = open_directory();
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    run(&cluster, "create table kept as select 7 as n; checkpoint").await;
    kill(cluster.pid());
    cluster.stop().await.unwrap();
    let cluster = Cluster::start(&quick(&directory)).await.unwrap();
    assert_eq!(count(&cluster, "select n::int8 from kept").await.unwrap(), 7);
}

#[tokio::test]
async fn a_server_that_does_not_know_our_password_is_left_alone() {
    let directory = open_directory();
    let parent = child::own_a_server(directory.path(), None);
    let server = parent.server;
    parent.kill();
    let password = directory.path().join("postgres/password");
    let right = std::fs::read_to_string(&password).unwrap();
    std::fs::write(&password, "another").unwrap();
    let error = Cluster::start(&quick(&directory)).await.unwrap_err();
    assert_eq!(error.code(), "cluster_unproven");
    assert!(
        is_alive(server) && error.to_string().contains(&server.to_string()),
        "{error}"
    );
    std::fs::write(&password, right).unwrap();
    assert!(cluster::standing::down(directory.path()).await.unwrap());
    wait_until(|| !is_alive(server)).await;
}

async fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not within ten seconds");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
