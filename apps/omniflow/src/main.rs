//! The one binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    omniflow::run(std::env::args_os())
}
