"""Keys of numbered items in a collection, and their renumbering after an item is removed."""

import re
from dataclasses import dataclass

import bpy

from ...core.common.user_error import UserError
from ..common import compat, registry
from . import animation

# An action with its slot, in versions with slots.
Track = tuple[bpy.types.Action, object]


@dataclass(frozen=True)
class Keys:
    """Settings of a host's items, and the display name of the items."""

    items: str
    settings: tuple[str, ...]
    noun: str

    def path(self, index: int, setting: str = "") -> str:
        """Animation path of an item's setting, the first one if none is named."""
        return f"jounce.{self.items}[{index}].{setting or self.settings[0]}"

    def index(self, path: str) -> int | None:
        """The item of a path, if any."""
        found = re.fullmatch(rf"jounce\.{self.items}\[(\d+)\]\.({'|'.join(self.settings)})", path)
        return None if found is None else int(found[1])


def remove(host: bpy.types.Object, keys: Keys, index: int) -> None:
    """Removes an item with its keys; later items keep their keys."""
    owners = moving(host, keys, index)
    refuse_foreign(host, keys, owners)
    getattr(host.jounce, keys.items).remove(index)
    data = host.animation_data
    if data is None:
        return
    for owner in owners.values():
        for curves in compat.fcurve_lists(owner):
            take_out(curves, keys, index)
    take_out(data.drivers, keys, index)


def refuse_foreign(host: bpy.types.Object, keys: Keys, owners: dict[Track, compat.Owner]) -> None:
    """Refuses a removal if the affected keys are not editable, or also belong to another body's items."""
    data = host.animation_data
    if data is not None and data.use_tweak_mode:
        raise UserError(f"An NLA strip of {host.name} is being tweaked; leave Tweak Mode first.")
    for action, _ in owners:
        if not action.is_editable:
            raise UserError(
                f"{host.name} plays the action {action.name} of another file, whose keys tell {keys.noun} by "
                "their number; make it local first."
            )
    for obj in registry.meshes():
        shared = owners.keys() & played(obj).keys()
        if obj != host and len(getattr(obj.jounce, keys.items)) and shared:
            (action, _) = next(iter(shared))
            raise UserError(
                f"{obj.name} plays the action {action.name} too, whose keys tell {keys.noun} by their "
                "number; make it a single user first."
            )


def moving(host: bpy.types.Object, keys: Keys, index: int) -> dict[Track, compat.Owner]:
    """A host's tracks with keys of an item, or of a later one."""

    def moves(owner: compat.Owner) -> bool:
        return any(is_from(curve, keys, index) for curve in compat.fcurves(owner))

    return {track: owner for track, owner in played(host).items() if moves(owner)}


def played(obj: bpy.types.Object) -> dict[Track, compat.Owner]:
    """An object's tracks, each action once."""
    return {(owner.action, compat.slot(owner)): owner for owner in animation.owners(obj.animation_data)}


def is_from(curve: bpy.types.FCurve, keys: Keys, index: int) -> bool:
    """True if a curve moves an item, or a later one."""
    moved = keys.index(curve.data_path)
    return moved is not None and moved >= index


def take_out(curves: "bpy.types.bpy_prop_collection", keys: Keys, gone: int) -> None:
    """Removes the curves of a removed item, and renumbers those of later items."""
    for curve in [curve for curve in curves if is_from(curve, keys, gone)]:
        moved = keys.index(curve.data_path)
        if moved == gone:
            curves.remove(curve)
        else:
            curve.data_path = keys.path(moved - 1, curve.data_path.rpartition(".")[2])
