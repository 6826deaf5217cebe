"""Built bodies, made by the native module and kept in memory while Blender runs."""

import time
from collections import OrderedDict

import jounce
import numpy as np

from .motion import DENSITY, YOUNG
from .refusal import passing_on
from .settings import BuildSettings
from .surface import Surface
from .task import Step, Task

POLL_SECONDS = 0.005


class BodyCache:
    """The bodies built last, by the digest of what they were built from.

    A key of contents rather than of names survives renaming, copying and undo, and cannot go stale.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bodies: OrderedDict[str, jounce.Body] = OrderedDict()

    def get(self, digest: str) -> "jounce.Body | None":
        """The body built from this, if it is still kept."""
        if digest in self._bodies:
            self._bodies.move_to_end(digest)
        return self._bodies.get(digest)

    def put(self, digest: str, body: "jounce.Body") -> None:
        """Keeps a body, and drops the one not asked for longest when there are too many."""
        self._bodies[digest] = body
        self._bodies.move_to_end(digest)
        while len(self._bodies) > self._capacity:
            self._bodies.popitem(last=False)

    def clear(self) -> None:
        """Forgets all bodies."""
        self._bodies.clear()


CACHE = BodyCache(capacity=8)


def build(surface: Surface, settings: BuildSettings) -> Task:
    """Builds the body of a surface on a thread of the native module and puts it into the cache."""
    surface.refuse_unusable()
    start, maps = time.monotonic(), surface.maps
    with passing_on("The body cannot be built"):
        job = jounce.BodyJob(
            surface.points,
            surface.triangles,
            surface.weights,
            resolution=settings.resolution,
            modes=settings.modes,
            locality=settings.locality,
            clusters=settings.clusters,
            young=YOUNG if maps.stiffness is None else YOUNG * maps.stiffness,
            density=DENSITY,
            law=settings.law,
            poisson=settings.poisson,
            leak=maps.leak,
            pinned=maps.pinned,
            strength=maps.strength,
            bone_parents=surface.bone_parents,
            merge_into=surface.merge_into,
            shapes=surface.shapes,
        )
        try:
            while not job.done:
                yield Step(job.progress, f"Building: {job.stage}")
                time.sleep(POLL_SECONDS)
        finally:
            job.cancel()
        body = job.result()
    CACHE.put(surface.digest(settings), body)
    return describe(body, time.monotonic() - start)


def describe(body: "jounce.Body", seconds: float) -> str:
    """One line on what was built."""
    tets, modes, bones = len(body.mesh.tets), body.model.mode_count, body.model.bone_count
    counting = int((body.merged == np.arange(bones)).sum())
    return f"{tets} tets, {modes} modes, {counting} of {bones} bones count, in {seconds:.1f} s"
