"""Shards, the separately simulated parts of a motion, and their join.

Each shard starts some frames before its own range; in these frames the flesh forgets the start.
"""

from pathlib import Path

from ..common.user_error import UserError
from ..flesh.settings import Quality
from .cache import MotionCache, Origin
from .final_cache import DraftCache, FileCache, FinalCache, opened

SUFFIX = ".jshard"
KINDS: dict[Quality, type[FileCache]] = {Quality.DRAFT: DraftCache, Quality.FINAL: FinalCache}

# Individual parts of a shard's origin: the start of the simulation, the frame range, and the versions of the
# programs that simulated it.
START, OWN, PROGRAMS = "Start frame", "Shard", "Programs"


def shard(
    kind: type[FileCache], origin: Origin, frames: range, first: int, path: Path, programs: str
) -> FileCache:
    """A shard, read from its file if present. frames: range of the shard. first: start of the simulation."""
    own = {START: str(first), OWN: f"{frames.start} {frames.stop}", PROGRAMS: programs}
    return kind(origin | own, first, path)


def own_frames(part: FileCache) -> range:
    """The completed frames of a shard's range."""
    start, stop = map(int, part.origin.get(OWN, "0 0").split())
    return range(start, min(stop, part.frames.stop))


def found(kind: type[FileCache], paths: list[Path]) -> list[FileCache]:
    """The shards of this kind in some files."""
    return [part for path in paths if (part := opened(kind, path)) is not None]


def joined(
    parts: list[FileCache], origin: Origin, frames: range, whose: str, programs: str
) -> tuple[MotionCache, str]:
    """The motion of all frames, and a remark if a shard comes from programs that may round differently.

    origin: current inputs. whose: name of the body. programs: those of this process.
    """
    known = without_own(origin)
    outdated = {part.path: MotionCache(without_own(part.origin), 0).changes(known) for part in parts}
    fresh = [part for part in parts if not outdated[part.path]]
    whole, remark = MotionCache(origin, frames.start), ""
    for frame in frames:
        part = next((part for part in fresh if frame in own_frames(part)), None)
        if part is None:
            other = next((part for part in parts if outdated[part.path] and frame in own_frames(part)), None)
            changed = "" if other is None else f" ({', '.join(outdated[other.path])} changed since)"
            changed += "" if other is None else remark_on(other, programs)
            raise UserError(f"No shard of {whose} has frame {frame}{changed}; simulate it.")
        remark = remark or remark_on(part, programs)
        at = frame - part.first
        whole.append(part.digests[at], part.coefficients[at])
        if at in part.rough:
            whole.mark_rough()
    return whole, remark


def remark_on(part: FileCache, programs: str) -> str:
    """A remark on a shard of other programs, which may round differently; empty for the same."""
    theirs = part.origin.get(PROGRAMS, "unknown programs")
    return "" if theirs == programs else f" (simulated by {theirs}, baked by {programs})"


def without_own(origin: Origin) -> Origin:
    """The common origin of all shards of a motion."""
    return {name: value for name, value in origin.items() if name not in (START, OWN, PROGRAMS)}
