"""The simulation of a pinned body: a tree of domains, stepped by poses of its object and by loads."""

from collections import deque
from dataclasses import dataclass

import jounce
import numpy as np

from ..stepping.motion import MotionSettings
from .colliders import polar
from .pinned import LONG, PinnedBody, Tree

# Seconds of a step in which nothing can move.
SHORT = 1e-9
# Steps that end in balance.
BALANCING = 2
# Frames of the way into the first one, on which all swings die away, and the damping ratio there.
LEAD, DAMPED = 48, 1.0
# Least relaxation rate towards the wind, 1/s: an acceleration is the wind whose pull at this rate it is.
SLACK = 1e-4
# Largest number of iterations of a substep, and its tolerance.
ITERATIONS, TOLERANCE = 100, 1e-4


@dataclass(frozen=True)
class TreeMoment:
    """State of a simulation between two frames.

    poses: the last two, (3, 4) each. centers: (d, 3) of the domains, metres, and their speeds (d,), m/s.
    """

    tree: "jounce.TreeState"
    poses: tuple[np.ndarray, ...]
    centers: np.ndarray
    speeds: np.ndarray


class TreeSimulation:
    """Steps of a pinned body, with the interface of a `jounce.Simulation`.

    strength: share of the object's acceleration that acts on the body.
    """

    def __init__(
        self,
        body: PinnedBody,
        settings: MotionSettings,
        frame_seconds: float,
        feel: dict[str, object],
        colliders: "list[jounce.Collider] | None" = None,
        **_of_skin: object,
    ) -> None:
        """feel: stiffness, damping and gravity."""
        self.strength = 1.0
        self._model: Tree = body.model
        self._seconds = frame_seconds
        self._feel = {"stiffness": 1.0, "damping": 0.0, "gravity": (0.0, 0.0, 0.0)}
        self._tree = body.model.simulated(
            dt=frame_seconds,
            substeps=settings.substeps,
            integrator=settings.integrator,
            tolerance=TOLERANCE,
            max_iterations=ITERATIONS,
            colliders=colliders or None,
        )
        self._poses: deque[np.ndarray] = deque([np.eye(3, 4)], maxlen=2)
        self._centers, self._speeds = body.model.centers, np.zeros(len(body.model.masses))
        self._drive: dict[str, object] = {}
        self.converged = True
        self.vary(**feel)

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients (m, 3, 4) relative to the root."""
        return self._model.coefficients(self._tree, rigid(self._poses[-1]))

    def vary(self, **feel: object) -> None:
        """Sets stiffness, damping and gravity."""
        self._feel |= {name: value for name, value in feel.items() if name in self._feel}
        self._tree.vary(**self._feel)

    def step(
        self,
        pose: np.ndarray,
        force: np.ndarray | None = None,
        _offsets: np.ndarray | None = None,
        drag: "jounce.Drag | None" = None,
        colliders: np.ndarray | None = None,
        *_held: object,
    ) -> None:
        """One frame. pose: (1, 3, 4). force: (d, 3), N, on each domain, drag: resistance of each."""
        scaled = self._share(pose[0])
        self._poses.append(pose[0])
        self._step(pose[0], force, drag, colliders, scaled)

    def settle(
        self,
        pose: np.ndarray,
        force: np.ndarray | None = None,
        offsets: np.ndarray | None = None,
        drag: "jounce.Drag | None" = None,
        colliders: np.ndarray | None = None,
    ) -> None:
        """In balance in a pose, without velocity."""
        self.reset(pose, offsets, colliders)
        self._drive = {"force": force, "drag": drag}
        self._tree.vary(dt=LONG)
        for _ in range(BALANCING):
            self._step(pose[0], force, None, colliders)
        self._tree.vary(dt=self._seconds)

    def reset(
        self, pose: np.ndarray, _offsets: np.ndarray | None = None, colliders: np.ndarray | None = None
    ) -> None:
        """Exactly in a pose, without velocity."""
        self._tree.reset()
        self._poses, self._speeds = deque([pose[0]], maxlen=2), np.zeros_like(self._speeds)
        self._drive = {}
        self._tree.vary(dt=SHORT)
        self._step(pose[0], None, None, colliders)
        self._tree.vary(dt=self._seconds)

    def cut(
        self, pose: np.ndarray, offsets: np.ndarray | None = None, colliders: np.ndarray | None = None
    ) -> None:
        """In balance in a pose under the last loads: a tree keeps no bend from one place to another."""
        self.settle(pose, **self._drive, offsets=offsets, colliders=colliders)

    def coast(
        self, pose: np.ndarray, _offsets: np.ndarray | None = None, colliders: np.ndarray | None = None
    ) -> None:
        """In balance in the present pose, on a way that leads at a constant velocity to the next one."""
        here, ahead = rigid(self._poses[-1]), rigid(pose[0])
        back = composed(here, inverse(ahead))
        way, drive = [self._poses[-1]], self._drive
        for _ in range(LEAD):
            way.append(composed(back, way[-1]))
        self.reset(way[-1][None], None, colliders)
        self._tree.vary(damping=DAMPED)
        for place in way[-2::-1]:
            self._step(place, drive.get("force"), drive.get("drag"), colliders)
        self._tree.vary(damping=self._feel["damping"])
        self._poses, self._drive = deque(way[1::-1], maxlen=2), drive

    def save_state(self) -> TreeMoment:
        """The complete state before a step."""
        return TreeMoment(self._tree.save_state(), tuple(self._poses), self._centers, self._speeds)

    def restore_state(self, moment: TreeMoment) -> None:
        """Continues from a state."""
        self._tree.restore_state(moment.tree)
        self._poses = deque(moment.poses, maxlen=2)
        self._centers, self._speeds = moment.centers, moment.speeds

    def _share(self, pose: np.ndarray) -> np.ndarray | None:
        """Accelerations (d, 3) that leave a share of the object's, None for all of it."""
        if self.strength == 1.0 or len(self._poses) < 2:
            return None
        before, last = (moved(each, self._model.centers) for each in self._poses)
        carried = (moved(pose, self._model.centers) - 2.0 * last + before) / self._seconds**2
        return (1.0 - self.strength) * carried

    def _step(
        self,
        pose: np.ndarray,
        force: np.ndarray | None,
        drag: "jounce.Drag | None",
        colliders: np.ndarray | None,
        accelerations: np.ndarray | None = None,
    ) -> None:
        """One step of the tree, with loads as the wind around each domain."""
        masses = self._model.masses
        pull, rate = np.zeros_like(self._centers), np.full(len(masses), SLACK)
        pull += 0.0 if force is None else force / masses[:, None]
        pull += 0.0 if accelerations is None else accelerations
        if drag is not None:
            rate = np.maximum(rate, self._resistance(drag) / masses)
        report = self._tree.step(
            rigid(pose),
            wind=np.concatenate([np.zeros((1, 3)), pull / rate[:, None]]),
            drag=np.concatenate([[SLACK], rate]),
            colliders=None if colliders is None or not len(colliders) else colliders,
        )
        self.converged = report.converged
        self._speeds, self._centers = self._moved()

    def _resistance(self, drag: "jounce.Drag") -> np.ndarray:
        """Resistance (d,) in N s/m at the present speeds."""
        quadratic = 0.0 if drag.quadratic is None else np.asarray(drag.quadratic) * self._speeds
        return np.asarray(drag.linear) + quadratic

    def _moved(self) -> tuple[np.ndarray, np.ndarray]:
        """Speeds (d,) in m/s over the last frame, and centres (d, 3)."""
        frames = self._tree.frames[1:]
        now = np.einsum("dij,dj->di", frames[:, :, :3], self._model.centers) + frames[:, :, 3]
        return np.linalg.norm(now - self._centers, axis=1) / self._seconds, now


