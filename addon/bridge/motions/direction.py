"""Directed motion of a body in its scene, the same in a preview and in a bake."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import bpy
import jounce
import numpy as np

from ...core.body.full_space import Pointwise, Shaper, shaped
from ...core.common.task import Step
from ...core.common.user_error import passing_on
from ...core.direct.director import Clip, Director, ShapeKey, Swings
from ...core.direct.oscillator import Oscillator
from ...core.flesh.settings import MotionSettings
from ...core.passes.simulation_pass import SimulationPass
from ...core.stepping.motion import FrameInput, Motion, built_frequency, damping_of, stiffness_of
from ..common import units
from ..inputs import directions
from ..motions.background_pass import BackgroundPass
from ..motions.motions import Motions

# Linear modes that swing by themselves, and the vertices' numbers for each.
MODES, VERTICES_PER_MODE = 16, 4
# Later rows needed for a displayed row: the largest lag of a body and a part, and a frame between.
AHEAD = 13
# Number of kept directed frames.
KEPT = 12


@lru_cache(maxsize=4)
def modes_of(body: "jounce.Body", has_core: bool) -> tuple[np.ndarray, np.ndarray]:
    """Shapes (o, p, 3) of the linear modes of a body at its surface, and their frequencies (o,) in 1/s.

    Flesh on a bone core swings about the core. Without one, the rig is what nothing may imitate.
    """
    free = int((~np.asarray(body.pinned, bool)).sum())
    count = min(MODES, free // VERTICES_PER_MODE)
    points = len(body.embedding.points)
    if count == 0:
        return np.empty((0, points, 3)), np.empty(0)
    with passing_on("The flesh cannot be directed"):
        rig = {} if has_core else {"rig": body.rig, "leak": body.leak}
        modes = jounce.linear_modes(body.mesh, body.material, count, pinned=body.pinned, **rig)
    shapes = np.stack([body.embedding.interpolate(np.ascontiguousarray(shape)) for shape in modes.shapes])
    return shapes, np.sqrt(np.maximum(modes.eigenvalues, 0.0))


def swings_of(made: Motions, scene: bpy.types.Scene, settings: MotionSettings) -> Swings:
    """The swings of a body with some settings."""
    body = made.body
    own, seconds = built_frequency(body, settings.frequency_of), units.frame_seconds(scene)
    factor, damping = stiffness_of(own, settings) ** 0.5 * seconds, damping_of(body, settings)
    shapes, rates = modes_of(body, made.scene.surface.core is not None)
    oscillators = tuple(Oscillator.of(rate * factor, damping) for rate in (*rates, 2.0 * np.pi * own))
    pinned = body.embedding.interpolate(np.asarray(body.pinned, np.float64)[:, np.newaxis])[:, 0]
    return Swings(shapes, oscillators, 1.0 - pinned, 1.0 / seconds)


Passes = Callable[[], tuple[SimulationPass, BackgroundPass | None]]


class Direction:
    """Directs the motion of one body. All stored data can be recomputed, to the bit."""

    def __init__(self, made: Motions, scene: bpy.types.Scene, passes: Passes | None = None) -> None:
        """passes: of a preview, the draft's and the better one."""
        self._made, self._scene, self._passes = made, scene, passes
        self._shares = directions.Shares(made.scene, made.body)
        self._director: Director | None = None
        self._settings: tuple[object, ...] = ()
        self._kept: dict[int, tuple[tuple[object, ...], tuple[np.ndarray, Shaper]]] = {}
        # A shape being made: its frame, and world displacements (p, 3), metres.
        self.making: tuple[int, np.ndarray] | None = None

    @property
    def is_idle(self) -> bool:
        """True if nothing directs the motion in any frame."""
        return not self._made.is_flesh or directions.is_neutral(self._made.scene.host)

    def director(self) -> Director:
        """The body's director, with its stiffness, damping and frame rate."""
        # Animated settings count as at the start, whatever frame is shown.
        settings = directions.stiffness_settings(self._made.scene.host, self._scene.frame_start)
        by = settings.frequency, settings.frequency_of, settings.material
        now = *by, settings.softness, settings.damping, units.frame_seconds(self._scene)
        if self._director is None or now != self._settings:
            self._settings = now
            swings = swings_of(self._made, self._scene, settings)
            self._director = Director(self._made.scene.surface, swings)
        return self._director

    def last(self, index: int, count: int) -> int:
        """The last of `count` frames on which a frame depends."""
        filling, _ = self._passes()
        if self.is_idle or self._made.scene.host.jounce.loops:
            return index
        rows = [key.frame - filling.cache.first for key in self._made.scene.host.jounce.flesh_keys]
        return max(index, min(max([index + AHEAD, *rows]), count - 1))

    def best(self, index: int) -> tuple[np.ndarray, Shaper]:
        """The displayed coefficients of a cached frame of a preview, and their owner."""
        filling, final = self._passes()

        def raw(row: int) -> tuple[np.ndarray, Shaper]:
            fine = None if final is None else final.frame(row)
            if fine is None:
                return filling.cache.coefficients[row], filling.owner
            return fine, final.fine

        first, own = filling.cache.first, raw(index)
        if self.making is not None and self.making[0] == first + index:
            return self.making[1], Pointwise(own)
        if self.is_idle or index >= filling.checked:
            return own
        host = self._made.scene.host
        named = directions.values(host, first + index)
        signature = directions.signature(host)
        latest = max([index + AHEAD, *(key[0] - first + 1 for key in signature)])
        latest = len(filling.cache) if host.jounce.loops else latest
        there = min(latest, filling.checked), 0 if final is None else min(latest, final.checked)
        token = own[0], self.director(), filling, final, there, named, signature
        known = self._kept.get(index)
        if known is not None and is_same(known[0], token):
            return known[1]
        period = self._scene.frame_end - first if host.jounce.loops else None
        drives = filling.drives
        clip = Clip(
            filling.checked, raw, lambda row: drives[row].pose, *breaks(drives, filling.teleports), period
        )
        offsets = self.directed(clip, first, index, self.keys(first))
        found = own if offsets is None else (offsets, Pointwise(own))
        while len(self._kept) >= KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept.pop(index, None)
        self._kept[index] = token, found
        return found

    def change(self, index: int) -> np.ndarray | None:
        """Displacements (p, 3) f32 that direction adds to a frame of a preview, metres; None for nothing."""
        filling, _ = self._passes()
        coefficients, shaper = self.best(index) if 0 <= index < filling.checked else (None, None)
        if not isinstance(shaper, Pointwise):
            return None
        before, owner = shaper.behind
        return coefficients - shaped(owner, before)

    def keys(self, first: int) -> list[ShapeKey]:
        """The active keys, for rows from a first frame on."""
        surface = self._made.scene.surface
        return directions.keys(self._made.scene.host, first, surface.diagonal, len(surface.points))

    def directed(self, clip: Clip, first: int, row: int, keys: list[ShapeKey]) -> np.ndarray | None:
        """World displacements (p, 3) f32 of a row, metres; None where direction changes nothing."""
        host = self._made.scene.host
        return self.director().directed(
            clip, row, keys, lambda at: self._shares.curves(directions.values(host, first + at))
        )


