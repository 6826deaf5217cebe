"""Animates the values of a bake's shape keys with a separate action, beside any other animation.

A data-block has one active action. Shape keys without animation get the bake's action as the active one,
which every exporter supports. With existing animation (an action, strips or drivers of the artist's), the
bake's action goes into a new NLA track. The track moves the bake's keys only, the artist's animation moves
the artist's keys only; they never meet, and freeing the bake removes the track without a change to the
artist's action. Keys inserted by the artist while the bake's action is active land there; freeing then
removes the bake's F-curves only, and leaves the action to the artist.
"""

from collections.abc import Iterator

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.storage.cache import digest_of
from ..common import compat, marks
from . import own_keys

TRACK = "Jounce"
LINEAR = 1  # of the enum Keyframe.interpolation, which foreach_set takes as a number


def refuse_unusable(obj: bpy.types.Object) -> None:
    """Refuses shape keys whose animation allows no additional track, or would not play the track."""
    keys = obj.data.shape_keys
    data = keys.animation_data if keys is not None else None
    if data is None:
        return
    if data.use_tweak_mode:
        raise UserError(
            f"An NLA strip of the shape keys of {obj.name} is being tweaked; leave Tweak Mode first."
        )
    if not data.use_nla:
        raise UserError(
            f"NLA is switched off for the shape keys of {obj.name}, so a bake would not play; switch it on."
        )
    if any(track.is_solo for track in data.nla_tracks):
        raise UserError(
            f"An NLA track of the shape keys of {obj.name} plays solo, so a bake would not; switch solo off."
        )


def write(obj: bpy.types.Object, names: list[str], values: np.ndarray, times: np.ndarray) -> None:
    """Keys values (f, k) of the named shape keys at times (f,), with linear interpolation."""
    keys = obj.data.shape_keys
    action = bpy.data.actions.new(f"Jounce {obj.name}")
    marks.put(action, marks.BAKE)
    obj.jounce.bake_action = action
    fcurves = compat.new_fcurves(action, keys)
    for name, column in zip(names, values.T, strict=True):
        path = keys.key_blocks[name].path_from_id("value")
        write_fcurve(fcurves.new(path), times, column)
    if keys.animation_data is None:
        data = keys.animation_data_create()
        obj.jounce.bake_made_animation = True
        data.action = action
        compat.use_slot(data, action)
    else:
        tracks = keys.animation_data.nla_tracks
        active = tracks.active
        track = tracks.new()
        track.name = TRACK
        tracks.active = active
        strip = track.strips.new(TRACK, int(times[0]), action)
        compat.use_slot(strip, action)
        strip.frame_start = times[0]
        strip.extrapolation = "HOLD"


def make_active(obj: bpy.types.Object) -> None:
    """Makes the bake's action active once its strip is the only animation left."""
    data, action = obj.data.shape_keys.animation_data, obj.jounce.bake_action
    if data is None or action is None or data.action is not None or data.drivers:
        return
    if [strip.action for track in data.nla_tracks for strip in track.strips] != [action]:
        return
    if len(data.nla_tracks) == 1:
        data.nla_tracks.remove(data.nla_tracks[0])
        data.action = action
        compat.use_slot(data, action)


