"""Enables the extension: from the zip in `JOUNCE_EXTENSION`, otherwise from the sources."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import bpy

SOURCES = Path(__file__).resolve().parents[2] / "addon"
INSTALLED = "bl_ext.user_default.jounce"


def enable() -> ModuleType:
    """The enabled package; its modules are `package.__name__ + ".core.rig.weights"` and so on."""
    zip_path = os.environ.get("JOUNCE_EXTENSION")
    if zip_path:
        install(zip_path)
        return sys.modules[INSTALLED]
    name = "jounce_addon"
    spec = importlib.util.spec_from_file_location(
        name, SOURCES / "__init__.py", submodule_search_locations=[str(SOURCES)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    package.register()
    return package


def enable_once() -> ModuleType:
    """The enabled package, possibly installed by another process already."""
    installed = Path(bpy.utils.user_resource("EXTENSIONS")) / "user_default" / "jounce"
    if not (os.environ.get("JOUNCE_EXTENSION") and installed.is_dir()):
        return enable()
    bpy.ops.preferences.addon_enable(module=INSTALLED)
    return sys.modules[INSTALLED]


def install(zip_path: str) -> None:
    """Installs and enables the zip as a user would."""
    bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=os.path.abspath(zip_path), enable_on_install=True
    )
