//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are made, not written.
const MADE: [&str; 4] = ["target", ".git", ".omniflow", ".sqlx"];

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every written file, by its path from the root, in order.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(&root(), &mut files);
    let mut files: Vec<PathBuf> = files
        .iter()
        .map(|file| file.strip_prefix(root()).unwrap().to_owned())
        .collect();
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if !path.is_dir() {
            files.push(path);
        } else if !MADE.iter().any(|made| name == *made) {
            collect(&path, files);
        }
    }
}

/// Rust files below a folder.
pub(crate) fn rust_below(folder: &str) -> Vec<PathBuf> {
    let is_rust = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "rs");
    files()
        .into_iter()
        .filter(|file| file.starts_with(folder))
        .filter(is_rust)
        .collect()
}

pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_default()
}

/// The numbered lines of product code: comments and everything from the file's own tests on left out.
pub(crate) fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether a file holds nothing but tests.
pub(crate) fn is_test(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests") || file.file_stem().is_some_and(|stem| stem == "tests")
}
