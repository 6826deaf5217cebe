"""Shown motion of a body with the dents of its colliders, the same in a preview and in a bake."""

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...core.body.full_space import Pointwise, Shaper, shaped
from ...core.common.task import Step
from ...core.common.user_error import UserError
from ...core.display.dents import Dents
from ...core.passes.simulation_pass import SimulationPass
from ..loads import colliders
from .direction import Directed, Direction
from .motions import Motions

# Memory for dented frames of a preview, in bytes.
REMEMBERED = 256_000_000


def acts(made: Motions) -> bool:
    """True for flesh with colliders, in settings that let it collide."""
    has_colliders = made.scene.colliders.colliders is not None
    return made.is_flesh and has_colliders and not list(colliders.hindrances(made.scene.host))


def of(made: Motions) -> Dents:
    """Maker of the dents of flesh with colliders."""
    return Dents(made.body, made.scene.surface, made.scene.colliders.colliders)


class Dented:
    """The shown frames of a preview. All stored data can be recomputed, to the bit."""

    def __init__(self, made: Motions, direction: Direction, filling: Callable[[], SimulationPass]) -> None:
        """filling: the draft's pass."""
        self._made, self._direction, self._filling = made, direction, filling
        self._kept: dict[int, tuple[tuple[object, ...], tuple[np.ndarray, Shaper]]] = {}

    @cached_property
    def _dents(self) -> Dents:
        return of(self._made)

    def best(self, index: int) -> tuple[np.ndarray, Shaper]:
        """The displayed coefficients of a cached frame, and their owner."""
        found, filling = self._direction.best(index), self._filling()
        if not acts(self._made) or index >= filling.checked or self._direction.making is not None:
            return found
        drives = filling.drives
        token = found[0], drives[index], drives[0]
        known = self._kept.pop(index, None)
        if known is None or any(mine is not theirs for mine, theirs in zip(known[0], token, strict=True)):
            known = token, self._dented(found, filling, index)
        while self._kept and len(self._kept) * 12 * len(self._dents) > REMEMBERED:
            del self._kept[next(iter(self._kept))]
        self._kept[index] = known
        return known[1]

    def _dented(
        self, found: tuple[np.ndarray, Shaper], filling: SimulationPass, index: int
    ) -> tuple[np.ndarray, Shaper]:
        """A frame with its dents."""
        (coefficients, shaper), drive = found, filling.drives[index]
        if drive.held:
            return found
        around, frame = (filling.drives[0].around, drive.around), filling.cache.first + index
        try:
            offsets = self._dents.dented(shaped(shaper, coefficients), drive.pose, around, frame)
        except UserError:
            # The simulation says why.
            return found
        behind = shaper.behind if isinstance(shaper, Pointwise) else found
        return found if offsets is None else (offsets, Pointwise(behind))


def of_motion(
    made: Motions, shown: Directed, around: list[np.ndarray], first: int
) -> Generator[Step, None, Directed]:
    """A recorded motion with its dents, if any. around: matrices (c, 3, 4) of the colliders in each row.
    first: frame of row 0.
    """
    if not acts(made):
        return shown
    dents, motion, changed = of(made), shown.motion, {}
    for row in (row for row in range(len(motion.coefficients)) if row not in motion.held):
        before, matrices = shaped(shown.shaper, motion.coefficients[row]), (around[0], around[row])
        after = dents.dented(before, motion.poses[row], matrices, first + row)
        if after is not None:
            changed[row] = after
        yield Step(row / len(around), "Denting")
    if not changed:
        return shown
    rows = range(len(motion.coefficients))
    frames = [
        changed[row] if row in changed else shaped(shown.shaper, motion.coefficients[row]) for row in rows
    ]
    return Directed(replace(motion, coefficients=np.stack(frames)), Pointwise())
