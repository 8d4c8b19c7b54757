//! Prints the table of `docs/metrics.md`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(telemetry::registry::markdown().as_bytes())
}
