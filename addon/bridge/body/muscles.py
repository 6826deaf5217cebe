"""Muscles beside the first of a body: made, taken away with their keys, and copied."""

import bpy

from ...core.user_error import UserError
from ..common import numbered_keys

# Most muscles of a body, as the native module has it.
MOST = 32
SETTINGS = ("muscle_group", "muscle_stiffness", "contraction")
KEYS = numbered_keys.Keys("more_muscles", "contraction", "muscles")


def add(host: bpy.types.Object, like: bpy.types.PropertyGroup | None = None) -> None:
    """A new muscle of a body, the last one. like: whose settings it gets."""
    if len(host.jounce.muscles) >= MOST:
        raise UserError(f"{host.name} has {MOST} muscles, which is as many as a body can have.")
    made = host.jounce.more_muscles.add()
    if like is not None:
        take(made, like)


def take(to: bpy.types.PropertyGroup, source: bpy.types.PropertyGroup) -> None:
    """Gives a muscle the settings of another."""
    for setting in SETTINGS:
        setattr(to, setting, getattr(source, setting))


def remove(host: bpy.types.Object, muscle: int) -> None:
    """Takes a muscle beside the first away with its keys; those of later ones stay theirs."""
    numbered_keys.remove(host, KEYS, muscle - 1)
