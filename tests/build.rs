//! Compiles the reaper, a program of its own that outlives the tests: a test program cannot start itself again as one, and
//! a binary of this package is not built when another package runs its tests.

use std::path::Path;
use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() {
    println!("cargo:rerun-if-changed=reaper.rs");
    let program = Path::new(&variable("OUT_DIR")).join("reaper");
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args([
        "--edition",
        "2024",
        "-C",
        "opt-level=s",
        "-C",
        "strip=symbols",
        "--target",
        &variable("TARGET"),
    ]);
    let status = rustc.arg("reaper.rs").arg("-o").arg(&program).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "reaper.rs was not compiled"
    );
}
