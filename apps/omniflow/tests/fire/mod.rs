//! Separate processes, killed: what was paid for is provided once, whatever dies when.

mod api_crashes;
mod awaiting;
mod crash_points;
mod extensions;
mod goods;
mod installation;
mod interop;
mod late_writes;
mod notice_crashes;
mod panel;
mod process;
mod remote_names;
mod slow_panel;
mod storms;
mod upkeep_crashes;
