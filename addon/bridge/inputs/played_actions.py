"""The active actions of a body, compared with the actions of its fit."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import bpy
from bpy.app.handlers import persistent

from ...core.mesh.surface import hashed
from ...core.shot import fitted_action
from ...core.shot.fitted_action import Played, Track
from ..body import bodies
from ..common import compat, handlers
from ..keys import animation
from ..loads import animated_settings
from ..rig import armature_modifier, bone_transforms

K, V = TypeVar("K"), TypeVar("V")

# Keys of our own settings move no bone.
OWN = "jounce"

# By session_uid of hosts, for calls at every redraw: the played actions, and the same with a hash of the
# keys.
_playing: dict[int, Played] = {}
_keys: dict[tuple[int, Played], str] = {}


def now(host: bpy.types.Object) -> Played:
    """The present animation of a body."""
    return fitted_action.played(track(owner) for owner in owners(host) if keyed(owner))


def keys(host: bpy.types.Object) -> str:
    """Hash of all keys that play on a body, without names."""
    digests = (animation.digest_of_curves(keyed(owner)) for owner in owners(host) if keyed(owner))
    return hashed((), tuple(sorted(digests)))


def difference(host: bpy.types.Object) -> str:
    """One sentence if another animation plays than in the fit of the frequency, else nothing."""
    state = host.jounce
    if not state.fitted_names or state.frequency != state.fitted_frequency:
        return ""
    if state.material() is not None or animated_settings.is_animated(host, frozenset(["frequency"])):
        return ""
    fitted = Played(state.fitted_names, state.fitted_outline)
    playing = remembered(_playing, host.session_uid, lambda: now(host))

    def is_same() -> bool:
        return state.fitted_keys == remembered(_keys, (host.session_uid, playing), lambda: keys(host))

    return fitted_action.difference(fitted, playing, is_same)


def remembered(memory: dict[K, V], key: K, make: Callable[[], V]) -> V:
    """The remembered value of a key, made and remembered if missing."""
    if key not in memory:
        memory[key] = make()
    return memory[key]


def track(owner: compat.Owner) -> Track:
    """The track of animation data or a strip."""
    curves, place = keyed(owner), ()
    if isinstance(owner, bpy.types.NlaStrip):
        place = (owner.frame_start, owner.frame_end, owner.action_frame_start, owner.action_frame_end)
    channels = tuple((curve.data_path, curve.array_index) for curve in curves)
    ends = [end for curve in curves for end in curve.range()]
    return Track(owner.action.name, channels, (min(ends), max(ends)), place)


def keyed(owner: compat.Owner) -> list[bpy.types.FCurve]:
    """The F-curves of an owner outside of Jounce's settings."""
    return [curve for curve in compat.fcurves(owner) if not curve.data_path.startswith(OWN)]


def owners(host: bpy.types.Object) -> Iterator[compat.Owner]:
    """The animation data of everything that moves a body, and their influential strips."""
    for obj in movers(host):
        yield from animation.heard(obj.animation_data)


def movers(host: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes of a body, their armatures, the targets of these, and all parents."""
    objects = bodies.members(host)
    armatures = armature_modifier.moving(objects)
    followed = (target for armature in armatures for target in targets(armature))
    direct = dict.fromkeys((*objects, *armatures, *followed))
    return list(direct | dict.fromkeys(above for obj in direct for above in bone_transforms.ancestors(obj)))


def targets(armature: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Targets of the constraints on an armature's bones."""
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            target = getattr(constraint, "target", None)
            if target is not None:
                yield target


@persistent
def after_step(*_: object) -> None:
    """Other objects than before: a file was opened, or a step undone."""
    _playing.clear()
    _keys.clear()


@persistent
def after_change(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Forgets remembered animation: a change to it tags objects or actions, while new frames tag neither."""
    if depsgraph.id_type_updated("OBJECT") or depsgraph.id_type_updated("ACTION"):
        _playing.clear()
    if depsgraph.id_type_updated("ACTION"):
        _keys.clear()


HANDLERS = {
    "load_post": after_step,
    "undo_post": after_step,
    "redo_post": after_step,
    "depsgraph_update_post": after_change,
}


def register() -> None:
    """Watches possible changes of the animation."""
    handlers.listen(HANDLERS, True)


def unregister() -> None:
    """Undoes `register`."""
    handlers.listen(HANDLERS, False)
    after_step()
