"""Depth of previewed flesh in colliders, in all frames and in the displayed one."""

from collections.abc import Iterator

import numpy as np

from ...core.common.user_error import UserError
from ...core.shot import penetration
from ..body.diagnosis import Finding
from . import shown_motion
from .session import Session


def findings(known: Session) -> Iterator[Finding]:
    """For each visibly penetrated collider: the deepest place, its frame and part."""
    shown = shown_motion.of(known)
    body = None if known.motions is None else known.motions.scene
    if shown is None or body is None or body.colliders.colliders is None:
        return
    touched = body.colliders
    deepest = penetration.deepest(
        body.surface, shown.shaper, touched.colliders, shown.poses, shown.coefficients, shown.around
    )
    # An object that deforms has several colliders; the last one of a name counts.
    deepest.sort(key=lambda depth: depth.metres)
    for name, depth in {touched.objects[depth.collider].name: depth for depth in deepest}.items():
        frame = shown.frames[depth.frame]
        part = body.reader.movers[depth.bone].bone or known.host.name
        share = depth.metres / body.surface.diagonal
        sentence = (
            f"In frame {frame} flesh of {part} is {depth.metres:.2g} m in {name}, {share:.1%} of the size."
        )
        yield Finding(sentence, name)


def depths(known: Session | None, points: np.ndarray, start: int) -> np.ndarray:
    """Depth (p,) of render vertices in the colliders of the current frame, as a share of the body's size.

    points: (p, 3), metres, from vertex `start` on. Frames that nobody has read yet have no depth, nor have
    colliders at an infinite place. UserError without colliders and for one without a usable shape.
    """
    body = None if known is None or known.motions is None else known.motions.scene
    if body is None or body.colliders.colliders is None:
        raise UserError("No colliders act in a preview")
    drives = [] if known.filling is None else known.filling.drives
    row = known.scene.frame_current - known.cache.first if drives else 0
    if not 0 <= row < len(drives):
        return np.zeros(len(points))
    touched, (first, now) = body.colliders.colliders, (drives[0].around, drives[row].around)
    if not (np.isfinite(first).all() and np.isfinite(now).all()):
        return np.zeros(len(points))
    return penetration.depths(touched, first, now, points, start) / body.surface.diagonal
