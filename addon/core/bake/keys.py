"""From motion to shape keys: displacements, pulled back through the armature, as few keys or one a frame.

A shape key moves a vertex before the armature does. With posed position `x = sum_j w_j T_j [X; 1]`, an offset
d of the rest position moves x by `A d`, `A = sum_j w_j L_j`, L_j the 3x3 part of T_j (`volume` has the
A of armatures that preserve it). To move x by the simulated u the key needs `d = A^-1 u`. Offsets are in
metres in the rest pose's world space until a part's own space comes last.
"""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from ..body.full_space import Shaper, shaped
from ..common.task import Step, finished, in_turn, scaled
from ..common.user_error import passing_on
from ..direct.pose_space import linear
from ..flesh.settings import BakeSettings, Target
from ..mesh.surface import Part, Surface
from ..stepping.motion import Motion

# Largest number of attempts with a tighter tolerance, if posing the modal keys enlarges their error.
MOST_PASSES = 10
# Name of the constantly active key, which makes the other values positive.
CONSTANT = "constant"

Steps = Generator[Step, None, None]


@dataclass
class KeySet:
    """Shape keys of one part: offsets (k, p, 3) f32 in metres, and values (f, k), each in [0, 1].

    error: largest distance at any vertex and frame between the posed keys and the simulated shape, in metres.
    """

    part: Part
    names: list[str]
    offsets: np.ndarray
    values: np.ndarray
    error: float = 0.0

    @property
    def principal_count(self) -> int:
        """Number of keys without the constant one."""
        return len(self.names) - self.names.count(CONSTANT)

    def local_offsets(self, key: int) -> np.ndarray:
        """Offsets (p, 3) of one key in object space, in Blender units."""
        return np.linalg.solve(self.part.to_world, self.offsets[key].T.astype(np.float64)).T


class PosedMotion:
    """A motion at the vertices of a surface."""

    def __init__(self, body: Shaper, surface: Surface, motion: Motion) -> None:
        self._body = body
        self._surface = surface
        self._motion = motion
        self.frame_count = len(motion.coefficients)

    def displacement(self, frame: int) -> np.ndarray:
        """World displacements u (p, 3) of a frame, in metres."""
        return shaped(self._body, self._motion.coefficients[frame])

    def linear(self, frame: int) -> np.ndarray:
        """Linear map of the armature for an offset of each vertex, A (p, 3, 3)."""
        return linear(self._surface, self._motion.poses[frame])


def key_sets(
    body: Shaper, surface: Surface, motion: Motion, settings: BakeSettings
) -> Generator[Step, None, list[KeySet]]:
    """The shape keys of every part of a body, with their measured errors."""
    posed = PosedMotion(body, surface, motion)
    corrections = np.empty((posed.frame_count, len(surface.points), 3), np.float32)
    for frame in range(posed.frame_count):
        corrections[frame] = jounce.pull_back(posed.displacement(frame), posed.linear(frame))
        yield Step(0.3 * frame / posed.frame_count, "Pulling back through the armature")
    if settings.target is Target.FRAME_KEYS:
        sets = [frame_keys(part, corrections, settings.frames) for part in surface.parts]
        yield from scaled(measure(sets, posed), 0.3, 1.0)
    else:
        task = modal_key_sets(surface, corrections, posed, settings)
        sets = yield from scaled(task, 0.3, 1.0)
    return sets


def frame_keys(part: Part, corrections: np.ndarray, frames: range) -> KeySet:
    """One key per frame, fully on in this frame and off in all others."""
    names = [f"frame {frame}" for frame in frames]
    return KeySet(part, names, corrections[:, part.points], np.eye(len(frames)))


