//! As much of PostgreSQL's protocol as tells a commit from other traffic.

use std::collections::HashMap;

use super::super::blow::Writing;

/// Asks for TLS or GSS, or cancels: first messages that are not followed by typed ones from this side.
const NOT_STARTED: [u32; 3] = [80_877_103, 80_877_104, 80_877_102];
/// Nothing of ours is longer; a longer message is forwarded unread.
const LONGEST: usize = 16 * 1024 * 1024;

/// Cuts a stream of bytes into messages.
#[derive(Debug, Default)]
struct Messages {
    waiting: Vec<u8>,
}

impl Messages {
    fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// The next whole message: its type, where it has one, and its body.
    fn next(&mut self, typed: bool) -> Option<(u8, Vec<u8>)> {
        let head = if typed { 5 } else { 4 };
        let length = self.waiting.get(head - 4..head)?;
        let length = u32::from_be_bytes(length.try_into().ok()?);
        let end = usize::try_from(length).ok()?.clamp(4, LONGEST) + head - 4;
        if self.waiting.len() < end {
            return None;
        }
        let message: Vec<u8> = self.waiting.drain(..end).collect();
        let kind = if typed { message.first().copied()? } else { 0 };
        Some((kind, message.get(head..)?.to_vec()))
    }
}

/// What a client says.
#[derive(Debug, Default)]
pub(super) struct Client {
    messages: Messages,
    started: bool,
    /// Prepared statements that write.
    prepared: HashMap<Vec<u8>, Writing>,
    /// Portals of such statements are nameless and run at once, so the latest bound statement is the one that runs.
    bound: Option<Writing>,
    executed: Option<Writing>,
}

impl Client {
    /// Reads on. The commit that the server is asked for by these bytes, if one is; `idle` when no transaction is open.
    pub(super) fn read(&mut self, bytes: &[u8], idle: bool) -> Option<Writing> {
        self.messages.push(bytes);
        let mut commits = None;
        while let Some((kind, body)) = self.messages.next(self.started) {
            commits = self.message(kind, &body, idle).or(commits);
        }
        commits
    }

    fn message(&mut self, kind: u8, body: &[u8], idle: bool) -> Option<Writing> {
        if !self.started {
            let code = body.get(..4).and_then(|code| code.try_into().ok());
            self.started = !NOT_STARTED.contains(&code.map_or(0, u32::from_be_bytes));
            return None;
        }
        match kind {
            b'Q' => text(body).starts_with("commit").then_some(Writing::Events),
            b'P' => {
                let (name, rest) = name(body);
                match writes(&text(rest)) {
                    Some(writing) => self.prepared.insert(name.to_vec(), writing),
                    None => self.prepared.remove(name),
                };
                None
            }
            b'B' => {
                let (_, rest) = name(body);
                self.bound = self.prepared.get(name(rest).0).copied();
                None
            }
            b'E' => {
                self.executed = self.bound.or(self.executed);
                None
            }
            b'S' => self.executed.take().filter(|_| idle),
            _ => None,
        }
    }
}

/// What the server says.
#[derive(Debug)]
pub(super) struct Server {
    messages: Messages,
    encryption_refused: bool,
    idle: bool,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            messages: Messages::default(),
            encryption_refused: false,
            idle: true,
        }
    }
}

impl Server {
    /// Reads on. Whether the server said that it is ready for the next request.
    pub(super) fn read(&mut self, bytes: &[u8]) -> bool {
        // One byte without a head answers the question for encryption; `N` begins no other first message.
        let bytes = match bytes.split_first() {
            Some((b'N', rest)) if !self.encryption_refused && self.messages.waiting.is_empty() => {
                self.encryption_refused = true;
                rest
            }
            _ => {
                self.encryption_refused = true;
                bytes
            }
        };
        self.messages.push(bytes);
        let mut ready = false;
        while let Some((kind, body)) = self.messages.next(true) {
            if kind == b'Z' {
                self.idle = body.first() == Some(&b'I');
                ready = true;
            }
        }
        ready
    }

    /// Whether no transaction is open.
    pub(super) const fn idle(&self) -> bool {
        self.idle
    }
}

/// A text up to its zero byte, and what follows.
fn name(body: &[u8]) -> (&[u8], &[u8]) {
    let end = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
    let (name, rest) = body.split_at_checked(end).unwrap_or((body, &[]));
    (name, rest.get(1..).unwrap_or_default())
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(name(body).0).trim_start().to_ascii_lowercase()
}

fn writes(statement: &str) -> Option<Writing> {
    if statement.contains("into events") {
        return Some(Writing::Events);
    }
    let any = ["insert ", "update ", "delete "];
    any.iter().any(|word| statement.contains(word)).then_some(Writing::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut message = vec![kind];
        message.extend_from_slice(&u32::try_from(body.len() + 4).unwrap().to_be_bytes());
        message.extend_from_slice(body);
        message
    }

    fn started() -> Client {
        let mut client = Client::default();
        let tls = [8_u32.to_be_bytes(), 80_877_103_u32.to_be_bytes()].concat();
        assert_eq!(client.read(&tls, true), None);
        let start = [
            9_u32.to_be_bytes().to_vec(),
            196_608_u32.to_be_bytes().to_vec(),
            vec![0],
        ]
        .concat();
        assert_eq!(client.read(&start, true), None);
        client
    }

    #[test]
    fn an_append_outside_of_a_transaction_is_a_commit_and_inside_it_is_none() {
        let mut client = started();
        let parse = message(b'P', b"s1\0With x as (insert into events values (1)) select 1\0\0\0");
        assert_eq!(client.read(&parse, true), None);
        let run = [
            message(b'B', b"\0s1\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
        ]
        .concat();
        assert_eq!(client.read(&run, true), Some(Writing::Events));
        assert_eq!(client.read(&run, false), None);
        let ended = message(b'Q', b"COMMIT\0");
        assert_eq!(client.read(&ended, false), Some(Writing::Events));
    }

    #[test]
    fn a_message_may_come_in_pieces_and_reads_are_no_commits() {
        let mut client = started();
        let bytes = [
            message(b'P', b"s1\0update outbox set x = 1\0\0\0"),
            message(b'P', b"s2\0select 1\0\0\0"),
            message(b'B', b"\0s2\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
            message(b'B', b"\0s1\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
        ]
        .concat();
        let commits: Vec<_> = bytes.chunks(1).filter_map(|byte| client.read(byte, true)).collect();
        assert_eq!(commits, [Writing::Any]);
    }

    #[test]
    fn the_server_says_when_it_is_ready_and_whether_a_transaction_is_open() {
        let mut server = Server::default();
        assert!(!server.read(b"N"));
        assert!(!server.read(&message(b'C', b"INSERT 0 1\0")));
        assert!(server.read(&message(b'Z', b"T")));
        assert!(!server.idle());
        assert!(server.read(&message(b'Z', b"I")));
        assert!(server.idle());
    }
}
