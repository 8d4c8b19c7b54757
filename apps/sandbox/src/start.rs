//! Puts the simulators together: lock, tokens, listeners, ledgers, layers, addresses file.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    sync::Arc,
};

use axum::{Router, middleware};
use tokio::task::JoinHandle;

use crate::{
    Addresses, Background, Context, Endpoint, PanelEndpoint, Parts, RunningSandbox, SandboxError, SandboxOptions,
    addresses::port_of,
    control, cryptopay,
    faults::{FaultLayer, Faults, SimulatorName, inject},
    goods, journal, panel, private_file,
    simulator::http_client,
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
    let faults = Arc::new(Faults::open(&dir, options.faults)?);

    let last = Addresses::read(&options.data_dir).ok().flatten();
    let try_ports = |wanted: Option<u16>, last_url: Option<&str>| -> Vec<u16> {
        wanted.into_iter().chain(last_url.and_then(port_of)).collect()
    };
    let panel_at = wire::bind(&try_ports(
        options.ports.panel,
        last.as_ref().map(|a| a.panel.url.as_str()),
    ))
    .await?;
    let cryptopay_at = wire::bind(&try_ports(
        options.ports.cryptopay,
        last.as_ref().map(|a| a.cryptopay.url.as_str()),
    ))
    .await?;
    let goods_at = wire::bind(&try_ports(
        options.ports.goods,
        last.as_ref().map(|a| a.goods.url.as_str()),
    ))
    .await?;
    let control_at = wire::bind(&try_ports(
        options.ports.control,
        last.as_ref().map(|a| a.control.url.as_str()),
    ))
    .await?;

    let addresses = Addresses {
        panel: PanelEndpoint {
            url: panel_at.url()?,
            token: tokens.panel,
            webhook_secret: tokens.panel_webhook_secret,
        },
        cryptopay: Endpoint {
            url: cryptopay_at.url()?,
            token: tokens.cryptopay,
        },
        goods: Endpoint {
            url: goods_at.url()?,
            token: tokens.goods,
        },
        control: Endpoint {
            url: control_at.url()?,
            token: tokens.control,
        },
    };

    let background = Background::default();
    let http = http_client()?;
    let context = |url: &str, token: &str| Context {
        dir: dir.clone(),
        url: url.to_owned(),
        token: token.to_owned(),
        clock: options.clock.clone(),
        background: background.clone(),
        http: http.clone(),
    };
    let panel_context = context(&addresses.panel.url, &addresses.panel.token);
    let simulators = [
        (
            SimulatorName::Panel,
            panel_at,
            panel::open(panel_context, addresses.panel.webhook_secret.clone())?,
        ),
        (
            SimulatorName::Cryptopay,
            cryptopay_at,
            cryptopay::open(context(&addresses.cryptopay.url, &addresses.cryptopay.token))?,
        ),
        (
            SimulatorName::Goods,
            goods_at,
            goods::open(context(&addresses.goods.url, &addresses.goods.token))?,
        ),
    ];

    let mut servers = Vec::new();
    let mut controls = Vec::new();
    for (
        simulator,
        listener,
        Parts {
            service,
            control,
            report,
        },
    ) in simulators
    {
        let layer = FaultLayer {
            simulator,
            faults: faults.clone(),
            clock: options.clock.clone(),
            background: background.clone(),
        };
        servers.push(serve(
            listener,
            service.layer(middleware::from_fn_with_state(layer, inject)),
            &background,
        ));
        controls.push((simulator, control, report));
    }
    let control = control::router(controls, faults, &addresses.control.token);
    servers.push(serve(control_at, control, &background));
    addresses.write(&options.data_dir)?;
    Ok(RunningSandbox {
        addresses,
        background,
        servers,
        lock,
    })
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
