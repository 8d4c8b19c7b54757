//! The connection under HTTP, so that a simulator can cut it: with no answer, as a proxy, a crash or a bad network does.

mod line;
mod listener;

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
    middleware::Next,
    response::Response,
};

use line::Switch;
pub(crate) use listener::{LineListener, bind};

/// Marks an answer that must not be sent.
#[derive(Clone, Copy)]
struct Reset;

/// In place of an answer: the connection is reset and the client sees no byte.
pub fn reset() -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(Reset);
    response
}

/// Whether an answer is a [`reset`].
pub(crate) fn is_reset(response: &Response) -> bool {
    response.extensions().get::<Reset>().is_some()
}

/// The outermost layer of a served simulator: does what [`reset`] says.
pub(crate) async fn obey_reset(ConnectInfo(switch): ConnectInfo<Switch>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if is_reset(&response) {
        switch.cut();
    }
    response
}

pub(crate) type Connection = Switch;
