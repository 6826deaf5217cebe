//! `cargo x docs`: the documentation site, with the references of Python and Rust.

use std::fs;

use crate::check;
use crate::process::{Result, heading, io_error, run};
use crate::project;
use crate::venv::Venv;
use crate::wheel;

/// Builds the site in `out/site`. Broken links and formulas fail.
pub fn build() -> Result<()> {
    let venv = Venv::docs()?;
    venv.install(&wheel::build()?)?;
    heading("Rust reference");
    check::rustdoc()?;
    heading("site");
    let pages = project::target().join("site-pages");
    fs::create_dir_all(&pages).map_err(io_error(&pages))?;
    let site = project::out().join("site");
    let mut mkdocs = venv.python();
    mkdocs
        .args(["-m", "mkdocs", "build", "--quiet", "--config-file"])
        .arg(project::root().join("mkdocs.yml"));
    // The generator is pinned; news about its successor are no warning about a page.
    mkdocs.env("JOUNCE_SITE_PAGES", &pages).env("JOUNCE_SITE", &site).env("NO_MKDOCS_2_WARNING", "1");
    run(mkdocs.env("JOUNCE_RUSTDOC", project::target().join("doc")))?;
    println!("the site is in {}; its search needs a server:", site.display());
    println!("python3 -m http.server --directory {}", site.display());
    Ok(())
}
