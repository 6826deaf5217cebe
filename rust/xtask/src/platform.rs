//! The systems that Jounce runs on, and how it is built for each of them on Linux.

use std::fs;
use std::path::Path;

use crate::process::{Result, command, io_error, output, run};
use crate::project;

/// A system with the name that Blender has for it, and how a wheel for it is built on Linux.
pub struct Platform {
    pub name: &'static str,
    /// What the tag of a wheel for it contains, and how the tag ends.
    tag: (&'static str, &'static str),
    /// What rustc calls it.
    pub target: &'static str,
    /// What maturin is told.
    pub options: &'static [&'static str],
}

/// Zig links for every system, whose interfaces it knows; for Linux those of the oldest glibc.
const ZIG: &[&str] = &["--zig"];
const ZIG_MANYLINUX: &[&str] = &["--zig", "--compatibility", "manylinux2014"];

/// All that there is a wheel for.
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

/// The list of what the module exports that maturin makes for Zig and Windows.
const EXPORTS: &str = "jounce._jounce.def";
/// What should stand there.
const EXPORTED: &str = "LIBRARY _jounce.pyd\nEXPORTS\n    PyInit__jounce\n";

impl Platform {
    /// Brings Rust's library for the system along.
    pub fn ready(&self) -> Result<()> {
        let libraries = output(command("rustc").args(["--print", "target-libdir", "--target", self.target]))?;
        if Path::new(libraries.trim()).is_dir() {
            return Ok(());
        }
        run(command("rustup").args(["target", "add", self.target])).map_err(|_| {
            format!("Rust has no library for {0}; install it: rustup target add {0}", self.target)
        })
    }

    /// What rustc is told for it.
    ///
    /// A module for Windows exports what a list says. maturin's own puts the package before the name, and nothing is called
    /// so; a folder in its place keeps it from being made.
    pub fn flags(&self) -> Result<Vec<String>> {
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

/// The system that a wheel is for.
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
