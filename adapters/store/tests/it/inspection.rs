//! What `doctor` is told about a server.

use sqlx::{Connection as _, PgConnection};
use store::PoolOptions;
use store::inspection::{keeps_its_session, oldest_writer, server_facts};
use tests::TestDb;

fn options(database: &TestDb) -> PoolOptions {
    PoolOptions {
        url: database.owner_url.clone(),
        size: 1,
        process: "test",
    }
}

#[tokio::test]
async fn the_facts_are_those_of_the_runtime_role_on_a_primary() {
    let database = TestDb::new().await;
    let facts = server_facts(&options(&database)).await.unwrap();
    assert!(
        facts.major >= 15 && facts.version.starts_with(&facts.major.to_string()),
        "{facts:?}"
    );
    assert_eq!(
        (facts.role.as_str(), facts.may_change_events, facts.in_recovery),
        ("omniflow_runtime", false, false)
    );
    assert!(facts.login_is_owner, "the tests log in as the owner");
    assert!(
        facts
            .other_databases
            .iter()
            .any(|name| name.starts_with("omniflow_template_")),
        "{facts:?}"
    );
    assert!(keeps_its_session(&options(&database)).await.unwrap());

    let mut owner = PgConnection::connect(&database.owner_url).await.unwrap();
    sqlx::raw_sql("grant update on events to omniflow_runtime")
        .execute(&mut owner)
        .await
        .unwrap();
    assert!(server_facts(&options(&database)).await.unwrap().may_change_events);
}

#[tokio::test]
async fn only_a_transaction_that_wrote_is_reported() {
    let database = TestDb::own_cluster(false).await;
    let mut writer = PgConnection::connect(&database.owner_url).await.unwrap();
    let mut observer = PgConnection::connect(&database.owner_url).await.unwrap();
    let mut transaction = writer.begin().await.unwrap();
    sqlx::raw_sql("select 1").execute(&mut *transaction).await.unwrap();
    assert_eq!(
        oldest_writer(&mut observer).await.unwrap(),
        None,
        "a reader keeps nobody waiting"
    );
    sqlx::raw_sql("create table t ()")
        .execute(&mut *transaction)
        .await
        .unwrap();
    let found = oldest_writer(&mut observer).await.unwrap().unwrap();
    assert_eq!(found.database, database.name());
    assert!((0..60).contains(&found.seconds), "{found:?}");
    transaction.rollback().await.unwrap();
    assert_eq!(oldest_writer(&mut observer).await.unwrap(), None);
}
