"""Presets of bodies: their settings, and the present preset of a body."""

from functools import lru_cache
from math import isclose
from pathlib import Path

import bpy

from ...core.common import preset_values
from ...core.common.preset_values import Value

# Blender's folders of the presets.
BODY, MATERIAL = "jounce/body", "jounce/material"
# Settings of each, with their kinds.
SETTINGS: dict[str, dict[str, type]] = {
    BODY: {
        "softness": float,
        "strength": float,
        "damping": float,
        "integrator": str,
        "use_limit": bool,
        "limit": float,
        "use_stretch": bool,
        "stretch": float,
    },
    MATERIAL: {"stiffness_by": str, "young": float, "density": float, "poisson": float, "damping": float},
}
# The shipped presets of bodies, in the order of the panel.
SHIPPED = ("Realistic", "Cartoon", "Heavy", "Jelly", "Subtle")
# Shown for the settings of no preset.
OWN = "Own Settings"
# Settings are kept in single precision.
ALIKE = 1e-5


def named(folder: str) -> dict[str, dict[str, Value]]:
    """The settings of each whole preset by displayed name, shipped ones first."""
    found = {}
    for path in preset_values.found(bpy.utils.preset_paths(folder)).values():
        read = settings(path, path.stat().st_mtime_ns, folder)
        if read.keys() == SETTINGS[folder].keys():
            found[bpy.path.display_name(path.name, title_case=False)] = read
    ours = {name: found.pop(name) for name in SHIPPED if name in found}
    return ours | found


def name_of(state: bpy.types.PropertyGroup, folder: str) -> str:
    """The displayed name of the preset with a body's present settings; empty for none."""
    return next((name for name, known in named(folder).items() if has(state, known)), "")


def has(state: bpy.types.PropertyGroup, known: dict[str, Value]) -> bool:
    """True if a body has all settings of a preset."""
    return all(is_same(getattr(state, name), value) for name, value in known.items())


def is_same(kept: Value, value: Value) -> bool:
    """True if a setting has a value, up to its precision."""
    return isclose(kept, value, rel_tol=ALIKE) if isinstance(value, float) else kept == value


@lru_cache(maxsize=256)
def settings(path: Path, _changed: int, folder: str) -> dict[str, Value]:
    """The settings of a preset, read again after each change of its file."""
    return preset_values.values(path.read_text("utf-8", "replace"), SETTINGS[folder])