class TreeJob:
    """Steps of a simulation with their results, with the interface of a `jounce.MotionJob`.

    A tree is fast enough to be stepped while Blender waits.
    """

    def __init__(self, simulation: TreeSimulation) -> None:
        """simulation: start of the motion, owned from now on."""
        self.simulation = simulation
        self._kept: list[tuple[np.ndarray, TreeMoment | None, bool]] = []
        for name in ("step", "settle", "reset", "cut", "coast", "vary"):
            setattr(self, name, getattr(simulation, name))

    @property
    def strength(self) -> float:
        """Share of the object's acceleration that acts on the body."""
        return self.simulation.strength

    @strength.setter
    def strength(self, share: float) -> None:
        self.simulation.strength = share

    def keep(self, *, state: bool) -> None:
        """Keeps the coefficients of the last frame, and its state."""
        moment = self.simulation.save_state() if state else None
        self._kept.append((self.simulation.coefficients, moment, self.simulation.converged))

    def wait(self) -> None:
        """All is done already."""

    def cancel(self) -> None:
        """Nothing is running."""

    def coefficients(self, first: int) -> np.ndarray:
        """The kept coefficients from a number on, (k, m, 3, 4)."""
        found = [kept[0] for kept in self._kept[first:]]
        return np.stack(found) if found else np.empty((0, *self.simulation.coefficients.shape))

    def converged(self, first: int) -> list[bool]:
        """True for the kept frames, from a number on, that converged."""
        return [kept[2] for kept in self._kept[first:]]

    def state(self, number: int) -> TreeMoment | None:
        """The kept state of a number."""
        return self._kept[number][1]


def rigid(pose: np.ndarray) -> np.ndarray:
    """The rotation and translation (3, 4) of a pose (3, 4), without its scale."""
    return np.column_stack([polar(pose[None])[0][0], pose[:, 3]])


def moved(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (k, 3) moved by a pose (3, 4)."""
    return points @ pose[:, :3].T + pose[:, 3]


def composed(second: np.ndarray, first: np.ndarray) -> np.ndarray:
    """One transform (3, 4) after the other."""
    return np.column_stack([second[:, :3] @ first[:, :3], second[:, :3] @ first[:, 3] + second[:, 3]])


def inverse(transform: np.ndarray) -> np.ndarray:
    """The inverse of a rotation and translation (3, 4)."""
    back = transform[:, :3].T
    return np.column_stack([back, -back @ transform[:, 3]])
