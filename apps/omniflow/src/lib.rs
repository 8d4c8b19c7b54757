//! omniflow
