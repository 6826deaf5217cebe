//! Python environments below `target/`, each created once for the packages in its requirements file, whose
//! hashes pip compares.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::prerequisites;
use crate::process::{Result, command, heading, io_error, output, run};
use crate::project;

/// A version of Blender as a Python module, one per environment.
#[derive(Clone, Copy)]
pub struct Blender {
    /// Major and minor version, in the form of Blender's own folder names.
    pub version: &'static str,
    python_minor: u32,
    requirements: &'static str,
}

/// Supported versions, oldest first.
pub const BLENDERS: [Blender; 8] = [
    Blender { version: "4.2", python_minor: 11, requirements: include_str!("../requirements/bpy-4.2.txt") },
    Blender { version: "4.3", python_minor: 11, requirements: include_str!("../requirements/bpy-4.3.txt") },
    Blender { version: "4.4", python_minor: 11, requirements: include_str!("../requirements/bpy-4.4.txt") },
    Blender { version: "4.5", python_minor: 11, requirements: include_str!("../requirements/bpy-4.5.txt") },
    Blender { version: "5.0", python_minor: 11, requirements: include_str!("../requirements/bpy-5.0.txt") },
    Blender { version: "5.1", python_minor: 13, requirements: include_str!("../requirements/bpy-5.1.txt") },
    Blender { version: "5.2", python_minor: 13, requirements: include_str!("../requirements/bpy-5.2.txt") },
    Blender { version: "5.3", python_minor: 13, requirements: include_str!("../requirements/bpy-5.3.txt") },
];

/// Versions for demo, test and addon: the first whose Python is installed, or else the first that uv can
/// provide.
const PREFERRED_BLENDERS: [Blender; 2] = [BLENDERS[3], BLENDERS[6]];

/// Python versions for the wheel, its tests and our tools: the first installed one is used.
const TOOLS_PYTHON_MINORS: [u32; 4] = [11, 13, 12, 14];

/// Python bindings of CHOLMOD, built from source against SuiteSparse.
const CHOLMOD: &str = "scikit-sparse==0.4.12";

/// Version for demo, test and addon.
pub fn default_blender() -> Blender {
    let there = |blender: &Blender| prerequisites::system_python(blender.python_minor).is_some();
    PREFERRED_BLENDERS.into_iter().find(there).unwrap_or(PREFERRED_BLENDERS[0])
}

/// Vertex block descent, and the compiler of its kernels.
const NEWTON: [&str; 2] = ["newton==1.8.0", "warp-lang==1.19.0"];

/// A ready Python environment.
pub struct Venv {
    directory: PathBuf,
}

impl Venv {
    /// Environment of our tools and of the tests without Blender.
    pub fn tools() -> Result<Self> {
        prerequisites::c_compiler()?;
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("tools", &python, include_str!("../requirements/tools.txt"))
    }

