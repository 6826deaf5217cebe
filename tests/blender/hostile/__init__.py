"""Hostile scenes: unusual and broken files, and Jounce's expected behaviour in each.

`ROWS` is the table. Every module below holds the scenes of one subject; `trial` plays them.
"""

from . import (
    animation,
    bodies,
    bystanders,
    copies,
    files,
    keys,
    libraries,
    meshes,
    modifiers,
    names,
    poses,
    posing,
    rigs,
    scene_settings,
    settings,
    transforms,
)
from .row import ROWS

__all__ = ["ROWS"]
SUBJECTS = (
    rigs,
    poses,
    posing,
    meshes,
    transforms,
    names,
    animation,
    keys,
    modifiers,
    libraries,
    scene_settings,
    files,
    settings,
    bodies,
    copies,
    bystanders,
)
