//! Runs a command with `DATABASE_URL` set to a throw-away database that has every migration, River's included:
//! `cargo run -p cluster --example with_database -- cargo check -p store`.
//!
//! It applies the files themselves, so it builds even when the checked queries of the store do not.

use cluster::{Cluster, Options};
use riverqueue::migrate::PostgresMigrator;
use sqlx::migrate::Migrator;
use sqlx::postgres::PgPoolOptions;
use std::error::Error;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations");
/// Read models are named without their schema.
const SEARCH_PATH: &str = "&options=-csearch_path%3Dread,public";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or("which command is to be run?")?;
    let directory = tempfile::tempdir()?;
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o711))?;
    let options = Options {
        settings: settings(),
        durable: false,
        throw_away: true,
        ..Options::new(directory.path())
    };
    let cluster = Cluster::start(&options).await?;
    cluster.ensure_database("omniflow").await?;
    let url = cluster.owner_url("omniflow");
    migrate(&url).await?;
    let status = Command::new(program)
        .args(arguments)
        .env("DATABASE_URL", url + SEARCH_PATH)
        .status()?;
    cluster.stop().await?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn migrate(url: &str) -> Result<(), Box<dyn Error>> {
    let pool = PgPoolOptions::new().max_connections(2).connect(url).await?;
    Migrator::new(Path::new(MIGRATIONS)).await?.run(&pool).await?;
    PostgresMigrator::new(pool.clone()).migrate_up().await?;
    pool.close().await;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "an example is a program: it hands the few settings on"
)]
fn settings() -> std::collections::BTreeMap<String, String> {
    let named = ["PATH", "APP_PG_BIN"].into_iter();
    named
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect()
}
