"""Missing parts of a scene that change the motion of a rig.

Blender reports them: drivers that did not run, missing library data, missing files. Only dependencies of the
body count.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy

from ...core.common.user_error import UserError
from ..common import evaluation
from ..loads import colliders, force_fields
from ..rig import rig_stack
from . import bodies

# Types without influence on vertices: appearance, and scenes, which use every object of the file.
APART = (bpy.types.Material, bpy.types.World, bpy.types.Scene)
TRUST = "open the file with Allow Execution, or start Blender with --enable-autoexec"


@dataclass(frozen=True)
class Lack:
    """A missing part, in a sentence. is_certain: True if the motion certainly differs."""

    sentence: str
    is_certain: bool = True


def lacks(host: bpy.types.Object, context: bpy.types.Context) -> list[Lack]:
    """All missing dependencies of a body."""
    # Drivers are found out by running.
    evaluation.depsgraph(context)
    objects = (
        *bodies.members(host),
        *colliders.acting(host),
        *force_fields.acting(host, context.scene),
    )
    needed = sorted(dependencies(objects), key=lambda block: (type(block).__name__, block.name_full))
    found = [lack for block in needed for lack in (*of_data(block), *of_files(block))]
    return [*of_scripts(needed), *found]


def refuse(hosts: Iterable[bpy.types.Object], context: bpy.types.Context, otherwise: str) -> None:
    """Refuses bodies whose motion certainly differs. otherwise: an alternative for the user."""
    for host in hosts:
        for lack in lacks(host, context):
            if lack.is_certain:
                raise UserError(f"{lack.sentence.removesuffix('.')}{otherwise}.")


def dependencies(objects: Iterable[bpy.types.Object]) -> set[bpy.types.ID]:
    """The objects and all data-blocks they use, directly or indirectly."""
    uses: dict[bpy.types.ID, list[bpy.types.ID]] = {}
    for block, users in bpy.data.user_map().items():
        for user in users:
            uses.setdefault(user, []).append(block)
    waiting = list(objects)
    found = set(waiting)
    while waiting:
        for block in uses.get(waiting.pop(), ()):
            if block not in found and not isinstance(block, APART):
                found.add(block)
                waiting.append(block)
    return found


def of_scripts(blocks: list[bpy.types.ID]) -> Iterator[Lack]:
    """Invalid drivers, and blocked scripts."""
    broken = [
        (curve, block)
        for block in blocks
        if (data := getattr(block, "animation_data", None)) is not None
        for curve in data.drivers
        if not curve.mute and not (curve.is_valid and curve.driver.is_valid)
    ]
    scripted = [pair for pair in broken if pair[0].driver.type == "SCRIPTED"]
    if bpy.app.autoexec_fail and scripted:
        yield Lack(f"Scripts of this file may not run, which stops {named(scripted)}; {TRUST}.")
    elif bpy.app.autoexec_fail:
        what = bpy.app.autoexec_fail_message
        yield Lack(f"Scripts of this file may not run ({what}); if they move the body, {TRUST}.", False)
    elif broken:
        yield Lack(f"Blender finds an error in {named(broken)}; mend or remove it.", False)


def named(drivers: list[tuple[bpy.types.FCurve, bpy.types.ID]]) -> str:
    """The first of some drivers, and the number of the others."""
    curve, block = drivers[0]
    others = f" and {len(drivers) - 1} more" if len(drivers) > 1 else ""
    return f"the driver of {curve.data_path} of {block.name}{others}"


def of_data(block: bpy.types.ID) -> Iterator[Lack]:
    """A data-block missing from its library, or with a missing library."""
    if block.is_missing:
        yield Lack(
            f"{block.name} is not found in {block.library.filepath}; put it back and open this file again."
        )


def of_files(block: bpy.types.ID) -> Iterator[Lack]:
    """Missing files of a data-block or its modifiers, except bakes by Jounce: these are made again."""
    if getattr(block, "packed_file", None) is not None:
        return
    theirs = (m for m in getattr(block, "modifiers", ()) if isinstance(m, bpy.types.Modifier))
    for owner in (block, *(modifier for modifier in theirs if not rig_stack.is_ours(modifier))):
        for path in paths(owner):
            if not os.path.exists(bpy.path.abspath(path, library=block.library)):
                yield Lack(f"{block.name} reads the file {path}, which is not there; put it back.")


def paths(owner: bpy.types.ID | bpy.types.Modifier) -> set[str]:
    """File paths of an owner, without patterns for several files."""
    properties = owner.bl_rna.properties
    named = (p.identifier for p in properties if p.type == "STRING" and p.subtype == "FILE_PATH")
    return {path for name in named if (path := getattr(owner, name)) and "<" not in path}
