//! The administrator's side of a server: statements that make and remove whole databases.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use std::str::FromStr;

/// A server on which databases may be made, known by the URL of its administrator.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    url: String,
}

impl Admin {
    pub(crate) fn new(url: String) -> Self {
        Self { url }
    }

    /// The same server, another database, as the administrator.
    pub(crate) fn owner_url(&self, database: &str) -> String {
        with_database(&self.url, database)
    }

    /// The same server, another database, as the processes of the product run: the runtime role and its search path.
    pub(crate) fn runtime_url(&self, database: &str) -> String {
        let url = self.owner_url(database);
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}options=-csearch_path%3Dread,public%20-crole%3Domniflow_runtime")
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        connect(&self.url).await
    }
}

/// Opens one connection; a test that cannot reach its server has nothing else to say.
pub(crate) async fn connect(url: &str) -> PgConnection {
    let options = PgConnectOptions::from_str(url).unwrap_or_else(|error| panic!("not a database URL: {error}"));
    options
        .disable_statement_logging()
        .connect()
        .await
        .unwrap_or_else(|error| panic!("the test server cannot be reached: {error}"))
}

/// Runs statements whose names the harness made itself (databases cannot be bound as parameters).
pub(crate) async fn run(connection: &mut PgConnection, statement: String) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(connection)
        .await
        .map(drop)
}

/// Closes politely, so that the server counts one connection less at once.
pub(crate) async fn close(connection: PgConnection) {
    let _ = connection.close().await;
}

fn with_database(url: &str, database: &str) -> String {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (url, None),
    };
    let authority = base.find("://").map_or(0, |at| at + 3);
    let end = base[authority..].find('/').map_or(base.len(), |at| authority + at);
    let head = &base[..end];
    query.map_or_else(
        || format!("{head}/{database}"),
        |query| format!("{head}/{database}?{query}"),
    )
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn the_database_is_replaced_and_the_rest_kept() {
        assert_eq!(
            with_database("postgres://u:p@h:1/a?x=y", "b"),
            "postgres://u:p@h:1/b?x=y"
        );
        assert_eq!(
            with_database("postgres://u@%2Ftmp%2Fs:5", "b"),
            "postgres://u@%2Ftmp%2Fs:5/b"
        );
    }
}
