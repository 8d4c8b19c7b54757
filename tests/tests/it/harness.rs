//! The harness itself: databases are fresh, migrated, apart from each other, and gone afterwards.

use sqlx::Connection as _;
use tests::TestDb;

async fn count_of(url: &str, sql: &'static str) -> i64 {
    let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

#[tokio::test]
async fn a_test_database_is_migrated_empty_and_restricted() {
    let database = TestDb::new().await;
    assert_eq!(count_of(&database.url, "select count(*) from events").await, 0);
    assert_eq!(
        count_of(&database.url, "select count(*) from public.river_job").await,
        0
    );
    let mut connection = sqlx::PgConnection::connect(&database.url).await.unwrap();
    let refused = sqlx::query("delete from events").execute(&mut connection).await;
    assert!(refused.is_err(), "the runtime role may not delete events");
}

#[tokio::test]
async fn two_test_databases_do_not_see_each_other_and_vanish() {
    let (one, two) = tokio::join!(TestDb::new(), TestDb::new());
    let mut connection = sqlx::PgConnection::connect(&one.owner_url).await.unwrap();
    sqlx::raw_sql("create table only_here ()")
        .execute(&mut connection)
        .await
        .unwrap();
    assert_eq!(
        count_of(
            &two.owner_url,
            "select count(*) from pg_class where relname = 'only_here'"
        )
        .await,
        0
    );
    let (name, elsewhere) = (one.name().to_owned(), two.owner_url.clone());
    drop(one);
    let mut connection = sqlx::PgConnection::connect(&elsewhere).await.unwrap();
    let left: i64 = sqlx::query_scalar("select count(*) from pg_database where datname = $1")
        .bind(name)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_server_of_its_own_survives_a_kill_and_goes_with_the_test() {
    let mut database = TestDb::own_cluster(true).await;
    assert_eq!(count_of(&database.url, "select count(*) from events").await, 0);
    let mut connection = sqlx::PgConnection::connect(&database.owner_url).await.unwrap();
    sqlx::raw_sql("create table kept as select 7 as n")
        .execute(&mut connection)
        .await
        .unwrap();
    let server = database.server().unwrap();
    let pid = server.pid();
    assert!(
        std::process::Command::new("kill")
            .arg("-KILL")
            .arg(pid.to_string())
            .status()
            .unwrap()
            .success()
    );
    server.restart().await;
    assert_ne!(server.pid(), pid);
    assert_eq!(count_of(&database.owner_url, "select n::int8 from kept").await, 7);
}
