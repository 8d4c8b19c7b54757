//! `up` and `demo` as a person meets them: from an empty folder, again, after a kill, as anybody, and with wrong settings.

mod collector;
mod demo;
mod folder;
mod printed;
mod process;
mod readers;
mod refusals;
mod restarts;
mod runbooks;
mod strangers;
mod telemetry;
mod told;
mod traced;
