//! Where the files of a server are, and how to find a place that the server's account can reach.

use crate::account::Account;
use crate::error::{At as _, ClusterError};
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// A socket path longer than this is refused by some systems (`sun_path` holds 104 to 108 bytes).
const LONGEST_SOCKET: usize = 100;
/// The port only names the socket file; nothing listens on it.
pub(crate) const SOCKET_PORT: u16 = 5432;

/// The root of a server's files. It is ours; only `data` and the socket directory belong to the server's account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) root: PathBuf,
}

impl Place {
    /// Where an earlier start put the files of this installation, if one did.
    pub(crate) fn known(data_dir: &Path) -> Option<Self> {
        let moved = fs::read_to_string(pointer(data_dir))
            .ok()
            .map(|text| PathBuf::from(text.trim()));
        let root = moved
            .filter(|root| root.is_absolute())
            .unwrap_or_else(|| data_dir.join("postgres"));
        let place = Self { root };
        place.is_made().then_some(place)
    }

    /// The first place that the account can reach, with a sentence when it is not the one asked for.
    pub(crate) fn choose(
        data_dir: &Path,
        bin: &Path,
        account: Option<&Account>,
    ) -> Result<(Self, Option<String>), ClusterError> {
        let wanted = Self {
            root: data_dir.join("postgres"),
        };
        wanted.make_root()?;
        let Some(account) = account else {
            return Ok((wanted, None));
        };
        let Err(why) = account.can_run(bin, &wanted.root) else {
            return Ok((wanted, None));
        };
        let closed = closed_ancestor(&wanted.root, account).unwrap_or_else(|| wanted.root.clone());
        let _ = fs::remove_dir(&wanted.root);
        let hash = {
            let mut hasher = DefaultHasher::new();
            wanted.root.hash(&mut hasher);
            hasher.finish()
        };
        for base in ["/var/lib/omniflow", "/var/tmp", "/tmp"] {
            let place = Self {
                root: Path::new(base).join(format!("omniflow-{hash:016x}")),
            };
            if place.make_root().is_ok() && place.is_ours() && account.can_run(bin, &place.root).is_ok() {
                fs::write(pointer(data_dir), place.root.as_os_str().as_bytes()).at(&pointer(data_dir))?;
                let sentence = format!(
                    "{} is closed to the account {} that runs PostgreSQL, so the database files are in {}",
                    closed.display(),
                    account.name,
                    place.root.display()
                );
                return Ok((place, Some(sentence)));
            }
        }
        Err(ClusterError::NoPlace(format!(
            "{} is closed to {} ({why})",
            closed.display(),
            account.name
        )))
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub(crate) fn password_file(&self) -> PathBuf {
        self.root.join("password")
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    pub(crate) fn state_file(&self) -> PathBuf {
        self.root.join("state.json")
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.root.join("server.log")
    }

    /// The major version that made the data, when there is data.
    pub(crate) fn major(&self) -> Option<u32> {
        fs::read_to_string(self.data().join("PG_VERSION"))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    fn is_made(&self) -> bool {
        self.major().is_some()
    }

    /// Makes the root and its parents: open for passing through when the server runs as somebody else.
    fn make_root(&self) -> Result<(), ClusterError> {
        let mode = if crate::is_root() { 0o711 } else { 0o700 };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(&self.root)
            .at(&self.root)
    }

    /// A directory in a place that others can write to may have been put there by one of them.
    fn is_ours(&self) -> bool {
        let me = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(&self.root)
            .is_ok_and(|found| found.is_dir() && found.uid() == me && found.mode() & 0o022 == 0)
    }

    /// A private directory for the socket: below the root when the path is short enough, else a new one in `/tmp`.
    pub(crate) fn socket_dir(
        &self,
        earlier: Option<&Path>,
        account: Option<&Account>,
    ) -> Result<PathBuf, ClusterError> {
        if let Some(earlier) = earlier.filter(|earlier| is_private(earlier, account)) {
            return Ok(earlier.to_owned());
        }
        let near = self.root.join("socket");
        let directory = if near.as_os_str().len() + "/.s.PGSQL.65535".len() <= LONGEST_SOCKET {
            near
        } else {
            PathBuf::from(format!("/tmp/omniflow-{:08x}", rand::random::<u32>()))
        };
        make_private(&directory, account)?;
        Ok(directory)
    }
}

/// Makes a directory of the server's account that nobody else can enter.
pub(crate) fn make_private(directory: &Path, account: Option<&Account>) -> Result<(), ClusterError> {
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        other => other.at(directory)?,
    }
    if !fs::symlink_metadata(directory).at(directory)?.is_dir() {
        return Err(ClusterError::NoPlace(format!(
            "{} is not a directory",
            directory.display()
        )));
    }
    if let Some(account) = account {
        std::os::unix::fs::lchown(directory, Some(account.uid), Some(account.gid)).at(directory)?;
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).at(directory)
}

fn is_private(directory: &Path, account: Option<&Account>) -> bool {
    let owner = account.map_or_else(|| rustix::process::geteuid().as_raw(), |account| account.uid);
    fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == owner && found.mode() & 0o777 == 0o700)
}

/// Names where the files went when they are not below the data directory.
pub(crate) fn pointer(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres.place")
}

/// The outermost ancestor that the account cannot pass through, by the mode bits.
fn closed_ancestor(path: &Path, account: &Account) -> Option<PathBuf> {
    let mut ancestors: Vec<&Path> = path.ancestors().collect();
    ancestors.reverse();
    ancestors
        .into_iter()
        .find(|ancestor| !can_pass(ancestor, account))
        .map(Path::to_owned)
}

fn can_pass(directory: &Path, account: &Account) -> bool {
    let Ok(found) = fs::metadata(directory) else {
        return true;
    };
    let bit = if found.uid() == account.uid {
        0o100
    } else if found.gid() == account.gid {
        0o010
    } else {
        0o001
    };
    found.mode() & bit != 0
}
