"""Bakes a motion to bones alone, for programs without other deformers: the rig's own and helper bones.

Bone j has the rest matrix R_j in the world and plays P_j = T_j R_j. The keys hold the motion B_j in the
bone's rest axes below the parent i, as location, rotation and scale:

    P_j = P_i R_i^-1 R_j B_j, B_j = [Q diag(s) | t].

A shear in B_j is dropped. The helper bones are fitted to the keyed bones, which compensates the loss.
"""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from ..common.task import Step, finished
from ..common.user_error import passing_on
from ..rig.volume import as_quaternions, rotations, without_flips

HELPER = "Helper {}"
# Display length of a helper bone, as a share of the size.
LENGTH = 0.03
# Largest relative difference of the squared scales of an evenly scaled bone.
EVEN = 1e-5


@dataclass(frozen=True)
class Skeleton:
    """Bones in any order. parents: (b,) i64, -1 for none. rests: R (b, 4, 4) and lengths (b,), metres."""

    names: tuple[str, ...]
    parents: np.ndarray
    rests: np.ndarray
    lengths: np.ndarray

    def order(self) -> list[int]:
        """The bones, each after its parent."""
        depth = [len(self.above(bone)) for bone in range(len(self.names))]
        return sorted(range(len(self.names)), key=depth.__getitem__)

    def above(self, bone: int) -> list[int]:
        """The ancestors of a bone, from its parent on."""
        found = []
        while (bone := int(self.parents[bone])) >= 0:
            found.append(bone)
        return found


@dataclass(frozen=True)
class Channels:
    """Key values: locations (f, b, 3) in metres, rotations (f, b, 4) as quaternions, scales (f, b, 3)."""

    locations: np.ndarray
    rotations: np.ndarray
    scales: np.ndarray


@dataclass(frozen=True)
class HelperBones:
    """Weights (p, b), the rig's own bones first, and their motion. rms, error: remaining error, in metres."""

    skeleton: Skeleton
    weights: np.ndarray
    channels: Channels
    rms: float
    error: float


@dataclass(frozen=True)
class Wanted:
    """points: (p, 3), at rest. frames: (f, p, 3) f32, wanted positions. weights: (p, b) of the rig."""

    points: np.ndarray
    frames: np.ndarray
    weights: np.ndarray


def fitted(
    wanted: Wanted, rig: Skeleton, poses: np.ndarray, count: int, influences: int
) -> Generator[Step, None, HelperBones]:
    """Fits helper bones to a motion. poses: T (f, b, 3, 4) of the rig's bones, from rest, metres."""
    _, given = keyed(rig, poses)
    arguments = (wanted.points, wanted.frames, given, wanted.weights)
    count = min(count, len(wanted.points))
    with passing_on("Helper bones cannot be fitted"):
        job = jounce.HelperBonesJob(*arguments, count=count, influences=influences)
        weights, helpers, rms, error = yield from finished(job, "Fitting")
    skeleton = with_helpers(rig, wanted, weights, evenly_scaled(given))
    channels, _ = keyed(skeleton, np.concatenate((given, helpers), axis=1))
    return HelperBones(skeleton, weights, channels, rms, error)


def evenly_scaled(poses: np.ndarray) -> np.ndarray:
    """Bones (b,) that keep all angles throughout a motion T (f, b, 3, 4)."""
    linear = poses[..., :3]
    squares = np.swapaxes(linear, -1, -2) @ linear
    scales = np.trace(squares, axis1=-2, axis2=-1)[..., None, None] / 3.0
    return (np.abs(squares - scales * np.eye(3)) <= EVEN * scales).all(axis=(0, 2, 3))


def with_helpers(rig: Skeleton, wanted: Wanted, weights: np.ndarray, even: np.ndarray) -> Skeleton:
    """The skeleton with a helper bone for each further column of weights.

    The parent of a helper is the bone with the largest influence on the helper's vertices, or the next
    ancestor that never shears the helper. A helper without keys follows its parent. even: (b,) evenly scaled
    bones.
    """
    own = len(rig.names)
    shares = weights[:, own:]
    masses = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
    rests = np.tile(np.eye(4), (shares.shape[1], 1, 1))
    rests[:, :3, 3] = (shares.T @ wanted.points) / masses[:, None]
    heaviest = np.argmax(shares.T @ wanted.weights, axis=1).tolist()
    parents = [next((bone for bone in (first, *rig.above(first)) if even[bone]), -1) for first in heaviest]
    length = LENGTH * float(np.linalg.norm(np.ptp(wanted.points, axis=0)))
    return Skeleton(
        rig.names + tuple(HELPER.format(index + 1) for index in range(len(rests))),
        np.concatenate((rig.parents, parents)),
        np.concatenate((rig.rests, rests)),
        np.concatenate((rig.lengths, np.full(len(rests), length))),
    )


def keyed(skeleton: Skeleton, poses: np.ndarray) -> tuple[Channels, np.ndarray]:
    """The channels of a motion T (f, b, 3, 4), and the motion of these channels."""
    frames, bones = poses.shape[:2]
    played = np.zeros((frames, bones, 4, 4))
    locations, scales = np.empty((frames, bones, 3)), np.empty((frames, bones, 3))
    turns = np.empty((frames, bones, 4))
    for bone in skeleton.order():
        rest, parent = skeleton.rests[bone], int(skeleton.parents[bone])
        above = rest if parent < 0 else played[:, parent] @ np.linalg.inv(skeleton.rests[parent]) @ rest
        wanted = np.zeros((frames, 4, 4))
        wanted[:, :3], wanted[:, 3, 3] = poses[:, bone], 1.0
        # Bones may be scaled to nothing.
        own = np.linalg.pinv(np.broadcast_to(above, wanted.shape)) @ wanted @ rest
        turned = rotations(own[:, :3, :3])
        scales[:, bone] = np.einsum("fij,fij->fj", turned, own[:, :3, :3])
        locations[:, bone], turns[:, bone] = own[:, :3, 3], without_flips(as_quaternions(turned))
        own[:, :3, :3] = turned * scales[:, bone, None]
        played[:, bone] = above @ own
    motion = (played @ np.linalg.inv(skeleton.rests))[:, :, :3]
    return Channels(locations, turns, scales), np.ascontiguousarray(motion)
