"""The whole way with one character, checked at every stage; run by `characters.py`.

    python character_checks.py FILE --report OUT.json [--frames 60]

(a) the bind pose, a rigidly moved bind pose and (with the rest following the pose) a held pose leave no
displacement once settled; (b) the displacement is complementary to the rig on every frame; (c) armature and
baked keys give the simulated shape, and so does the preview, on frames in any order and from the same bits;
(d) so does the saved file without the add-on; (e) `jounce.remove` leaves everything as it was. All lengths
are fractions of the rest diagonal.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters
import extension
import flesh
import recordings
import snapshot
import studio

SETTLED = 1e-6
COMPLEMENTARY = 1e-8
FRAME_KEYS_ERROR = 1e-4
PREVIEW_ERROR = 1e-6
REOPENED = 1e-6
# Rounding error of single precision in a reported error, as a share of the size.
SINGLE_PRECISION = 1e-6
# Weakly held parts, such as a cow's tail without a core, come to rest slowly: a tenth is left after 20
# seconds.
SETTLING_SECONDS = 200.0


@dataclass
class Report:
    """Measured values for the table, and the results of the checks."""

    values: dict = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    made: int = 0

    def check(self, what: str, value: float, limit: float) -> None:
        """Counts a check, which fails above the limit and for NaN."""
        self.made += 1
        self.values[what] = float(value)
        if not value <= limit:
            self.failed.append(f"{what}: {value:.3g}, allowed {limit:.3g}")

    def as_dict(self) -> dict:
        """The report for `characters.py`."""
        verdict = f"{self.made} passed" if not self.failed else f"{len(self.failed)} of {self.made} failed"
        return {"checks": verdict, "failed": self.failed, "notes": self.notes, **self.values}


@dataclass
class Built:
    """The built body of the scene and its motion over the shot, by the extension's own functions."""

    body: object
    surface: object
    scene: object
    poses: np.ndarray
    coefficients: np.ndarray
    unit: float

    def displacement(self, coefficients: np.ndarray) -> np.ndarray:
        """Displacement (p, 3) of the render vertices, in Blender units."""
        return self.body.model.displacement(coefficients, self.body.embedding) / self.unit


