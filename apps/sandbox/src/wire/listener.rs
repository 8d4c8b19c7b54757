//! Listening on the loopback interface, on a preferred port when it is free.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use axum::serve::Listener;
use tokio::net::TcpListener;

use super::line::Line;
use crate::SandboxError;

/// Accepts connections that can be cut.
#[derive(Debug)]
pub(crate) struct LineListener(TcpListener);

impl LineListener {
    /// The base URL, without a trailing slash.
    pub(crate) fn url(&self) -> Result<String, SandboxError> {
        let address = self.0.local_addr().map_err(SandboxError::Listen)?;
        Ok(format!("http://{address}"))
    }
}

/// Opens the first free of the preferred ports, or any.
pub(crate) async fn bind(preferred: &[u16]) -> Result<LineListener, SandboxError> {
    for &port in preferred {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            return Ok(LineListener(listener));
        }
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map(LineListener)
        .map_err(SandboxError::Listen)
}

impl Listener for LineListener {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok((stream, address)) => {
                    let _ = stream.set_nodelay(true);
                    return (Line::new(stream), address);
                }
                Err(error) => {
                    // Out of descriptors, most likely: waiting is all that can help.
                    tracing::warn!(%error, "the sandbox cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