def modal_key_sets(
    surface: Surface, corrections: np.ndarray, posed: PosedMotion, settings: BakeSettings
) -> Generator[Step, None, list[KeySet]]:
    """The fewest keys that keep the *posed* error within the tolerance.

    The keys are fitted to a tolerance at rest. Scaled bones enlarge the error in the pose; the posed error is
    measured, and the tolerance tightened by the excess.
    """
    wanted = settings.tolerance * surface.diagonal
    tolerances = [wanted] * len(surface.parts)
    sets: list[KeySet] = []
    done = 0.0
    for _ in range(MOST_PASSES):
        # The number of passes is unknown: each takes half of the remaining progress.
        begin, middle, done = done, 0.75 * done + 0.25, 0.5 * done + 0.5
        pairs = zip(surface.parts, tolerances, strict=True)
        finding = in_turn(modal_keys(part, corrections, t, settings.max_keys) for part, t in pairs)
        found = yield from scaled(finding, begin, middle)
        sets, at_rest = [keys for keys, _ in found], [error for _, error in found]
        yield from scaled(measure(sets, posed), middle, done)
        excess = [keys.error / wanted for keys in sets]
        if all(e <= 1.0 or k.principal_count >= settings.max_keys for e, k in zip(excess, sets, strict=True)):
            break
        # Below the error at rest: with an excess each pass adds at least one key.
        tolerances = [
            error / (1.05 * e) if e > 1.0 else t
            for t, error, e in zip(tolerances, at_rest, excess, strict=True)
        ]
    return sets


def modal_keys(
    part: Part, corrections: np.ndarray, tolerance: float, max_keys: int
) -> Generator[Step, None, tuple[KeySet, float]]:
    """The principal shapes of a part's corrections, few enough for a tolerance, and their error; at rest."""
    frames = np.ascontiguousarray(corrections[:, part.points])
    with passing_on(f"Shape keys of {part.name} cannot be found"):
        job = jounce.ModalKeysJob(frames, tolerance=tolerance, max_keys=max_keys)
        offsets, values, error = yield from finished(job, f"Finding the shape keys of {part.name}")
    names = [f"mode {key + 1}" for key in range(len(offsets))]
    if (values < 0.0).any():
        offsets, values = from_zero_to_one(offsets, values)
        names.append(CONSTANT)
    return KeySet(part, names, offsets, values), error


def from_zero_to_one(offsets: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same motion with values (f, k + 1) in [0, 1], by an additional constant key.

    With l_k the smallest value of key k, or 0, and a largest value of 1: `sum_k v_k d_k = sum_k (v_k -
    l_k)/(1 - l_k) (1 - l_k) d_k + sum_k l_k d_k`. Importers of shape keys clip negative values.
    """
    least = np.minimum(values.min(axis=0), 0.0)
    constant = np.tensordot(least, offsets, axes=1)[None]
    widths = (1.0 - least)[:, None, None]
    shifted = np.clip((values - least) / (1.0 - least), 0.0, 1.0)
    always = np.ones((len(values), 1))
    return (
        np.concatenate((offsets * widths, constant)).astype(np.float32),
        np.concatenate((shifted, always), axis=1),
    )


def measure(sets: list[KeySet], posed: PosedMotion) -> Steps:
    """Sets the error of each set: over all frames and vertices, the largest |A (keys) - u|.

    Keys are summed in single precision, as Blender sums them.
    """
    errors = [0.0] * len(sets)
    for frame in range(posed.frame_count):
        displacement, linear = posed.displacement(frame), posed.linear(frame)
        for index, keys in enumerate(sets):
            points, values = keys.part.points, keys.values[frame].astype(np.float32)
            # With frame keys a single key is on.
            on = np.flatnonzero(values)
            used = slice(on[0], on[-1] + 1) if len(on) else slice(0)
            offset = np.tensordot(values[used], keys.offsets[used], axes=1)
            gap = np.einsum("pij,pj->pi", linear[points], offset) - displacement[points]
            errors[index] = max(errors[index], float(np.sqrt((gap**2).sum(axis=1)).max(initial=0.0)))
        yield Step(frame / posed.frame_count, "Measuring the shape keys")
    for keys, error in zip(sets, errors, strict=True):
        keys.error = error
