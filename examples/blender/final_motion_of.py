"""One character for `final_motion.py`: modes, draft and final motion over a clip, and settling to rest.

    python final_motion_of.py FILE --report OUT.json [--frames 60] [--sheets DIR]

All are previewed as an artist does. Milliseconds are processor time of a frame's step on one thread. Stretch,
flipped triangles and jitter are defined in `body_parts_of.py`.
"""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import body_parts_of
import character as characters
import flesh
import one_character
import recordings
import script
import sheet
import studio

if TYPE_CHECKING:
    import jounce

# Seconds during which the rig rests.
STILL = 2.0
ROWS = ("Posed", "Draft", "Final", "Difference")
MEASURED = ("seen", "rib cage", "largest", "stretch, 99.9 percentile", "flipped triangles", "jitter")


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.shooting_parser(__doc__).parse_args()
    one_character.shoot(options, lambda *what: shoot(*what, options.report.parent))


def shoot(
    package: str, character: characters.Character, shot: characters.Shot, caches: Path
) -> tuple[dict, sheet.Take]:
    """Records all motions through the artist's operators; returns measurements and take.

    package: the extension's. caches: folder for the cache of the final motion, which would otherwise lie
    beside the character.
    """
    found = body_parts_of.regions(character)
    posed = studio.record(character.body, shot.frames)
    host = flesh.added(character.armature, character.body, shot.first)
    modes = studio.record(character.body, shot.frames)
    steps = stepped(package, host, shot)
    host.jounce.quality, host.jounce.cache_folder = "FINAL", str(caches)
    bpy.ops.jounce.fill_cache()
    draft = drafted(package, host, character, shot)
    final = studio.record(character.body, shot.frames)
    rough = one_character.take(character, shot, posed, draft)
    take = replace(rough, fleshed=final, rows=ROWS, between=(draft,))
    values = [body_parts_of.measure(character, each, found) for each in (rough, take)]
    report = {"modes, apart": apart(posed, modes, final), "draft, apart": apart(posed, draft, final)}
    report |= {f"{name}, draft": values[0][name] for name in MEASURED if name in values[0]}
    report |= {name: values[1][name] for name in MEASURED if name in values[1]}
    return report | steps, take


def apart(posed: sheet.Shapes, draft: sheet.Shapes, final: sheet.Shapes) -> float:
    """Difference between draft and final motion, relative to the final motion's distance from the pose."""

    def squares(one: sheet.Shapes, other: sheet.Shapes) -> float:
        pairs = zip(one, other, strict=True)
        return sum(
            float(((np.concatenate(a).astype(float) - np.concatenate(b)) ** 2).sum()) for a, b in pairs
        )

    moved = squares(final, posed)
    return (squares(draft, final) / moved) ** 0.5 if moved > 0.0 else 0.0


def drafted(
    package: str, host: bpy.types.Object, character: characters.Character, shot: characters.Shot
) -> sheet.Shapes:
    """The draft behind a complete final motion, as the preview shows it before a frame is final."""
    behind = importlib.import_module(f"{package}.bridge.preview.previews").session(host).final
    behind.frame, behind.reach = (lambda _index: None), (lambda _drives, _index: None)
    shapes = studio.record(character.body, shot.frames)
    del behind.frame, behind.reach
    return shapes


def stepped(package: str, host: bpy.types.Object, shot: characters.Shot) -> dict:
    """Milliseconds of each kind of motion, largest rise of energy with a resting rig, as a share of the
    energy, and the number of tets.
    """

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"{package}.{name}")

    _, body, motion = recordings.recorded(module, host, range(shot.first, shot.last + 1))
    motions, full = module("core.stepping.motion"), module("core.body.full_space")
    settings = host.jounce.motion_settings()
    model = body.full_space(full.material(body, host.jounce.flesh()))
    stiffness = motions.stiffness_of(motions.built_frequency(body, settings.frequency_of), settings)
    render = bpy.context.scene.render
    seconds, none = render.fps_base / render.fps, np.zeros(3)
    kinds = {
        "ms, modes": motions.simulation(body, settings, seconds, none),
        "ms, draft": motions.simulation(
            body, settings, seconds, none, model, tolerance=motions.DRAFT_TOLERANCE
        ),
        "ms": motions.simulation(body, settings, seconds, none, model),
    }
    costs = {name: milliseconds(kind, host, motion.poses) for name, kind in kinds.items()}
    rate = settings.substeps * render.fps / render.fps_base
    simulation = undamped(model, stiffness, rate)
    simulation.reset(motion.poses[0])
    fullest, state, still = 0.0, simulation.save_state(), motion.poses[0]
    for before, after in zip(motion.poses, motion.poses[1:], strict=False):
        for step in range(1, settings.substeps + 1):
            share = step / settings.substeps
            report = simulation.step(np.ascontiguousarray((1 - share) * before + share * after))
        if report.energy > fullest:
            fullest, state, still = report.energy, simulation.save_state(), after
    simulation.restore_state(state)
    energies = energies_of(simulation, still, motions.DENSITY * body.mesh.vertex_volumes, rate)
    rise = float(np.diff(energies).max(initial=0.0))
    rise = rise / energies[0] if energies[0] > 0.0 else 0.0
    return {"tets": len(body.mesh.tets), "rise": rise} | costs


def milliseconds(simulation: jounce.Simulation, host: bpy.types.Object, poses: np.ndarray) -> float:
    """Processor time of a frame, in the mean."""
    simulation.strength = host.jounce.strength * host.jounce.shot_amount
    simulation.reset(poses[0])
    started = time.process_time()
    for pose in poses[1:]:
        simulation.step(pose)
    return 1e3 * (time.process_time() - started) / (len(poses) - 1)


def undamped(model: jounce.Model, stiffness: float, rate: float) -> jounce.Simulation:
    """A simulation with one solver step per step, without damping, gravity and limits."""
    import jounce

    return jounce.Simulation(
        model,
        dt=1.0 / rate,
        damping=0.0,
        pose_rest=1.0,
        stiffness=stiffness,
        max_iterations=1000,
        tolerance=1e-8,
    )


def energies_of(simulation: jounce.Simulation, pose: np.ndarray, mass: np.ndarray, rate: float) -> np.ndarray:
    """Kinetic plus elastic energy after each step with a resting rig."""
    found = []
    simulation.step(pose)
    last = simulation.coefficients.copy()
    for _ in range(round(STILL * rate)):
        report = simulation.step(pose)
        now = simulation.coefficients.copy()
        found.append(report.energy + 0.5 * float((mass[:, None] * ((now - last) * rate) ** 2).sum()))
        last = now
    return np.array(found)


if __name__ == "__main__":
    script.run(main)
