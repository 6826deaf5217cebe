"""Actions of other rigs, transferred to a rig with the same bones under other names and with another rest
pose.

Rotations are transferred as rotations away from the rest pose. With R the rest rotation of a bone in the
world and B the rotation in the bone's rest axes, `R B R'` is this rotation in world axes, whatever the bone's
roll. On another rig `B' = Q B Q'`, `Q = R_target' R_source`. With equal rest poses, B is copied.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..common.user_error import UserError
from .volume import as_quaternions, without_flips

SUFFIXES = frozenset([".fbx"])

# A prefix shared by more than this share of a rig's bones is ignored.
COMMON_PREFIX = 0.75
# Below this share of matching bones a clip belongs to another kind of rig.
LEAST_MATCHING = 0.5


@dataclass(frozen=True)
class BoneClip:
    """Motion of one bone in an action.

    rest: (4, 4) rest matrix in the world, unit axes. times: (k,) frames. rotations: (k, 4) unit quaternions,
    w first, and locations (k, 3), both in the bone's rest axes, locations in world units.
    """

    rest: np.ndarray
    times: np.ndarray
    rotations: np.ndarray
    locations: np.ndarray


@dataclass(frozen=True)
class Clip:
    """An animation of a rig. parents: name of the bone above each bone. height: of the rig at rest."""

    name: str
    frames_per_second: float
    start: float
    end: float
    height: float
    bones: dict[str, BoneClip] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)


def files(folder: Path) -> list[Path]:
    """The actions of a folder, by name."""
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}; choose the folder that holds the actions.")
    return sorted(
        (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()),
        key=lambda path: path.name.lower(),
    )


def base_name(bone: str) -> str:
    """Lower-case name of a bone without a prefix up to a colon, such as `mixamorig7:`."""
    return bone.rpartition(":")[2].lower()


def base_names(bones: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Base name of each bone, and the same without the rig's prefix, such as `Character1_`.

    The prefix is the longest common beginning of most bone names that ends in neither a letter nor a digit.
    """
    found = {bone: base_name(bone) for bone in bones}
    counts = Counter(prefix for name in found.values() for prefix in prefixes(name))
    common = [prefix for prefix, count in counts.items() if count > COMMON_PREFIX * len(found)]
    prefix = max(common, key=len, default="")
    return {bone: (name, name.removeprefix(prefix)) for bone, name in found.items()}


def prefixes(name: str) -> Iterator[str]:
    """The beginnings of a name that end in neither letter nor digit and leave a remainder."""
    return (name[:end] for end in range(1, len(name)) if not name[end - 1].isalnum())


def matching(source: Iterable[str], target: Iterable[str]) -> dict[str, str]:
    """The matching source bone of each target bone, by name.

    Base names decide; without a match, the names without the rigs' prefixes.
    """
    by_base: dict[str, str] = {}
    by_bare: dict[str, str] = {}
    for bone, (base, bare) in base_names(source).items():
        by_base.setdefault(base, bone)
        by_bare.setdefault(bare, bone)
    found = ((b, by_base.get(base) or by_bare.get(bare)) for b, (base, bare) in base_names(target).items())
    return {bone: match for bone, match in found if match is not None}


def refuse_foreign(clip: Clip, bones: dict[str, str], rig: str) -> None:
    """Refuses an action if the rig lacks most of the moving bones."""
    found, moving = len(set(bones.values()) & clip.bones.keys()), len(clip.bones)
    if moving == 0:
        raise UserError(f"The action {clip.name} moves no bone.")
    if found < LEAST_MATCHING * moving:
        raise UserError(
            f"Only {found} of the {moving} bones that {clip.name} moves are found in {rig}; "
            "the action was made for another kind of rig."
        )


def rotations(bone: BoneClip, rest: np.ndarray) -> np.ndarray:
    """A bone's rotations (k, 4) in the axes of another rest matrix (4, 4), neighbours in the same half."""
    change = quaternion(rest[:3, :3].T @ bone.rest[:3, :3])
    return without_flips(product(product(change, bone.rotations), change * (1.0, -1.0, -1.0, -1.0)))


def locations(bone: BoneClip, rest: np.ndarray, size: float) -> np.ndarray:
    """A bone's locations (k, 3) in the axes of another rest matrix (4, 4), `size` times as far."""
    return size * bone.locations @ (rest[:3, :3].T @ bone.rest[:3, :3]).T


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products of quaternions (..., 4), w first."""
    a, u = left[..., :1], left[..., 1:]
    b, v = right[..., :1], right[..., 1:]
    real = a * b - (u * v).sum(axis=-1, keepdims=True)
    return np.concatenate((real, a * v + b * u + np.cross(u, v)), axis=-1)


def quaternion(turn: np.ndarray) -> np.ndarray:
    """The unit quaternion (4,), w first, of a rotation (3, 3)."""
    return as_quaternions(turn[None])[0]
