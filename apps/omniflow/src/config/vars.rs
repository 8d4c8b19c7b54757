//! Raw settings as name → text, and how one is read. Nothing outside this folder reads the process environment.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
    str::FromStr,
};

use super::keys;

/// The filter of logs has the name that every Rust program gives it.
const LOG_FILTER: &str = "RUST_LOG";

/// Settings by name, from the environment or from a map that a test made.
#[derive(Clone, Default)]
pub struct Vars {
    values: BTreeMap<String, String>,
    read: RefCell<BTreeSet<&'static str>>,
    problems: RefCell<Vec<Problem>>,
}

/// One setting that cannot be used. Never shows the value: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct Problem {
    /// Which setting.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Debug for Vars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.keys()).finish()
    }
}

impl Vars {
    /// Settings that a caller chose.
    pub fn from_map(values: BTreeMap<String, String>) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }

    /// The settings in the process environment, with what an env file adds. The environment wins over the file.
    ///
    /// # Errors
    /// A [`Problem`] when the file cannot be read or a line is no `NAME=value`.
    pub fn from_process(file: Option<&Path>) -> Result<Self, Problem> {
        let mut values = match file {
            Some(path) => read_file(path)?,
            None => BTreeMap::new(),
        };
        values.extend(std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let ours = name.starts_with("APP_") || name == LOG_FILTER || is_known(&name);
            ours.then_some((name, value.into_string().ok()?))
        }));
        Ok(Self::from_map(values))
    }

    /// The setting's text; empty counts as unset. `<NAME>_FILE` names a file that holds it, as Docker secrets do.
    pub fn text(&self, name: &'static str) -> Option<String> {
        debug_assert!(keys::find(name).is_some(), "{name} is not in the table of settings");
        self.read.borrow_mut().insert(name);
        let direct = self.values.get(name).filter(|value| !value.is_empty()).cloned();
        direct.or_else(|| self.in_secret_file(name))
    }

    fn in_secret_file(&self, name: &'static str) -> Option<String> {
        let path = self
            .values
            .get(&format!("{name}_FILE"))
            .filter(|value| !value.is_empty())?;
        match std::fs::read_to_string(path) {
            Ok(text) => Some(text.trim_end_matches(['\r', '\n']).to_owned()),
            Err(error) => {
                self.refuse(
                    name,
                    format!("the file of {name}_FILE cannot be read: {}", error.kind()),
                );
                None
            }
        }
    }

    /// The setting in its own type, or the default of the table of settings.
    pub fn parsed<T: FromStr>(&self, name: &'static str) -> Option<T>
    where
        T::Err: fmt::Display,
    {
        let text = self
            .text(name)
            .or_else(|| keys::find(name)?.default.map(str::to_owned))?;
        text.parse()
            .map_err(|error| self.refuse(name, format!("cannot be used: {error}")))
            .ok()
    }

    /// A yes or no: `true`, `false`, `1`, `0`.
    pub fn flag(&self, name: &'static str) -> bool {
        let text = self.text(name).or_else(|| keys::find(name)?.default.map(str::to_owned));
        match text.as_deref() {
            Some("true" | "1") => true,
            None | Some("false" | "0") => false,
            Some(_) => {
                self.refuse(name, "is neither true nor false");
                false
            }
        }
    }

    /// What is to be logged.
    pub fn log_filter(&self) -> Option<String> {
        self.values.get(LOG_FILTER).filter(|filter| !filter.is_empty()).cloned()
    }

    /// Notes that a setting cannot be used.
    pub fn refuse(&self, name: &str, reason: impl Into<String>) {
        self.problems.borrow_mut().push(Problem {
            name: name.to_owned(),
            reason: reason.into(),
        });
    }

    /// Which settings were given, whatever reads them.
    pub fn is_set(&self, name: &str) -> bool {
        [name.to_owned(), format!("{name}_FILE")]
            .iter()
            .any(|name| self.values.get(name).is_some_and(|value| !value.is_empty()))
    }

    /// Names given that no setting has: most often a typing slip, which must not pass for "unset".
    pub fn unknown(&self) -> Vec<String> {
        self.values
            .keys()
            .filter(|name| name.starts_with("APP_") && !is_known(name))
            .cloned()
            .collect()
    }

    /// Every problem so far, all together.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.borrow().clone()
    }

    /// Names that were read so far.
    pub fn names_read(&self) -> BTreeSet<&'static str> {
        self.read.borrow().clone()
    }
}

/// A setting, or its twin that names a file.
fn is_known(name: &str) -> bool {
    keys::find(name.strip_suffix("_FILE").unwrap_or(name))
        .or_else(|| keys::find(name))
        .is_some()
}

fn read_file(path: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let refuse = |reason: String| Problem {
        name: "--env-file".to_owned(),
        reason,
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {}", error.kind())))?;
    let mut values = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| refuse(format!("line {} is no NAME=value", index.saturating_add(1))))?;
        let value = value.trim();
        let unquoted = value
            .strip_prefix('"')
            .and_then(|inner| inner.strip_suffix('"'))
            .unwrap_or(value);
        values.insert(name.trim().to_owned(), unquoted.to_owned());
    }
    Ok(values)
}
