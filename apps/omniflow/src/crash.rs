//! Crashes on purpose, in builds for tests only: a failpoint that panics ends the whole process at once, as a kill would.

use std::{panic, process};

use fail::FailScenario;

/// Arms the failpoints that `FAILPOINTS` names. Shipped builds have none, and this does nothing there.
pub fn arm() -> Option<FailScenario<'static>> {
    if !fail::has_failpoints() {
        return None;
    }
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |crash| {
        report(crash);
        let message = crash.payload_as_str().unwrap_or_default();
        if message.starts_with("failpoint ") {
            // Not an unwinding one: no destructor may tidy up what a kill would leave behind.
            process::abort();
        }
    }));
    Some(FailScenario::setup())
}
