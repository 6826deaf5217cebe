"""The learnt basis of a body: a few displacements of the final motion, and cubature tets.

The basis is stored with the character and may come from another file. All contents are checked before use.
"""

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import jounce
import numpy as np
from jounce.named_arrays import counted, packed, unpacked

from ..body.built_bodies import BodyCache
from ..body.full_space import FineBody, material
from ..common.user_error import passing_on
from ..flesh.settings import Flesh, Law
from ..stepping.motion import FrameInput, plain
from .learning import Shot, length

FORMAT = b"jounce learnt 1\n"
DIGEST_BYTES = 16
# Stored arrays: types, and shapes in vertices n, bones b, displacements r, tets c, frames f, points of the
# surface p, and tets l and vertices v of the limit samples.
ARRAYS = {
    "rest": ("<f4", "n3"),
    "moments": ("<f8", "b4"),
    "pinned": ("|u1", "n"),
    "shapes": ("<f4", "rn3"),
    "tets": ("<i4", "c"),
    "weights": ("<f8", "c"),
    "poses": ("<f4", "fb34"),
    "coefficients": ("<f4", "fr"),
    "apart": ("<f4", "p"),
    "limit_tets": ("<i4", "l"),
    "limit_tet_weights": ("<f8", "l"),
    "limit_vertices": ("<i4", "v"),
    "limit_vertex_weights": ("<f8", "v"),
}
# Dimensions that may be zero.
OPTIONAL = "lv"
INDICES = "tets", "limit_tets", "limit_vertices"
WEIGHTS = "weights", "limit_tet_weights", "limit_vertex_weights"
# Tolerances for equal cages: of the vertices as a share of the diagonal, and of the moments.
NEAR, SAME_MOMENTS = 1e-4, 1e-6
# Share of the vertices that may follow other bones, against rounding.
FLIPPED = 5e-3
# Distance of the points of unlike poses, as a share of the diagonal, root mean square.
UNLIKE = 0.05
# Smallest stiffness and frequency.
LEAST = 1e-12
# Number of points for comparing poses.
POINTS = 96


@dataclass(frozen=True, eq=False)
class Cage:
    """The geometry that displacements belong to.

    rest: (n, 3) f32, metres. moments: (b, 4), of each bone's weights, independent of size. pinned: (n,),
    vertices that follow the bones.
    """

    rest: np.ndarray
    moments: np.ndarray
    pinned: np.ndarray

    def difference(self, other: "Cage") -> str:
        """The difference of two bodies in words; empty if a basis fits both."""
        if self.rest.shape != other.rest.shape:
            return "mesh or resolution"
        size = float(np.linalg.norm(np.ptp(self.rest, axis=0)))
        if np.abs(self.rest - other.rest).max() > NEAR * size:
            return "mesh or place at rest"
        if self.moments.shape != other.moments.shape:
            return "bones"
        if np.abs(self.moments - other.moments).max() > SAME_MOMENTS:
            return "bone weights"
        if (self.pinned != other.pinned).mean() > FLIPPED:
            return "bone core or pins"
        return ""


def cage_of(body: "jounce.Body") -> Cage:
    """The cage of a built body."""
    rest = np.asarray(body.mesh.vertices)
    places = (rest - rest.mean(axis=0)) / np.linalg.norm(np.ptp(rest, axis=0))
    homogeneous = np.concatenate([np.ones((len(rest), 1)), places], axis=1)
    moments = np.asarray(body.rig.weights).T @ homogeneous / len(rest)
    return Cage(rest.astype(np.float32), moments, np.asarray(body.pinned, bool))


@dataclass(frozen=True)
class Clip:
    """A learnt shot: the played actions, and the number of kept frames."""

    name: str
    frames: int


@dataclass(frozen=True)
class Facts:
    """Description of a learnt basis.

    clips: all learnt shots, the newest last. law, poisson, hardening, curve, stiffness: of the flesh in the
    shots; curve is a digest. frequency: Hz, for the damping ratio. origin: hash of all inputs of the last
    shot's final motion except the drives. collided: True if the flesh collided in any shot. error,
    draft_error, held_out: errors of the learnt motion, of the draft, and in held-out frames, as shares of the
    size of the final motion. loads: hash of forces and colliders in the last shot, empty without. left_out:
    share of all shots outside of the displacements.
    """

    clips: tuple[Clip, ...]
    law: str
    poisson: float
    stiffness: float
    frequency: float
    origin: str
    collided: bool
    hardening: float = 0.0
    curve: str = ""
    loads: str = ""
    left_out: float = 0.0
    error: float = 0.0
    draft_error: float = 0.0
    held_out: float | None = None


