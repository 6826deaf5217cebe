"""File format of the final motion of a body, readable without the program that simulated it.

The first line lists the dependencies of the motion. Each frame record holds the displacements of the cage's
vertices. The last record is a `Scene`: the meshes embedded in the cage, and the poses of the rig.
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
# Kinds of records: a frame, a state to resume from, the scene, and the mark of an unconverged frame.
FRAME, STATE, SCENE, ROUGH = b"F", b"S", b"M", b"R"
# A frame record starts with a digest of the frame's simulation input.
DIGEST_BYTES = 16
# Longest first line of a Jounce file.
LONGEST_LINE = 1 << 20
# Largest frame number.
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
    """The concatenated meshes of a body with rig poses and embedding, in world space, metres and seconds.

    body: body name. parts: name and number of points of each mesh. first: frame of the first pose. own: the
    first frame to show and the end of the range. seconds: duration of a frame. points: (p, 3), at rest.
    triangles: (q, 3). bones, weights: (p, k), skinning of the points. corners, shares: (p, 4), cage vertices
    around each point, and barycentric weights. poses: (f, b, 3, 4). offsets: (f, n, 3), difference of the rig
    from linear skinning at the vertices of the cage; (1, n, 3) for a constant one.
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
        """The scene as bytes."""
        sizes, data = packed(ARRAYS, {name: getattr(self, name) for name in ARRAYS})
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ARRAYS}
        return json.dumps({"sizes": sizes, **plain}).encode() + b"\n" + data

    def shape(self, index: int, displacements: Array) -> Floats:
        """Positions (p, 3) of all points in the frame of a pose. displacements: (n, 3), of the cage."""
        homogeneous = np.column_stack((self.points, np.ones(len(self.points))))
        moved = np.zeros_like(self.points)
        for bones, weights in zip(self.bones.T, self.weights.T, strict=True):
            moved += weights[:, None] * np.einsum("pij,pj->pi", self.poses[index, bones], homogeneous)
        added = displacements + self.offsets[min(index, len(self.offsets) - 1)]
        return np.asarray(moved + np.einsum("pc,pcj->pj", self.shares, added[self.corners]))


def scene_in(data: bytes) -> Scene | None:
    """The scene in these bytes; None for anything but a valid scene."""
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
    """True if all values are finite, in range and consistent with each other."""
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
    """A motion read from a file. frames: the frames to show. displacements: (n, 3) f32 for each pose."""

    path: Path
    scene: Scene
    frames: range
    displacements: list[Array]

    def shape(self, frame: int) -> Floats:
        """Positions (p, 3) of all points in a frame."""
        index = frame - self.scene.first
        return self.scene.shape(index, self.displacements[index])


def read(path: str | os.PathLike[str]) -> FinalMotion:
    """Reads the final motion in a file, up to the first damaged record.

    Raises ValueError with one sentence for a missing file and for a file without a complete final motion.
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
    """The motion of a scene and its frame records; None if the frames do not fit the scene."""
    count = len(scene.poses)
    frames = range(max(scene.own[0], scene.first), min(scene.own[1], scene.first + count))
    arrays = [numbers(contents, scene.offsets.shape[1]) for contents in kept[:count]]
    there = [array for array in arrays if array is not None]
    return FinalMotion(path, scene, frames, there) if frames and len(there) == count else None


def numbers(contents: bytes, vertices: int) -> Array | None:
    """The displacements (n, 3) in the record of a frame; None for another size or non-finite values."""
    data = contents[DIGEST_BYTES:]
    if len(data) != 12 * vertices:
        return None
    array = np.frombuffer(data, "<f4").reshape(vertices, 3)
    return array if np.isfinite(array).all() else None
