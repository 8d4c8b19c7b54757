//! Making a new cluster with `initdb`, and the password of its owner.

use crate::account::Account;
use crate::error::{At as _, ClusterError};
use crate::launch;
use crate::options::Options;
use crate::place::{self, Place};
use crate::proof::OWNER;
use crate::server_programs::ServerPrograms;
use rand::RngCore as _;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Makes the data directory unless it is there. A half-made one of a killed process is removed first.
pub(crate) async fn cluster(
    place: &Place,
    programs: &ServerPrograms,
    account: Option<&Account>,
    options: &Options,
    password: &str,
) -> Result<(), ClusterError> {
    if place.major().is_some() {
        return Ok(());
    }
    let unfinished = place.root.join("data.unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).at(&unfinished)?;
    }
    place::make_private(&unfinished, account)?;
    let password_copy = hand_over(place, account, password)?;
    let mut output = run(&unfinished, programs, account, options, &password_copy, "C.UTF-8").await;
    if matches!(&output, Err(text) if text.contains("locale")) {
        // Not every system has the UTF-8 variant of the plain locale.
        fs::remove_dir_all(&unfinished).at(&unfinished)?;
        place::make_private(&unfinished, account)?;
        output = run(&unfinished, programs, account, options, &password_copy, "C").await;
    }
    let removed = fs::remove_file(&password_copy).at(&password_copy);
    output.map_err(ClusterError::Initialise)?;
    removed?;
    // Renamed only when whole, so that a kill half way never looks like a cluster.
    fs::rename(&unfinished, place.data()).at(&place.data())
}

async fn run(
    data: &Path,
    programs: &ServerPrograms,
    account: Option<&Account>,
    options: &Options,
    password_file: &Path,
    character_type: &str,
) -> Result<(), String> {
    let mut command = launch::command(&programs.bin.join("initdb"), data, account);
    command.arg("--pgdata").arg(data).arg("--pwfile").arg(password_file);
    command.args([
        "--username",
        OWNER,
        "--auth",
        "scram-sha-256",
        "--encoding",
        "UTF8",
        "--no-instructions",
    ]);
    command.args(["--locale", "C", "--lc-ctype", character_type]);
    // What is thrown away need not survive a power cut between `initdb` and its first checkpoint.
    if !options.durable || options.throw_away {
        command.arg("--no-sync");
    }
    let output = tokio::process::Command::from(command)
        .output()
        .await
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

/// The owner's password: read from the place, or drawn and kept there, readable by us alone.
pub(crate) fn password(place: &Place) -> Result<String, ClusterError> {
    let path = place.password_file();
    match fs::read_to_string(&path) {
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).at(&path),
    }
    let mut bytes = [0_u8; 24];
    rand::rng().fill_bytes(&mut bytes);
    let password = bytes.iter().fold(String::with_capacity(48), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let unfinished = path.with_extension("unfinished");
    let _ = fs::remove_file(&unfinished);
    private_file(&unfinished, &password)?;
    fs::rename(&unfinished, &path).at(&path)?;
    Ok(password)
}

/// A copy of the password that the server's account may read, for `initdb` alone.
fn hand_over(place: &Place, account: Option<&Account>, password: &str) -> Result<std::path::PathBuf, ClusterError> {
    let copy = place.root.join("password.initdb");
    let _ = fs::remove_file(&copy);
    private_file(&copy, password)?;
    if let Some(account) = account {
        std::os::unix::fs::lchown(&copy, Some(account.uid), Some(account.gid)).at(&copy)?;
    }
    Ok(copy)
}

fn private_file(path: &Path, content: &str) -> Result<(), ClusterError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .at(path)?;
    file.write_all(content.as_bytes())
        .and_then(|()| file.sync_all())
        .at(path)
}
