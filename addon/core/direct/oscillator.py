"""Damped oscillators driven through values at given times with the least effort.

`x'' + 2 zeta omega x' + omega^2 x = f`, time in frames. Forces are constant within a substep, and the
states in between exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Substeps of a frame.
SUBSTEPS = 8
# Smallest frequency, in radians a frame, and smallest damping ratio: an oscillator always comes back.
SLOWEST, LEAST_DAMPED = 1e-3, 1e-3


@dataclass(frozen=True)
class Oscillator:
    """omega: radians a frame. zeta: damping ratio."""

    omega: float
    zeta: float

    @classmethod
    def of(cls, omega: float, zeta: float) -> "Oscillator":
        """An oscillator with the nearest valid values."""
        return cls(max(omega, SLOWEST), max(zeta, LEAST_DAMPED))

    def calmed(self, swing: float) -> "Oscillator":
        """The same with less swing: 1 unchanged, 0 a free mass, easing through the keys."""
        return self if swing == 1.0 else Oscillator.of(swing * self.omega, self.zeta)

    def transition(self, times: np.ndarray) -> np.ndarray:
        """Maps of the state (x, x') over some times without a force, (t, 2, 2)."""
        decay, root = self.zeta * self.omega, self.omega * np.sqrt(complex(self.zeta**2 - 1.0))
        first, second = np.exp((root - decay) * times), np.exp(-(root + decay) * times)
        mean = 0.5 * (first + second).real
        near = abs(root) < 1e-6 * self.omega
        slope = times * np.exp(-decay * times) if near else (0.5 * (first - second) / root).real
        rows = [[mean + decay * slope, slope], [-(self.omega**2) * slope, mean - decay * slope]]
        return np.moveaxis(np.array(rows), 2, 0)

    def response(self, count: int, step: float) -> np.ndarray:
        """States at the end of a step with a unit force, and at the ends of the steps after, (count, 2)."""
        over = self.transition(np.array([step]))[0]
        # The integral of the map over the step, applied to a change of velocity.
        start = np.array(
            [-2.0 * self.zeta / self.omega * over[0, 1] - (over[1, 1] - 1.0) / self.omega**2, over[0, 1]]
        )
        return self.transition(np.arange(count) * step) @ start


@dataclass(frozen=True)
class Plan:
    """Least-effort motions, one for each key: 1 at its own time, 0 at the others'.

    forces: (k, n), for each substep. values: (k, frames), at whole frames from the start on.
    """

    forces: np.ndarray
    values: np.ndarray


def through(times: Sequence[int], length: int, of: Oscillator) -> Plan:
    """Motions at rest at both ends of `length` frames that pass keys at whole times in between.

    Among all forces on the oscillator those of the smallest sum of squares: `f = C'(CC')^-1 d`, C the map
    from forces to the states at the keys and at the end.
    """
    count = length * SUBSTEPS
    states = of.response(count, 1.0 / SUBSTEPS)
    rows = [reaching(states[:, 0], time * SUBSTEPS) for time in times]
    ends = [reaching(column, count) for column in (states[:, 0], states[:, 1] / of.omega)]
    forces = least(np.array([*rows, *ends]), len(times))
    return Plan(forces, played(of, forces, np.zeros((2, len(times))))[:, 0].T)


def around(times: Sequence[int], period: int, of: Oscillator) -> Plan:
    """Periodic motions through keys at whole times in the period."""
    count = period * SUBSTEPS
    repeating = np.linalg.inv(np.eye(2) - of.transition(np.array([float(period)]))[0])
    states = of.response(count, 1.0 / SUBSTEPS) @ repeating.T
    back = np.arange(count)
    forces = least(np.array([states[(time * SUBSTEPS - 1 - back) % count, 0] for time in times]), len(times))
    start = repeating @ played(of, forces, np.zeros((2, len(times))))[-1]
    return Plan(forces, played(of, forces, start)[:, 0].T)


def least(constraints: np.ndarray, keys: int) -> np.ndarray:
    """The least forces (k, n) for constraints (c, n), each on one of the first k."""
    scale = np.maximum(np.linalg.norm(constraints, axis=1, keepdims=True), np.finfo(float).tiny)
    wanted = np.eye(len(constraints))[:, :keys]
    return np.linalg.lstsq(constraints / scale, wanted / scale, rcond=1e-13)[0].T


def reaching(response: np.ndarray, node: int) -> np.ndarray:
    """Influence (n,) of the force of each substep on the state at a node."""
    row = np.zeros(len(response))
    row[:node] = response[:node][::-1]
    return row


def played(of: Oscillator, forces: np.ndarray, start: np.ndarray) -> np.ndarray:
    """States (frames + 1, 2, k) at whole frames under forces (k, n)."""
    within = of.response(SUBSTEPS, 1.0 / SUBSTEPS)[::-1]
    pushes = np.einsum("kfs,sc->fck", forces.reshape(len(forces), -1, SUBSTEPS), within)
    over = of.transition(np.array([1.0]))[0]
    states = [start]
    for push in pushes:
        states.append(over @ states[-1] + push)
    return np.array(states)
