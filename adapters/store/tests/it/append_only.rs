//! Nobody changes or removes what was written: neither the runtime role, which has no right to, nor the owner, whom a trigger stops.

use sqlx::PgConnection;
use tests::TestDb;

use crate::support::{owner, store};

async fn refusal(connection: &mut PgConnection, sql: &'static str) -> String {
    match sqlx::raw_sql(sql).execute(connection).await {
        Ok(_) => "done".to_owned(),
        Err(error) => error
            .as_database_error()
            .and_then(|it| it.code().map(|code| code.to_string()))
            .unwrap(),
    }
}

const CHANGES: [&str; 9] = [
    "update events set payload = '{}'",
    "delete from events",
    "truncate events",
    "update audit_events set actor_id = ''",
    "delete from audit_events",
    "truncate audit_events",
    "update installation set mode = 'live'",
    "delete from installation",
    "truncate installation",
];

#[tokio::test]
async fn the_owner_is_stopped_by_the_trigger() {
    let db = TestDb::new().await;
    let mut connection = owner(&db).await;
    for change in CHANGES {
        assert_eq!(refusal(&mut connection, change).await, "OF001", "{change}");
    }
}

#[tokio::test]
async fn the_runtime_role_has_no_right_to() {
    let db = TestDb::new().await;
    let store = store(&db, 1).await;
    let mut connection = store.pool().acquire().await.unwrap();
    for change in CHANGES {
        assert_eq!(refusal(&mut connection, change).await, "42501", "{change}");
    }
    for change in [
        "alter table events disable trigger all",
        "drop table events",
        "create table public.x ()",
    ] {
        assert_eq!(refusal(&mut connection, change).await, "42501", "{change}");
    }
}
