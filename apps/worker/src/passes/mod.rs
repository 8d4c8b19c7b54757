//! Periodic passes.
