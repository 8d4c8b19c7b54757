//! The server loop.

use std::{future::Future, io};

use axum::Router;
use tokio::net::TcpListener;

/// Answers requests until `shutdown` is done, then lets those that are running finish.
///
/// # Errors
/// What the listener says.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router).with_graceful_shutdown(shutdown).await
}
