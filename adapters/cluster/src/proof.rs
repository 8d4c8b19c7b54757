//! Telling what a pid file stands for: only a real connection with our password proves that a server is ours.

use crate::error::ClusterError;
use crate::pid_file::{self, PidFile};
use crate::place::{Place, SOCKET_PORT};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Connection as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// The superuser that `initdb` makes; it owns the product's databases.
pub(crate) const OWNER: &str = "omniflow";
/// How long a server may take to come up or to recover before its claim counts as unproven.
const PATIENCE: Duration = Duration::from_mins(1);
const STEP: Duration = Duration::from_millis(20);

/// What was found in a data directory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Found {
    /// No server, and nothing that would keep one from starting.
    Nothing,
    /// A pid file whose process is gone or is somebody else's.
    Stale { reused: bool },
    /// A server that opened this very data directory and knows our password.
    Ours { pid: i32 },
}

/// Looks until the claim of the pid file is proved or refuted.
pub(crate) async fn look(place: &Place, password: &str) -> Result<Found, ClusterError> {
    let data = place.data();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Some(file) = PidFile::read(&data) else {
            return Ok(Found::Nothing);
        };
        if !pid_file::is_alive(file.pid) {
            return Ok(Found::Stale { reused: false });
        }
        let why = match prove(&file, &data, password).await {
            Ok(()) => return Ok(Found::Ours { pid: file.pid }),
            Err(why) => why,
        };
        if !why.may_pass && pid_file::works_in(file.pid, &data) == Some(false) {
            return Ok(Found::Stale { reused: true });
        }
        if why.is_final || Instant::now() > deadline {
            return Err(ClusterError::Unproven {
                pid: file.pid,
                directory: data,
                why: why.text,
            });
        }
        tokio::time::sleep(STEP).await;
    }
}

/// One try, without patience: whether a server proves now that it serves this place.
pub(crate) async fn is_ours(place: &Place, password: &str) -> bool {
    match PidFile::read(&place.data()) {
        Some(file) => prove(&file, &place.data(), password).await.is_ok(),
        None => false,
    }
}

/// Why a proof failed, and what that means.
#[derive(Debug)]
struct Failure {
    text: String,
    /// A server answered that it is starting or stopping.
    may_pass: bool,
    /// Waiting will not help.
    is_final: bool,
}

async fn prove(file: &PidFile, data: &Path, password: &str) -> Result<(), Failure> {
    let socket_dir = file
        .socket_dir
        .as_deref()
        .ok_or_else(|| Failure::waiting("it has no socket yet"))?;
    let options = connect_options(socket_dir, file.port.unwrap_or(SOCKET_PORT), password);
    let mut connection = options.connect().await.map_err(|error| Failure::of(&error))?;
    let directory: Result<String, _> = sqlx::query_scalar("select current_setting('data_directory')")
        .fetch_one(&mut connection)
        .await;
    let _ = connection.close().await;
    let directory = directory.map_err(|error| Failure::of(&error))?;
    let same = std::fs::canonicalize(&directory).ok() == std::fs::canonicalize(data).ok();
    if same {
        return Ok(());
    }
    Err(Failure {
        text: format!("it serves {directory}"),
        may_pass: false,
        is_final: true,
    })
}

/// Options for the maintenance database, with nothing left to the `PG*` variables of the environment.
pub(crate) fn connect_options(socket_dir: &Path, port: u16, password: &str) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket_dir)
        .port(port)
        .username(OWNER)
        .password(password)
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
        .application_name("omniflow-cluster")
        .disable_statement_logging()
}

impl Failure {
    fn waiting(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            may_pass: false,
            is_final: false,
        }
    }

    fn of(error: &sqlx::Error) -> Self {
        let code = error
            .as_database_error()
            .and_then(|error| error.code().map(std::borrow::Cow::into_owned));
        let text = error.to_string();
        match code.as_deref() {
            Some("57P03") => Self {
                text,
                may_pass: true,
                is_final: false,
            },
            // It is a server, but not one of ours, or our password file was replaced.
            Some(_) => Self {
                text,
                may_pass: true,
                is_final: true,
            },
            None => Self {
                text,
                may_pass: false,
                is_final: false,
            },
        }
    }
}
