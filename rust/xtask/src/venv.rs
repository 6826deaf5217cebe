//! Python environments below `target/`, made once for each content of their requirements file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::prerequisites;
use crate::process::{Result, command, heading, io_error, output, run};
use crate::project;

/// A Blender that comes as a Python module, one version an environment.
#[derive(Clone, Copy)]
pub struct Blender {
    /// Major and minor version, as Blender names its own folders.
    pub version: &'static str,
    python_minor: u32,
    requirements: &'static str,
}

/// The versions that the extension supports, oldest first.
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

/// What demo, test and addon use: the first whose Python the system has, otherwise the first that uv can have.
const PREFERRED_BLENDERS: [Blender; 2] = [BLENDERS[3], BLENDERS[6]];

/// The Pythons that the wheel, its tests and our tools run on: the first that the system has.
const TOOLS_PYTHON_MINORS: [u32; 4] = [11, 13, 12, 14];

/// What calls CHOLMOD from Python; it is built from source, against SuiteSparse.
const CHOLMOD: &str = "scikit-sparse==0.4.12";

/// The version that demo, test and addon use.
pub fn default_blender() -> Blender {
    let there = |blender: &Blender| prerequisites::system_python(blender.python_minor).is_some();
    PREFERRED_BLENDERS.into_iter().find(there).unwrap_or(PREFERRED_BLENDERS[0])
}

/// A ready Python environment.
pub struct Venv {
    directory: PathBuf,
}

impl Venv {
    /// The environment of our tools and of the tests without Blender.
    pub fn tools() -> Result<Self> {
        prerequisites::c_compiler()?;
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("tools", &python, include_str!("../requirements/tools.txt"))
    }

    /// The environment of what publishing takes: Zig, which links for other systems, and checks of packages.
    pub fn release() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("release", &python, include_str!("../requirements/release.txt"))
    }

    /// The environment of what makes the documentation site.
    pub fn docs() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("docs", &python, include_str!("../requirements/docs.txt"))
    }

    /// The environment of what gives work away to a farm and of what reads USD, and of the tests of both.
    pub fn farm() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        Self::ready("farm", &python, include_str!("../requirements/farm.txt"))
    }

    /// The environment of the program that modes are measured against. Without SuiteSparse it has no CHOLMOD,
    /// and the program says so.
    pub fn reference() -> Result<Self> {
        let python = prerequisites::python(&TOOLS_PYTHON_MINORS)?;
        let venv = Self::ready("reference", &python, include_str!("../requirements/reference.txt"))?;
        if output(venv.python().args(["-c", "import sksparse.cholmod"])).is_err() {
            let mut install = venv.pip_install();
            install.args(["--no-deps", "--no-build-isolation", CHOLMOD]);
            if output(&mut install).is_err() {
                println!("{CHOLMOD} cannot be built here, so that the reference uses SuperLU");
                println!("(install its headers: apt-get install libsuitesparse-dev)");
            }
        }
        Ok(venv)
    }

    /// The environment with one version of Blender.
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
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements) {
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

    /// The path of a program that this environment brings along.
    pub fn program(&self, name: &str) -> PathBuf {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        self.directory.join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Where this environment keeps its packages.
    pub fn site_packages(&self) -> Result<PathBuf> {
        let script = "import sysconfig; print(sysconfig.get_path('platlib'))";
        output(self.python().args(["-c", script])).map(|path| PathBuf::from(path.trim()))
    }

    /// Installs a wheel in place of whatever version of it is there.
    pub fn install(&self, wheel: &Path) -> Result<()> {
        run(self.pip_install().args(["--force-reinstall", "--no-deps", "--no-index"]).arg(wheel))
    }

    fn pip_install(&self) -> Command {
        let mut pip = self.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip
    }
}

/// Makes the environments that demo, test and check use.
pub fn set_up_all() -> Result<()> {
    Venv::tools()?;
    Venv::blender(default_blender())?;
    Ok(())
}
