"""Says where the previewed flesh of a body still tears."""

from collections.abc import Iterator

from ..core import tearing
from . import rigs
from .diagnosis import Finding
from .session import Session


def findings(known: Session) -> Iterator[Finding]:
    """For each part that tears in the cached frames: frame, part and stretch; a bone may be made rigid."""
    if not known.complete:
        return
    body_scene = known.motions.scene
    frames = known.filling.checked
    poses = [drive.pose for drive in known.filling.drives[:frames]]
    found = tearing.tears(body_scene.surface, known.motions.body, poses, known.cache.coefficients[:frames])
    for tear in found:
        mover = body_scene.reader.movers[tear.bone]
        yield finding(mover, known.cache.first + tear.frame, tear.stretch, known.host.name)


def finding(mover: rigs.Mover, frame: int, stretch: float, host: str) -> Finding:
    """What is said of a part that tears."""
    where = f"In frame {frame} flesh of {mover.bone or host} stretches by {stretch:.0%}"
    if mover.armature is None:
        return Finding(f"{where}; pin it or make it stiffer there.", host)
    return Finding(f"{where}; its bone may be rigid.", mover.armature.name, "make_rigid", mover.bone)