def main() -> None:
    """Check one character and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--frames", type=int, default=60)
    options = parser.parse_args()
    package = extension.enable().__name__
    report = Report()
    try:
        character = characters.load(options.file)
        everything(package, character, characters.choose_shot(character, options.frames), report)
        result = report.as_dict()
    except (characters.Unreadable, RuntimeError) as refusal:
        sentence = str(refusal).strip().removeprefix("Error: ")
        result = {**report.as_dict(), "checks": "refused", "notes": [f"refused: {sentence}"]}
    options.report.write_text(json.dumps(result), encoding="utf-8")


def everything(package: str, character: characters.Character, shot: characters.Shot, report: Report) -> None:
    """Add, build, bake both ways, save, reopen, remove."""
    meshes = character.body
    report.values["vertices"] = sum(len(mesh.data.vertices) for mesh in meshes)
    before = _state(meshes)
    bpy.context.scene.frame_set(shot.first)
    flesh.select(meshes)
    bpy.ops.jounce.add()
    # Rest, complementarity and keys are those of modes.
    meshes[0].jounce.quality = "DRAFT"
    started = time.perf_counter()
    bpy.ops.jounce.build()
    report.values["build s"] = time.perf_counter() - started
    built = _built(package, meshes[0], shot)
    _describe(built, report)
    meshes = list(built.scene.objects)
    posed = [np.concatenate(shape) for shape in studio.record(meshes, shot.frames)]
    check_rest(built, report)
    check_complementarity(built, report)
    check_preview(package, built, meshes, shot, posed, report)
    check_frame_keys(built, meshes, shot, posed, report)
    check_modal_keys(built, meshes, shot, posed, report)
    bpy.context.scene.frame_set(shot.first)
    flesh.select(meshes)
    bpy.ops.jounce.remove()
    differences = snapshot.differences(before, _state(meshes))
    report.check("differences after remove", len(differences), 0)
    report.notes += differences[:5]


def _state(meshes: list[bpy.types.Object]) -> dict:
    """All data that `jounce.remove` must restore."""
    return {"file": snapshot.file_state()} | {mesh.name: snapshot.snapshot(mesh) for mesh in meshes}


def _built(package: str, host: bpy.types.Object, shot: characters.Shot) -> Built:
    """Read the body back and compute its motion as a bake does."""

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"{package}.{name}")

    scene, body, motion = recordings.recorded(module, host, range(shot.first, shot.last + 1))
    unit = module("bridge.common.units").metres_per_unit(bpy.context.scene)
    return Built(body, scene.surface, scene, motion.poses, motion.coefficients, unit)


def _describe(built: Built, report: Report) -> None:
    model = built.body.model
    report.values |= {"bones": model.bone_count, "tets": len(built.body.mesh.tets), "modes": model.mode_count}
    largest = max(np.linalg.norm(built.displacement(c), axis=1).max() for c in built.coefficients)
    report.values["largest motion"] = float(largest * built.unit / built.surface.diagonal)
    simulation = _simulation(built)
    simulation.reset(built.poses[0])
    started = time.perf_counter()
    for pose in built.poses:
        simulation.step(pose)
    report.values["step ms"] = 1e3 * (time.perf_counter() - started) / len(built.poses)


def _simulation(built: Built, **changes: float):
    """A simulation with the settings of the body, with some changes."""
    import jounce

    state = built.scene.host.jounce
    settings = {
        "dt": bpy.context.scene.render.fps_base / bpy.context.scene.render.fps,
        "substeps": state.substeps,
        "damping": state.damping,
        "pose_rest": state.pose_rest,
        "stiffness": (state.frequency / state.built_size_frequency) ** 2,
        "limit": state.limit / 100.0 if state.use_limit else None,
        "stretch": state.stretch / 100.0 if state.use_stretch else None,
    }
    return jounce.Simulation(built.body.model, **(settings | changes))


def check_rest(built: Built, report: Report) -> None:
    """(a) Flesh without loads comes to rest exactly in the posed shape."""
    bind = np.tile(np.eye(3, 4), (built.body.model.bone_count, 1, 1))
    for rest in (0.0, 1.0):
        report.check(f"bind pose, rest {rest:g}", _held(built, [bind], pose_rest=rest), SETTLED)
        report.check(
            f"rigid pose, rest {rest:g}", _held(built, [_rigid(built, bind)], pose_rest=rest), SETTLED
        )
    moved = [np.linalg.norm(built.displacement(c), axis=1).max() for c in built.coefficients]
    peak = max(1, int(np.argmax(moved)))
    report.check("held pose", _held(built, built.poses[: peak + 1], pose_rest=1.0), SETTLED)


def _rigid(built: Built, bind: np.ndarray) -> np.ndarray:
    """The bind pose turned by 100 degrees about a skew axis and carried a few sizes away."""
    axis, angle = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0), np.radians(100.0)
    cross = np.cross(np.eye(3), axis)
    turn = np.eye(3) - np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    moved = bind.copy()
    moved[:, :, :3] = turn
    moved[:, :, 3] = built.surface.diagonal * np.array([2.0, -1.0, 0.5])
    return moved


def _held(built: Built, poses: list[np.ndarray], pose_rest: float) -> float:
    """Plays the poses, holds the last, and measures the displacement left once settled, or at the end."""
    simulation = _simulation(built, pose_rest=pose_rest)
    simulation.reset(poses[0])
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    for pose in poses:
        simulation.step(pose)
    for _ in range(round(SETTLING_SECONDS)):
        for _ in range(round(rate)):
            simulation.step(poses[-1])
        left = np.linalg.norm(built.displacement(simulation.coefficients), axis=1).max()
        if left * built.unit < 0.5 * SETTLED * built.surface.diagonal:
            break
    return float(left * built.unit / built.surface.diagonal)


def check_complementarity(built: Built, report: Report) -> None:
    """(b) |J'MDu| / (|J|'MD|u|) over all bones, the worst frame, computed from the definition."""
    body = built.body
    points, mass = np.asarray(body.mesh.vertices), body.mesh.vertex_volumes
    weights, modes = body.rig.merged(body.merged).weights, np.asarray(body.modes.weights)
    kept = weights * (mass * (1.0 - np.asarray(body.leak)))[:, None]
    affine = np.column_stack([points, np.ones(len(points))])
    worst = 0.0
    for coefficients in built.coefficients:
        moved = np.einsum("im,mdk,ik->id", modes, coefficients, affine)
        rows = np.einsum("ij,ik,id->jkd", kept, affine, moved, optimize=True)
        sizes = np.einsum("ij,ik,id->jkd", abs(kept), abs(affine), abs(moved), optimize=True)
        worst = max(worst, np.linalg.norm(rows) / max(np.linalg.norm(sizes), 1e-300))
    report.check("complementarity", worst, COMPLEMENTARY)


def check_preview(
    package: str,
    built: Built,
    meshes: list[bpy.types.Object],
    shot: characters.Shot,
    posed: list[np.ndarray],
    report: Report,
) -> None:
    """(c) The preview shows the simulated shape on frames in any order, and caches the same bits."""
    scene, preview = bpy.context.scene, importlib.import_module(f"{package}.bridge.preview.previews")
    shown = (scene.frame_start, scene.frame_end)
    scene.frame_start, scene.frame_end = shot.first, shot.last
    flesh.select(meshes)
    bpy.ops.jounce.preview()
    known = preview.session(meshes[0])
    order = np.random.default_rng(0).permutation(len(posed))[:20]
    gaps = []
    for index in order:
        (shape,) = studio.record(meshes, [shot.frames[index]])
        moved = np.concatenate(shape) - (posed[index] + built.displacement(built.coefficients[index]))
        gaps.append(np.linalg.norm(moved, axis=1).max())
    report.check("preview", max(gaps) * built.unit / built.surface.diagonal, PREVIEW_ERROR)
    bpy.ops.jounce.fill_cache()
    different = (
        not np.array_equal(drive.pose, pose) or not np.array_equal(cached, coefficients)
        for drive, pose, cached, coefficients in zip(
            known.filling.drives, built.poses, known.cache.coefficients, built.coefficients, strict=True
        )
    )
    report.check("frames that the preview has otherwise", sum(different), 0)
    if "play it" in known.status():
        report.notes.append(known.status())
    bpy.ops.jounce.preview()
    scene.frame_start, scene.frame_end = shown


def check_frame_keys(
    built: Built,
    meshes: list[bpy.types.Object],
    shot: characters.Shot,
    posed: list[np.ndarray],
    report: Report,
) -> None:
    """(c) One key per frame gives the simulated shape."""
    flesh.select(meshes)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=shot.first, frame_end=shot.last)
    shapes = [np.concatenate(shape) for shape in studio.record(meshes, shot.frames)]
    report.check("frame keys", _distance(built, shapes, posed), FRAME_KEYS_ERROR)


def check_modal_keys(
    built: Built,
    meshes: list[bpy.types.Object],
    shot: characters.Shot,
    posed: list[np.ndarray],
    report: Report,
) -> None:
    """(c, d) A few keys reach the reported error, also in the saved file without the add-on."""
    flesh.select(meshes)
    started = time.perf_counter()
    bpy.ops.jounce.bake(target="MODAL_KEYS", frame_start=shot.first, frame_end=shot.last)
    report.values["bake ms/frame"] = 1e3 * (time.perf_counter() - started) / len(shot.frames)
    report.values["keys"] = max(mesh.jounce.bake_keys for mesh in meshes)
    error = report.values["bake error"] = meshes[0].jounce.bake_error
    shapes = [np.concatenate(shape) for shape in studio.record(meshes, shot.frames)]
    report.check("modal keys", _distance(built, shapes, posed), error + SINGLE_PRECISION)
    report.check("shape without the add-on", _reopened(built, meshes, shot, shapes), REOPENED)


def _distance(built: Built, shapes: list[np.ndarray], posed: list[np.ndarray]) -> float:
    """Largest distance of evaluated shapes from posed plus simulated, at any vertex and frame."""
    gaps = (
        np.linalg.norm(shape - (pose + built.displacement(c)), axis=1).max()
        for shape, pose, c in zip(shapes, posed, built.coefficients, strict=True)
    )
    return float(max(gaps) * built.unit / built.surface.diagonal)


def _reopened(
    built: Built, meshes: list[bpy.types.Object], shot: characters.Shot, shapes: list[np.ndarray]
) -> float:
    """Save a copy, evaluate it in a fresh process without the add-on, and compare five frames."""
    picked = np.unique(np.linspace(0, len(shapes) - 1, 5).astype(int))
    with tempfile.TemporaryDirectory() as scratch:
        blend, out = Path(scratch) / "baked.blend", Path(scratch) / "shapes.npz"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True)
        frames = ",".join(str(shot.frames[index]) for index in picked)
        program = str(Path(__file__).with_name("evaluate_shapes.py"))
        command = [sys.executable, program, str(blend), str(out), frames, *(mesh.name for mesh in meshes)]
        environment = os.environ | {"BLENDER_USER_RESOURCES": str(Path(scratch) / "bare")}
        subprocess.run(command, env=environment, check=True, timeout=120)
        with np.load(out) as seen:
            gaps = [np.linalg.norm(seen[str(shot.frames[i])] - shapes[i], axis=1).max() for i in picked]
    return float(max(gaps) * built.unit / built.surface.diagonal)


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender's exit handlers can hang; the report is written.
    os._exit(code)
