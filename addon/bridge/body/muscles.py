"""Muscles beside the first of a body: made, taken away with their keys, and copied."""

import re

import bpy

from ...core.user_error import UserError
from ..common import animation, compat, registry

# Most muscles of a body, as the native module has it.
MOST = 32
SETTINGS = ("muscle_group", "muscle_stiffness", "contraction")
# An action, and the slot of it where actions have slots.
Track = tuple[bpy.types.Action, object]


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
    refuse_shared(host)
    host.jounce.more_muscles.remove(muscle - 1)
    data = host.animation_data
    if data is None:
        return
    gone = path(muscle)
    for owner in played(host).values():
        for curves in compat.fcurve_lists(owner):
            for curve in [curve for curve in curves if curve.data_path == gone]:
                curves.remove(curve)
            renumber(list(curves), muscle)
    for driver in [driver for driver in data.drivers if driver.data_path == gone]:
        data.drivers.remove(driver)
    renumber(list(data.drivers), muscle)


def refuse_shared(host: bpy.types.Object) -> None:
    """Refuses where keys of another body's muscles would be changed along with those of this one."""
    own = played(host)
    for obj in registry.meshes():
        shared = own.keys() & played(obj).keys()
        if obj != host and len(obj.jounce.more_muscles) and shared:
            (action, _) = next(iter(shared))
            raise UserError(
                f"{obj.name} plays the action {action.name} too, whose keys tell muscles by their number; "
                "make it a single user first."
            )


def played(
    obj: bpy.types.Object,
) -> "dict[tuple[bpy.types.Action, bpy.types.ActionSlot | None], compat.Owner]":
    """What an object plays of which actions, each once."""
    return {(owner.action, compat.slot(owner)): owner for owner in animation.owners(obj.animation_data)}


def path(muscle: int) -> str:
    """What keys of a contraction move."""
    return f"jounce.more_muscles[{muscle - 1}].contraction"


def renumber(curves: list[bpy.types.FCurve], gone: int) -> None:
    """Has curves of the muscles after one that is gone move these again."""
    for curve in curves:
        found = re.fullmatch(r"jounce\.more_muscles\[(\d+)\]\.contraction", curve.data_path)
        if found is not None and int(found[1]) >= gone:
            curve.data_path = path(int(found[1]))
