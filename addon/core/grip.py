"""Pulling the flesh at one point, at reduced cost: a spring's force there is 12 numbers a mode.

The point is at `x = sum_j w_j T_j [X; 1] + sum_k W_k Z_k [X; 1]`, so a force f on it is the generalised force
`f_k = W_k f [X; 1]'` on the coefficients Z_k [HRPD app. A].
"""

import jounce
import numpy as np

# How much of the way to the mouse the point goes in a step: below 1, as the force is that of the step before.
SHARE = 0.6
# The force that the compliance is measured with moves nothing by more than this share of the diagonal.
PROBE = 1e-3


class Grip:
    """One render vertex of a body that is held."""

    def __init__(self, body: "jounce.Body", weights: np.ndarray, point: int) -> None:
        """weights: (b,), of the rig at the point. point: its number among the body's render vertices."""
        self._rig = weights
        tet = body.mesh.tets[body.embedding.tets[point]]
        self._weights = body.embedding.barycentric[point] @ body.modes.weights[tet]
        self._rest = np.append(body.embedding.points[point], 1.0)

    def position(self, pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Where the point is, (3,) in metres. pose: (b, 3, 4). coefficients: (m, 3, 4)."""
        rigged = np.tensordot(self._rig, pose, axes=1) @ self._rest
        return rigged + np.tensordot(self._weights, coefficients, axes=1) @ self._rest

    def generalised(self, force: np.ndarray) -> np.ndarray:
        """The generalised force (m, 3, 4) of a force (3,) in newtons on the point."""
        return self._weights[:, np.newaxis, np.newaxis] * np.outer(force, self._rest)

    def compliance(
        self,
        simulation: "jounce.Simulation",
        pose: np.ndarray,
        diagonal: float,
        drag: "jounce.Drag | None" = None,
    ) -> float:
        """How far a newton moves the point in a step, in m/N; the simulation stays as it is.

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
        """The generalised force (m, 3, 4) of a spring from the point to a target (3,) in metres."""
        if compliance == 0.0:
            return np.zeros_like(coefficients)
        pull = target - self.position(pose, coefficients)
        return self.generalised(pull * (SHARE / compliance))
