"""Parts of a motion that were simulated apart, and the whole that they make.

Each begins some frames before those that it stands for, in which the flesh forgets that it began there.
"""

from pathlib import Path

from .cache import MotionCache, Origin
from .final_cache import DraftCache, FileCache, FinalCache, opened
from .settings import Quality
from .user_error import UserError

SUFFIX = ".jshard"
KINDS: dict[Quality, type[FileCache]] = {Quality.DRAFT: DraftCache, Quality.FINAL: FinalCache}

# What of a shard's origin is its own: where it begins to be simulated, and which frames it stands for.
START, OWN = "Start frame", "Shard"


def shard(kind: type[FileCache], origin: Origin, frames: range, first: int, path: Path) -> FileCache:
    """A shard as far as its file goes. frames: it stands for. first: at which it begins to be simulated."""
    own = {START: str(first), OWN: f"{frames.start} {frames.stop}"}
    return kind(origin | own, first, path)


def own_frames(part: FileCache) -> range:
    """The frames that a shard stands for, as far as it has them."""
    start, stop = map(int, part.origin.get(OWN, "0 0").split())
    return range(start, min(stop, part.frames.stop))


def found(kind: type[FileCache], paths: list[Path]) -> list[FileCache]:
    """The shards of this kind in some files."""
    return [part for path in paths if (part := opened(kind, path)) is not None]


def joined(parts: list[FileCache], origin: Origin, frames: range, whose: str) -> MotionCache:
    """The motion of all frames. origin: what it depends on now. whose: of which body."""
    known = without_own(origin)
    outdated = {part.path: MotionCache(without_own(part.origin), 0).changes(known) for part in parts}
    fresh = [part for part in parts if not outdated[part.path]]
    whole = MotionCache(origin, frames.start)
    for frame in frames:
        part = next((part for part in fresh if frame in own_frames(part)), None)
        if part is None:
            other = next((part for part in parts if outdated[part.path] and frame in own_frames(part)), None)
            changed = "" if other is None else f" ({', '.join(outdated[other.path])} changed since)"
            raise UserError(f"No shard of {whose} has frame {frame}{changed}; simulate it.")
        at = frame - part.first
        whole.append(part.digests[at], part.coefficients[at])
    return whole


def without_own(origin: Origin) -> Origin:
    """What all shards of a motion have in common."""
    return {name: value for name, value in origin.items() if name not in (START, OWN)}
