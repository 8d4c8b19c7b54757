//! One struct a concern, each read from [`Vars`].

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use domain::{maintenance::Streaks, money::Currency};
use secrets::{DataKey, Secret};
use service::{delivery::SpendCeiling, maintenance::Detection};
use store::retention::Keep;
use worker::passes::PassSettings;

use super::{Invalid, KEYS, Notices, Traces, Vars, traces};

/// What a process needs to know. Everything optional is typed absence, not an empty text.
#[expect(missing_debug_implementations, reason = "it holds secrets")]
pub struct Config {
    /// Where the data is.
    pub database: Database,
    /// Listeners.
    pub http: Http,
    /// Bearer token of the admin routes; `None` refuses every call.
    pub operator_token: Option<Secret<String>>,
    /// Opens sealed credentials; without it digital goods are off.
    pub data_key: Option<DataKey>,
    /// The real panel.
    pub panel: Option<Panel>,
    /// What the real panel signs its webhooks with; `None` takes none in.
    pub panel_webhook_secret: Option<Secret<String>>,
    /// The real payment provider.
    pub cryptobot: Option<Cryptobot>,
    /// The real goods gateway.
    pub goods: Option<Goods>,
    /// Ceiling at the gateway.
    pub spending: Spending,
    /// How passes work.
    pub passes: PassSettings,
    /// What operators are told, and where.
    pub notices: Notices,
    /// Plans and goods on sale.
    pub catalog_file: Option<PathBuf>,
    /// Sizes of the queues.
    pub queues: Queues,
    /// Watching the dependencies.
    pub detection: Detection,
    /// Whether /metrics is served.
    pub metrics_enabled: bool,
    /// How logs look.
    pub log_format: LogFormat,
    /// `RUST_LOG`.
    pub log_filter: Option<String>,
    /// Where spans go; `None` is nowhere.
    pub traces: Option<Traces>,
    /// Names of the settings that were given, whatever became of them.
    pub given: BTreeSet<&'static str>,
}

/// Where the data is.
#[expect(missing_debug_implementations, reason = "it holds secrets")]
pub struct Database {
    /// Address of a server that exists already.
    pub url: Option<Secret<String>>,
    /// Folder of server programs for a private server.
    pub pg_bin: Option<PathBuf>,
    /// Connections of the pool that commands run on, in `api`.
    pub api_connections: u32,
}

/// Listeners.
#[derive(Debug)]
pub struct Http {
    /// Of `api`.
    pub api: SocketAddr,
    /// Of `worker`; `None` is closed.
    pub worker: Option<SocketAddr>,
}

/// The panel's address and credentials.
#[expect(missing_debug_implementations, reason = "it holds secrets")]
pub struct Panel {
    /// Without `/api`.
    pub url: String,
    /// API token.
    pub token: Secret<String>,
    /// `X-Api-Key` of a proxy.
    pub api_key: Option<Secret<String>>,
    /// Cookie of a proxy, `name=value`.
    pub cookie: Option<Secret<String>>,
}

/// Crypto Pay.
#[expect(missing_debug_implementations, reason = "it holds secrets")]
pub struct Cryptobot {
    /// Its token.
    pub token: Secret<String>,
    /// Whether it is one of the test network.
    pub testnet: bool,
}

/// The digital goods gateway.
#[expect(missing_debug_implementations, reason = "it holds secrets")]
pub struct Goods {
    /// Its address.
    pub url: String,
    /// Its password.
    pub token: Secret<String>,
    /// What it counts prices in.
    pub currency: Currency,
}

/// What may be spent at the gateway in a window.
#[derive(Clone, Copy, Debug)]
pub struct Spending {
    /// In minor units; `None` is no ceiling.
    pub limit_minor: Option<i64>,
    /// Length of the window.
    pub window: Duration,
}

impl Spending {
    /// As the use cases take it.
    pub fn ceiling(self) -> Option<SpendCeiling> {
        self.limit_minor.map(|amount_minor| SpendCeiling {
            amount_minor,
            window: self.window,
        })
    }
}

