//! Goods.
