//! How a private server is to be run.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options of a private server; the defaults suit the product.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directory of the installation; the server's files live in `postgres` below it.
    pub data_dir: PathBuf,
    /// The settings that matter here: `APP_PG_BIN` (server programs) and `PATH` (where else to look for them).
    pub settings: BTreeMap<String, String>,
    /// Whether a commit survives a power cut. Only tests turn this off.
    pub durable: bool,
    /// Connections the server admits.
    pub max_connections: u16,
    /// Memory for the server's page cache, in MiB.
    pub shared_buffers_mb: u32,
    /// Whether it listens on 127.0.0.1 too, on a port of its own choice; otherwise only on its private socket.
    pub loopback: bool,
    /// Whether everything is removed when the server stops.
    pub throw_away: bool,
    /// Further server parameters, applied last.
    pub parameters: BTreeMap<String, String>,
}

impl Options {
    /// The product's defaults for an installation in `data_dir`.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            settings: BTreeMap::new(),
            durable: true,
            max_connections: 200,
            shared_buffers_mb: 128,
            loopback: false,
            throw_away: false,
            parameters: BTreeMap::new(),
        }
    }

    /// The server parameters that these options stand for, in the form `name=value`.
    pub(crate) fn parameters(&self) -> Vec<String> {
        let on_off = if self.durable { "on" } else { "off" };
        let mut parameters = vec![
            format!("max_connections={}", self.max_connections),
            format!("shared_buffers={}MB", self.shared_buffers_mb),
            format!("fsync={on_off}"),
            format!("full_page_writes={on_off}"),
            "password_encryption=scram-sha-256".to_owned(),
            "unix_socket_permissions=0700".to_owned(),
            "timezone=UTC".to_owned(),
            "log_timezone=UTC".to_owned(),
            "log_line_prefix=%m [%p] %a ".to_owned(),
        ];
        parameters.extend(self.parameters.iter().map(|(name, value)| format!("{name}={value}")));
        parameters
    }
}
