"""What a body has learnt of its final motion: a few displacements, and the tets that stand for all.

It is kept with the character and may come from another file: nothing of it is trusted before it is checked.
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

from .bodies import BodyCache
from .full_space import FineBody, material
from .learning import Shot, length
from .motion import FrameInput, plain
from .settings import Flesh, Law
from .user_error import passing_on

FORMAT = b"jounce learnt 1\n"
DIGEST_BYTES = 16
# What is there as arrays: their types, and their shapes in vertices n, bones b, displacements r, tets c,
# frames f, points of the surface p, and tets l and vertices v at which limits are felt.
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
# Of these there may be none, and earlier lessons do not know of them.
OPTIONAL = "lv"
INDICES = "tets", "limit_tets", "limit_vertices"
WEIGHTS = "weights", "limit_tet_weights", "limit_vertex_weights"
# Cages are the same whose vertices are so near to each other, as a share of the diagonal, and whose moments.
NEAR, SAME_MOMENTS = 1e-4, 1e-6
# Share of the vertices that may follow the bones otherwise: as many as rounding makes.
FLIPPED = 5e-3
# Poses are unlike whose points are further apart than this share of the diagonal, root mean square.
UNLIKE = 0.05
# What is below is no stiffness and no frequency.
LEAST = 1e-12
# So many points say what a pose is.
POINTS = 96


@dataclass(frozen=True, eq=False)
class Cage:
    """What of a body displacements belong to.

    rest: (n, 3) f32, metres. moments: (b, 4), of each bone's weights, free of size. pinned: (n,), what
    follows the bones.
    """

    rest: np.ndarray
    moments: np.ndarray
    pinned: np.ndarray

    def difference(self, other: "Cage") -> str:
        """What of two bodies is not the same, in words; empty where both may move in the same way."""
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
    """A shot that was learnt: what played, and how many of its frames were kept."""

    name: str
    frames: int


@dataclass(frozen=True)
class Facts:
    """What is told of a lesson.

    clips: all that was learnt, the last one last. law, poisson, hardening, curve, stiffness: of the flesh
    that was seen; of a curve its digest.
    frequency: Hz, at which its damping ratio is meant. origin: hash of all that the final motion of the last
    shot depended on beside the drives. limited: whether it had limits. error, draft_error, held_out: how far
    from it are what was learnt, the draft, and frames that were not seen in a lesson; shares of how far the
    final flesh moves. knows_limits: whether it knows where limits are felt. loads: hash of the
    forces of the last shot, empty without. left_out: the share of all shots
    that lies outside of the displacements.
    """

    clips: tuple[Clip, ...]
    law: str
    poisson: float
    stiffness: float
    frequency: float
    origin: str
    limited: bool
    hardening: float = 0.0
    curve: str = ""
    knows_limits: bool = False
    loads: str = ""
    left_out: float = 0.0
    error: float = 0.0
    draft_error: float = 0.0
    held_out: float | None = None


@dataclass(frozen=True, eq=False)
class Learnt:
    """Displacements (r, n, 3) f32, metres a unit, and the rest that `ARRAYS` says.

    tets, weights: of the cubature. poses, coefficients: the frames that it was learnt from. apart: how far it
    is from the final motion at each point of the surface, root mean square over the last shot, metres.
    limit_...: where limits are felt, and how many each stands for.
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
        """What of a body is not as of the one that learnt this, in words; empty where it may move in it."""
        tets, vertices = np.append(self.tets, self.limit_tets), np.append(self.limit_vertices, 0)
        fits = tets.max() < len(body.mesh.tets) and vertices.max() < len(body.mesh.vertices)
        fits = fits and len(self.apart) == len(body.embedding.points)
        return self.cage.difference(cage_of(body)) or ("" if fits else "mesh")

    @property
    def limits(self) -> "jounce.LimitSamples | None":
        """Where limits are felt; None where it does not know."""
        if not self.facts.knows_limits:
            return None
        tets = self.limit_tets, self.limit_tet_weights
        return jounce.LimitSamples(*tets, self.limit_vertices, self.limit_vertex_weights)

    @cached_property
    def digest(self) -> str:
        """Hash of all of it."""
        return self.pack()[len(FORMAT) :][:DIGEST_BYTES].hex()

    def snapshots(self) -> np.ndarray:
        """The displacements (f, n, 3) f64 that it was learnt from, as far as it holds them."""
        return np.tensordot(self.coefficients.astype(np.float64), self.shapes.astype(np.float64), axes=1)

    def left_out_by(self, count: int) -> float:
        """The share of all shots that lies outside of the first so many displacements."""
        # In the norm of the mass displacements are orthonormal.
        squares = (self.coefficients.astype(np.float64) ** 2).sum(axis=0)
        held = (1.0 - self.facts.left_out**2) * squares[:count].sum() / squares.sum()
        return math.sqrt(max(0.0, 1.0 - held))

    def shots(self) -> list[tuple[str, Shot]]:
        """The shots that it was learnt from, by their names, as far as it holds them."""
        everything, found, start = Shot(self.poses.astype(np.float64), self.snapshots()), [], 0
        for clip in self.facts.clips:
            found.append((clip.name, everything.at(np.arange(start, start + clip.frames))))
            start += clip.frames
        return found

    def told(self, apart: np.ndarray, error: float, draft_error: float, held_out: float | None) -> "Learnt":
        """The same with how near it comes to the final motion of the last shot."""
        facts = replace(self.facts, error=error, draft_error=draft_error, held_out=held_out)
        return replace(self, apart=apart.astype(np.float32), facts=facts)

    def pack(self) -> bytes:
        """All of it as bytes, after their hash."""
        arrays = {name: getattr(self.cage if hasattr(self.cage, name) else self, name) for name in ARRAYS}
        sizes, data = packed(ARRAYS, arrays)
        header = json.dumps({"sizes": sizes, "facts": asdict(self.facts)}).encode()
        contents = header + b"\n" + data
        return FORMAT + hashed(contents) + contents


