//! Puts the simulators together: lock, tokens, listeners, ledgers, layers, addresses file.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    sync::Arc,
};

use axum::{Router, middleware};
use ports::clock::Clock;
use tokio::task::JoinHandle;

use crate::{
    Addresses, Background, Context, Endpoint, PanelEndpoint, Parts, PreferredPorts, RunningSandbox, SandboxError,
    SandboxOptions,
    addresses::port_of,
    control, cryptopay,
    faults::{FaultLayer, Faults, SimulatorName, inject},
    goods, journal, panel, private_file,
    requests::RequestLog,
    simulator::http_client,
    telegram,
    tokens::Tokens,
    wire::{self, Connection, LineListener},
};

/// Starts all simulators for a data directory. When this returns they answer.
///
/// # Errors
/// The data directory cannot be used, another sandbox uses it, a journal is damaged, or no port can be opened.
pub async fn start(options: SandboxOptions) -> Result<RunningSandbox, SandboxError> {
    private_file::make_dir(&options.data_dir)?;
    let dir = journal::dir(&options.data_dir);
    private_file::make_dir(&dir)?;
    let lock = take_lock(&dir)?;
    let tokens = Tokens::read_or_make(&dir)?;
    // An unreadable file of the last start costs its ports, not the start.
    let last = Addresses::read(&options.data_dir).ok().flatten();
    let listeners = Listeners::bind(options.ports, last.as_ref()).await?;
    let addresses = listeners.addresses(tokens)?;
    let background = Background::default();
    let simulators = open(&dir, &addresses, &options.clock, &background)?;
    let faults = Arc::new(Faults::open(&dir, options.faults)?);
    let requests = Arc::new(RequestLog::default());

    let mut servers = Vec::new();
    let mut controls = Vec::new();
    let places = [
        listeners.panel,
        listeners.cryptopay,
        listeners.goods,
        listeners.telegram,
    ];
    for (listener, (simulator, parts)) in places.into_iter().zip(simulators) {
        let (faults, clock, background) = (faults.clone(), options.clock.clone(), background.clone());
        let layer = FaultLayer {
            simulator,
            faults,
            clock,
            background: background.clone(),
            requests: requests.clone(),
        };
        let service = parts.service.layer(middleware::from_fn_with_state(layer, inject));
        servers.push(serve(listener, service, &background));
        controls.push((simulator, parts.control, parts.report));
    }
    let control = control::router(controls, faults, requests, &addresses.control.token);
    servers.push(serve(listeners.control, control, &background));
    addresses.write(&options.data_dir)?;
    Ok(RunningSandbox {
        addresses,
        background,
        servers,
        lock,
    })
}

/// Opened before the simulators, which need to know their own addresses.
struct Listeners {
    panel: LineListener,
    cryptopay: LineListener,
    goods: LineListener,
    telegram: LineListener,
    control: LineListener,
}

impl Listeners {
    async fn bind(wanted: PreferredPorts, last: Option<&Addresses>) -> Result<Self, SandboxError> {
        let ports = |wanted: Option<u16>, last: Option<&str>| -> Vec<u16> {
            wanted.into_iter().chain(last.and_then(port_of)).collect()
        };
        Ok(Self {
            panel: wire::bind(&ports(wanted.panel, last.map(|last| last.panel.url.as_str()))).await?,
            cryptopay: wire::bind(&ports(wanted.cryptopay, last.map(|last| last.cryptopay.url.as_str()))).await?,
            goods: wire::bind(&ports(wanted.goods, last.map(|last| last.goods.url.as_str()))).await?,
            telegram: wire::bind(&ports(wanted.telegram, last.map(|last| last.telegram.url.as_str()))).await?,
            control: wire::bind(&ports(wanted.control, last.map(|last| last.control.url.as_str()))).await?,
        })
    }

    fn addresses(&self, tokens: Tokens) -> Result<Addresses, SandboxError> {
        let (token, webhook_secret) = (tokens.panel, tokens.panel_webhook_secret);
        Ok(Addresses {
            panel: PanelEndpoint {
                url: self.panel.url()?,
                token,
                webhook_secret,
            },
            cryptopay: Endpoint {
                url: self.cryptopay.url()?,
                token: tokens.cryptopay,
            },
            goods: Endpoint {
                url: self.goods.url()?,
                token: tokens.goods,
            },
            telegram: Endpoint {
                url: self.telegram.url()?,
                token: tokens.telegram,
            },
            control: Endpoint {
                url: self.control.url()?,
                token: tokens.control,
            },
        })
    }
}

/// Opens every simulator on its journal, in the order of the listeners.
fn open(
    dir: &Path,
    addresses: &Addresses,
    clock: &Arc<dyn Clock>,
    background: &Background,
) -> Result<[(SimulatorName, Parts); 4], SandboxError> {
    let http = http_client()?;
    let context = |url: &str, token: &str| Context {
        dir: dir.to_owned(),
        url: url.to_owned(),
        token: token.to_owned(),
        clock: clock.clone(),
        background: background.clone(),
        http: http.clone(),
    };
    let Addresses {
        panel,
        cryptopay,
        goods,
        telegram,
        ..
    } = addresses;
    Ok([
        (
            SimulatorName::Panel,
            panel::open(context(&panel.url, &panel.token), panel.webhook_secret.clone())?,
        ),
        (
            SimulatorName::Cryptopay,
            cryptopay::open(context(&cryptopay.url, &cryptopay.token))?,
        ),
        (SimulatorName::Goods, goods::open(context(&goods.url, &goods.token))?),
        (
            SimulatorName::Telegram,
            telegram::open(context(&telegram.url, &telegram.token))?,
        ),
    ])
}

fn serve(listener: LineListener, router: Router, background: &Background) -> JoinHandle<()> {
    let service = router
        .layer(middleware::from_fn(wire::obey_reset))
        .into_make_service_with_connect_info::<Connection>();
    let stopped = background.clone().stopped();
    background.spawn(async move {
        if let Err(error) = axum::serve(listener, service).with_graceful_shutdown(stopped).await {
            tracing::error!(%error, "a simulator stopped listening");
        }
    })
}

/// The lock ends with the process, however that ends.
fn take_lock(dir: &Path) -> Result<File, SandboxError> {
    let path = dir.join("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(SandboxError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SandboxError::InUse { path: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(SandboxError::file(path)(error)),
    }
}
