//! The table of settings: what `config env-example` prints and what the code may read. A test holds both to each other.

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the environment.
    pub name: &'static str,
    /// Used when it is unset; `None` is: off, or required where its text says so.
    pub default: Option<&'static str>,
    /// Its value is never printed.
    pub secret: bool,
    /// What it does, in a line or two.
    pub help: &'static str,
}

const fn key(name: &'static str, default: Option<&'static str>, help: &'static str) -> Key {
    Key {
        name,
        default,
        secret: false,
        help,
    }
}

const fn secret(name: &'static str, help: &'static str) -> Key {
    Key {
        name,
        default: None,
        secret: true,
        help,
    }
}

/// Every setting, in the order of `.env.example`.
pub const KEYS: &[Key] = &[
    secret(
        "APP_DATABASE_URL",
        "PostgreSQL 15 or newer, session mode (no transaction pooler). `up` makes its own server when this is unset; `api` and `worker` need it.",
    ),
    key(
        "APP_PG_BIN",
        None,
        "Folder with `initdb` and `postgres` for the private server of `up`, `demo` and the tests. Found by itself when unset.",
    ),
    key("APP_HTTP_ADDR", Some("127.0.0.1:8080"), "Where `api` and `up` listen."),
    key(
        "APP_WORKER_HTTP_ADDR",
        Some("127.0.0.1:8081"),
        "Where `worker` serves /livez, /readyz and /metrics; `off` closes it.",
    ),
    secret(
        "APP_OPERATOR_TOKEN",
        "Bearer token of /v1/admin. `up` makes one. Unset refuses every call.",
    ),
    secret(
        "APP_DATA_ENCRYPTION_KEY",
        "Standard base64 of exactly 32 bytes. Without it digital goods are off.",
    ),
    key(
        "APP_REMNAWAVE_URL",
        None,
        "Address of the panel, without /api. Live installations only.",
    ),
    secret("APP_REMNAWAVE_TOKEN", "API token of the panel."),
    secret(
        "APP_REMNAWAVE_API_KEY",
        "Value of the X-Api-Key header, for panels behind a proxy that asks for one.",
    ),
    secret(
        "APP_REMNAWAVE_COOKIE",
        "`name=value` cookie, for panels behind a proxy that asks for one.",
    ),
    secret(
        "APP_REMNAWAVE_WEBHOOK_SECRET",
        "The panel's WEBHOOK_SECRET_HEADER, 32 characters or more; its WEBHOOK_URL is <public address of `api`>/v1/panel/webhooks/remnawave. Unset: changes made at the panel are noticed by the pass only, within a quarter of an hour.",
    ),
    secret("APP_CRYPTOBOT_TOKEN", "Crypto Pay token. Unset: the provider is off."),
    key(
        "APP_CRYPTOBOT_TESTNET",
        Some("true"),
        "Whether the token is one of the test network.",
    ),
    key(
        "APP_GOODS_URL",
        None,
        "Address of the digital goods gateway. Live installations only.",
    ),
    secret("APP_GOODS_TOKEN", "Password of the digital goods gateway."),
    key(
        "APP_GOODS_CURRENCY",
        Some("RUB"),
        "Currency that the gateway counts its prices in.",
    ),
    key(
        "APP_GOODS_SPEND_LIMIT_MINOR",
        Some("0"),
        "Ceiling of what may be spent at the gateway in a window, in minor units; 0 is none.",
    ),
    key(
        "APP_GOODS_SPEND_WINDOW_SECONDS",
        Some("86400"),
        "Length of that window.",
    ),
    key(
        "APP_CATALOG_FILE",
        None,
        "Plans and goods on sale (TOML). A sandbox has a sample catalog of its own.",
    ),
    secret(
        "APP_TELEGRAM_TOKEN",
        "Token of the bot that tells operators what happens. Allowed in a sandbox too: what it sends says so. Unset: the bot is off.",
    ),
    key(
        "APP_OPERATOR_CHAT_ID",
        Some("0"),
        "The operators' group: a supergroup with topics, in which the bot may manage them. 0 is off: notices are kept, and sent when they are younger than a day as a group is named.",
    ),
    key(
        "APP_OPERATOR_NOTIFICATION_CAP",
        Some("30"),
        "Notices of one kind that are sent in a window; those beyond are suppressed. 0 is no cap.",
    ),
    key(
        "APP_OPERATOR_NOTIFICATION_WINDOW_MINUTES",
        Some("5"),
        "Length of that window. 0 is 5.",
    ),
    key(
        "APP_QUEUE_CRITICAL_WORKERS",
        Some("16"),
        "Jobs at once on the queue `critical`.",
    ),
    key(
        "APP_QUEUE_DEFAULT_WORKERS",
        Some("8"),
        "Jobs at once on the queue `default`.",
    ),
    key("APP_QUEUE_BULK_WORKERS", Some("4"), "Jobs at once on the queue `bulk`."),
    key(
        "APP_API_DATABASE_CONNECTIONS",
        Some("12"),
        "Size of the pool that `api` runs its commands and reads on.",
    ),
    key(
        "APP_MAINTENANCE_AUTO_DETECT",
        Some("true"),
        "Whether `api` opens a window of maintenance when the database or the panel is down, and closes it again. Without it samples are only shown.",
    ),
    key(
        "APP_MAINTENANCE_PROBE_SECONDS",
        Some("30"),
        "Pause between samples of the dependencies, 1 to 3600.",
    ),
    key(
        "APP_MAINTENANCE_FAILURE_STREAK",
        Some("3"),
        "Bad samples in a row that open a window.",
    ),
    key(
        "APP_MAINTENANCE_RECOVERY_STREAK",
        Some("3"),
        "Good samples in a row that close a window which was opened so. A manual one stays.",
    ),
    key(
        "APP_RETENTION_INTERVAL_HOURS",
        Some("1"),
        "Hours from one removal of rows that are no longer needed to the next. Events, money and decisions of people are never removed.",
    ),
    key(
        "APP_RETENTION_OUTBOX_DAYS",
        Some("7"),
        "Days that outbox rows stay after they were handed over; 0 removes them with the next pass.",
    ),
    key(
        "APP_RETENTION_DRIFT_DAYS",
        Some("90"),
        "Days that a drift stays after it was resolved.",
    ),
    key(
        "APP_RETENTION_RECONCILE_DAYS",
        Some("7"),
        "Days that a finished comparison with the panel stays, with its attempts; at least 1.",
    ),
    key(
        "APP_RETENTION_ATTEMPT_DAYS",
        Some("90"),
        "Days that attempts of operations that ended well stay. Those of failed ones stay for good.",
    ),
    key(
        "APP_RETENTION_ANSWER_DAYS",
        Some("30"),
        "Days that an answer to a keyed request can be repeated word for word; at least 1. The key of an order is never forgotten.",
    ),
    key(
        "APP_RETENTION_NOTICE_DAYS",
        Some("90"),
        "Days that operator notices stay after they were sent, suppressed or given up.",
    ),
    key("APP_METRICS_ENABLED", Some("true"), "Whether /metrics is served."),
    key(
        "APP_LOG_FORMAT",
        Some("auto"),
        "`json`, `text`, or `auto`: text on a terminal. Levels by RUST_LOG.",
    ),
    key(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        None,
        "Collector of traces, as http://127.0.0.1:4318; /v1/traces is added. Unset: nothing is traced.",
    ),
    key(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        None,
        "The same as a whole address, which wins.",
    ),
    key("OTEL_EXPORTER_OTLP_PROTOCOL", None, "Only `http/protobuf`."),
    secret(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "`name=value,name=value`, sent to the collector.",
    ),
    key(
        "OTEL_EXPORTER_OTLP_TIMEOUT",
        Some("5000"),
        "Patience with the collector, in milliseconds.",
    ),
    key(
        "OTEL_BSP_SCHEDULE_DELAY",
        Some("2000"),
        "Longest wait of a span before it is sent, in milliseconds.",
    ),
    key(
        "OTEL_SERVICE_NAME",
        None,
        "Name of the process in traces. Unset: omniflow-api, omniflow-worker, omniflow-up.",
    ),
    key(
        "OTEL_TRACES_SAMPLER",
        Some("parentbased_always_on"),
        "always_on, always_off, traceidratio, or one of these behind parentbased_.",
    ),
    key(
        "OTEL_TRACES_SAMPLER_ARG",
        Some("1"),
        "Share of traces for traceidratio, from 0 to 1.",
    ),
    key(
        "OTEL_SDK_DISABLED",
        Some("false"),
        "Whether nothing is traced whatever else is set.",
    ),
];

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The text of `.env.example`.
pub fn env_example() -> String {
    let mut text = String::from(
        "# Settings of omniflow. Written by `omniflow config env-example`; a test keeps it true.\n\
         # The file is read only when it is named: `omniflow --env-file .env <command>`. Real environment variables win.\n\
         # Every NAME has a twin NAME_FILE that names a file holding the value.\n",
    );
    for key in KEYS {
        text.push_str(&format!("\n# {}\n", key.help));
        if key.secret {
            text.push_str("# Secret: never printed.\n");
        }
        text.push_str(&format!("#{}={}\n", key.name, key.default.unwrap_or_default()));
    }
    text
}