@dataclass(frozen=True, eq=False)
class Learnt:
    """Displacements (r, n, 3) f32, metres per unit, and the arrays in `ARRAYS`.

    tets, weights: of the cubature. poses, coefficients: the learnt frames. apart: distance from the final
    motion at each point of the surface, root mean square over the last shot, metres. limit_...: limit samples
    and their weights.
    """

    cage: Cage
    shapes: np.ndarray
    tets: np.ndarray
    weights: np.ndarray
    poses: np.ndarray
    coefficients: np.ndarray
    apart: np.ndarray
    limit_tets: np.ndarray
    limit_tet_weights: np.ndarray
    limit_vertices: np.ndarray
    limit_vertex_weights: np.ndarray
    facts: Facts

    def difference(self, body: "jounce.Body") -> str:
        """Differences from the body of this basis, in words; empty if the basis fits."""
        tets, vertices = np.append(self.tets, self.limit_tets), np.append(self.limit_vertices, 0)
        fits = tets.max() < len(body.mesh.tets) and vertices.max() < len(body.mesh.vertices)
        fits = fits and len(self.apart) == len(body.embedding.points)
        return self.cage.difference(cage_of(body)) or ("" if fits else "mesh")

    @property
    def limits(self) -> "jounce.LimitSamples":
        """Limit samples."""
        tets = self.limit_tets, self.limit_tet_weights
        return jounce.LimitSamples(*tets, self.limit_vertices, self.limit_vertex_weights)

    @cached_property
    def digest(self) -> str:
        """Hash of the contents."""
        return self.pack()[len(FORMAT) :][:DIGEST_BYTES].hex()

    def snapshots(self) -> np.ndarray:
        """The learnt displacements (f, n, 3) f64, as far as the basis spans them."""
        return np.tensordot(self.coefficients.astype(np.float64), self.shapes.astype(np.float64), axes=1)

    def left_out_by(self, count: int) -> float:
        """The share of all shots outside of the first displacements of this number."""
        # In the norm of the mass displacements are orthonormal.
        squares = (self.coefficients.astype(np.float64) ** 2).sum(axis=0)
        held = (1.0 - self.facts.left_out**2) * squares[:count].sum() / squares.sum()
        return math.sqrt(max(0.0, 1.0 - held))

    def shots(self) -> list[tuple[str, Shot]]:
        """The learnt shots by name, as far as the basis spans them."""
        everything, found, start = Shot(self.poses.astype(np.float64), self.snapshots()), [], 0
        for clip in self.facts.clips:
            found.append((clip.name, everything.at(np.arange(start, start + clip.frames))))
            start += clip.frames
        return found

    def told(self, apart: np.ndarray, error: float, draft_error: float, held_out: float | None) -> "Learnt":
        """The basis with measured errors against the final motion of the last shot."""
        facts = replace(self.facts, error=error, draft_error=draft_error, held_out=held_out)
        return replace(self, apart=apart.astype(np.float32), facts=facts)

    def pack(self) -> bytes:
        """All contents as bytes, after their hash."""
        arrays = {name: getattr(self.cage if hasattr(self.cage, name) else self, name) for name in ARRAYS}
        sizes, data = packed(ARRAYS, arrays)
        header = json.dumps({"sizes": sizes, "facts": asdict(self.facts)}).encode()
        contents = header + b"\n" + data
        return FORMAT + hashed(contents) + contents


def of_model(body: "jounce.Body", model: "jounce.Model", shot: Shot, facts: Facts) -> Learnt:
    """The learnt basis from a model and the shot."""
    basis, cubature, limits = model.basis, model.cubature, model.limit_samples
    if basis is None or cubature is None or limits is None:
        raise TypeError("a model that was learnt has displacements, tets and limits")
    learnt = Learnt(
        cage=cage_of(body),
        shapes=basis.shapes.astype(np.float32),
        tets=cubature.tets,
        weights=cubature.weights,
        poses=shot.poses.astype(np.float32),
        coefficients=model.nearest(shot.displacements).astype(np.float32),
        apart=np.zeros(len(body.embedding.points), np.float32),
        limit_tets=limits.tets,
        limit_tet_weights=limits.tet_weights,
        limit_vertices=limits.vertices,
        limit_vertex_weights=limits.vertex_weights,
        facts=facts,
    )
    mass = body.mesh.vertex_volumes
    left = length(mass, shot.displacements - learnt.snapshots()) / length(mass, shot.displacements)
    return replace(learnt, facts=replace(learnt.facts, left_out=left))


