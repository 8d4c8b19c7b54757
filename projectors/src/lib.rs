//! projectors
