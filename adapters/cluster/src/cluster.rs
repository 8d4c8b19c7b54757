//! A private server in use.

use crate::error::ClusterError;
use crate::options::Options;
use crate::place::Place;
use crate::proof::{self, Found, OWNER};
use crate::starting::{self, Ground, Running};
use crate::state_file::State;
use crate::{initialise, place, stop};
use sqlx::ConnectOptions as _;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;

/// A running private server. Dropping it stops the server, unless it only attached or the server is a standing one.
pub struct Cluster {
    place: Place,
    data_dir: PathBuf,
    state: State,
    password: String,
    pid: i32,
    child: Option<Child>,
    stops: bool,
    throw_away: bool,
    notices: Vec<String>,
    /// Held while we use the server, so that nobody else starts or stops it meanwhile; a killed process lets go of it.
    lock: Option<File>,
}

impl Cluster {
    /// Starts the server of this installation (making it first if need be) and owns it. A server that a killed process
    /// left behind is adopted, one that runs with other parameters is restarted; a standing one is used and left running.
    pub async fn start(options: &Options) -> Result<Self, ClusterError> {
        starting::begin(options, false).await
    }

    /// Uses the server that is running already, whoever started it; never starts and never stops it.
    pub async fn attach(data_dir: &Path) -> Result<Self, ClusterError> {
        let nothing = || ClusterError::NotRunning(data_dir.to_owned());
        let place = Place::known(data_dir).ok_or_else(nothing)?;
        let state = State::read(&place).ok_or_else(nothing)?;
        let password = initialise::password(&place)?;
        let Found::Ours { pid } = proof::look(&place, &password).await? else {
            return Err(nothing());
        };
        Ok(Self {
            data_dir: data_dir.to_owned(),
            place,
            state,
            password,
            pid,
            child: None,
            stops: false,
            throw_away: false,
            notices: Vec::new(),
            lock: None,
        })
    }

    /// Puts a server that runs into use.
    pub(crate) fn of(options: &Options, ground: Ground, running: Running) -> Self {
        let stops = !running.state.standing;
        Self {
            place: ground.place,
            data_dir: ground.data_dir,
            password: ground.password,
            notices: ground.notices,
            lock: Some(ground.lock),
            state: running.state,
            pid: running.pid,
            child: running.child,
            throw_away: options.throw_away && stops,
            stops,
        }
    }

    /// Address of a database of this server, as the owner of everything in it. It holds the password: never log it.
    pub fn owner_url(&self, database: &str) -> String {
        let host = if self.state.loopback {
            "127.0.0.1".to_owned()
        } else {
            percent_encode(&self.state.socket_dir.to_string_lossy())
        };
        let (password, port) = (&self.password, self.state.port);
        format!("postgres://{OWNER}:{password}@{host}:{port}/{database}?sslmode=disable")
    }

    /// Makes the database unless it is there; answers whether it was made.
    pub async fn ensure_database(&self, name: &str) -> Result<bool, ClusterError> {
        let options = proof::connect_options(&self.state.socket_dir, self.state.port, &self.password);
        let mut connection = options.connect().await?;
        let exists = sqlx::query_scalar("select exists (select from pg_database where datname = $1)");
        if exists.bind(name).fetch_one(&mut connection).await? {
            return Ok(false);
        }
        let quoted = name.replace('"', "\"\"");
        // A database name cannot be a bound parameter; it is quoted here.
        let statement = sqlx::AssertSqlSafe(format!("create database \"{quoted}\""));
        match sqlx::raw_sql(statement).execute(&mut connection).await {
            Ok(_) => Ok(true),
            Err(error) if is_duplicate(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sentences a person should read: a place that is not the one asked for, an account shared with other daemons.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Process number of the server.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Where the server's files are.
    pub fn directory(&self) -> &Path {
        &self.place.root
    }

    /// Keeps the files of a throw-away cluster when it stops.
    #[must_use]
    pub fn keep_files(mut self) -> Self {
        self.throw_away = false;
        self
    }

    /// Stops the server at once: clients are cut off, committed work is kept. Does nothing to a server that is not ours to
    /// stop.
    pub async fn stop(mut self) -> Result<(), ClusterError> {
        tokio::task::spawn_blocking(move || self.finish())
            .await
            .unwrap_or_else(|error| Err(ClusterError::Start(format!("the stop was interrupted: {error}"))))
    }

    fn finish(&mut self) -> Result<(), ClusterError> {
        if !std::mem::take(&mut self.stops) {
            return Ok(());
        }
        let stopped = stop::server(self.pid, self.child.as_mut());
        if self.throw_away && stopped.is_ok() {
            self.remove();
        }
        self.lock = None;
        stopped
    }

    fn remove(&self) {
        let _ = fs::remove_dir_all(&self.state.socket_dir);
        let _ = fs::remove_dir_all(&self.place.root);
        let _ = fs::remove_file(place::pointer(&self.data_dir));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::warn!(%error, "the private database server was not stopped");
        }
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cluster")
            .field("place", &self.place.root)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

fn is_duplicate(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    matches!(code.as_deref(), Some("42P04" | "23505"))
}

/// A socket directory as the host of a URL.
fn percent_encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}
