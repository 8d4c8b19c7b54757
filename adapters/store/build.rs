//! A new file under `/migrations` must make this crate build again: the migrations are embedded.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
