"""Presets of bodies: their settings, and the present preset of a body."""

from functools import lru_cache
from math import isclose
from pathlib import Path

import bpy

from ...core import region_presets

# By Blender's folder of the presets.
SETTINGS = {
    "jounce/body": ("bone_core", "amount", "damping"),
    "jounce/material": ("stiffness_by", "young", "density", "poisson", "damping"),
}
# Settings are kept in single precision.
ALIKE = 1e-5


def name_of(state: bpy.types.PropertyGroup, folder: str) -> str:
    """The displayed name of the preset with a body's present numbers; empty for none."""
    paths = region_presets.found(bpy.utils.preset_paths(folder)).values()
    path = next((path for path in paths if has(state, numbers(path, path.stat().st_mtime_ns, folder))), None)
    return "" if path is None else bpy.path.display_name(path.name, title_case=False)


def has(state: bpy.types.PropertyGroup, known: dict[str, float]) -> bool:
    """True if a body has all numbers of a preset."""
    return bool(known) and all(isclose(getattr(state, n), v, rel_tol=ALIKE) for n, v in known.items())


@lru_cache(maxsize=256)
def numbers(path: Path, _changed: int, folder: str) -> dict[str, float]:
    """The settings of a preset, read again after each change of its file."""
    return region_presets.values(path.read_text("utf-8", "replace"), frozenset(SETTINGS[folder]))
