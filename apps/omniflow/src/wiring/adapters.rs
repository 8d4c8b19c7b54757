//! The outside systems of an installation: simulators in a sandbox, what the settings name in a live one.

use std::{path::Path, sync::Arc};

use goods::{Fragment, FragmentOptions};
use payments::{CryptoBot, CryptoBotOptions, MAINNET, Manual, TESTNET};
use ports::{
    notices::{ChatId, OperatorChannel},
    panel::{PanelReader, PanelWriter},
    panel_webhooks::PanelWebhooks,
};
use remnawave::{Remnawave, Webhooks};
use sandbox::Addresses;
use secrets::Secret;
use service::{
    GoodsProviders, PaymentProviders,
    catalog::{self, Catalog},
};
use store::Mode;
use telegram::{Bot, BotOptions, PUBLIC_API};

use crate::{config::Config, failure::Failure};

/// Settings that name a real outside system: a sandbox refuses to start beside them.
const REAL_CREDENTIALS: &[&str] = &[
    "APP_REMNAWAVE_URL",
    "APP_REMNAWAVE_TOKEN",
    "APP_REMNAWAVE_API_KEY",
    "APP_REMNAWAVE_COOKIE",
    "APP_REMNAWAVE_WEBHOOK_SECRET",
    "APP_CRYPTOBOT_TOKEN",
    "APP_GOODS_URL",
    "APP_GOODS_TOKEN",
];

/// Stands in front of what a sandbox sends to a real group.
const SANDBOX_BANNER: &str = "[sandbox]";

/// What the core talks to.
#[derive(Debug)]
pub struct Adapters {
    /// The panel; `None` in a live installation that has none configured.
    pub panel: Option<Arc<dyn PanelWriter>>,
    /// Tells its webhooks from forgeries; `None` takes none in.
    pub panel_webhooks: Option<Arc<dyn PanelWebhooks>>,
    /// Who brings money.
    pub payments: PaymentProviders,
    /// Who delivers goods.
    pub goods: GoodsProviders,
    /// What is for sale.
    pub catalog: Arc<Catalog>,
    /// Where operators are told; `None` is nowhere.
    pub operators: Option<Operators>,
}

/// Where operators are told.
#[derive(Clone, Debug)]
pub struct Operators {
    /// What carries it there.
    pub channel: Arc<dyn OperatorChannel>,
    /// Their group.
    pub chat: ChatId,
}

impl Adapters {
    /// Nothing outside: for commands that only read and decide.
    pub fn none() -> Self {
        Self {
            panel: None,
            panel_webhooks: None,
            payments: PaymentProviders::default(),
            goods: GoodsProviders::default(),
            catalog: Arc::default(),
            operators: None,
        }
    }

    /// The panel for those who only read it.
    pub fn reader(&self) -> Option<Arc<dyn PanelReader>> {
        self.panel.clone().map(|panel| panel as Arc<dyn PanelReader>)
    }

    /// Builds what an installation of this mode talks to.
    ///
    /// # Errors
    /// [`Failure::Usage`] for settings that do not fit the mode, [`Failure::Unavailable`] when the sandbox was never started here.
    pub fn build(mode: Mode, config: &Config, data_dir: &Path) -> Result<Self, Failure> {
        match mode {
            Mode::Sandbox => Self::simulated(config, data_dir),
            Mode::Live => Self::live(config, data_dir),
        }
    }

    fn simulated(config: &Config, data_dir: &Path) -> Result<Self, Failure> {
        refuse_real_credentials(config)?;
        let addresses = Addresses::read(data_dir).map_err(Failure::unavailable)?.ok_or_else(|| {
            Failure::unavailable(format!(
                "this database is a sandbox, but no simulators were ever started for {}: run `omniflow sandbox` there first",
                data_dir.display()
            ))
        })?;
        let panel = remnawave::Config::new(addresses.panel.url, addresses.panel.token);
        let cryptobot = CryptoBotOptions {
            base_url: format!("{}/api", addresses.cryptopay.url),
            token: addresses.cryptopay.token.into(),
        };
        let fragment = FragmentOptions {
            base_url: addresses.goods.url,
            token: addresses.goods.token.into(),
            currency: None,
        };
        Ok(Self {
            panel: Some(build_panel(&panel)?),
            panel_webhooks: Some(webhooks_signed_with(addresses.panel.webhook_secret.into())),
            payments: payments_with(Some(cryptobot))?,
            goods: goods_with(Some(fragment))?,
            catalog: Arc::new(match &config.catalog_file {
                Some(path) => read_catalog(path)?,
                None => catalog::sample(&sandbox::DEFAULT_SQUADS.map(|(id, _name)| id)),
            }),
            operators: match real_bot(config, Some(SANDBOX_BANNER))? {
                Some(operators) => Some(operators),
                None => simulated_bot(addresses.telegram)?,
            },
        })
    }

