//! Finding PostgreSQL on this machine: nothing is downloaded, and the answer names what would help.

use crate::error::ClusterError;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest major version that the product supports.
pub const OLDEST_MAJOR: u32 = 15;

/// Directories of `<version>/bin` kind, by packager.
const VERSIONED: [&str; 4] = [
    "/usr/lib/postgresql",
    "/usr/libexec/postgresql",
    "/Applications/Postgres.app/Contents/Versions",
    "/opt/postgresql",
];
/// Directories that hold one folder a formula or package, `postgresql@17` or `pgsql-17`.
const NAMED: [(&str, &str); 4] = [
    ("/opt/homebrew/opt", "postgresql"),
    ("/usr/local/opt", "postgresql"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql"),
    ("/usr", "pgsql-"),
];

const ADVICE: &str = "\
No PostgreSQL server (15 or newer) was found on this machine. Any one of these helps:
  - Debian, Ubuntu:  sudo apt-get install postgresql
  - Fedora, RHEL:    sudo dnf install postgresql-server
  - macOS:           brew install postgresql@17
  - installed elsewhere: set APP_PG_BIN to the directory that holds `postgres` and `initdb`
  - a server that runs already: set APP_DATABASE_URL to its address";

/// A directory with `postgres` and `initdb`, and the version they are of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerPrograms {
    /// The directory.
    pub bin: PathBuf,
    /// Major version.
    pub major: u32,
    /// The whole version, as the program prints it.
    pub version: String,
}

impl ServerPrograms {
    /// The programs to use: those of `required` major version if given, else the first found in the documented order.
    pub fn find(settings: &BTreeMap<String, String>, required: Option<(u32, &Path)>) -> Result<Self, ClusterError> {
        let found: Vec<Self> = match settings.get("APP_PG_BIN").filter(|value| !value.is_empty()) {
            // What a person named is used or refused, never silently replaced.
            Some(named) => vec![Self::at(Path::new(named)).map_err(|why| named_is_unusable(named, &why))?],
            None => candidates(settings)
                .iter()
                .filter_map(|bin| Self::at(bin).ok())
                .collect(),
        };
        let Some((major, directory)) = required else {
            return found
                .into_iter()
                .next()
                .ok_or_else(|| ClusterError::NoServer(ADVICE.to_owned()));
        };
        let versions = found
            .iter()
            .map(|programs| programs.version.clone())
            .collect::<Vec<_>>()
            .join(", ");
        found
            .into_iter()
            .find(|programs| programs.major == major)
            .ok_or_else(|| ClusterError::WrongMajor {
                directory: directory.to_owned(),
                made_by: major,
                found: if versions.is_empty() {
                    "none".to_owned()
                } else {
                    versions
                },
            })
    }

    /// The programs in this directory, or why they cannot be used.
    fn at(bin: &Path) -> Result<Self, String> {
        if !bin.join("initdb").is_file() {
            return Err("there is no initdb in it".to_owned());
        }
        let output = Command::new(bin.join("postgres"))
            .arg("--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| format!("postgres: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let (major, version) =
            parse_version(&text).ok_or_else(|| format!("not a server version: {:?}", text.trim()))?;
        if major < OLDEST_MAJOR {
            return Err(format!("version {version} is older than {OLDEST_MAJOR}"));
        }
        Ok(Self {
            bin: bin.to_owned(),
            major,
            version,
        })
    }
}

fn named_is_unusable(named: &str, why: &str) -> ClusterError {
    ClusterError::NoServer(format!("APP_PG_BIN={named} cannot be used: {why}.\n{ADVICE}"))
}

/// Every directory worth a look, in order, each once.
fn candidates(settings: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let path: Vec<PathBuf> = settings
        .get("PATH")
        .map(|path| std::env::split_paths(path).collect())
        .unwrap_or_default();
    let mut all: Vec<PathBuf> = path
        .iter()
        .find_map(|directory| bindir_of(&directory.join("pg_config")))
        .into_iter()
        .collect();
    for parent in VERSIONED {
        all.extend(newest_first(parent, "").into_iter().map(|folder| folder.join("bin")));
    }
    // A package puts a link on PATH that may point to a wrapper; its real folder holds initdb too.
    all.extend(
        path.iter()
            .filter(|directory| directory.join("postgres").is_file())
            .map(|directory| real_folder(directory)),
    );
    for (parent, prefix) in NAMED {
        all.extend(
            newest_first(parent, prefix)
                .into_iter()
                .map(|folder| folder.join("bin")),
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|bin| seen.insert(bin.clone()));
    all
}

fn bindir_of(pg_config: &Path) -> Option<PathBuf> {
    let output = Command::new(pg_config)
        .arg("--bindir")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(text.trim())).filter(|bin| bin.is_absolute())
}

fn real_folder(directory: &Path) -> PathBuf {
    let program = fs::canonicalize(directory.join("postgres")).ok();
    program
        .and_then(|program| program.parent().map(Path::to_owned))
        .unwrap_or_else(|| directory.to_owned())
}

/// Sub-folders whose name starts with `prefix`, the highest number in the name first.
fn newest_first(parent: &str, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let mut folders: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_prefix(prefix)?.to_owned();
            Some((first_number(&name).unwrap_or(0), path))
        })
        .collect();
    folders.sort_by(|left, right| right.cmp(left));
    folders.into_iter().map(|(_, path)| path).collect()
}

fn first_number(text: &str) -> Option<u32> {
    let digits: String = text
        .chars()
        .skip_while(|letter| !letter.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// `postgres (PostgreSQL) 15.18 (Debian …)` → 15 and "15.18".
fn parse_version(text: &str) -> Option<(u32, String)> {
    let version = text.split_once("(PostgreSQL)")?.1.split_whitespace().next()?;
    Some((first_number(version)?, version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_server_prints() {
        assert_eq!(
            parse_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"),
            Some((15, "15.18".to_owned()))
        );
        assert_eq!(
            parse_version("postgres (PostgreSQL) 18beta2"),
            Some((18, "18beta2".to_owned()))
        );
        assert_eq!(parse_version("bash: postgres: not found"), None);
    }

    #[test]
    fn a_named_directory_is_used_or_refused_with_the_reason() {
        let settings = BTreeMap::from([("APP_PG_BIN".to_owned(), "/nowhere".to_owned())]);
        let error = ServerPrograms::find(&settings, None).unwrap_err();
        assert_eq!(error.code(), "cluster_no_server");
        let text = error.to_string();
        assert!(
            text.contains("APP_PG_BIN=/nowhere") && text.contains("apt-get install postgresql"),
            "{text}"
        );
    }

    #[test]
    fn numbers_order_folders_of_any_naming() {
        assert_eq!(first_number("@17"), Some(17));
        assert_eq!(first_number("9.6"), Some(9));
        assert_eq!(first_number(""), None);
    }
}
