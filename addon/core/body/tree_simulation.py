"""The simulation of a pinned body: a tree of domains, stepped by poses of its object and by loads."""

from dataclasses import dataclass

import jounce
import numpy as np

from ..flesh.settings import FrameMaterial, MotionSettings
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
# Sine of an angle without an axis.
TINY = 1e-12
# Largest number of iterations of a substep, and its tolerance.
ITERATIONS, TOLERANCE = 100, 1e-4


@dataclass(frozen=True)
class TreeMoment:
    """State of a simulation between two frames.

    pose, root: (3, 4) each, of the object and of the tree's root. centers: (d, 3) of the domains, metres, and
    their speeds (d,), m/s.
    """

    tree: "jounce.State"
    pose: np.ndarray
    root: np.ndarray
    centers: np.ndarray
    speeds: np.ndarray


class TreeSimulation:
    """Steps of a pinned body, with the interface of a `jounce.Simulation`.

    strength: share of the object's motion that acts on the body. The root makes this share of each motion,
    and all loads are turned along with it.
    """

    def __init__(
        self,
        body: PinnedBody,
        settings: MotionSettings,
        frame_seconds: float,
        feel: FrameMaterial,
        colliders: "list[jounce.Collider] | None" = None,
        **_of_skin: object,
    ) -> None:
        self.strength = 1.0
        self._model: Tree = body.model
        self._seconds = frame_seconds
        self._stiffness, self._damping, self._gravity = 1.0, 0.0, np.zeros(3)
        self._tree = body.model.simulated(
            dt=frame_seconds,
            substeps=settings.substeps,
            integrator=settings.integrator,
            tolerance=TOLERANCE,
            max_iterations=ITERATIONS,
            colliders=colliders or None,
        )
        self._pose = self._root = np.eye(3, 4)
        self._centers, self._speeds = body.model.centers, np.zeros(len(body.model.masses))
        self._load: tuple[np.ndarray | None, jounce.Drag | None] = None, None
        self.converged, self._is_calm = True, False
        self.vary(feel.stiffness, feel.damping, feel.gravity)

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients (m, 3, 4) relative to the root."""
        return self._model.coefficients(self._tree, self._root)

    def vary(
        self,
        stiffness: float | None = None,
        damping: float | None = None,
        gravity: tuple[float, float, float] | None = None,
        **_of_flesh: float,
    ) -> None:
        """Sets stiffness, damping and gravity; None leaves a setting unchanged."""
        self._stiffness = self._stiffness if stiffness is None else stiffness
        self._damping = self._damping if damping is None else damping
        self._gravity = self._gravity if gravity is None else np.array(gravity)
        x, y, z = self._turned(self._gravity[None])[0].tolist()
        damping = self._model.damping * max(self._damping, DAMPED if self._is_calm else 0.0)
        self._tree.vary(stiffness=self._stiffness, damping=damping, gravity=(x, y, z))

    def calm(self, is_calm: bool) -> None:
        """Lets swings die away at once, or go on as their damping says."""
        self._is_calm = is_calm
        self.vary()

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
        before, self._pose = self._pose, rigid(pose[0])
        if self.strength == 1.0 and np.array_equal(self._root, before):
            self._root = self._pose
        else:
            self._root = followed(self._root, before, self._pose, self.strength)
            self.vary()
        self._step(force, drag, colliders)

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
        self._load = force, drag
        self._tree.vary(dt=LONG)
        for _ in range(BALANCING):
            self._step(force, None, colliders)
        self._tree.vary(dt=self._seconds)
        self._speeds = np.zeros_like(self._speeds)

    def reset(
        self, pose: np.ndarray, _offsets: np.ndarray | None = None, colliders: np.ndarray | None = None
    ) -> None:
        """Exactly in a pose, without velocity."""
        self._tree.reset()
        self._pose = self._root = rigid(pose[0])
        self._load = None, None
        self.vary()
        self._tree.vary(dt=SHORT)
        self._step(None, None, colliders)
        self._tree.vary(dt=self._seconds)
        self._speeds = np.zeros_like(self._speeds)

    def cut(
        self, pose: np.ndarray, offsets: np.ndarray | None = None, colliders: np.ndarray | None = None
    ) -> None:
        """In balance in a pose under the last loads: a tree keeps no bend from one place to another."""
        force, drag = self._load
        self.settle(pose, force, offsets, drag, colliders)

    def coast(
        self, pose: np.ndarray, _offsets: np.ndarray | None = None, colliders: np.ndarray | None = None
    ) -> None:
        """In balance in the present pose, on a way that leads at a constant velocity to the next one."""
        here, load = self._pose, self._load
        back = followed(here, rigid(pose[0]), here, self.strength)
        way = [here]
        for _ in range(LEAD):
            way.append(followed(way[-1], here, back, 1.0))
        self.reset(way[-1][None], None, colliders)
        self._tree.vary(damping=self._model.damping * DAMPED)
        for place in way[-2::-1]:
            self._pose = self._root = place
            self._step(*load, colliders)
        self._load = load
        self.vary()

    def save_state(self) -> TreeMoment:
        """The complete state before a step."""
        return TreeMoment(self._tree.save_state(), self._pose, self._root, self._centers, self._speeds)

    def restore_state(self, moment: TreeMoment) -> None:
        """Continues from a state."""
        self._tree.restore_state(moment.tree)
        self._pose, self._root = moment.pose, moment.root
        self._centers, self._speeds = moment.centers, moment.speeds

    def _turned(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (k, 3) of the world, as the root sees them."""
        if self._root is self._pose:
            return vectors
        return vectors @ (self._root[:, :3] @ self._pose[:, :3].T).T

    def _step(
        self, force: np.ndarray | None, drag: "jounce.Drag | None", colliders: np.ndarray | None
    ) -> None:
        """One step of the tree, with loads as the wind around each domain."""
        masses = self._model.masses
        pull, rate = np.zeros_like(self._centers), np.full(len(masses), SLACK)
        if force is not None:
            pull = self._turned(force / masses[:, None])
        if drag is not None:
            rate = np.maximum(rate, self._resistance(drag) / masses)
        if colliders is not None:
            away = composed(self._root, inverse(self._pose))
            colliders = None if not len(colliders) else np.stack([composed(away, each) for each in colliders])
        report = self._tree.step(
            self._root,
            wind=np.concatenate([np.zeros((1, 3)), pull / rate[:, None]]),
            drag=np.concatenate([[SLACK], rate]),
            colliders=colliders,
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


def followed(root: np.ndarray, before: np.ndarray, now: np.ndarray, share: float) -> np.ndarray:
    """A transform (3, 4) that makes a share of the motion between two others."""
    turn = now[:, :3] @ before[:, :3].T
    sine = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    length = float(np.linalg.norm(sine))
    angle = float(np.arctan2(length, 0.5 * (np.trace(turn) - 1.0)))
    if length < TINY:
        partly = np.eye(3)
    else:
        x, y, z = sine / length
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        partly = np.eye(3) + np.sin(share * angle) * cross + (1.0 - np.cos(share * angle)) * cross @ cross
    return np.column_stack([partly @ root[:, :3], root[:, 3] + share * (now[:, 3] - before[:, 3])])


def composed(second: np.ndarray, first: np.ndarray) -> np.ndarray:
    """One transform (3, 4) after the other."""
    return np.column_stack([second[:, :3] @ first[:, :3], second[:, :3] @ first[:, 3] + second[:, 3]])


def inverse(transform: np.ndarray) -> np.ndarray:
    """The inverse of a rotation and translation (3, 4)."""
    back = transform[:, :3].T
    return np.column_stack([back, -back @ transform[:, 3]])
