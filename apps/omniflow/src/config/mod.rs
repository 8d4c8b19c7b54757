//! Typed settings of the processes. All problems are reported together; a value that cannot be used stops the start.

mod keys;
mod notices;
mod sections;
mod traces;
mod vars;

pub use keys::{KEYS, env_example};
pub use notices::Notices;
pub use sections::{Config, Cryptobot, Database, Goods, Http, LogFormat, Panel, Queues, Spending};
pub use traces::Traces;
pub use vars::{Problem, Vars};

#[cfg(test)]
mod tests;

/// Every setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the settings cannot be used:{}", list(.0))]
pub struct Invalid(pub Vec<Problem>);

fn list(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}