def loads_of(drives: Iterable[FrameInput]) -> str:
    """Hash of forces, resistance, contraction and places of colliders in some frames; empty without any."""
    drives = list(drives)
    given = [drive.vertices for drive in drives if drive.vertices is not None]
    loads = [part for each in given for load in (each.force, each.drag) for part in plain(load)]
    arrays = [part for part in loads if isinstance(part, np.ndarray)]
    arrays += [np.array(drive.contraction) for drive in drives if drive.contraction is not None]
    arrays += [drive.colliders for drive in drives if drive.colliders is not None]
    return hashed(b"".join(array.tobytes() for array in arrays)).hex() if arrays else ""


def hashed(contents: bytes) -> bytes:
    """Check bytes for complete contents."""
    return hashlib.blake2b(contents, digest_size=DIGEST_BYTES).digest()


def unpack(data: bytes) -> Learnt | None:
    """The basis in these bytes, None for unusable ones."""
    start = len(FORMAT) + DIGEST_BYTES
    if not data.startswith(FORMAT) or hashed(data[start:]) != data[len(FORMAT) : start]:
        return None
    line, _, body = data[start:].partition(b"\n")
    try:
        header = json.loads(line)
        arrays, facts = unpacked(ARRAYS, header["sizes"], body, OPTIONAL), facts_in(header["facts"])
        if sum(clip.frames for clip in facts.clips) != len(arrays["poses"]):
            raise ValueError("other frames than those of the clips")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not is_sound(arrays):
        return None
    cage = Cage(arrays.pop("rest"), arrays.pop("moments"), arrays.pop("pinned").astype(bool))
    return Learnt(cage=cage, facts=facts, **arrays)


def facts_in(known: dict[str, Any]) -> Facts:
    """Facts from their stored form; refuses invalid ones."""

    def number(name: str, least: float = 0.0) -> float:
        value = float(known[name])
        if not least <= value < math.inf:
            raise ValueError(f"{name} is no such number")
        return value

    return Facts(
        clips=tuple(Clip(str(clip["name"]), counted(clip["frames"])) for clip in known["clips"]),
        law=Law(known["law"]).value,
        poisson=number("poisson"),
        hardening=number("hardening"),
        curve=str(known["curve"]),
        stiffness=number("stiffness", LEAST),
        frequency=number("frequency", LEAST),
        origin=str(known["origin"]),
        collided=bool(known["collided"]),
        loads=str(known["loads"]),
        left_out=number("left_out"),
        error=number("error"),
        draft_error=number("draft_error"),
        held_out=None if known["held_out"] is None else number("held_out"),
    )


def is_sound(arrays: dict[str, np.ndarray]) -> bool:
    """True if all numbers are in their valid ranges."""
    numbers = [array for array in arrays.values() if array.dtype.kind == "f"]
    return (
        all(np.isfinite(array).all() for array in numbers)
        and all((arrays[name] > 0.0).all() for name in WEIGHTS)
        and all((arrays[name] >= 0).all() for name in INDICES)
    )


CACHE: "BodyCache[FineBody]" = BodyCache(capacity=4)


def prepared(body: "jounce.Body", digest: str, known: Learnt, flesh: Flesh) -> FineBody:
    """A body in its learnt basis, with flesh. digest: of the inputs."""
    key = f"{digest} {known.digest} {flesh.key}"
    made = CACHE.get(key)
    if made is None:
        with passing_on("What was learnt does not fit the body"):
            basis = jounce.Basis(known.shapes.astype(np.float64))
            cubature = jounce.Cubature(known.tets, known.weights)
            made_of, frequency = material(body, flesh), known.facts.frequency
            model = body.reduced(basis, cubature, made_of, frequency, known.limits)
        made = FineBody(model, body.embedding)
        CACHE.put(key, made)
    return made


def unlike(body: "jounce.Body", known: Learnt, poses: np.ndarray) -> np.ndarray:
    """Poses (f, b, 3, 4) unlike all learnt ones, (f,) bool, independent of the place in the world."""
    rest = np.asarray(body.mesh.vertices)
    rows = np.linspace(0, len(rest) - 1, min(POINTS, len(rest))).round().astype(int)
    weights = np.asarray(body.rig.weights)[rows]
    places = np.concatenate([rest[rows], np.ones((len(rows), 1))], axis=1)

    def outlines(transforms: np.ndarray) -> np.ndarray:
        blended = np.tensordot(transforms.astype(np.float64), weights, axes=(1, 1))
        points = np.einsum("fijp,pj->fpi", blended, places)
        return (points - points.mean(axis=1, keepdims=True)).reshape(len(points), -1)

    learnt, now = outlines(known.poses), outlines(poses)
    squared = (now**2).sum(axis=1)[:, None] + (learnt**2).sum(axis=1) - 2.0 * now @ learnt.T
    size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    return np.sqrt(np.maximum(squared.min(axis=1), 0.0) / len(rows)) > UNLIKE * size
