//! What lies in `deploy/`, held to the code.

mod tests;
