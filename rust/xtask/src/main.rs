//! `cargo x`: builds, tests and demonstrates the whole project.

fn main() {}
