//! `cargo x release`: everything to be published, built, packed and checked in `dist/release`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::addon;
use crate::folders;
use crate::platform::{self, PLATFORMS, Platform};
use crate::process::{Result, cargo, command, heading, io_error, output, run};
use crate::project;
use crate::venv::Venv;
use crate::wheel;

/// System supported by Blender but not by the extensions site: the wheel goes to PyPI alone.
const WITHOUT_ZIP: &str = "linux-arm64";

/// Published crates, each after those that it needs.
const CRATES: [&str; 2] = ["jounce", "jounce-player"];

/// Script that writes the checksums of some files; its first argument is the list to write.
const CHECKSUMS: &str = "import hashlib, pathlib, sys\n\
    with open(sys.argv[1], 'w') as sums:\n    \
        for path in map(pathlib.Path, sys.argv[2:]):\n        \
            print(hashlib.sha256(path.read_bytes()).hexdigest(), '', path.name, file=sums)";

/// Builds and packs the wheels of the named platforms, beside the existing ones, or without names all that
/// can be built on Linux. `pack` alone packs the wheels already in `dist/release`, as built on machines of
/// every platform.
pub fn run_all(names: &[&str]) -> Result<()> {
    let folder = project::dist().join("release");
    if names != ["pack"] {
        let chosen = chosen(names)?;
        if names.is_empty() {
            project::empty_directory(&folder)?;
        }
        fs::create_dir_all(&folder).map_err(io_error(&folder))?;
        for platform in chosen {
            build(platform, &folder)?;
        }
    }
    pack(&folder)
}

fn chosen(names: &[&str]) -> Result<Vec<&'static Platform>> {
    if let Some(unknown) = names.iter().find(|name| PLATFORMS.iter().all(|platform| platform.name != **name))
    {
        let known: Vec<_> = PLATFORMS.iter().map(|platform| platform.name).collect();
        return Err(format!("there is no wheel for {unknown}, but for {}", known.join(", ")));
    }
    Ok(PLATFORMS.iter().filter(|it| names.is_empty() || names.contains(&it.name)).collect())
}

fn build(platform: &Platform, folder: &Path) -> Result<()> {
    platform.ready()?;
    let start = Instant::now();
    let options = [platform.options, &["--target", platform.target]].concat();
    wheel::build_for(platform.target, &options, &folders::left_out()?, &platform.module_flags()?, folder)?;
    println!("{}: built in {} s", platform.name, start.elapsed().as_secs());
    Ok(())
}

/// Adds the other published files, and checks everything.
fn pack(folder: &Path) -> Result<()> {
    let wheels = project::files_with_extension(folder, "whl")?;
    if wheels.is_empty() {
        return Err(format!("there are no wheels in {}; build some: cargo x release", folder.display()));
    }
    let mut zipped = Vec::new();
    for wheel in &wheels {
        if platform::of_wheel(wheel)?.name != WITHOUT_ZIP {
            zipped.push(wheel.clone());
        }
    }
    if !zipped.is_empty() {
        addon::build_split(&zipped, folder)?;
        addon::index(folder)?;
    }
    heading("sources");
    let tools = Venv::tools()?;
    run(command(tools.program("maturin"))
        .args(["sdist", "--manifest-path", "rust/python/Cargo.toml", "--out"])
        .arg(folder))?;
    let mut package = cargo();
    package.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    run(package.args(CRATES.iter().flat_map(|name| ["--package", name])))?;
    for name in CRATES {
        let name = format!("{name}-{}.crate", project::VERSION);
        let packed = project::target().join("package").join(&name);
        fs::copy(&packed, folder.join(&name)).map_err(io_error(&packed))?;
    }
    check(folder, &wheels)?;
    summarise(folder)
}

/// Checks PyPI's rules for descriptions, the module's use of CPython's stable interface, and the absence of
/// this machine's folders.
fn check(folder: &Path, wheels: &[PathBuf]) -> Result<()> {
    heading("checks");
    let release = Venv::release()?;
    let sources = project::files_with_extension(folder, "gz")?;
    run(release.python().args(["-m", "twine", "check", "--strict"]).args(wheels).args(sources))?;
    run(release.python().args(["-m", "abi3audit", "--strict", "--summary"]).args(wheels))?;
    folders::refuse(&published(folder)?)
}

/// All files to be published.
fn published(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for extension in ["whl", "zip", "gz", "crate", "json"] {
        files.extend(project::files_with_extension(folder, extension)?);
    }
    Ok(files)
}

/// Writes the checksums, and prints a table of the files.
fn summarise(folder: &Path) -> Result<()> {
    let sums = folder.join("SHA256SUMS");
    let files = published(folder)?;
    output(Venv::release()?.python().args(["-c", CHECKSUMS]).arg(&sums).args(&files))?;
    heading("release");
    for file in &files {
        let bytes = fs::metadata(file).map_err(io_error(file))?.len();
        println!("{:9.2} MB  {}", bytes as f64 / 1e6, file.file_name().unwrap_or_default().to_string_lossy());
    }
    println!("\nIn {}, with {}", folder.display(), sums.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn platforms_are_chosen_by_name() {
        let names = |words: &[&str]| {
            chosen(words).map(|all| all.iter().map(|platform| platform.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["macos-arm64"]).unwrap(), ["macos-arm64"]);
        assert_eq!(names(&[]).unwrap().len(), 6);
        assert!(names(&["windows-x86"]).unwrap_err().contains("windows-x64"));
    }
}