    fn live(config: &Config, data_dir: &Path) -> Result<Self, Failure> {
        refuse_simulators(config, data_dir)?;
        let panel = config.panel.as_ref().map(|panel| {
            let mut settings = remnawave::Config::new(panel.url.clone(), panel.token.clone());
            settings.extra_headers = panel
                .api_key
                .iter()
                .map(|value| ("X-Api-Key".to_owned(), value.clone()))
                .collect();
            settings.cookie.clone_from(&panel.cookie);
            settings
        });
        let cryptobot = config.cryptobot.as_ref().map(|provider| CryptoBotOptions {
            base_url: if provider.testnet { TESTNET } else { MAINNET }.to_owned(),
            token: provider.token.clone(),
        });
        let fragment = config.goods.as_ref().map(|goods| FragmentOptions {
            base_url: goods.url.clone(),
            token: goods.token.clone(),
            currency: Some(goods.currency),
        });
        Ok(Self {
            panel: panel.as_ref().map(build_panel).transpose()?,
            panel_webhooks: config.panel_webhook_secret.clone().map(webhooks_signed_with),
            payments: payments_with(cryptobot)?,
            goods: goods_with(fragment)?,
            catalog: Arc::new(
                config
                    .catalog_file
                    .as_deref()
                    .map(read_catalog)
                    .transpose()?
                    .unwrap_or_default(),
            ),
            operators: real_bot(config, None)?,
        })
    }
}

/// The bot of the settings; none without a token and a group.
///
/// # Errors
/// [`Failure::Usage`] when the token is none.
pub fn real_bot(config: &Config, banner: Option<&str>) -> Result<Option<Operators>, Failure> {
    let (Some(token), Some(chat_id)) = (&config.notices.token, config.notices.chat_id) else {
        return Ok(None);
    };
    operators_with(
        &BotOptions {
            base_url: PUBLIC_API.to_owned(),
            token: token.clone(),
            banner: banner.map(str::to_owned),
        },
        chat_id,
    )
}

/// The simulated bot; none in a folder whose simulators were started last by a version that had no such one.
fn simulated_bot(at: sandbox::Endpoint) -> Result<Option<Operators>, Failure> {
    if at.url.is_empty() {
        return Ok(None);
    }
    operators_with(
        &BotOptions {
            base_url: at.url,
            token: at.token.into(),
            banner: None,
        },
        sandbox::telegram::OPERATOR_GROUP,
    )
}

fn operators_with(options: &BotOptions, chat_id: i64) -> Result<Option<Operators>, Failure> {
    let bot =
        Bot::new(options).map_err(|error| Failure::Usage(format!("the settings of the Telegram bot: {error}")))?;
    Ok(Some(Operators {
        channel: Arc::new(bot),
        chat: ChatId(chat_id),
    }))
}

/// A sandbox must not reach a real panel or real money.
///
/// # Errors
/// [`Failure::Usage`] that names every setting of a real outside system.
pub fn refuse_real_credentials(config: &Config) -> Result<(), Failure> {
    let real: Vec<_> = REAL_CREDENTIALS
        .iter()
        .filter(|name| config.given.contains(**name))
        .copied()
        .collect();
    if real.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "this database is a sandbox, but real credentials are set: {}. Unset them, or make a live installation (`up --live`, `db migrate --mode live`)",
        real.join(", ")
    )))
}

/// A live installation must not settle real orders with play money.
fn refuse_simulators(config: &Config, data_dir: &Path) -> Result<(), Failure> {
    let Some(addresses) = Addresses::read(data_dir).map_err(Failure::unavailable)? else {
        return Ok(());
    };
    let panel = config
        .panel
        .as_ref()
        .is_some_and(|panel| panel.url == addresses.panel.url);
    let goods = config
        .goods
        .as_ref()
        .is_some_and(|goods| goods.url == addresses.goods.url);
    match (panel, goods) {
        (false, false) => Ok(()),
        (true, _) => Err(Failure::Usage(
            "APP_REMNAWAVE_URL names a simulator, but this installation is live".to_owned(),
        )),
        (false, true) => Err(Failure::Usage(
            "APP_GOODS_URL names a simulator, but this installation is live".to_owned(),
        )),
    }
}

fn build_panel(settings: &remnawave::Config) -> Result<Arc<dyn PanelWriter>, Failure> {
    Ok(Arc::new(Remnawave::new(settings).map_err(|error| {
        Failure::Usage(format!("the panel's settings: {error}"))
    })?))
}

fn webhooks_signed_with(secret: Secret<String>) -> Arc<dyn PanelWebhooks> {
    Arc::new(Webhooks::new(secret))
}

fn payments_with(cryptobot: Option<CryptoBotOptions>) -> Result<PaymentProviders, Failure> {
    let providers = PaymentProviders::default().with(Arc::new(Manual));
    Ok(match cryptobot {
        Some(options) => {
            providers
                .with(Arc::new(CryptoBot::new(options).map_err(|error| {
                    Failure::Usage(format!("the settings of Crypto Pay: {error}"))
                })?))
        }
        None => providers,
    })
}

fn goods_with(fragment: Option<FragmentOptions>) -> Result<GoodsProviders, Failure> {
    Ok(match fragment {
        Some(options) => GoodsProviders::default()
            .with(Arc::new(Fragment::new(options).map_err(|error| {
                Failure::Usage(format!("the settings of the goods gateway: {error}"))
            })?)),
        None => GoodsProviders::default(),
    })
}

fn read_catalog(path: &Path) -> Result<Catalog, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("APP_CATALOG_FILE {} cannot be read: {error}", path.display())))?;
    catalog::parse(&text).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}
