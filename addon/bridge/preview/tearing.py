"""Reports tears in the previewed flesh of a body."""

from collections.abc import Iterator

from ...core.shot import tearing
from ..body.diagnosis import Finding
from ..rig import bone_transforms
from . import shown_motion
from .session import Session


def findings(known: Session) -> Iterator[Finding]:
    """For each tearing part: frame, part and stretch; the fix makes a bone rigid."""
    shown = shown_motion.of(known)
    if shown is None:
        return
    body_scene = known.motions.scene
    for tear in tearing.tears(body_scene.surface, shown.shaper, shown.poses, shown.coefficients):
        mover = body_scene.reader.movers[tear.bone]
        yield finding(mover, shown.frames[tear.frame], tear.stretch, known.host.name)


def finding(mover: bone_transforms.Mover, frame: int, stretch: float, host: str) -> Finding:
    """Finding for a tearing part."""
    where = f"In frame {frame} flesh of {mover.bone or host} stretches by {stretch:.0%}"
    if mover.armature is None:
        return Finding(f"{where}; pin it or make it stiffer there.", host)
    return Finding(f"{where}; its bone may be rigid.", mover.armature.name, "make_rigid", mover.bone)
