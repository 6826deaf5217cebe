"""Reads the direction of a body: curves in a frame, and keyed shapes."""

import hashlib
from dataclasses import replace

import bpy
import numpy as np

from ...core.direct.curves import Curves, FrameCurves, Region
from ...core.direct.director import ShapeKey
from ...core.direct.windows import Span
from ...core.display import fields
from ...core.flesh.settings import MotionSettings
from ..body import bodies
from ..body.bodies import BodyScene
from ..common import compat, stored_bytes
from ..keys import numbered_keys
from ..rig import meshes

# Settings with curves, in the order of `Curves`.
SETTINGS = ("exaggerate", "lag", "follow_through")
PREFIX = "jounce."
# Settings behind the frequencies and the damping of swings.
STIFFNESS = ("frequency", "damping", "young", "density")
KEYS = numbered_keys.Keys("directions", SETTINGS, "directed parts")


def is_neutral(host: bpy.types.Object) -> bool:
    """True if nothing directs a body in any frame."""
    state = host.jounce
    if any(is_active(key) for key in state.flesh_keys) or animated(host):
        return False
    is_damped = any(part.damping != 1.0 for part in state.parts)
    return not is_damped and all(each.curves().is_neutral for each in (state, *state.directions))


def is_active(key: bpy.types.PropertyGroup) -> bool:
    """True if the motion passes a key."""
    return not key.mute and key.scale > 0.0


def stiffness_settings(host: bpy.types.Object, frame: float) -> MotionSettings:
    """The settings of the motion, with the animated stiffness and damping of a frame."""
    settings = host.jounce.motion_settings()
    moved = {name: curve.evaluate(frame) for name, curve in animated(host, STIFFNESS).items()}
    own = {name: moved[name] for name in ("frequency", "damping") if name in moved}
    if settings.material is not None:
        of_material = {name: moved[name] for name in ("young", "density") if name in moved}
        own["material"] = replace(settings.material, **of_material)
    return replace(settings, **own)


def animated(host: bpy.types.Object, settings: tuple[str, ...] = SETTINGS) -> dict[str, bpy.types.FCurve]:
    """F-curves of the host's active action that move a setting of these, by path below the settings."""
    data = host.animation_data
    curves = () if data is None or data.action is None else compat.fcurves(data)
    mine = (curve for curve in curves if curve.data_path.startswith(PREFIX) and not curve.mute)
    paths = ((curve.data_path.removeprefix(PREFIX), curve) for curve in mine)
    return {path: curve for path, curve in paths if path.rpartition(".")[2] in settings}


def of(
    owner: bpy.types.PropertyGroup, prefix: str, moved: dict[str, bpy.types.FCurve], frame: float
) -> Curves:
    """Curves of the body or of a part, within the ends of the sliders."""
    values = []
    for name in SETTINGS:
        curve, limits = moved.get(prefix + name), owner.bl_rna.properties[name]
        value = getattr(owner, name) if curve is None else curve.evaluate(frame)
        values.append(min(max(float(value), limits.hard_min), limits.hard_max))
    return Curves(*values)


def values(host: bpy.types.Object, frame: float) -> dict[str, Curves]:
    """Curves of the body, under an empty name, and of its parts with curves or a damping of their own."""
    state, moved = host.jounce, animated(host)
    found = {"": of(state, "", moved, frame)}
    for index, part in enumerate(state.directions):
        found[part.name] = of(part, f"directions[{index}].", moved, frame)
    for part in state.parts:
        if part.damping != 1.0:
            own = found.get(part.name, Curves())
            found[part.name] = replace(own, follow=own.follow / part.damping)
    return found


class Shares:
    """Shares of the points of a body in its parts."""

    def __init__(self, scene: BodyScene, body: "fields.jounce.Body") -> None:
        self._scene, self._body = scene, body
        self._known: dict[str, np.ndarray | None] = {}

    def of(self, name: str) -> np.ndarray | None:
        """Share (p,) of each point in a part; None for a part that is not built."""
        if name not in self._known:
            own = self._scene.shares.get(name)
            is_there = own is not None or name in self._body.parts
            self._known[name] = fields.of_part(self._body, name, own)[0] if is_there else None
        return self._known[name]

    def curves(self, named: dict[str, Curves]) -> FrameCurves:
        """Curves with the places of their parts."""
        regions = (
            Region(curves, shares, name in self._scene.shares)
            for name, curves in named.items()
            if name and not curves.is_neutral and (shares := self.of(name)) is not None
        )
        return FrameCurves(named[""], tuple(regions))


def keys(host: bpy.types.Object, first: int, size: float, points: int) -> list[ShapeKey]:
    """The keys that the motion passes; keys of other meshes than the body's present ones are left out.

    first: frame of row 0. size: of the body, metres. points: their number.
    """
    found = []
    for key in filter(is_active, host.jounce.flesh_keys):
        shape = key.shape()
        if shape is not None and len(shape) == points:
            span = Span(key.frame - first, key.before, key.after, key.swing)
            found.append(ShapeKey(span, shape * np.float32(size), key.scale))
    return found


def signature(host: bpy.types.Object) -> tuple:
    """Plain values of all keys; equal for equal keys."""
    return tuple(
        (key.frame, key.before, key.after, key.scale, key.swing, key.shape_digest)
        for key in host.jounce.flesh_keys
        if is_active(key)
    )


def fits(key: bpy.types.PropertyGroup) -> bool:
    """True if a key has a shape for the body's present meshes."""
    points = sum(map(meshes.vertex_count, bodies.fleshed(key.id_data)))
    return key.shape_points == points


def keyed_frames(host: bpy.types.Object) -> tuple[list[int], list[int]]:
    """The frames of the active keys, and of the others."""
    pairs = [(key.frame, is_active(key)) for key in host.jounce.flesh_keys]
    return [frame for frame, active in pairs if active], [frame for frame, active in pairs if not active]


def keep(host: bpy.types.Object, frame: int, offsets: np.ndarray, size: float) -> bpy.types.PropertyGroup:
    """Keeps a shape as the key of a frame, over an earlier one. offsets: (p, 3), metres in the rest pose."""
    state = host.jounce
    index = next((index for index, key in enumerate(state.flesh_keys) if key.frame == frame), None)
    key = state.flesh_keys.add() if index is None else state.flesh_keys[index]
    state.flesh_key_index = len(state.flesh_keys) - 1 if index is None else index
    data = np.ascontiguousarray(offsets / size, "<f4").tobytes()
    stored_bytes.put(key, "shape", data)
    key.shape_digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    key.shape_points = len(offsets)
    key.mute, key.scale = False, 1.0
    if index is None:
        seconds = bpy.context.scene.render
        key.before = key.after = max(1, round(0.5 * seconds.fps / seconds.fps_base))
    key.frame = frame
    return key