def is_same(token: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """True if a directed frame was made from the same: the first entries by identity, others by value."""
    pairs = list(zip(token, other, strict=True))
    return all(mine is theirs for mine, theirs in pairs[:4]) and all(
        mine == theirs for mine, theirs in pairs[4:]
    )


def breaks(drives: list[FrameInput], teleports: Iterable[int]) -> tuple[frozenset[int], frozenset[int]]:
    """Rows in which a motion starts anew, and rows with held flesh."""
    held = frozenset(row for row, drive in enumerate(drives) if drive.held)
    return held.union(teleports, (row for row, drive in enumerate(drives) if drive.cut)), held


@dataclass(frozen=True, eq=False)
class Directed:
    """A recorded motion for display, and the owner of its coefficients."""

    motion: Motion
    shaper: Shaper


def of_motion(
    made: Motions, scene: bpy.types.Scene, motion: Motion, shaper: Shaper, first: int
) -> Generator[Step, None, Directed]:
    """A recorded motion with its direction, if any. first: frame of row 0."""
    direction, count = Direction(made, scene), len(motion.coefficients)
    if direction.is_idle:
        return Directed(motion, shaper)
    period = count - 1 if made.scene.host.jounce.loops else None
    clip = Clip(
        count,
        lambda row: (motion.coefficients[row], shaper),
        lambda row: motion.poses[row],
        motion.breaks,
        motion.held,
        period,
    )
    keys, frames, changed = (
        direction.keys(first),
        np.empty((count, len(made.scene.surface.points), 3), "f4"),
        False,
    )
    for row in range(count):
        offsets = direction.directed(clip, first, row, keys)
        changed = changed or offsets is not None
        frames[row] = shaped(shaper, motion.coefficients[row]) if offsets is None else offsets
        yield Step(row / count, "Directing")
    return (
        Directed(replace(motion, coefficients=frames), Pointwise()) if changed else Directed(motion, shaper)
    )
