//! Prerequisites of the machine: each missing one is reported in a sentence with the command to install it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{Result, command, output};

/// Debian and Ubuntu packages that the README installs and `.ci/run` checks for.
pub const APT_PACKAGES: &str = "build-essential python3.11 python3.11-venv libx11-6 libxrender1 libxxf86vm1 \
    libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libxext6 libgl1 libgomp1 libegl1 libgl1-mesa-dri \
    debootstrap";

/// Shared libraries that Blender's Python module opens on Linux, with the package of each.
const BLENDER_LIBRARIES: [(&str, &str); 12] = [
    ("libX11.so.6", "libx11-6"),
    ("libXrender.so.1", "libxrender1"),
    ("libXxf86vm.so.1", "libxxf86vm1"),
    ("libXfixes.so.3", "libxfixes3"),
    ("libXi.so.6", "libxi6"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libSM.so.6", "libsm6"),
    ("libICE.so.6", "libice6"),
    ("libXext.so.6", "libxext6"),
    ("libGL.so.1", "libgl1"),
    ("libgomp.so.1", "libgomp1"),
    ("libEGL.so.1", "libegl1"),
];

/// A CPython that can create virtual environments: the first of these minor versions on the PATH, or else
/// the first that uv has or can fetch.
pub fn python(minors: &[u32]) -> Result<PathBuf> {
    let there = minors.iter().find_map(|&minor| Some((system_python(minor)?, minor)));
    let fetched = || Some((python_of_uv(minors[0])?, minors[0]));
    let (found, minor) = there.or_else(fetched).ok_or_else(|| {
        let versions: Vec<_> = minors.iter().map(|minor| format!("3.{minor}")).collect();
        let (versions, minor) = (versions.join(" or "), minors[0]);
        format!(
            "CPython {versions} is not on the PATH; install it: apt-get install python3.{minor} \
             python3.{minor}-venv, or, where the system has another version, uv (https://docs.astral.sh/uv), \
             which brings it along"
        )
    })?;
    output(command(&found).args(["-c", "import venv, ensurepip"])).map_err(|_| {
        format!("{found} has no venv module; install it: apt-get install python3.{minor}-venv")
    })?;
    Ok(PathBuf::from(found))
}

/// The name of a CPython of this minor version on the PATH.
pub fn system_python(minor: u32) -> Option<String> {
    let names = [format!("python3.{minor}"), "python3".to_owned(), "python".to_owned()];
    names.into_iter().find(|name| is_python(name, minor))
}

/// Path of the CPython that uv has or can fetch, if uv is installed.
fn python_of_uv(minor: u32) -> Option<String> {
    let version = format!("3.{minor}");
    let find = || output(command("uv").args(["python", "find", "--no-project", &version]));
    let fetched = || output(command("uv").args(["python", "install", &version])).and_then(|_| find());
    let path = find().or_else(|_| fetched()).ok()?.trim().to_owned();
    Some(path).filter(|path| is_python(path, minor))
}

fn is_python(name: &str, minor: u32) -> bool {
    output(command(name).args(["-c", "import sys; print(*sys.version_info[:2])"]))
        .is_ok_and(|version| version.trim() == format!("3 {minor}"))
}

/// Checks for a C compiler, needed by Rust to link. On Windows, Rust finds a linker outside of the PATH.
pub fn c_compiler() -> Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    let name = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    if Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok() {
        return Ok(());
    }
    Err("there is no C compiler, through which Rust links; install one: apt-get install build-essential"
        .to_owned())
}

/// Checks for a component of the Rust toolchain, such as `clippy`.
pub fn rust_component(subcommand: &str, component: &str) -> Result<()> {
    output(crate::process::cargo().args([subcommand, "--version"]))
        .map(drop)
        .map_err(|_| format!("cargo {subcommand} is missing; install it: rustup component add {component}"))
}

/// Checks for the shared libraries that Blender's Python module needs on Linux; other systems include them.
pub fn blender_libraries(python: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let names: Vec<_> = BLENDER_LIBRARIES.iter().map(|(library, _)| *library).collect();
    let script = "import ctypes, sys\n\
        for name in sys.argv[1:]:\n    \
            try:\n        ctypes.CDLL(name)\n    \
            except OSError:\n        print(name)";
    let missing = output(command(python).args(["-c", script]).args(&names))?;
    let mut packages: Vec<_> = BLENDER_LIBRARIES
        .iter()
        .filter(|(library, _)| missing.lines().any(|line| line == *library))
        .map(|(_, package)| *package)
        .collect();
    if !has_opengl_driver() {
        packages.push("libgl1-mesa-dri");
    }
    if packages.is_empty() {
        return Ok(());
    }
    Err(format!(
        "Blender needs libraries that are missing; install them: apt-get install {}",
        packages.join(" ")
    ))
}

/// `true` if Mesa's drivers, which also draw without a graphics card, are in one of the usual places.
fn has_opengl_driver() -> bool {
    let arch = std::env::consts::ARCH;
    let directories =
        [format!("/usr/lib/{arch}-linux-gnu/dri"), "/usr/lib64/dri".into(), "/usr/lib/dri".into()];
    std::env::var_os("LIBGL_DRIVERS_PATH").is_some()
        || directories.iter().any(|directory| Path::new(directory).is_dir())
}
