"""Built bodies, made by the native module and kept in memory while Blender runs."""

import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import jounce
import numpy as np

from . import attached, loose, sensible
from .motion import DENSITY, YOUNG
from .settings import AttachedSettings, BuildSettings, LooseSettings
from .surface import Surface
from .task import Task, finished
from .user_error import UserError, passing_on

Kept = TypeVar("Kept")

# What the native module refuses to build, and the same by the names of the panels: {0} is the body's.
IN_PANELS = {
    r"core amount: expected one that leaves flesh": (
        "Nothing of {0} is left as flesh, as all of it is hard, thin or close to its bones; lower Bone Core "
        "in the panel Body Parts, where 0 is none, or give its bones the Role Flesh or Free."
    ),
    r"(\d+) modes asked for, .* only (\d+)": (
        "{0} has room for {2} of its {1} Modes; lower Modes or raise Resolution in the panel Body."
    ),
}


class BodyCache(Generic[Kept]):
    """What was made last of bodies, by the digest of what it was made from.

    A key of contents rather than of names survives renaming, copying and undo, and cannot go stale.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bodies: OrderedDict[str, Kept] = OrderedDict()

    def get(self, digest: str) -> Kept | None:
        """What was made from this, if it is still kept."""
        if digest in self._bodies:
            self._bodies.move_to_end(digest)
        return self._bodies.get(digest)

    def put(self, digest: str, body: Kept) -> None:
        """Keeps something, and drops what was not asked for longest when it is too much."""
        self._bodies[digest] = body
        self._bodies.move_to_end(digest)
        while len(self._bodies) > self._capacity:
            self._bodies.popitem(last=False)

    def __contains__(self, digest: str) -> bool:
        """Whether it is still kept, without asking for it."""
        return digest in self._bodies

    def clear(self) -> None:
        """Forgets all bodies."""
        self._bodies.clear()


# Each body of a rig is there twice: as it is, and as one that others of the same surface begin with.
CACHE: "BodyCache[jounce.Body | loose.LooseBody | attached.AttachedBody]" = BodyCache(capacity=16)


def build(surface: Surface, settings: BuildSettings | LooseSettings | AttachedSettings) -> Task:
    """Builds the body of a surface on a thread of the native module and puts it into the cache."""
    surface.refuse_unusable()
    start = time.perf_counter()
    with in_panels(surface), passing_on("The body cannot be built"):
        if isinstance(settings, LooseSettings):
            said = yield from build_loose(surface, settings)
        elif isinstance(settings, AttachedSettings):
            said = yield from build_attached(surface, settings)
        else:
            said = yield from build_rigged(surface, settings)
    return f"{said}, in {time.perf_counter() - start:.1f} s"


@contextmanager
def in_panels(surface: Surface) -> Iterator[None]:
    """Refusals that are about settings name them as the panels do."""
    try:
        yield
    except UserError as refusal:
        name = surface.parts[0].name
        for pattern, sentence in IN_PANELS.items():
            if found := re.search(pattern, str(refusal)):
                raise UserError(sentence.format(name, *found.groups())) from refusal
        raise


def build_loose(surface: Surface, settings: LooseSettings) -> Task:
    """Builds a body that nothing moves."""
    body = yield from loose.made(surface, settings)
    CACHE.put(surface.digest(settings), body)
    return loose.describe(body)


def build_attached(surface: Surface, settings: AttachedSettings) -> Task:
    """Builds a surface that hangs on its rig."""
    body = yield from attached.made(surface, settings)
    CACHE.put(surface.digest(settings), body)
    return attached.describe(body)


def build_rigged(surface: Surface, settings: BuildSettings) -> Task:
    """Builds a body that follows its rig.

    From a body of the same surface in memory all is taken that maps, stitches and settings leave as it is: a
    map of strength changes the model alone, one of leak or pins the modes too; with other stitches or another
    stiffness the modes are updated, or found anew if they are then no longer good enough.
    """
    ground = surface.ground_digest(settings)
    like = CACHE.get(ground)
    like = like if isinstance(like, jounce.Body) else None
    body = yield from finished(job(surface, settings, like), "Building")
    CACHE.put(ground, body)
    CACHE.put(surface.digest(settings), body)
    return describe(body, len(surface.stitches))


def job(surface: Surface, settings: BuildSettings, like: "jounce.Body | None") -> "jounce.BodyJob":
    """The whole way from a surface to its body, with what another body of the surface has already."""
    maps, core = surface.maps, surface.core
    return jounce.BodyJob(
        surface.points,
        surface.triangles,
        surface.weights,
        resolution=settings.resolution,
        modes=settings.modes,
        locality=settings.locality,
        clusters=settings.clusters,
        cubature=settings.cubature,
        young=YOUNG if maps.stiffness is None else YOUNG * maps.stiffness,
        density=DENSITY,
        law=settings.law,
        poisson=settings.poisson,
        leak=maps.leak,
        pinned=maps.pinned,
        # What is flesh is the same at all resolutions.
        core=None if core is None else core.native(sensible.resolution(surface)),
        strength=maps.strength,
        bone_parents=surface.bone_parents,
        merge_into=surface.merge_into,
        shapes=surface.shapes,
        # Whoever stitches or paints stiffness once does so again, and the factor is worth its memory then.
        editable=len(surface.stitches) > 0 or maps.stiffness is not None,
        stitches=surface.stitches.pairs,
        stitch_stiffness=surface.stitches.newtons(YOUNG, surface.diagonal),
        stitch_gap=surface.stitches.gap,
        stitch_group=surface.stitches.group,
        stitch_radius=surface.stitches.radius * surface.diagonal,
        stitch_known=surface.stitches.known,
        like=like,
    )


def describe(body: "jounce.Body", stitches: int) -> str:
    """One line on what was built."""
    tets, modes, bones = len(body.mesh.tets), body.model.mode_count, body.model.bone_count
    counting = int((body.merged == np.arange(bones)).sum())
    sewn = f", {stitches} stitches" if stitches else ""
    quality = f", modes within about {body.residual:.2%}" if body.residual else ""
    return f"{tets} tets, {modes} modes, {counting} of {bones} bones count{sewn}{quality}"
