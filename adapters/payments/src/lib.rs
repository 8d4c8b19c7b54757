//! Payment providers: each asks for money, reads back what became of it, and proves that a webhook is the provider's.
//!
//! Why apart: the only crate that speaks the providers' protocols. It never decides what a payment means for an order, never retries,
//! never stores, and lets no body, address or token into an error.

mod cryptobot;
mod http;
mod manual;
mod tls;

pub use cryptobot::{CryptoBot, CryptoBotOptions, MAINNET, TESTNET};
pub use http::SetupError;
pub use manual::Manual;
