//! The APIs and workers, and whoever starts them again: what a service manager does for an installation.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::process::{Process, Starter};
use crate::failure::Failure;

/// An orderly end takes no longer than this.
const ORDERLY: Duration = Duration::from_secs(30);
/// Between the end of a process and its next start.
const RESTART: Duration = Duration::from_millis(500);

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Api,
    Worker,
}

/// A place that is filled by one process after another.
#[derive(Debug)]
struct Post {
    role: Role,
    log: String,
    settings: Vec<(&'static str, String)>,
    process: Process,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Working,
    /// Stopped by SIGSTOP until then.
    Paused(Instant),
    /// Told to end, since then.
    Leaving(Instant),
    /// Nobody is there; the next one starts then.
    Vacant(Instant),
}

/// What happened to the processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Toll {
    pub(super) kills: u32,
    pub(super) pauses: u32,
    pub(super) stops: u32,
    /// Told to end, and did not within half a minute.
    pub(super) slow_stops: u32,
    /// Told to end, and ended with a complaint: the database was away just then, say.
    pub(super) unclean_stops: u32,
    /// Ended by themselves: no database at their start, say.
    pub(super) gave_up: u32,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Fleet {
    starter: Starter,
    posts: Vec<Post>,
    pub(super) toll: Toll,
}

impl Fleet {
    pub(super) fn new(starter: Starter) -> Self {
        Self {
            starter,
            posts: Vec::new(),
            toll: Toll::default(),
        }
    }

    pub(super) fn starter(&self) -> &Starter {
        &self.starter
    }

    /// One more process.
    pub(super) fn post(&mut self, role: Role, settings: Vec<(&'static str, String)>) -> Result<(), Failure> {
        let log = format!("{}-{}", role.command(), self.posts.len());
        let process = self.starter.start(role.command(), &log, &settings)?;
        self.posts.push(Post {
            role,
            log,
            settings,
            process,
            state: State::Working,
        });
        Ok(())
    }

    /// Names of the log files, without their ending.
    pub(super) fn logs(&self) -> impl Iterator<Item = &str> {
        self.posts.iter().map(|post| post.log.as_str())
    }

    /// Kills one that works, and starts the next. `false` when nobody works.
    pub(super) fn kill(&mut self, role: Role, which: u32) -> Result<bool, Failure> {
        let Some(post) = working(&mut self.posts, role, which) else {
            return Ok(false);
        };
        post.process.kill()?;
        post.process = self.starter.start(role.command(), &post.log, &post.settings)?;
        self.toll.kills = self.toll.kills.saturating_add(1);
        Ok(true)
    }

    /// Stops one that works for a while. `false` when nobody works.
    pub(super) fn pause(&mut self, role: Role, which: u32, span: Duration) -> bool {
        let Some(post) = working(&mut self.posts, role, which) else {
            return false;
        };
        post.process.signal(Signal::STOP);
        post.state = State::Paused(Instant::now() + span);
        self.toll.pauses = self.toll.pauses.saturating_add(1);
        true
    }

    /// Tells one that works to end. `false` when nobody works.
    pub(super) fn terminate(&mut self, role: Role, which: u32) -> bool {
        let Some(post) = working(&mut self.posts, role, which) else {
            return false;
        };
        post.process.signal(Signal::TERM);
        post.state = State::Leaving(Instant::now());
        self.toll.stops = self.toll.stops.saturating_add(1);
        true
    }

    /// Wakes who slept long enough, notes who ended, starts the next where nobody is. Answers whether somebody was woken.
    pub(super) fn tend(&mut self) -> Result<bool, Failure> {
        let (now, mut woken) = (Instant::now(), false);
        for post in &mut self.posts {
            match post.state {
                State::Paused(until) if now >= until => {
                    post.process.signal(Signal::CONT);
                    post.state = State::Working;
                    woken = true;
                }
                State::Paused(_) => {}
                State::Working => {
                    if post.process.ended()?.is_some() {
                        self.toll.gave_up = self.toll.gave_up.saturating_add(1);
                        post.state = State::Vacant(now + RESTART);
                    }
                }
                State::Leaving(since) => {
                    match post.process.ended()? {
                        Some(status) if status.success() => {}
                        Some(_) => self.toll.unclean_stops = self.toll.unclean_stops.saturating_add(1),
                        None if now.duration_since(since) <= ORDERLY => continue,
                        None => {
                            post.process.kill()?;
                            self.toll.slow_stops = self.toll.slow_stops.saturating_add(1);
                        }
                    }
                    post.state = State::Vacant(now);
                }
                State::Vacant(until) if now >= until => {
                    post.process = self.starter.start(post.role.command(), &post.log, &post.settings)?;
                    post.state = State::Working;
                }
                State::Vacant(_) => {}
            }
        }
        Ok(woken)
    }

    /// Whether everybody is at work.
    pub(super) fn complete(&self) -> bool {
        self.posts.iter().all(|post| matches!(post.state, State::Working))
    }
}

/// One of those who work, by a number that was drawn.
fn working(posts: &mut [Post], role: Role, which: u32) -> Option<&mut Post> {
    let mut working: Vec<_> = posts
        .iter_mut()
        .filter(|post| post.role == role && matches!(post.state, State::Working))
        .collect();
    let which = usize::try_from(which).ok()?.checked_rem(working.len())?;
    Some(working.swap_remove(which))
}

impl Role {
    /// The command that is it.
    pub(super) const fn command(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Worker => "worker",
        }
    }
}

/// A port that is free now.
pub(super) fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
