"""One character for `converged.py`: accuracy of substeps of its final flesh at several tolerances.

    python converged_of.py FILE --report OUT.json [--frames 60]

With the settings of *Add Jounce*, limits included. Substeps are made one by one, each from the state of a
precise run, with poses on the parabola through three frames, as in a simulation.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import flesh
import one_character
import recordings
import script

if TYPE_CHECKING:
    import jounce

PRECISE = 1e-9
TOLERANCES = (1e-5, 3e-6, 1e-6, 1e-7, 1e-8)
ENOUGH = 1e-3
MOST_ITERATIONS = 2000


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.parser(__doc__, frames=60).parse_args()
    one_character.measure(options, compare)


def compare(package: str, character: characters.Character, shot: characters.Shot) -> dict:
    """Errors and cost of substeps, for each tolerance."""
    # The module is part of the extension, which is enabled by now.
    import jounce

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"{package}.{name}")

    host = flesh.added(character.armature, character.body, shot.first)
    _, body, motion = recordings.recorded(module, host, range(shot.first, shot.last + 1))
    render = bpy.context.scene.render
    settings, motions = host.jounce.motion_settings(), module("core.stepping.motion")
    model = body.full_space(module("core.body.full_space").material(body, host.jounce.flesh()))
    kept = {
        "dt": render.fps_base / render.fps / settings.substeps,
        "damping": motions.damping_of(body, settings),
        "stiffness": motions.stiffness_of(motions.built_frequency(body, settings.frequency_of), settings),
        "pose_rest": settings.pose_rest,
        "integrator": settings.integrator,
        "limit": settings.limit,
        "stretch": settings.stretch,
        "max_iterations": MOST_ITERATIONS,
    }
    precise = jounce.Simulation(model, tolerance=PRECISE, **kept)
    others = [jounce.Simulation(model, tolerance=tolerance, **kept) for tolerance in TOLERANCES]
    poses = list(between(np.asarray(motion.poses), settings.substeps))
    report: dict = {"vertices": len(body.mesh.vertices), "tets": len(body.mesh.tets)}
    for tolerance, found in zip(TOLERANCES, measured(precise, others, poses, body), strict=True):
        iterations, milliseconds, errors, moved = found.T
        report[f"iterations, {tolerance:.0e}"] = float(iterations.mean())
        report[f"ms, {tolerance:.0e}"] = float(milliseconds.mean())
        report[f"median, {tolerance:.0e}"] = float(np.median(errors))
        report[f"90 %, {tolerance:.0e}"] = float(np.quantile(errors, 0.9))
        report[f"largest, {tolerance:.0e}"] = float(errors.max())
        report[f"within, {tolerance:.0e}"] = float(np.mean(errors < ENOUGH))
        report[f"of the move, {tolerance:.0e}"] = float(np.mean(moved < ENOUGH))
    return report


def between(poses: np.ndarray, substeps: int) -> Iterator[np.ndarray]:
    """Poses of all substeps."""
    yield poses[0]
    for frame in range(1, len(poses)):
        before, last, now = poses[max(frame - 2, 0)], poses[frame - 1], poses[frame]
        for substep in range(1, substeps + 1):
            t = substep / substeps
            yield np.ascontiguousarray(
                last + t * (now - before) / 2.0 + t * t * (now - 2.0 * last + before) / 2.0
            )


def measured(
    precise: jounce.Simulation, others: list[jounce.Simulation], poses: list[np.ndarray], body: jounce.Body
) -> np.ndarray:
    """Iterations, milliseconds, and errors as shares of the displacement and of the move (t, substeps, 4)."""
    mass = np.asarray(body.mesh.vertex_volumes)[:, None]

    def norm(rows: np.ndarray) -> float:
        # Errors of flesh at rest have nothing to be relative to.
        return max(float(np.sqrt((mass * rows**2).sum())), np.finfo(float).tiny)

    for simulation in (precise, *others):
        simulation.reset(poses[0])
    found = np.zeros((len(others), len(poses) - 1, 4))
    for index, pose in enumerate(poses[1:]):
        state, before = precise.save_state(), np.array(precise.coefficients)
        precise.step(pose)
        exact = np.array(precise.coefficients)
        size, move = norm(exact), norm(exact - before)
        for row, simulation in zip(found, others, strict=True):
            simulation.restore_state(state)
            started = time.process_time()
            iterations = simulation.step(pose).iterations
            milliseconds = 1e3 * (time.process_time() - started)
            apart = norm(simulation.coefficients - exact)
            row[index] = iterations, milliseconds, apart / size, apart / move
    return found


if __name__ == "__main__":
    script.run(main)
