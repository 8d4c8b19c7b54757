//! Simulators of the systems that Omniflow talks to, over real HTTP on the loopback interface.
//!
//! They are product code: they serve `up`, `demo`, tests and fault drills. Each keeps a durable, append-only journal of its
//! effects and rebuilds its state from it, so the journal is the oracle for "lost" and "duplicated". What a simulator answered
//! is always in its journal before the answer leaves; what it never recorded never happened.
//!
//! The crate knows nothing of orders, jobs or databases and must not: an oracle that shares code with what it judges judges nothing.

mod addresses;
mod background;
pub mod control;
pub mod cryptopay;
mod error;
pub mod faults;
pub mod goods;
pub mod journal;
mod options;
pub mod panel;
mod private_file;
mod requests;
mod running;
mod simulator;
mod start;
pub mod telegram;
mod tokens;
pub mod wire;

pub use addresses::{Addresses, Endpoint, PanelEndpoint};
pub use background::Background;
pub use error::SandboxError;
pub use options::{PreferredPorts, SandboxOptions};
pub use panel::DEFAULT_SQUADS;
pub use requests::SeenRequest;
pub use running::RunningSandbox;
pub use simulator::{Context, Parts, Report};
pub use start::start;
