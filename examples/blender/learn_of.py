"""One character for `learn.py`: a shot in the full space, and in a model learnt from it.

    python learn_of.py FILE --report OUT.json [--frames 120] [--law neo_hookean]

All use backward Euler with two steps per frame, the damping and stiffness of *Add Jounce*, no limits, and a
rest shape that follows the pose. Errors are those of the displacement in the mass norm over the frames,
against the full space with the same settings.
"""

from __future__ import annotations

import importlib
import sys
import time
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

SUBSTEPS = 2
COUNTS = (16, 32, 64)


def main() -> None:
    """Measures one character and writes the report."""
    parser = one_character.parser(__doc__, frames=120)
    parser.add_argument("--law", default="arap")
    options = parser.parse_args()
    one_character.measure(options, lambda *of: compare(*of, options.law))


class Bench:
    """A body and its shot, for simulation by several models."""

    def __init__(self, package: str, host: bpy.types.Object, frames: range, law: str) -> None:
        """Build and record the body. law: that of the full space."""
        # The module is part of the extension, which is enabled by now.
        import jounce

        def module(name: str) -> ModuleType:
            return importlib.import_module(f"{package}.{name}")

        _, self.body, motion = recordings.recorded(module, host, frames)
        self.poses = np.ascontiguousarray(motion.poses)
        render = bpy.context.scene.render
        settings, motions = host.jounce.motion_settings(), module("core.stepping.motion")
        self.stiffness = motions.stiffness_of(
            motions.built_frequency(self.body, settings.frequency_of), settings
        )
        self.settings = {
            "dt": render.fps_base / render.fps,
            "substeps": SUBSTEPS,
            "damping": settings.damping,
            "max_iterations": 200,
            "tolerance": 1e-6,
        }
        density = module("core.body.built_bodies").DENSITY
        self.mass = density * self.body.mesh.vertex_volumes
        self.material = jounce.Material(self.body.material.young, 0.0 if law == "arap" else 0.3, density, law)

    def played(
        self, model: jounce.Model, factor: float = 1.0, poses: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, float]:
        """Displacements (f, n, 3), milliseconds and iterations per step; factor: on the stiffness."""
        import jounce

        poses = self.poses if poses is None else poses
        simulation = jounce.Simulation(model, stiffness=factor * self.stiffness, **self.settings)
        simulation.reset(poses[0])
        found, seconds, iterations = [np.array(simulation.displacement(), float)], 0.0, 0
        for pose in poses[1:]:
            started = time.perf_counter()
            iterations += simulation.step(pose).iterations
            seconds += time.perf_counter() - started
            found.append(np.array(simulation.displacement(), float))
        steps = SUBSTEPS * (len(poses) - 1)
        return np.array(found), 1e3 * seconds / steps, iterations / steps

    def norm(self, motion: np.ndarray) -> float:
        """Norm of displacements (f, n, 3), weighted by mass."""
        return float(np.sqrt((self.mass[None, :, None] * motion**2).sum()))

    def error(self, found: np.ndarray, exact: np.ndarray) -> float:
        """Distance between two motions, relative to the second."""
        return self.norm(found - exact) / self.norm(exact)


def compare(package: str, character: characters.Character, shot: characters.Shot, law: str) -> dict:
    """Errors of the draft and of learnt models, and their cost."""
    host = flesh.added(character.armature, character.body, shot.first)
    bench = Bench(package, host, range(shot.first, shot.last + 1), law)
    full = bench.body.full_space(bench.material)
    exact, milliseconds, _ = bench.played(full)
    report = {
        "tets": len(bench.body.mesh.tets),
        "vertices": len(bench.mass),
        "frames": len(bench.poses),
        "ms, full": milliseconds,
    }
    found, report["ms, draft"], _ = bench.played(bench.body.model)
    report["error, draft"] = bench.error(found, exact)
    for count in COUNTS:
        model = learnt(bench, full, exact, count, report)
        found, report[f"ms, {count}"], report[f"iterations, {count}"] = bench.played(model)
        report[f"error, {count}"] = bench.error(found, exact)
    for name, factor in (("half", 0.5), ("double", 2.0)):
        changed, _, _ = bench.played(full, factor)
        found, _, _ = bench.played(model, factor)
        report[f"error, {COUNTS[-1]}, {name}"] = bench.error(found, changed)
        found, _, _ = bench.played(bench.body.model, factor)
        report[f"error, draft, {name}"] = bench.error(found, changed)
    held_out(bench, full, exact, report)
    return report


def learnt(bench: Bench, full: jounce.Model, snapshots: np.ndarray, count: int, report: dict) -> jounce.Model:
    """Model learnt from snapshots (f, n, 3) from the start of the shot."""
    started = time.perf_counter()
    poses = bench.poses[: len(snapshots)]
    model = bench.body.learn(snapshots, poses, count, material=bench.material, frequency=full.frequency)
    report[f"s, {count}"] = time.perf_counter() - started
    return model


def held_out(bench: Bench, full: jounce.Model, exact: np.ndarray, report: dict) -> None:
    """Error over the second half of the shot of a model learnt from the first half."""
    half = len(exact) // 2
    model = bench.body.learn(
        exact[:half], bench.poses[:half], COUNTS[-1], material=bench.material, frequency=full.frequency
    )
    found, _, _ = bench.played(model)
    report["error, held out"] = bench.error(found[half:], exact[half:])


if __name__ == "__main__":
    script.run(main)
