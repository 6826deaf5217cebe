"""Data for displaying a final motion without Blender: the meshes of the body, and the poses of the rig."""

import jounce
import numpy as np
from jounce.final_motion import Scene

from ..mesh.surface import Surface
from ..stepping.motion import FrameInput, motion_of


def scene_of(
    surface: Surface,
    body: "jounce.Body",
    drives: list[FrameInput],
    name: str,
    first: int,
    own: range,
    seconds: float,
) -> Scene:
    """The scene of a motion. drives: of all frames. name: of the body. first: frame. own: frames to show."""
    most = max(1, int((surface.weights > 0.0).sum(axis=1).max()))
    bones = np.argsort(-surface.weights, axis=1, kind="stable")[:, :most]
    return Scene(
        body=name,
        parts=tuple((part.name, part.points.stop - part.points.start) for part in surface.parts),
        first=first,
        own=(own.start, own.stop),
        seconds=seconds,
        points=surface.points,
        triangles=surface.triangles,
        bones=bones,
        weights=np.take_along_axis(surface.weights, bones, axis=1),
        corners=np.asarray(body.mesh.tets)[body.embedding.tets],
        shares=body.embedding.barycentric,
        poses=motion_of(drives, np.empty(0)).poses,
        offsets=offsets_of(drives, len(body.mesh.vertices)),
    )


def offsets_of(drives: list[FrameInput], vertices: int) -> np.ndarray:
    """Difference of the rig from linear skinning, (f, n, 3); a single zero frame if there is none."""
    own = [None if drive.vertices is None else drive.vertices.offsets for drive in drives]
    if all(offsets is None for offsets in own):
        return np.zeros((1, vertices, 3))
    return np.stack([np.zeros((vertices, 3)) if offsets is None else offsets for offsets in own])
