"""Keys of the items of a collection, which tell them by their number, when an item goes."""

import re
from dataclasses import dataclass

import bpy

from ...core.user_error import UserError
from . import animation, compat, registry

# An action, and the slot of it where actions have slots.
Track = tuple[bpy.types.Action, object]


@dataclass(frozen=True)
class Keys:
    """Of which setting of which items of a host, and what these are called."""

    items: str
    setting: str
    noun: str

    def path(self, index: int) -> str:
        """What keys of an item move."""
        return f"jounce.{self.items}[{index}].{self.setting}"

    def index(self, path: str) -> int | None:
        """The item that a path moves, if any."""
        found = re.fullmatch(rf"jounce\.{self.items}\[(\d+)\]\.{self.setting}", path)
        return None if found is None else int(found[1])


def remove(host: bpy.types.Object, keys: Keys, index: int) -> None:
    """Takes an item away with its keys; those of later ones stay theirs."""
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
    """Refuses where keys that would be changed are out of reach, or of another body's items as well."""
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
    """What a host plays that moves an item, or one after it."""

    def moves(owner: compat.Owner) -> bool:
        return any(is_from(curve, keys, index) for curve in compat.fcurves(owner))

    return {track: owner for track, owner in played(host).items() if moves(owner)}


def played(obj: bpy.types.Object) -> dict[Track, compat.Owner]:
    """What an object plays of which actions, each once."""
    return {(owner.action, compat.slot(owner)): owner for owner in animation.owners(obj.animation_data)}


def is_from(curve: bpy.types.FCurve, keys: Keys, index: int) -> bool:
    """Whether a curve moves an item, or one after it."""
    moved = keys.index(curve.data_path)
    return moved is not None and moved >= index


def take_out(curves: "bpy.types.bpy_prop_collection", keys: Keys, gone: int) -> None:
    """Removes the curves of an item that is gone, and has those of the ones after it move these again."""
    for curve in [curve for curve in curves if is_from(curve, keys, gone)]:
        moved = keys.index(curve.data_path)
        if moved == gone:
            curves.remove(curve)
        else:
            curve.data_path = keys.path(moved - 1)
