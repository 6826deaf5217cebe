//! The systems that Jounce runs on, and how it is built for each of them on Linux.

use std::path::Path;

use crate::process::{Result, command, output, run};

/// A system with the name that Blender has for it.
pub struct Platform {
    pub name: &'static str,
    /// What the tag of a wheel for it contains, and how the tag ends.
    tag: (&'static str, &'static str),
    /// How a wheel for it is built on Linux; `None` if only itself can.
    pub cross: Option<Cross>,
}

/// How to build for a system on another.
pub struct Cross {
    /// What rustc calls it.
    pub target: &'static str,
    /// What maturin is told.
    pub options: &'static [&'static str],
    /// A program that it takes beside Zig, and the package of Debian and Ubuntu that brings it.
    needs: Option<(&'static str, &'static str)>,
}

/// Zig links for any glibc and for macOS, whose interfaces it knows.
const MANYLINUX: &[&str] = &["--zig", "--compatibility", "manylinux2014"];

/// All that there is a wheel for.
pub const PLATFORMS: [Platform; 6] = [
    Platform {
        name: "linux-x64",
        tag: ("linux", "x86_64"),
        cross: Some(Cross { target: "x86_64-unknown-linux-gnu", options: MANYLINUX, needs: None }),
    },
    Platform {
        name: "linux-arm64",
        tag: ("linux", "aarch64"),
        cross: Some(Cross { target: "aarch64-unknown-linux-gnu", options: MANYLINUX, needs: None }),
    },
    Platform {
        name: "windows-x64",
        tag: ("win", "amd64"),
        cross: Some(Cross {
            target: "x86_64-pc-windows-gnu",
            options: &[],
            needs: Some(("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32")),
        }),
    },
    Platform { name: "windows-arm64", tag: ("win", "_arm64"), cross: None },
    Platform {
        name: "macos-arm64",
        tag: ("macosx", "_arm64"),
        cross: Some(Cross { target: "aarch64-apple-darwin", options: &["--zig"], needs: None }),
    },
    Platform {
        name: "macos-x64",
        tag: ("macosx", "x86_64"),
        cross: Some(Cross { target: "x86_64-apple-darwin", options: &["--zig"], needs: None }),
    },
];

impl Cross {
    /// Brings Rust's library for the system along; says in one sentence what else is missing.
    pub fn ready(&self) -> Result<()> {
        if let Some((program, package)) = self.needs {
            output(command(program).arg("--version"))
                .map_err(|_| format!("{program} is missing; install it: apt-get install {package}"))?;
        }
        let libraries = output(command("rustc").args(["--print", "target-libdir", "--target", self.target]))?;
        if Path::new(libraries.trim()).is_dir() {
            return Ok(());
        }
        run(command("rustup").args(["target", "add", self.target])).map_err(|_| {
            format!("Rust has no library for {0}; install it: rustup target add {0}", self.target)
        })
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
