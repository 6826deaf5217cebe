"""Previewed motion of a whole shot, for checks of all frames."""

from dataclasses import dataclass

import numpy as np

from ...core.body.full_space import Pointwise, Shaper, shaped
from .session import Session


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """Displayed frames without holds: numbers, poses (b, 3, 4), coefficients.

    around: (c, 3, 4), places of the colliders. shaper: owner of the coefficients.
    """

    frames: list[int]
    poses: list[np.ndarray]
    coefficients: list[np.ndarray]
    around: list[np.ndarray]
    shaper: Shaper


def of(known: Session) -> ShownMotion | None:
    """The motion of a preview, the final one if wanted; None before the motion is complete."""
    final = known.final
    if not known.complete or (final is not None and not final.is_done(known.wanted)):
        return None
    drives = known.filling.drives[: known.filling.checked]
    # Held frames have no valid poses.
    rows = [row for row, drive in enumerate(drives) if not drive.held]
    shown = [known.dented.best(row) for row in rows]
    owners = {id(shaper): shaper for _, shaper in shown}
    if len(owners) == 1:
        (shaper,), coefficients = owners.values(), [each for each, _ in shown]
    else:
        shaper, coefficients = Pointwise(), [shaped(owner, each) for each, owner in shown]
    return ShownMotion(
        [known.cache.first + row for row in rows],
        [drives[row].pose for row in rows],
        coefficients,
        [drives[row].around for row in rows],
        shaper,
    )
