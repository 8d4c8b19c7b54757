//! The order of a start: decide where and as whom, take the lock, look what is there, adopt it or launch anew.

use crate::account::Account;
use crate::cluster::Cluster;
use crate::error::{At as _, ClusterError};
use crate::options::Options;
use crate::pid_file::PidFile;
use crate::place::{Place, SOCKET_PORT};
use crate::proof::{self, Found};
use crate::server_programs::ServerPrograms;
use crate::state_file::State;
use crate::{data_directory, initialise, launch, stop};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::process::Child;
use tracing::info;

/// What a start stands on, whether it adopts a server or launches one.
pub(crate) struct Ground {
    pub(crate) data_dir: PathBuf,
    pub(crate) place: Place,
    pub(crate) account: Option<Account>,
    pub(crate) programs: ServerPrograms,
    pub(crate) password: String,
    pub(crate) notices: Vec<String>,
    pub(crate) lock: File,
}

/// A server that proved itself; `child` when we launched it.
pub(crate) struct Running {
    pub(crate) state: State,
    pub(crate) pid: i32,
    pub(crate) child: Option<Child>,
}

pub(crate) async fn begin(options: &Options, standing: bool) -> Result<Cluster, ClusterError> {
    let mut ground = settle(options)?;
    let found = proof::look(&ground.place, &ground.password).await?;
    let earlier = State::read(&ground.place);
    if let (Found::Ours { pid }, Some(state)) = (&found, &earlier)
        && (state.standing || fits(state, options))
    {
        ground.notices.push(format!(
            "using the database server that is running already (process {pid})"
        ));
        let state = State {
            standing: state.standing || standing,
            ..state.clone()
        };
        state.write(&ground.place)?;
        return Ok(Cluster::of(
            options,
            ground,
            Running {
                state,
                pid: *pid,
                child: None,
            },
        ));
    }
    match found {
        Found::Ours { pid } => {
            info!(
                pid,
                "stopping a server that a killed process left behind with other parameters"
            );
            stop::server(pid, None)?;
        }
        Found::Stale { reused: true } => PidFile::disown(&ground.place.data()),
        Found::Stale { reused: false } | Found::Nothing => {}
    }
    let running = anew(options, &ground, earlier.as_ref(), standing).await?;
    Ok(Cluster::of(options, ground, running))
}

async fn anew(
    options: &Options,
    ground: &Ground,
    earlier: Option<&State>,
    standing: bool,
) -> Result<Running, ClusterError> {
    let Ground {
        place,
        account,
        programs,
        password,
        ..
    } = ground;
    let account = account.as_ref();
    let port = if options.loopback {
        launch::free_port(earlier.filter(|state| state.loopback).map(|state| state.port))?
    } else {
        SOCKET_PORT
    };
    let state = State {
        socket_dir: place.socket_dir(earlier.map(|state| state.socket_dir.as_path()), account)?,
        port,
        loopback: options.loopback,
        parameters: options.parameters(),
        standing,
    };
    state.write(place)?;
    initialise::cluster(place, programs, account, options, password).await?;
    let child = launch::start(place, programs, account, &state, password).await?;
    let pid = i32::try_from(child.id()).unwrap_or_default();
    info!(pid, version = programs.version, place = %place.root.display(), "database server started");
    Ok(Running {
        state,
        pid,
        child: Some(child),
    })
}

fn fits(state: &State, options: &Options) -> bool {
    state.parameters == options.parameters() && state.loopback == options.loopback
}

/// Decides where the files are, which programs run them and as whom: as an earlier start did, or anew.
fn settle(options: &Options) -> Result<Ground, ClusterError> {
    let data_dir = data_directory::prepare(&options.data_dir)?;
    let mut notices = Vec::new();
    let (place, account, programs) = if let Some(place) = Place::known(&data_dir) {
        let data = place.data();
        let programs = ServerPrograms::find(&options.settings, place.major().map(|major| (major, data.as_path())))?;
        let owner = fs::metadata(&data).at(&data)?;
        let account = crate::is_root().then(|| Account::of_owner(owner.uid(), owner.gid()));
        (place, account, programs)
    } else {
        let programs = ServerPrograms::find(&options.settings, None)?;
        let account = Account::choose(&programs.bin)?;
        let (place, moved) = Place::choose(&data_dir, &programs.bin, account.as_ref())?;
        notices.extend(moved);
        (place, account, programs)
    };
    if let Some(account) = account.as_ref().filter(|account| account.name == "nobody") {
        notices.push(format!(
            "PostgreSQL runs as {}, an account other daemons may share",
            account.name
        ));
    }
    let (lock, password) = (lock(&place)?, initialise::password(&place)?);
    Ok(Ground {
        data_dir,
        place,
        account,
        programs,
        password,
        notices,
        lock,
    })
}

/// Only one process of ours may start, own or stop the server of a place.
pub(crate) fn lock(place: &Place) -> Result<File, ClusterError> {
    let path = place.lock_file();
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&path)
        .at(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ClusterError::InUse(place.root.clone())),
        Err(TryLockError::Error(error)) => Err(error).at(&path),
    }
}
