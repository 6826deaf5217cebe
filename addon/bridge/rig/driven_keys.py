"""Animated shape keys of the artist: shapes of the rig, excluded from the flesh's motion."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.mesh.surface import Part
from ..keys import own_keys
from . import switches

# Each shape costs as much as a counted bone; the keys with the largest total displacement have precedence.
MOST = 8


def driven(objects: Sequence[bpy.types.Object], parts: Sequence[Part]) -> np.ndarray | None:
    """Displacements (s, p, 3) f64 of the animated keys at rest, metres, one per name; None for none."""
    shapes: dict[str, np.ndarray] = {}
    for obj, part in zip(objects, parts, strict=True):
        for key in animated(obj):
            moved = part.stood_in(points(key) - points(key.relative_key)) @ part.to_world.T
            if moved.any():
                shape = shapes.setdefault(key.name, np.zeros((parts[-1].points.stop, 3)))
                shape[part.points] += moved
    names = sorted(shapes, key=lambda name: -np.linalg.norm(shapes[name]))[:MOST]
    return np.stack([shapes[name] for name in names]) if names else None


def animated(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """The artist's keys with keyed or driven values or switches; without permanently muted ones."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    own = own_keys.of(keys)
    return [
        key
        for key in keys.key_blocks
        if key not in own
        and switches.counts(key)
        and (switches.is_animated(key, "value") or switches.is_animated(key, "mute"))
    ]


def points(key: bpy.types.ShapeKey) -> np.ndarray:
    """Coordinates (p, 3) f64 of a key in the object's space."""
    flat = np.empty(3 * len(key.points), np.float32)
    key.points.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)
