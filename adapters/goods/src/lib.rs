//! goods
