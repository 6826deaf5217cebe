"""A fit in words for animators, and the numbers behind it for those who look inside."""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from ..common.task import Step
from ..common.user_error import UserError, passing_on
from ..rig.part_settings import LABELS, MOTION
from . import part_fitting
from .fitting import NATURAL, Bounds, Fitted, Reason, Tuning
from .motion_extent import Extent

# Names of frequencies, each up to a share of that of natural flesh, and of the rest.
SOFTNESS = ((0.7, "very soft"), (1.4, "soft"), (4.0, "firm"))
FIRMEST = "very firm"
# Largest share of the rig's acceleration of calm flesh; its inverse is the least share of lively flesh.
CALM = 0.8
# Weight of a part from which on a vertex moves when the part swings alone.
MOVES = 0.15


@dataclass(frozen=True)
class PartReport:
    """A part after a fit.

    hertz: frequency at which it swings with all flesh around it held, 0 if unknown. size: motion as a share
    of the body's size. reason: for its softness.
    """

    hertz: float
    size: float
    reason: Reason


def sentence(name: str, tuning: Tuning, reason: Reason, size: float, parts: dict[str, float]) -> str:
    """The fit of a body in words.

    tuning: that it plays with. size: of its motion. parts: softness times amount of each part, as factors on
    the body's.
    """
    if reason is Reason.STILL:
        return f"{name}: {reason.value}, so it stays {described(tuning)}"
    moves = f"It moves by up to {size:.1%} of its size; {reason.value}"
    livelier = [LABELS[part] for part, share in parts.items() if share >= 1.0 / CALM]
    calmer = [LABELS[part] for part, share in parts.items() if share <= CALM]
    told = [f"{name}: {described(tuning)} flesh", moves]
    told += [f"Softer than the body: {', '.join(livelier)}"] if livelier else []
    told += [f"Firmer: {', '.join(calmer)}"] if calmer else []
    return ". ".join(told)


def motion(extent: Extent, told: dict[str, PartReport]) -> float:
    """Motion of the liveliest part, or of a body without measured parts, as a share of the body's size."""
    return max((report.size for report in told.values()), default=extent.size)


def described(tuning: Tuning) -> str:
    """Frequency and amount in words."""
    share = tuning.frequency / NATURAL
    firmness = next((word for most, word in SOFTNESS if share <= most), FIRMEST)
    if CALM < tuning.amount < 1.0 / CALM:
        return firmness
    return f"{firmness} and {'calm' if tuning.amount <= CALM else 'lively'}"


def reports(
    fitted: Fitted, names: tuple[str, ...], bounds: Bounds, body: "jounce.Body", stiffness: float
) -> Generator[Step, None, dict[str, PartReport]]:
    """A report of each measured part.

    names: of the parts in the fit. body: built with it. stiffness: factor on the body's as built.
    """
    found = {}
    reasons = part_fitting.reasons(fitted, bounds)
    for name, extent, reason in zip(names, fitted.extent.parts, reasons, strict=True):
        found[name] = PartReport(swing(body, name, stiffness), extent.size * MOTION[name], reason)
        yield Step(len(found) / len(names), "Fitting")
    return found


def swing(body: "jounce.Body", name: str, stiffness: float) -> float:
    """Lowest frequency in Hz of a part with all flesh around it held; 0 if none can be found."""
    if name not in body.parts:
        return 0.0
    held = (body.part_weights[body.parts.index(name)] <= MOVES) | body.pinned
    try:
        with passing_on("The part cannot swing alone"):
            lowest = jounce.linear_modes(body.mesh, body.material, 1, pinned=held).frequencies[0]
    except UserError:
        return 0.0
    return float(lowest * np.sqrt(stiffness))
