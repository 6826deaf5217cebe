"""Muscles beside the first of a body: made, taken away with their keys, and copied."""

import bpy

from ...core.common.user_error import UserError
from ..keys import numbered_keys

# Largest number of muscles of a body, as in the native module.
MOST = 32
SETTINGS = ("muscle_group", "muscle_stiffness", "contraction")
KEYS = numbered_keys.Keys("more_muscles", ("contraction",), "muscles")


def add(host: bpy.types.Object, like: bpy.types.PropertyGroup | None = None) -> None:
    """Adds a muscle at the end of the list. like: source of its settings."""
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
    """Removes a muscle other than the first with its keys; later muscles keep their keys."""
    numbered_keys.remove(host, KEYS, muscle - 1)
