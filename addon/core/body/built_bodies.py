"""Built bodies, made by the native module and kept in memory while Blender runs."""

import re
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Generic, TypeVar, Union

import jounce
import numpy as np

from ..common.task import Step, Task, finished
from ..common.user_error import UserError, passing_on
from ..flesh.settings import AttachedSettings, BuildSettings, LooseSettings, PinnedSettings
from ..mesh.surface import Surface
from ..stepping.motion import DENSITY, YOUNG
from . import attached, loose, pinned, sensible

Kept = TypeVar("Kept")

# Refusals of the native module, and their texts with the panels' names: {0} is the body's name.
IN_PANELS = {
    r"core amount: expected one that leaves flesh": (
        "Nothing of {0} is left as flesh, as all of it is hard, thin or close to its bones; lower Bone Core "
        "in the panel Bones, where 0 is none, or give its bones the Role Flesh or Free."
    ),
    r"(\d+) modes asked for, .* only (\d+)": (
        "{0} has room for {2} of its {1} Modes; lower Modes or raise Resolution in the panel Body."
    ),
}


class BodyCache(Generic[Kept]):
    """The bodies built last, by the digest of their inputs.

    A key of contents survives renaming, copying and undo, and never becomes stale.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bodies: OrderedDict[str, Kept] = OrderedDict()

    def get(self, digest: str) -> Kept | None:
        """The kept result for this digest, or None."""
        if digest in self._bodies:
            self._bodies.move_to_end(digest)
        return self._bodies.get(digest)

    def put(self, digest: str, body: Kept) -> None:
        """Keeps a result, and drops the least recently used above the capacity."""
        self._bodies[digest] = body
        self._bodies.move_to_end(digest)
        while len(self._bodies) > self._capacity:
            self._bodies.popitem(last=False)

    def __contains__(self, digest: str) -> bool:
        """True if the digest is kept; does not count as a use."""
        return digest in self._bodies

    def clear(self) -> None:
        """Forgets all bodies."""
        self._bodies.clear()


# Each body of a rig is kept twice: for use, and as the start for other bodies of the same surface.
Built = Union["jounce.Body", loose.LooseBody, attached.AttachedBody, pinned.PinnedBody]
CACHE: BodyCache[Built] = BodyCache(capacity=16)


def build(
    surface: Surface, settings: BuildSettings | LooseSettings | AttachedSettings | PinnedSettings
) -> Task:
    """Builds the body of a surface on a thread of the native module and puts the body into the cache."""
    surface.refuse_unusable()
    start = time.perf_counter()
    with in_panels(surface), passing_on("The body cannot be built"):
        if isinstance(settings, LooseSettings):
            said = yield from build_loose(surface, settings)
        elif isinstance(settings, AttachedSettings):
            said = yield from build_attached(surface, settings)
        elif isinstance(settings, PinnedSettings):
            said = yield from build_pinned(surface, settings)
        else:
            said = yield from build_rigged(surface, settings)
    return f"{said}, in {time.perf_counter() - start:.1f} s"


@contextmanager
def in_panels(surface: Surface) -> Iterator[None]:
    """Raises refusals about settings with the names of the panels."""
    try:
        yield
    except UserError as refusal:
        name = surface.parts[0].name
        for pattern, sentence in IN_PANELS.items():
            if found := re.search(pattern, str(refusal)):
                raise UserError(sentence.format(name, *found.groups())) from refusal
        raise


def build_loose(surface: Surface, settings: LooseSettings) -> Task:
    """Builds a body without a rig."""
    body = yield from loose.made(surface, settings)
    CACHE.put(surface.digest(settings), body)
    return loose.describe(body)


def build_attached(surface: Surface, settings: AttachedSettings) -> Task:
    """Builds a surface that hangs on a rig."""
    body = yield from attached.made(surface, settings)
    CACHE.put(surface.digest(settings), body)
    return attached.describe(body)


def build_pinned(surface: Surface, settings: PinnedSettings) -> Task:
    """Builds a body that is fixed at its root."""
    body = yield from pinned.made(surface, settings)
    CACHE.put(surface.digest(settings), body)
    return pinned.describe(body)


def build_rigged(surface: Surface, settings: BuildSettings) -> Task:
    """Builds a body that follows a rig.

    A body of the same surface in memory provides everything that maps, stitches and settings leave unchanged.
    A strength map changes the model alone; a leak or pin map changes the modes too. Other stitches or another
    stiffness update the modes, or recompute them if the update is not accurate enough.
    """
    ground = surface.ground_digest(settings)
    like = CACHE.get(ground)
    like = like if isinstance(like, jounce.Body) else None
    body = yield from finished(job(surface, settings, like), "Building")
    CACHE.put(ground, body)
    CACHE.put(surface.digest(settings), body)
    return describe(body, len(surface.stitches))


def sketch(surface: Surface, settings: BuildSettings, modes: int = 1) -> Generator[Step, None, "jounce.Body"]:
    """A body with few modes and without cubature, in a tenth of the time; in the full space it is the same.

    Not kept, except as the start for other bodies of a new surface.
    """
    surface.refuse_unusable()
    ground = surface.ground_digest(settings)
    like = CACHE.get(ground)
    with in_panels(surface), passing_on("The body cannot be built"):
        few = replace(settings, modes=min(modes, settings.modes), cubature=0)
        body = yield from finished(
            job(surface, few, like if isinstance(like, jounce.Body) else None), "Building"
        )
    if like is None:
        CACHE.put(ground, body)
    return body


def job(surface: Surface, settings: BuildSettings, like: "jounce.Body | None") -> "jounce.BodyJob":
    """Native job from a surface to a body, with the reusable parts of another body of the surface.

    On a core, modes contain the motion that each bone makes, for small soft parts to move in drafts too.
    """
    maps, core = surface.maps, surface.core
    return jounce.BodyJob(
        surface.points,
        surface.triangles,
        surface.weights,
        resolution=settings.resolution,
        modes=settings.modes,
        locality=settings.locality,
        driven=core is not None,
        clusters=settings.clusters,
        cubature=settings.cubature,
        young=YOUNG if maps.stiffness is None else YOUNG * maps.stiffness,
        density=DENSITY,
        law=settings.law,
        poisson=settings.poisson,
        leak=maps.leak,
        pinned=maps.pinned,
        # The core is the same at all resolutions.
        core=None if core is None else core.native(sensible.resolution(surface)),
        strength=maps.strength,
        bone_parents=surface.bone_parents,
        merge_into=surface.merge_into,
        shapes=surface.shapes,
        # Stitches and stiffness maps are usually edited again, which makes the factor worth the memory. Parts
        # get modes of their own instead, so that their motion does not depend on earlier settings.
        editable=len(surface.stitches) > 0 or (maps.stiffness is not None and not surface.keeps_stiffness),
        stitches=surface.stitches.pairs,
        stitch_stiffness=surface.stitches.newtons(YOUNG, surface.diagonal),
        stitch_gap=surface.stitches.gap,
        stitch_group=surface.stitches.group,
        stitch_radius=surface.stitches.radius * surface.diagonal,
        stitch_known=surface.stitches.known,
        like=like,
    )


def held_skin(body: object, surface: Surface) -> str:
    """Sentence about a body without a visible vertex in flesh, with the remedies; empty for others."""
    if not isinstance(body, jounce.Body) or not body.pinned[body.mesh.tets[body.embedding.tets]].all():
        return ""
    by_core = ("hard, thin or close to its bones", "lower Bone Core in the panel Bones")
    by_pins = ("pinned", "take some of it out of the map Pin")
    found = [by_core] * (surface.core is not None) + [by_pins] * (surface.maps.pinned is not None)
    causes, remedies = (" or ".join(said) for said in zip(*found, strict=True))
    name = surface.parts[0].name
    return f"All of the skin of {name} is {causes}, so none of it moves as flesh; {remedies}."


def describe(body: "jounce.Body", stitches: int) -> str:
    """One line about the built body."""
    tets, modes, bones = len(body.mesh.tets), body.model.mode_count, body.model.bone_count
    counting = int((body.merged == np.arange(bones)).sum())
    sewn = f", {stitches} stitches" if stitches else ""
    quality = f", modes within about {body.residual:.2%}" if body.residual else ""
    return f"{tets} tets, {modes} modes, {counting} of {bones} bones count{sewn}{quality}"