/// Jobs at once, by queue.
#[derive(Clone, Copy, Debug)]
pub struct Queues {
    /// Fulfillment and goods: somebody has paid already.
    pub critical: usize,
    /// Passes.
    pub default: usize,
    /// Whatever can wait.
    pub bulk: usize,
}

/// How logs look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err("it is neither auto, json nor text"),
        }
    }
}

impl Config {
    /// Reads every section.
    ///
    /// # Errors
    /// [`Invalid`] with every setting that cannot be used, unknown `APP_*` names among them.
    pub fn read(vars: &Vars) -> Result<Self, Invalid> {
        for name in vars.unknown() {
            vars.refuse(&name, "there is no such setting");
        }
        let config = Self {
            database: Database {
                url: vars.text("APP_DATABASE_URL").map(Secret::new),
                pg_bin: vars.text("APP_PG_BIN").map(PathBuf::from),
                api_connections: between(vars, "APP_API_DATABASE_CONNECTIONS", 2, 200),
            },
            http: Http {
                api: vars.parsed("APP_HTTP_ADDR").unwrap_or(LOOPBACK),
                worker: worker_address(vars),
            },
            operator_token: operator_token(vars),
            data_key: data_key(vars),
            panel: panel(vars),
            panel_webhook_secret: panel_webhook_secret(vars),
            cryptobot: cryptobot(vars),
            goods: goods(vars),
            spending: spending(vars),
            passes: passes(vars),
            notices: Notices::read(vars),
            catalog_file: vars.text("APP_CATALOG_FILE").map(PathBuf::from),
            queues: Queues {
                critical: between(vars, "APP_QUEUE_CRITICAL_WORKERS", 1, 200),
                default: between(vars, "APP_QUEUE_DEFAULT_WORKERS", 1, 200),
                bulk: between(vars, "APP_QUEUE_BULK_WORKERS", 1, 200),
            },
            detection: Detection {
                automatic: vars.flag("APP_MAINTENANCE_AUTO_DETECT"),
                every: Duration::from_secs(between(vars, "APP_MAINTENANCE_PROBE_SECONDS", 1, 3_600)),
                streaks: Streaks {
                    failure: between(vars, "APP_MAINTENANCE_FAILURE_STREAK", 1, 1_000),
                    recovery: between(vars, "APP_MAINTENANCE_RECOVERY_STREAK", 1, 1_000),
                },
            },
            metrics_enabled: vars.flag("APP_METRICS_ENABLED"),
            log_format: vars.parsed("APP_LOG_FORMAT").unwrap_or(LogFormat::Auto),
            log_filter: vars.log_filter(),
            traces: traces::read(vars),
            given: KEYS
                .iter()
                .map(|key| key.name)
                .filter(|name| vars.is_set(name))
                .collect(),
        };
        let problems = vars.problems();
        if problems.is_empty() {
            Ok(config)
        } else {
            Err(Invalid(problems))
        }
    }
}

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn between<T: FromStr + PartialOrd + Copy + std::fmt::Display>(vars: &Vars, name: &'static str, least: T, most: T) -> T
where
    T::Err: std::fmt::Display,
{
    let value = vars.parsed(name).unwrap_or(least);
    if value < least || value > most {
        vars.refuse(name, format!("has to be from {least} to {most}"));
    }
    value
}

fn worker_address(vars: &Vars) -> Option<SocketAddr> {
    if vars.text("APP_WORKER_HTTP_ADDR").as_deref() == Some("off") {
        None
    } else {
        vars.parsed("APP_WORKER_HTTP_ADDR")
    }
}

fn operator_token(vars: &Vars) -> Option<Secret<String>> {
    let token = vars.text("APP_OPERATOR_TOKEN")?;
    if token.len() < 16 {
        vars.refuse("APP_OPERATOR_TOKEN", "has to have 16 characters or more");
    }
    Some(Secret::new(token))
}

fn data_key(vars: &Vars) -> Option<DataKey> {
    let text = vars.text("APP_DATA_ENCRYPTION_KEY")?;
    DataKey::parse(&text)
        .map_err(|error| vars.refuse("APP_DATA_ENCRYPTION_KEY", error.to_string()))
        .ok()
}

/// An address that a client may be built on: http or https, with a host and without credentials.
fn base_url(vars: &Vars, name: &'static str) -> Option<String> {
    let text = vars.text(name)?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/') || rest.contains(['@', ' ', '?', '#'])) {
        vars.refuse(name, "has to be http(s)://host without credentials, query or fragment");
    }
    Some(text.trim_end_matches('/').to_owned())
}

