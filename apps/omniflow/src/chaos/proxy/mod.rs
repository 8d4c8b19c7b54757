//! A proxy between the processes and their database that loses connections, and answers to commits, when it is told to.

mod pump;
mod wire;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use super::blow::Writing;

/// Forwards connections until it is dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    address: SocketAddr,
    orders: Arc<Orders>,
    accepting: JoinHandle<()>,
}

/// What it was told.
#[derive(Debug)]
struct Orders {
    /// Connections end whenever it changes.
    cuts: watch::Sender<u32>,
    refuse_until: Mutex<Option<Instant>>,
    /// Answers to lose: to commits that append to the log, and to any.
    of_events: AtomicU32,
    of_any: AtomicU32,
    lost: AtomicU32,
}

impl Proxy {
    /// Listens on a port of its own and forwards to `upstream`.
    pub(super) async fn start(upstream: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let orders = Arc::new(Orders {
            cuts: watch::Sender::new(0),
            refuse_until: Mutex::default(),
            of_events: AtomicU32::new(0),
            of_any: AtomicU32::new(0),
            lost: AtomicU32::new(0),
        });
        let accepting = tokio::spawn(accept(listener, upstream, Arc::clone(&orders)));
        Ok(Self {
            address,
            orders,
            accepting,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection, and refuses new ones for this long.
    pub(super) fn cut(&self, refused: Duration) {
        *self.orders.refuse_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + refused);
        self.orders.cuts.send_modify(|cut| *cut = cut.wrapping_add(1));
    }

    /// Loses the answer to the next commit of this kind.
    pub(super) fn lose_acknowledgement(&self, writing: Writing) {
        let armed = match writing {
            Writing::Events => &self.orders.of_events,
            Writing::Any => &self.orders.of_any,
        };
        armed.fetch_add(1, Ordering::SeqCst);
    }

    /// Loses no answer any more.
    pub(super) fn behave(&self) {
        self.orders.of_events.store(0, Ordering::SeqCst);
        self.orders.of_any.store(0, Ordering::SeqCst);
    }

    /// Answers lost so far.
    pub(super) fn lost(&self) -> u32 {
        self.orders.lost.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut(Duration::ZERO);
    }
}

impl Orders {
    fn refuses(&self) -> bool {
        let until = *self.refuse_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether the answer to this commit is to be lost; asking uses the order up.
    fn loses(&self, writing: Writing) -> bool {
        let take = |armed: &AtomicU32| {
            armed
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok()
        };
        let loses = (writing == Writing::Events && take(&self.of_events)) || take(&self.of_any);
        if loses {
            self.lost.fetch_add(1, Ordering::SeqCst);
        }
        loses
    }
}

async fn accept(listener: TcpListener, upstream: SocketAddr, orders: Arc<Orders>) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        if orders.refuses() {
            continue;
        }
        let orders = Arc::clone(&orders);
        let mut cuts = orders.cuts.subscribe();
        tokio::spawn(async move {
            let Ok(server) = TcpStream::connect(upstream).await else {
                return;
            };
            // Small messages wait for nothing, as on a direct connection.
            client.set_nodelay(true).ok();
            server.set_nodelay(true).ok();
            tokio::select! {
                _ = cuts.changed() => {}
                _ = pump::run(client, server, &orders) => {}
            }
        });
    }
}
