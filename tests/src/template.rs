//! The template database: migrated once per state of the migrations, cloned for every test.

use crate::admin::{self, Admin};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Serialises the making of templates between processes; any fixed number will do.
const MAKING: i64 = 0x6f6d_6e69_666c_6f77;

/// Makes the template unless a twin did already; answers its name.
pub(crate) async fn ready(admin: &Admin) -> String {
    let name = name();
    let mut connection = admin.connect().await;
    lock(&mut connection).await;
    if !exists(&mut connection, &name).await {
        let unfinished = format!("{name}_unfinished");
        run(
            &mut connection,
            format!("drop database if exists {unfinished} with (force)"),
        )
        .await;
        run(&mut connection, format!("create database {unfinished}")).await;
        migrate(&admin.owner_url(&unfinished)).await;
        // Renamed only when whole: a process that dies half way leaves nothing that others would clone.
        run(&mut connection, format!("alter database {unfinished} rename to {name}")).await;
    }
    admin::close(connection).await;
    name
}

async fn lock(connection: &mut sqlx::PgConnection) {
    sqlx::query("select pg_advisory_lock($1)")
        .bind(MAKING)
        .execute(connection)
        .await
        .unwrap_or_else(|error| panic!("the template lock cannot be taken: {error}"));
}

async fn exists(connection: &mut sqlx::PgConnection, name: &str) -> bool {
    sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(name)
        .fetch_one(connection)
        .await
        .unwrap_or_else(|error| panic!("the list of databases cannot be read: {error}"))
}

async fn run(connection: &mut sqlx::PgConnection, statement: String) {
    let shown = statement.clone();
    admin::run(connection, statement)
        .await
        .unwrap_or_else(|error| panic!("{shown}: {error}"));
}

/// Brings a database up as the product does, as a sandbox.
pub(crate) async fn migrate(url: &str) {
    store::migrate(url, store::Mode::Sandbox)
        .await
        .unwrap_or_else(|error| panic!("the migrations failed: {error}"));
}

/// The name changes with the migrations and with the code that applies them.
pub(crate) fn name() -> String {
    let mut hasher = DefaultHasher::new();
    for file in migration_files().into_iter().chain(migration_code()) {
        file.file_name().hash(&mut hasher);
        std::fs::read(&file).unwrap_or_default().hash(&mut hasher);
    }
    format!("omniflow_template_{:016x}", hasher.finish())
}

fn migration_files() -> Vec<PathBuf> {
    sql_files(&root().join("migrations"))
}

fn migration_code() -> Vec<PathBuf> {
    let mut files = sql_files(&root().join("adapters/store/src/migrate"));
    files.extend(["adapters/store/src/migrate.rs", "Cargo.lock"].map(|file| root().join(file)));
    files
}

fn sql_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    files.sort();
    files
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