fn panel(vars: &Vars) -> Option<Panel> {
    let url = base_url(vars, "APP_REMNAWAVE_URL");
    let token = vars.text("APP_REMNAWAVE_TOKEN").map(Secret::new);
    let api_key = vars.text("APP_REMNAWAVE_API_KEY").map(Secret::new);
    let cookie = vars.text("APP_REMNAWAVE_COOKIE").map(Secret::new);
    let (url, token) = pair(vars, ("APP_REMNAWAVE_URL", url), ("APP_REMNAWAVE_TOKEN", token))?;
    Some(Panel {
        url,
        token,
        api_key,
        cookie,
    })
}

fn panel_webhook_secret(vars: &Vars) -> Option<Secret<String>> {
    let secret = vars.text("APP_REMNAWAVE_WEBHOOK_SECRET")?;
    if secret.len() < 32 {
        vars.refuse("APP_REMNAWAVE_WEBHOOK_SECRET", "has to have 32 characters or more");
    }
    Some(Secret::new(secret))
}

fn cryptobot(vars: &Vars) -> Option<Cryptobot> {
    let testnet = vars.flag("APP_CRYPTOBOT_TESTNET");
    Some(Cryptobot {
        token: vars.text("APP_CRYPTOBOT_TOKEN").map(Secret::new)?,
        testnet,
    })
}

fn goods(vars: &Vars) -> Option<Goods> {
    let currency = vars.parsed("APP_GOODS_CURRENCY");
    let url = base_url(vars, "APP_GOODS_URL");
    let token = vars.text("APP_GOODS_TOKEN").map(Secret::new);
    let (url, token) = pair(vars, ("APP_GOODS_URL", url), ("APP_GOODS_TOKEN", token))?;
    Some(Goods {
        url,
        token,
        currency: currency?,
    })
}

fn spending(vars: &Vars) -> Spending {
    let limit: i64 = between(vars, "APP_GOODS_SPEND_LIMIT_MINOR", 0, domain::money::MAX_MINOR);
    Spending {
        limit_minor: (limit > 0).then_some(limit),
        window: Duration::from_secs(between(vars, "APP_GOODS_SPEND_WINDOW_SECONDS", 1, 31_536_000)),
    }
}

/// A century: beyond it nobody means what they say.
const MOST_DAYS: u32 = 36_500;

fn passes(vars: &Vars) -> PassSettings {
    let hours: u64 = between(vars, "APP_RETENTION_INTERVAL_HOURS", 1, 168);
    PassSettings {
        retention_every: Duration::from_secs(hours.saturating_mul(3_600)),
        keep: Keep {
            outbox_days: between(vars, "APP_RETENTION_OUTBOX_DAYS", 0, MOST_DAYS),
            drift_days: between(vars, "APP_RETENTION_DRIFT_DAYS", 0, MOST_DAYS),
            reconcile_days: between(vars, "APP_RETENTION_RECONCILE_DAYS", 1, MOST_DAYS),
            attempt_days: between(vars, "APP_RETENTION_ATTEMPT_DAYS", 0, MOST_DAYS),
            answer_days: between(vars, "APP_RETENTION_ANSWER_DAYS", 1, MOST_DAYS),
            notice_days: between(vars, "APP_RETENTION_NOTICE_DAYS", 0, MOST_DAYS),
        },
    }
}

/// Both of two settings, or neither.
fn pair<A, B>(vars: &Vars, a: (&str, Option<A>), b: (&str, Option<B>)) -> Option<(A, B)> {
    match (a, b) {
        ((_, Some(a)), (_, Some(b))) => Some((a, b)),
        ((name, None), (other, Some(_))) => {
            vars.refuse(name, format!("is needed beside {other}"));
            None
        }
        ((other, Some(_)), (name, None)) => {
            vars.refuse(name, format!("is needed beside {other}"));
            None
        }
        ((_, None), (_, None)) => None,
    }
}