def write_fcurve(fcurve: bpy.types.FCurve, times: np.ndarray, values: np.ndarray) -> None:
    """One linear key per time, without keys between two equal neighbours."""
    same = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    keep = np.concatenate(([True], ~same, [True]))[: len(values)]
    points = fcurve.keyframe_points
    points.add(int(keep.sum()))
    points.foreach_set("co", np.column_stack((times[keep], values[keep])).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
    fcurve.update()


def free(obj: bpy.types.Object) -> None:
    """Removes the bake's F-curves from the shape keys, and the action from the file once empty and unused."""
    state, keys = obj.jounce, obj.data.shape_keys
    action = state.bake_action
    data = keys.animation_data if keys is not None else None
    if data is not None and action is not None:
        is_played = any(owner.action == action for owner in owners(data))
        if is_played and holds_more(action, own_keys.paths(keys)):
            leave(action, keys)
            action = None
        else:
            detach(action, data)
        if state.bake_made_animation and is_empty(data):
            keys.animation_data_clear()
    for name in ("bake_action", "bake_made_animation"):
        state.property_unset(name)
    remove_unused(action)


def holds_more(action: bpy.types.Action, own: set[str]) -> bool:
    """True if an action has other paths than these."""
    return any(curve.data_path not in own for curve in compat.every_fcurve(action))


def leave(action: bpy.types.Action, keys: bpy.types.Key) -> None:
    """Leaves an action with keys of the artist's to the artist, without the bake's F-curves; playback is
    unchanged.
    """
    if is_played_elsewhere(action, keys):
        # A copy of the object plays the whole action.
        shared, action = action, action.copy()
        for owner in owners(keys.animation_data):
            if owner.action == shared:
                compat.exchange(owner, action)
    compat.remove_fcurves(action, own_keys.paths(keys))
    marks.remove(action)


def detach(action: bpy.types.Action, data: bpy.types.AnimData) -> None:
    """Detaches an action: as the active action, its strips, and the tracks with these strips alone."""
    for track in list(data.nla_tracks):
        strips = [strip for strip in track.strips if strip.action == action]
        for strip in strips:
            track.strips.remove(strip)
        if strips and not track.strips and track.name == TRACK:
            data.nla_tracks.remove(track)
    if data.action == action:
        data.action = None


def is_played_elsewhere(action: bpy.types.Action, keys: bpy.types.Key) -> bool:
    """True if the shape keys of another mesh play an action."""
    others = (other.animation_data for other in bpy.data.shape_keys if other != keys)
    return any(owner.action == action for data in others for owner in owners(data))


def remove_unused(action: bpy.types.Action | None) -> None:
    """Removes an unused action of a bake from the file."""
    if action is not None and action.users == 0 and marks.has(action, marks.BAKE):
        bpy.data.actions.remove(action)


def paths(data: bpy.types.AnimData | None) -> list[str]:
    """The animated paths of keys, strips and drivers."""
    if data is None:
        return []
    curves = [curve for owner in owners(data) for curve in compat.fcurves(owner)]
    return [curve.data_path for curve in (*curves, *data.drivers)]


def owners(data: bpy.types.AnimData | None) -> list[compat.Owner]:
    """Animation data and its strips with an action."""
    if data is None:
        return []
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    return [owner for owner in (data, *strips) if owner.action is not None]


def heard(data: bpy.types.AnimData | None) -> Iterator[compat.Owner]:
    """Animation data with an action, and its strips with an influence on the result."""
    return (owner for owner in owners(data) if owner == data or is_heard(owner, data))


def is_heard(strip: bpy.types.NlaStrip, data: bpy.types.AnimData) -> bool:
    """True if a strip influences the result."""
    solo = any(track.is_solo for track in data.nla_tracks)
    heard = (track for track in data.nla_tracks if (track.is_solo if solo else not track.mute))
    return data.use_nla and not strip.mute and any(strip in track.strips.values() for track in heard)


class Actions:
    """Snapshots of actions, for distinguishing touched from changed ones."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def is_only_touched(self, action: bpy.types.Action, blocks: list[bpy.types.ID | None]) -> bool:
        """True for an action of one of these data-blocks with the same keys as in the previous call."""
        data = [block.animation_data for block in blocks if block is not None]
        if action not in [owner.action for each in data for owner in owners(each)]:
            return False
        before, now = self._digests.get(action.name), digest(action)
        self._digests[action.name] = now
        return before == now


def digest(action: bpy.types.Action) -> str:
    """Hash of all keys of an action."""
    return digest_of_curves(compat.every_fcurve(action))


def digest_of_curves(curves: list[bpy.types.FCurve]) -> str:
    """Hash of all keys of F-curves."""
    numbers = []
    for curve in curves:
        for field in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get(field, values)
            numbers.append(values)
        kinds = np.empty(len(curve.keyframe_points), np.int32)
        curve.keyframe_points.foreach_get("interpolation", kinds)
        numbers.append(kinds)
    return digest_of(*numbers)


def is_empty(data: bpy.types.AnimData) -> bool:
    """True for animation data without content, which may be removed."""
    return data.action is None and len(data.nla_tracks) == 0 and len(data.drivers) == 0
