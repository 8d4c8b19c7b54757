//! remnawave
