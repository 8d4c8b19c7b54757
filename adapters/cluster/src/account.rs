//! Under which account the server runs: ours, or, when we are root, one that PostgreSQL accepts.

use crate::error::ClusterError;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Accounts that root drops to, in order. `nobody` is shared with other daemons, so it comes last and is mentioned.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// An account of the operating system to run the server as; made only when we are root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// Its name, or its number when it has none.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Primary group id; the child has no other groups.
    pub gid: u32,
}

/// Whether this process may change accounts, and PostgreSQL would refuse it.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Account {
    /// The first account that can run the server program in `bin`; `None` when we are an ordinary user already.
    pub(crate) fn choose(bin: &Path) -> Result<Option<Self>, ClusterError> {
        if !is_root() {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let mut reasons = Vec::new();
        for name in CANDIDATES {
            match find(&passwd, name) {
                None => reasons.push(format!("{name} does not exist")),
                Some(account) => match account.can_run(bin, Path::new("/")) {
                    Ok(()) => return Ok(Some(account)),
                    Err(why) => reasons.push(format!("{name}: {why}")),
                },
            }
        }
        Err(ClusterError::NoAccount(reasons.join(", ")))
    }

    /// The account that owns a data directory made earlier.
    pub(crate) fn of_owner(uid: u32, gid: u32) -> Self {
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name = entries(&passwd)
            .find(|entry| entry.uid == uid)
            .map_or_else(|| uid.to_string(), |entry| entry.name);
        Self { name, uid, gid }
    }

    /// Proves by running it that the account can start the server program with `directory` as its working directory.
    pub(crate) fn can_run(&self, bin: &Path, directory: &Path) -> Result<(), String> {
        let mut command = Command::new(bin.join("postgres"));
        command
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.current_dir(directory).uid(self.uid).gid(self.gid);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(status.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn find(passwd: &str, name: &str) -> Option<Account> {
    entries(passwd).find(|account| account.name == name && account.uid != 0)
}

fn entries(passwd: &str) -> impl Iterator<Item = Account> {
    passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { name, uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_and_root_is_never_one() {
        let passwd = "root:x:0:0::/root:/bin/sh\nbroken\npostgres:x:101:104:,,,:/var/lib/postgresql:/bin/bash\n";
        assert_eq!(
            find(passwd, "postgres").map(|account| (account.uid, account.gid)),
            Some((101, 104))
        );
        assert_eq!(find("postgres:x:0:0::/:/bin/sh", "postgres"), None);
        assert_eq!(find(passwd, "nobody"), None);
    }
}
