//! Providers of digital goods. A submission is sent at most once and its outcome is classified here; what follows from a class is decided
//! elsewhere.
//!
//! Why apart: the question "was it surely not executed?" is answered in one table (`fragment/outcome.rs`), and a wrong answer there is a
//! double purchase. Nothing here retries, stores, or lets a body, an address or a token into an error.

mod fragment;

pub use fragment::{Fragment, FragmentOptions, SetupError};
