"""Reports the depth of previewed flesh in colliders."""

from collections.abc import Iterator

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
    for depth in deepest:
        name, frame = touched.objects[depth.collider].name, shown.frames[depth.frame]
        part = body.reader.movers[depth.bone].bone or known.host.name
        share = depth.metres / body.surface.diagonal
        sentence = (
            f"In frame {frame} flesh of {part} is {depth.metres:.2g} m in {name}, {share:.1%} of the size."
        )
        yield Finding(sentence, name)
