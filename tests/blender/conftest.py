"""Fixtures: the enabled extension, and a new empty file for each test."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import bpy
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import extension


@pytest.fixture(scope="session")
def package() -> ModuleType:
    """The extension, enabled once a process, and installed once for all files of a worker."""
    return extension.enable_once()


@pytest.fixture
def module(package: ModuleType) -> Callable[[str], ModuleType]:
    """Imports a module of the extension by its name inside the package."""
    return lambda name: importlib.import_module(f"{package.__name__}.{name}")


@pytest.fixture
def coarse_setup(module: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """*Add Jounce* with an eighth of its tets: the same steps, for tests of anything but the fine motion."""
    sensible = module("core.body.sensible")

    def resolution(surface: object, tets: int = sensible.standard.TETS) -> int:
        return sensible.resolution(surface, tets // 8)

    coarse = {"resolution": resolution, "loose_resolution": lambda it: resolution(it, sensible.LOOSE_TETS)}
    monkeypatch.setattr(module("ops.setup"), "sensible", SimpleNamespace(**vars(sensible) | coarse))


@pytest.fixture
def preview(module: Callable[[str], ModuleType]) -> ModuleType:
    """The extension's module for previews."""
    return module("bridge.preview.previews")


@pytest.fixture(autouse=True)
def empty_file(package: ModuleType) -> None:
    """A file without objects."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture
def session(module: Callable[[str], ModuleType]) -> Callable:
    """Finds the session of a previewed object."""
    return module("bridge.preview.previews").session


@pytest.fixture
def lessons(module: Callable[[str], ModuleType]) -> ModuleType:
    """The extension's module for learnt bases."""
    return module("bridge.motions.learnt_store")
