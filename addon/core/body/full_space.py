"""The motion of every vertex of a body's cage, approximated by modes in a draft."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Union

import jounce
import numpy as np

from ..common.task import Step, finished
from ..common.user_error import UserError, passing_on
from ..flesh.laws import curves
from ..flesh.settings import Flesh, Target
from ..stepping.motion import DENSITY, FrameInput
from . import loose
from .attached import AttachedBody
from .built_bodies import BodyCache
from .loose import LooseBody
from .muscles import Muscles
from .pinned import PinnedBody

# Most tets of a final motion that nobody asked for: about two seconds a frame and 400 megabytes.
LARGEST = 100_000
# Most tets of a draft of every vertex, which has to be live: twice those of *Add Jounce*.
LARGEST_LIVE = 24_000


@dataclass(frozen=True)
class FineBody:
    """A body in the full space, or in the learnt basis: the map from coefficients to displacements.

    embedding: of the surface.
    """

    model: "jounce.Model"
    embedding: "jounce.Embedding"


@dataclass(frozen=True, eq=False)
class DraftError:
    """Error of a draft or a learnt motion against the final motion, root mean square over frames.

    share: over all points, relative to the size of the final motion. apart: (p,) per point, metres.
    """

    share: float
    apart: np.ndarray


# A body in one kind of coordinates, which defines the meaning of the coefficients.
Coordinates = Union["jounce.Body", LooseBody, AttachedBody, PinnedBody, FineBody]


@dataclass(frozen=True, eq=False)
class Pointwise:
    """Displacements of the surface's own points as coefficients, such as those of a directed motion.

    behind: coefficients of the cage below them, and their owner; None without them.
    """

    behind: tuple[np.ndarray, Coordinates] | None = None


Shaper = Coordinates | Pointwise

CACHE: "BodyCache[FineBody]" = BodyCache(capacity=16)


def shaped(shaper: Shaper, coefficients: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The displacements (p, 3) f32 of the surface from the rigged place, in the coefficients' unit."""
    if isinstance(shaper, Pointwise):
        out = np.empty(coefficients.shape, np.float32) if out is None else out
        out[:] = coefficients
        return out
    numbers = np.asarray(coefficients, np.float64)
    if isinstance(shaper, AttachedBody | PinnedBody):
        return shaper.displacement(numbers, out)
    return shaper.model.displacement(numbers, shaper.embedding, out)


def why_draft(target: Target, tets: int) -> str:
    """The reason why a body has no final motion unless asked for; empty if it has one."""
    if target is Target.SKINNING_NODES:
        return "Skinning Nodes play modes alone"
    if tets > LARGEST:
        return f"{tets:,} tets would take seconds a frame; lower Resolution, or choose Final and wait"
    return ""


def prepared(
    body: "jounce.Body | LooseBody", digest: str, flesh: Flesh, muscles: Muscles | None
) -> Generator[Step, None, FineBody]:
    """A body in the full space: the same cage, rig, maps and stitches, with its flesh and muscles. A loose
    body keeps its only material.

    digest: of the inputs.
    """
    key = f"{digest} {flesh.key}" + ("" if muscles is None else f" {muscles.digest}")
    known = CACHE.get(key)
    if known is None:
        with passing_on("The body has no full space"):
            if isinstance(body, LooseBody):
                job = jounce.FullSpaceJob(body.mesh, loose.flesh())
            else:
                fibres = None if muscles is None else muscles.fibres(body)
                job = jounce.FullSpaceJob(body, material(body, flesh), fibres)
            model = yield from finished(job, "Preparing")
        known = FineBody(model, body.embedding)
        CACHE.put(key, known)
    return known


def material(body: "jounce.Body", flesh: Flesh) -> "jounce.Material":
    """Native material of a body with an elastic law."""
    young = body.material.young
    if flesh.has_curves:
        return jounce.Material(young, density=DENSITY, law="spline", curves=curves(flesh))
    return jounce.Material(young, flesh.poisson, DENSITY, flesh.law.value)


def refuse_drive(drive: FrameInput, name: str) -> None:
    """Refuses forces that the learnt basis does not include. name: body name."""
    if drive.offsets is not None:
        raise UserError(
            f"{name}: flesh learns only with a rig of linear skinning; remove what else shapes the mesh "
            "(volume preservation, shape keys, lattices), or choose Final."
        )


def compared(
    draft: Iterable[np.ndarray],
    body: Coordinates,
    final: Iterable[np.ndarray],
    full: FineBody,
    poses: Iterable[np.ndarray] = (),
) -> Generator[Step, None, DraftError]:
    """Compares a draft or learnt motion with the final motion: coefficients of the same frames.

    Loose bodies part after an impact, and their shapes are compared, turned and shifted onto each other.
    poses: of the object in these frames, for a loose body alone.
    """
    points = np.asarray(body.embedding.points, np.float64)
    apart, size = np.zeros(len(points)), 0.0
    pairs = list(zip(draft, final, strict=True))
    places = list(poses)
    for index, (near, right) in enumerate(pairs):
        truth, found = (shaped(*each).astype(np.float64) for each in ((full, right), (body, near)))
        rest = np.zeros(3)
        if isinstance(body, LooseBody):
            posed = points @ places[index][0, :, :3].T + places[index][0, :, 3]
            truth, found = posed + truth, posed + found
            found, rest = onto(found, truth), onto(points, truth)
        apart += ((found - truth) ** 2).sum(axis=1)
        size += float(((truth - rest) ** 2).sum())
        yield Step(index / len(pairs), "Comparing with the final motion")
    share = float(np.sqrt(apart.sum() / size)) if size > 0.0 else 0.0
    return DraftError(share, np.sqrt(apart / max(1, len(pairs))))


def onto(shape: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A shape (p, 3), turned and shifted onto another."""
    center, goal = shape.mean(axis=0), other.mean(axis=0)
    left, _, right = np.linalg.svd((shape - center).T @ (other - goal))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return (shape - center) @ (left @ flip @ right) + goal
