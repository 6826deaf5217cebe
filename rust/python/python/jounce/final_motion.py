"""The final motion of a body as a file keeps it, and what it takes to show it without the program that made it.

The file begins with a line on what the motion depends on. Frames are displacements of the vertices of the body's cage;
after them stands a `Scene`: the meshes that hang in the cage, and the poses of the rig that moves both.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jounce.named_arrays import packed, unpacked
from jounce.records import records

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

MAGIC = b"jounce final motion 1\n"
# The kinds of records: a frame, a state to go on from, and what all frames are shown by.
FRAME, STATE, SCENE = b"F", b"S", b"M"
# A digest of what the frame was simulated from stands before its numbers.
DIGEST_BYTES = 16
# A first line that is longer is none of ours.
LONGEST_LINE = 1 << 20
# No program numbers frames beyond.
FURTHEST_FRAME = 1 << 24
ARRAYS = {
    "points": ("<f8", "p3"),
    "triangles": ("<i4", "q3"),
    "bones": ("<i4", "pk"),
    "weights": ("<f4", "pk"),
    "corners": ("<i4", "p4"),
    "shares": ("<f8", "p4"),
    "poses": ("<f8", "fb34"),
    "offsets": ("<f4", "gn3"),
}


@dataclass(frozen=True, eq=False)
class Scene:
    """The meshes of a body, one after the other, and what moves them, in the world, metres and seconds.

    body: its name. parts: the names of its meshes, and how many of the points each has. first: the frame of the first
    pose. own: the first frame that is to be shown and the one after the last. seconds: from one frame to the next.
    points: (p, 3), at rest. triangles: (q, 3). bones, weights: (p, k), what moves a point, and how much of it.
    corners, shares: (p, 4), the vertices of the cage around a point, and its coordinates among them. poses: (f, b, 3, 4).
    offsets: (f, n, 3), what the rig adds to linear skinning at the vertices of the cage; (1, n, 3) for the same in all.
    """

    body: str
    parts: tuple[tuple[str, int], ...]
    first: int
    own: tuple[int, int]
    seconds: float
    points: Array
    triangles: Array
    bones: Array
    weights: Array
    corners: Array
    shares: Array
    poses: Array
    offsets: Array

    def pack(self) -> bytes:
        """All of it as bytes."""
        sizes, data = packed(ARRAYS, {name: getattr(self, name) for name in ARRAYS})
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ARRAYS}
        return json.dumps({"sizes": sizes, **plain}).encode() + b"\n" + data

    def shape(self, index: int, displacements: Array) -> Floats:
        """Where all points (p, 3) are in the frame of a pose. displacements: (n, 3), of the cage."""
        homogeneous = np.column_stack((self.points, np.ones(len(self.points))))
        moved = np.zeros_like(self.points)
        for bones, weights in zip(self.bones.T, self.weights.T, strict=True):
            moved += weights[:, None] * np.einsum("pij,pj->pi", self.poses[index, bones], homogeneous)
        added = displacements + self.offsets[min(index, len(self.offsets) - 1)]
        return np.asarray(moved + np.einsum("pc,pcj->pj", self.shares, added[self.corners]))


def scene_in(data: bytes) -> Scene | None:
    """What these bytes hold, None where that is nothing that can be shown."""
    line, _, body = data.partition(b"\n")
    try:
        known = json.loads(line)
        arrays = unpacked(ARRAYS, known["sizes"], body)
        first, last = known["own"]
        scene = Scene(
            body=str(known["body"]),
            parts=tuple((str(name), int(count)) for name, count in known["parts"]),
            first=int(known["first"]),
            own=(int(first), int(last)),
            seconds=float(known["seconds"]),
            **arrays,
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return scene if is_sound(scene) else None


def is_sound(scene: Scene) -> bool:
    """Whether all numbers are such as there can be, and lead to what is there."""
    points, bones = len(scene.points), scene.poses.shape[1]
    within = (
        (scene.triangles, points),
        (scene.bones, bones),
        (scene.corners, scene.offsets.shape[1]),
    )
    arrays = [getattr(scene, name) for name, (kind, _) in ARRAYS.items() if "f" in kind]
    return (
        all(bool((0 <= array).all()) and bool((array < count).all()) for array, count in within)
        and all(bool(np.isfinite(array).all()) for array in arrays)
        and all(count > 0 for _, count in scene.parts)
        and sum(count for _, count in scene.parts) == points
        and len(scene.offsets) in (1, len(scene.poses))
        and 0.0 < scene.seconds < math.inf
        and abs(scene.first) <= FURTHEST_FRAME
    )


@dataclass(frozen=True, eq=False)
class FinalMotion:
    """A motion as its file has it. frames: that are shown. displacements: (n, 3) f32, of the frames of the poses."""

    path: Path
    scene: Scene
    frames: range
    displacements: list[Array]

    def shape(self, frame: int) -> Floats:
        """Where all points (p, 3) are in a frame."""
        index = frame - self.scene.first
        return self.scene.shape(index, self.displacements[index])


def read(path: str | os.PathLike[str]) -> FinalMotion:
    """The final motion in a file; what stands in it after the first damage counts as not there.

    Raises ValueError with one sentence for a file that is missing or holds no final motion that can be shown.
    """
    place = Path(path)
    kept: list[bytes] = []
    last = None
    try:
        with place.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC or not file.readline(LONGEST_LINE).endswith(b"\n"):
                raise ValueError(f"{place} is no final motion of Jounce")
            for record in records(file, os.fstat(file.fileno()).st_size):
                if record.kind == FRAME and record.number == len(kept):
                    kept.append(record.contents)
                elif record.kind == SCENE:
                    last = record.contents
    except OSError as error:
        raise ValueError(f"{place} cannot be read ({error.strerror})") from error
    if last is None:
        raise ValueError(
            f"{place} has no meshes to show; simulate the body to its last frame, with this version"
        )
    motion = None if (scene := scene_in(last)) is None else shown(place, scene, kept)
    if motion is None:
        raise ValueError(f"{place} is damaged; simulate the body again")
    return motion


def shown(path: Path, scene: Scene, kept: list[bytes]) -> FinalMotion | None:
    """The frames that a scene shows, None where they are not what it is for."""
    count = len(scene.poses)
    frames = range(max(scene.own[0], scene.first), min(scene.own[1], scene.first + count))
    arrays = [numbers(contents, scene.offsets.shape[1]) for contents in kept[:count]]
    there = [array for array in arrays if array is not None]
    return FinalMotion(path, scene, frames, there) if frames and len(there) == count else None


def numbers(contents: bytes, vertices: int) -> Array | None:
    """The displacements (n, 3) in the record of a frame, None where there are others."""
    data = contents[DIGEST_BYTES:]
    if len(data) != 12 * vertices:
        return None
    array = np.frombuffer(data, "<f4").reshape(vertices, 3)
    return array if np.isfinite(array).all() else None
