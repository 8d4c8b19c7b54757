//! `db up`, `db status`, `db down`, and `up` on a server that stands already.

use crate::ground::{count, is_alive, open_directory, quick, run};
use cluster::Cluster;
use cluster::standing::{self, Status};

#[tokio::test]
async fn a_standing_server_outlives_its_command_and_other_users_of_it() {
    let directory = open_directory();
    assert_eq!(standing::status(directory.path()).await.unwrap(), Status::Absent);
    let cluster = standing::up(&quick(&directory)).await.unwrap();
    let pid = cluster.pid();
    run(&cluster, "create table kept as select 7 as n").await;
    drop(cluster);
    assert!(is_alive(pid));
    let seen = standing::status(directory.path()).await.unwrap();
    assert!(
        matches!(seen, Status::Running { pid: seen, standing: true, .. } if seen == pid),
        "{seen:?}"
    );

    let user = Cluster::start(&quick(&directory)).await.unwrap();
    assert_eq!(
        (user.pid(), count(&user, "select n::int8 from kept").await.unwrap()),
        (pid, 7)
    );
    assert_eq!(
        standing::down(directory.path()).await.unwrap_err().code(),
        "cluster_in_use"
    );
    user.stop().await.unwrap();
    assert!(is_alive(pid), "who found it standing leaves it standing");

    assert!(standing::down(directory.path()).await.unwrap());
    assert!(
        !standing::down(directory.path()).await.unwrap(),
        "a second time there is nothing to stop"
    );
    assert!(matches!(
        standing::status(directory.path()).await.unwrap(),
        Status::Stopped { .. }
    ));
}
