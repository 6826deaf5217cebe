"""Grab of the flesh at one point, at reduced cost: a spring's force is one number per coefficient.

The point is at `x = sum_j w_j T_j [X; 1] + A z`, with column k of A the displacement by a unit of coefficient
k. A force f on the point is the generalised force `A'f` [HRPD app. A]. Bodies of handles may be far from a
rig: there, springs are part of the step, and hold a whole body by a patch; a single point would be drawn out
to a tip.
"""

import jounce
import numpy as np

from .attached import AttachedBody
from .full_space import FineBody
from .loose import LooseBody
from .pinned import PinnedBody
from .tree_simulation import TreeSimulation

# Share of the way to the mouse per step: below 1, as the force lags by one step.
SHARE = 0.6
# Stiffness of the spring on a pinned body, as a multiple of the body's own.
FIRMER = 2.5
# Largest displacement by the force for measuring the compliance, as a share of the diagonal.
PROBE = 1e-3
# Frequency of the spring between pointer and body of handles, Hz, and damping rate of a hanging body, 1/s.
FIRM, CALM = 10.0, 6.0
# Radius of the held patch as a share of the diagonal, and largest number of its points.
PATCH, MOST = 0.12, 16


class Grip:
    """One held render vertex of a body."""

    def __init__(
        self, shaper: "jounce.Body | FineBody", weights: np.ndarray, point: int, triangles: np.ndarray
    ) -> None:
        """weights: (b,), of the rig at the point. point: index among the body's render vertices.

        shaper: owner of the coefficients. triangles: (q, 3), of the render vertices. Where every vertex
        moves, forces act on a patch around the point, and move the patch on average: a single point would be
        drawn out to a tip.
        """
        points, held = shaper.embedding.points, [point]
        if isinstance(shaper, FineBody) and len(shaper.model.coefficient_shape) == 2:
            held = patch(points, triangles, point, PATCH * float(np.linalg.norm(np.ptp(points, axis=0))))
        self._rig = weights
        self._rest = np.append(points[point], 1.0)
        forces = np.zeros((3, len(points), 3))
        forces[:, held] = np.eye(3)[:, np.newaxis] / len(held)
        # A force along an axis does the work of the displacement along this axis.
        self._moved_by = np.stack([shaper.model.reduce_forces(each, shaper.embedding) for each in forces])

    def position(self, pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Position of the point, (3,) in metres. pose: (b, 3, 4). coefficients: of the shaper's model."""
        rigged = np.tensordot(self._rig, pose, axes=1) @ self._rest
        return rigged + np.tensordot(self._moved_by, coefficients, axes=coefficients.ndim)

    def generalised(self, force: np.ndarray) -> np.ndarray:
        """The generalised force, one number per coefficient, of a force (3,) in newtons at the point."""
        return np.tensordot(force, self._moved_by, axes=1)

    def compliance(
        self,
        simulation: "jounce.Simulation",
        pose: np.ndarray,
        diagonal: float,
        drag: "jounce.Drag | None" = None,
    ) -> float:
        """Displacement of the point per newton in a step, in m/N; leaves the simulation unchanged.

        Measured along each axis, with a force that moves the point by about `PROBE` of the diagonal.
        """
        force = 1.0
        for _ in range(2):
            moved = max(self._moved(simulation, pose, axis * force, drag) for axis in np.eye(3))
            if moved == 0.0:
                return 0.0
            found = moved / force
            force = PROBE * diagonal / found
        return found

    def _moved(
        self,
        simulation: "jounce.Simulation",
        pose: np.ndarray,
        force: np.ndarray,
        drag: "jounce.Drag | None",
    ) -> float:
        state = simulation.save_state()
        ends = []
        for generalised in (None, self.generalised(force)):
            simulation.step(pose, generalised, drag=drag)
            ends.append(self.position(pose, simulation.coefficients))
            simulation.restore_state(state)
        return float(np.linalg.norm(ends[1] - ends[0]))

    def spring(
        self, target: np.ndarray, pose: np.ndarray, coefficients: np.ndarray, compliance: float
    ) -> np.ndarray:
        """The generalised force of a spring from the point to a target (3,) in metres."""
        if compliance == 0.0:
            return self.generalised(np.zeros(3))
        pull = target - self.position(pose, coefficients)
        return self.generalised(pull * (SHARE / compliance))


class DomainGrip(Grip):
    """One held render vertex of a pinned body: a force on it acts on all of its domain.

    A slender body swings for long, so that its swings are damped while it is held.
    """

    def __init__(self, body: PinnedBody, point: int, simulation: TreeSimulation) -> None:
        """point: index among the body's render vertices. simulation: of the body, to be pulled."""
        self._body, self._simulation = body, simulation
        self._rest = np.append(body.embedding.points[point], 1.0)
        self._shares, self._corners = body.embedding.barycentric[point], body.embedding.corners[point]
        nearest = self._corners[self._shares.argmax()]
        self._domain = next(number for number, limb in enumerate(body.model.limbs) if nearest in limb.rows)
        simulation.calm(True)

    def release(self) -> None:
        """Lets the body swing again."""
        self._simulation.calm(False)

    def position(self, pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Position of the point, (3,) in metres. pose: (1, 3, 4). coefficients: relative to the root."""
        model = self._body.model
        moved = model.displacement(model.shown(pose[0], coefficients))
        return pose[0] @ self._rest + self._shares @ moved[self._corners]

    def generalised(self, force: np.ndarray) -> np.ndarray:
        """The force (d, 3) on each domain of a force (3,) in newtons at the point."""
        found = np.zeros_like(self._body.model.centers)
        found[self._domain] = force
        return found

    def spring(
        self, target: np.ndarray, pose: np.ndarray, coefficients: np.ndarray, compliance: float
    ) -> np.ndarray:
        """The forces (d, 3) of a spring to a target (3,) in metres, firmer than the body is."""
        pull = super().spring(target, pose, coefficients, compliance)
        return pull * (FIRMER / SHARE)

    def _moved(
        self,
        simulation: "jounce.Simulation",
        pose: np.ndarray,
        force: np.ndarray,
        drag: "jounce.Drag | None",
    ) -> float:
        """Displacement in balance: that of a step says little of a body with slow swings."""
        state = simulation.save_state()
        ends = []
        for pull in (np.zeros(3), force):
            simulation.settle(pose, self.generalised(pull), drag=drag)
            ends.append(self.position(pose, simulation.coefficients))
        simulation.restore_state(state)
        return float(np.linalg.norm(ends[1] - ends[0]))


class HandleGrip:
    """A held patch of a loose or attached body, as a whole or as a dent.

    The patch keeps its shape at the grab and rotates with the body, and a lifted body can hang freely. Around
    the patch the handles are as smooth as elsewhere.
    """

    def __init__(
        self,
        shaper: "LooseBody | AttachedBody",
        triangles: np.ndarray,
        point: int,
        radius: float,
        coefficients: np.ndarray,
    ) -> None:
        """triangles: (q, 3), of the render vertices. point: centre of the patch. radius: metres, at rest.

        coefficients: of the model, at the time of the grab.
        """
        embedding = shaper.embedding if isinstance(shaper, LooseBody) else None
        points = shaper.embedding.points
        held = patch(points, triangles, point, radius)
        self._grip = jounce.Grip(shaper.model, held, embedding)
        self._rest = points[held]
        self._rows = np.empty((len(held), *shaper.model.coefficient_shape[::2]))
        for first in range(0, len(held), 3):
            forces, three = np.zeros_like(points), held[first : first + 3]
            # Each axis probes a point of its own: all three respond alike.
            forces[three, range(len(three))] = 1.0
            reduced = shaper.model.reduce_forces(forces, embedding)
            self._rows[first : first + 3] = reduced.transpose(1, 0, 2)[: len(three)]
        places = self._places(coefficients)
        self._taken = places - places[0]

    def position(self, _pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Position of the centre, (3,) in metres. coefficients: of the model."""
        return self._places(coefficients)[0]

    def pull(self, target: np.ndarray, coefficients: np.ndarray) -> "jounce.Pull":
        """Springs from the centre and its patch to a target (3,) in metres."""
        places = self._places(coefficients)
        return self._grip.pull(target + self._taken @ turn(self._taken, places).T, FIRM, CALM)

    def _places(self, coefficients: np.ndarray) -> np.ndarray:
        return self._rest + np.einsum("pkd,kcd->pc", self._rows, coefficients)


def patch(points: np.ndarray, triangles: np.ndarray, point: int, radius: float) -> list[int]:
    """Indices of points around a point, itself first, spread over the connected triangles within a radius."""
    apart = np.linalg.norm(points - points[point], axis=1)
    inside = triangles[(apart[triangles] < radius).all(axis=1)]
    joined = np.zeros(len(points), bool)
    joined[point] = True
    before = 0
    while before < joined.sum():
        before = int(joined.sum())
        joined[inside[joined[inside].any(axis=1)]] = True
    around, held = np.flatnonzero(joined), [point]
    gaps = apart[around]
    while len(held) < min(MOST, len(around)):
        held.append(int(around[gaps.argmax()]))
        gaps = np.minimum(gaps, np.linalg.norm(points[around] - points[held[-1]], axis=1))
    return held


def turn(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) of the best fit from places (k, 3) to others."""
    left, _, right = np.linalg.svd((after - after.mean(axis=0)).T @ (before - before.mean(axis=0)))
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    return left @ right