    /// Environment for publishing: Zig, which links for other systems, and package checks.
    pub fn release() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("release", &python, include_str!("../requirements/release.txt"))
    }

    /// Environment of the generator of the documentation site.
    pub fn docs() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("docs", &python, include_str!("../requirements/docs.txt"))
    }

    /// Environment for farm submission and for reading USD, and for the tests of both.
    pub fn farm() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("farm", &python, include_str!("../requirements/farm.txt"))
    }

    /// Environment of the reference program for modes. Without SuiteSparse it lacks CHOLMOD, and the
    /// program says so.
    pub fn reference() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        let venv = Self::ready("reference", &python, include_str!("../requirements/reference.txt"))?;
        venv.add_cholmod();
        Ok(venv)
    }

    /// Environment of the solvers to which the full space is compared. What cannot be installed here is left
    /// out, and the benchmark says so.
    pub fn rivals() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        let venv = Self::ready("rivals", &python, include_str!("../requirements/rivals.txt"))?;
        venv.add_cholmod();
        let known = output(venv.python().args(["-c", "import newton"])).is_ok();
        if !known && output(venv.pip_install().arg("--no-deps").args(NEWTON)).is_err() {
            println!("{} cannot be installed here", NEWTON.join(" and "));
        }
        Ok(venv)
    }

    /// Environment with one version of Blender.
    pub fn blender(blender: Blender) -> Result<Self> {
        let python = prerequisites::python(&[blender.python_minor])?;
        prerequisites::blender_libraries(&python)?;
        let venv = Self::ready(&format!("bpy-{}", blender.version), &python, blender.requirements)?;
        output(venv.python().args(["-c", "import bpy, os; os._exit(0)"]))?;
        Ok(venv)
    }

    fn ready(name: &str, python: &Path, requirements: &str) -> Result<Self> {
        let directory = project::target().join(format!("venv-{name}"));
        let venv = Self { directory };
        let stamp = venv.directory.join("installed-requirements.txt");
        if fs::read_to_string(&stamp).is_ok_and(|installed| pins(&installed) == pins(requirements)) {
            return Ok(venv);
        }
        heading(&format!("Python environment {}", venv.directory.display()));
        run(command(python).args(["-m", "venv", "--clear"]).arg(&venv.directory))?;
        let list = venv.directory.join("requirements.txt");
        fs::write(&list, requirements).map_err(io_error(&list))?;
        run(venv.pip_install().args(["--no-deps", "--requirement"]).arg(&list))?;
        fs::rename(&list, &stamp).map_err(io_error(&stamp))?;
        Ok(venv)
    }

    /// A command that starts this environment's Python.
    pub fn python(&self) -> Command {
        command(self.program("python"))
    }

    /// Path of a program installed in this environment.
    pub fn program(&self, name: &str) -> PathBuf {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        self.directory.join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Path of this environment's packages.
    pub fn site_packages(&self) -> Result<PathBuf> {
        let script = "import sysconfig; print(sysconfig.get_path('platlib'))";
        output(self.python().args(["-c", script])).map(|path| PathBuf::from(path.trim()))
    }

    /// Installs a wheel in place of any installed version.
    pub fn install(&self, wheel: &Path) -> Result<()> {
        run(self.pip_install().args(["--force-reinstall", "--no-deps", "--no-index"]).arg(wheel))
    }

    /// Adds CHOLMOD where SuiteSparse is there to build it.
    fn add_cholmod(&self) {
        if output(self.python().args(["-c", "import sksparse.cholmod"])).is_ok() {
            return;
        }
        let mut install = self.pip_install();
        install.args(["--no-deps", "--no-build-isolation", CHOLMOD]);
        if output(&mut install).is_err() {
            println!("{CHOLMOD} cannot be built here, so that SuperLU takes its place");
            println!("(install its headers: apt-get install libsuitesparse-dev)");
        }
    }

    fn pip_install(&self) -> Command {
        let mut pip = self.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip
    }
}

/// Packages of a requirements file with their versions, by pip's names for them.
fn pins(requirements: &str) -> Vec<(String, &str)> {
    let lines = requirements.lines().filter_map(|line| line.trim_end_matches(" \\").split_once("=="));
    let mut pins: Vec<_> =
        lines.map(|(name, version)| (name.to_lowercase().replace(['_', '.'], "-"), version)).collect();
    pins.sort();
    pins
}

/// Creates the environments for demo, test and check.
pub fn set_up_all() -> Result<()> {
    Venv::tools()?;
    Venv::blender(default_blender())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::pins;
    use crate::project;

    #[test]
    fn hashes_and_spellings_make_no_other_environment() {
        let hashed = "ast-serialize==0.13.1 \\\n    --hash=sha256:12 \\\n    --hash=sha256:34\n\
                      cython==3 \\\n    --hash=sha256:56\n";
        let expected = [("ast-serialize".to_owned(), "0.13.1"), ("cython".to_owned(), "3")];
        assert_eq!(pins(hashed), expected);
        assert_eq!(pins("Cython==3\nast_serialize==0.13.1\n"), expected);
    }

    #[test]
    fn every_package_has_hashes() {
        for path in
            project::files_with_extension(&project::root().join("rust/xtask/requirements"), "txt").unwrap()
        {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<_> = text.lines().collect();
            for pair in lines.windows(2).filter(|pair| !pair[0].starts_with(' ')) {
                assert!(
                    pair[0].contains("==") && pair[1].starts_with("    --hash=sha256:"),
                    "{}: {}",
                    path.display(),
                    pair[0]
                );
            }
            assert!(pins(&text).len() > 3, "{}", path.display());
        }
    }
}