def of_model(body: "jounce.Body", model: "jounce.Model", shot: Shot, facts: Facts) -> Learnt:
    """What is kept of a model that a body has learnt from a shot."""
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
        facts=replace(facts, knows_limits=True),
    )
    mass = body.mesh.vertex_volumes
    left = length(mass, shot.displacements - learnt.snapshots()) / length(mass, shot.displacements)
    return replace(learnt, facts=replace(learnt.facts, left_out=left))


def loads_of(drives: Iterable[FrameInput]) -> str:
    """Hash of what pushes, slows down and contracts vertices in some frames; empty where nothing does."""
    drives = list(drives)
    given = [drive.vertices for drive in drives if drive.vertices is not None]
    loads = [part for each in given for load in (each.force, each.drag) for part in plain(load)]
    arrays = [part for part in loads if isinstance(part, np.ndarray)]
    arrays += [np.array(drive.contraction) for drive in drives if drive.contraction is not None]
    return hashed(b"".join(array.tobytes() for array in arrays)).hex() if arrays else ""


def hashed(contents: bytes) -> bytes:
    """Bytes by which what was kept is known to be whole."""
    return hashlib.blake2b(contents, digest_size=DIGEST_BYTES).digest()


def unpack(data: bytes) -> Learnt | None:
    """What these bytes hold, None where that is nothing that can be used."""
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
    """Facts as they were written; what is none of them is refused."""

    def number(name: str, least: float = 0.0) -> float:
        value = float(known[name])
        if not least <= value < math.inf:
            raise ValueError(f"{name} is no such number")
        return value

    return Facts(
        clips=tuple(Clip(str(clip["name"]), counted(clip["frames"])) for clip in known["clips"]),
        law=Law(known["law"]).value,
        poisson=number("poisson"),
        hardening=number("hardening") if "hardening" in known else 0.0,
        curve=str(known.get("curve", "")),
        stiffness=number("stiffness", LEAST),
        frequency=number("frequency", LEAST),
        origin=str(known["origin"]),
        limited=bool(known["limited"]),
        knows_limits=bool(known.get("knows_limits", False)),
        loads=str(known.get("loads", "")),
        left_out=number("left_out"),
        error=number("error"),
        draft_error=number("draft_error"),
        held_out=None if known["held_out"] is None else number("held_out"),
    )


def is_sound(arrays: dict[str, np.ndarray]) -> bool:
    """Whether all numbers are such as there can be."""
    numbers = [array for array in arrays.values() if array.dtype.kind == "f"]
    return (
        all(np.isfinite(array).all() for array in numbers)
        and all((arrays[name] > 0.0).all() for name in WEIGHTS)
        and all((arrays[name] >= 0).all() for name in INDICES)
    )


CACHE: "BodyCache[FineBody]" = BodyCache(capacity=4)


def prepared(body: "jounce.Body", digest: str, known: Learnt, flesh: Flesh) -> FineBody:
    """A body that moves in what it has learnt, of some flesh. digest: of what it was built from."""
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
    """Which poses (f, b, 3, 4) are unlike all that were learnt, (f,) bool, wherever they stand."""
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
