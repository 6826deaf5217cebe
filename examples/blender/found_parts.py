"""Parts of a body as a build finds them, on the vertices of a character, and the volume inside a skin."""

from __future__ import annotations

import importlib

import bpy
import numpy as np

# Least weight of a vertex that counts to a part.
OWN = 0.5
# Digits of a place, relative to the longest side, that tell two vertices apart.
DIGITS = 6

Found = dict[str, np.ndarray]


def found(
    package: str, host: bpy.types.Object, meshes: list[bpy.types.Object]
) -> tuple[Found, dict[str, float]]:
    """Vertices (p,) of some meshes, one after the other, in each part of a body, and the volumes of the parts
    at rest, in cubic metres.
    """
    bodies = importlib.import_module(f"{package}.bridge.body.bodies")
    cache = importlib.import_module(f"{package}.core.body.built_bodies").CACHE
    extent = importlib.import_module(f"{package}.core.shot.motion_extent")
    scene = bodies.read(host, bpy.context, print)
    body = cache.get(scene.surface.digest(host.jounce.build_settings()))
    if not getattr(body, "parts", None):
        return {}, {}
    rows, weights = [part.points for part in scene.surface.parts], extent.part_weights(body)
    known = {mesh: weights[own] for mesh, own in zip(scene.objects, rows, strict=True)}
    of_mesh = [known.get(mesh, np.zeros((len(mesh.data.vertices), len(body.parts)))) for mesh in meshes]
    shares = np.asarray(body.part_weights)[:, body.mesh.tets].mean(axis=2) @ body.mesh.volumes
    of_parts = np.concatenate(of_mesh).T > OWN
    return dict(zip(body.parts, of_parts, strict=True)), dict(zip(body.parts, shares.tolist(), strict=True))


def welded(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles (q, 3) of points (p, 3) whose corners at one place are one vertex; flat ones are left out."""
    places = np.round(points / max(float(np.ptp(points, axis=0).max()), 1e-12), DIGITS)
    _, first, place = np.unique(places, axis=0, return_index=True, return_inverse=True)
    joined = first[place.ravel()][triangles]
    return joined[(joined != np.roll(joined, 1, axis=1)).all(axis=1)]


def enclosed(points: np.ndarray, triangles: np.ndarray) -> float:
    """Volume inside a welded skin; a fan around the middle of all open borders closes these."""
    edges = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    there, back = edges @ [1 << 31, 1], edges @ [1, 1 << 31]
    border = edges[~np.isin(there, back)]
    middle = points[border if len(border) else triangles].reshape(-1, 3).mean(axis=0)
    # The fan has no volume as seen from its own middle.
    a, b, c = (points[triangles[:, k]] - middle for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6.0)
