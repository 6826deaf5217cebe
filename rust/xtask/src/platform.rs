//! The supported systems, and the build for each of them on Linux.

use std::fs;
use std::path::Path;

use crate::process::{Result, command, io_error, output, run};
use crate::project;

/// A system under Blender's name for it, with the settings for building its wheel on Linux.
pub struct Platform {
    pub name: &'static str,
    /// A part of the tag of the system's wheels, and the tag's end.
    tag: (&'static str, &'static str),
    /// Target triple for rustc.
    pub target: &'static str,
    /// Options for maturin.
    pub options: &'static [&'static str],
}

/// Zig links for every system, because it knows their interfaces; for Linux those of the oldest glibc.
const ZIG: &[&str] = &["--zig"];
const ZIG_MANYLINUX: &[&str] = &["--zig", "--compatibility", "manylinux2014"];

/// All systems that have a wheel.
pub const PLATFORMS: [Platform; 6] = [
    Platform {
        name: "linux-x64",
        tag: ("linux", "x86_64"),
        target: "x86_64-unknown-linux-gnu",
        options: ZIG_MANYLINUX,
    },
    Platform {
        name: "linux-arm64",
        tag: ("linux", "aarch64"),
        target: "aarch64-unknown-linux-gnu",
        options: ZIG_MANYLINUX,
    },
    Platform {
        name: "windows-x64",
        tag: ("win", "amd64"),
        target: "x86_64-pc-windows-gnullvm",
        options: ZIG,
    },
    Platform {
        name: "windows-arm64",
        tag: ("win", "_arm64"),
        target: "aarch64-pc-windows-gnullvm",
        options: ZIG,
    },
    Platform { name: "macos-arm64", tag: ("macosx", "_arm64"), target: "aarch64-apple-darwin", options: ZIG },
    Platform { name: "macos-x64", tag: ("macosx", "x86_64"), target: "x86_64-apple-darwin", options: ZIG },
];

/// The export list that maturin generates for Zig and Windows.
const EXPORTS: &str = "jounce._jounce.def";
/// Correct contents of the export list.
const EXPORTED: &str = "LIBRARY _jounce.pyd\nEXPORTS\n    PyInit__jounce\n";

impl Platform {
    /// Installs Rust's standard library for the system.
    pub fn ready(&self) -> Result<()> {
        let libraries = output(command("rustc").args(["--print", "target-libdir", "--target", self.target]))?;
        if Path::new(libraries.trim()).is_dir() {
            return Ok(());
        }
        run(command("rustup").args(["target", "add", self.target])).map_err(|_| {
            format!("Rust has no library for {0}; install it: rustup target add {0}", self.target)
        })
    }

    /// Flags of rustc for the module alone: other libraries of the workspace have other exports.
    ///
    /// A module for Windows exports the symbols in a list. maturin's own list prefixes the symbol with the
    /// package, which matches nothing; a folder in the list's place keeps maturin from writing it.
    pub fn module_flags(&self) -> Result<Vec<String>> {
        if !self.name.starts_with("windows") {
            return Ok(Vec::new());
        }
        let folder = project::target().join("maturin").join(EXPORTS);
        fs::create_dir_all(&folder).map_err(io_error(&folder))?;
        let list = folder.join(EXPORTS);
        fs::write(&list, EXPORTED).map_err(io_error(&list))?;
        Ok(vec!["-C".to_owned(), format!("link-arg={}", list.display())])
    }
}

/// The system of a wheel.
pub fn of_wheel(wheel: &Path) -> Result<&'static Platform> {
    let name = wheel.file_stem().unwrap_or_default().to_string_lossy();
    let tag = name.rsplit('-').next().unwrap_or_default();
    let found = PLATFORMS.iter().find(|it| tag.contains(it.tag.0) && tag.ends_with(it.tag.1));
    found.ok_or_else(|| format!("{} is for no system that Blender runs on", wheel.display()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of_wheel;

    #[test]
    fn wheels_name_their_system() {
        for (tag, name) in [
            ("manylinux_2_17_x86_64.manylinux2014_x86_64", "linux-x64"),
            ("manylinux_2_17_aarch64.manylinux2014_aarch64", "linux-arm64"),
            ("win_amd64", "windows-x64"),
            ("win_arm64", "windows-arm64"),
            ("macosx_11_0_arm64", "macos-arm64"),
            ("macosx_10_12_x86_64", "macos-x64"),
        ] {
            let wheel = format!("dist/jounce-0.1.0-cp311-abi3-{tag}.whl");
            assert_eq!(of_wheel(Path::new(&wheel)).unwrap().name, name);
        }
        assert!(of_wheel(Path::new("jounce-0.1.0-cp311-abi3-musllinux_1_2_riscv64.whl")).is_err());
    }
}
