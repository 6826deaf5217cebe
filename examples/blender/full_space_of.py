"""One character for `full_space.py`: its reduced motion over a clip, and that in the full space.

    python full_space_of.py FILE --report OUT.json [--frames 30]

Both use backward Euler with two steps per frame, without gravity, damping and limits, an as-rigid-as-possible
law, a rest shape that follows the pose, and the settings of *Add Jounce*. The full space has the same cells,
rig, material and constraints: the core is pinned, and the motion is complementary to the rig wherever the
modes are. It is solved by local-global steps with a dense inverse, which a lattice of a few thousand vertices
allows.
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

import cells
import character as characters
import flesh
import one_character
import recordings
import script

if TYPE_CHECKING:
    import jounce

PER_FRAME = 2
ITERATIONS = 80
CHANGE = 2e-5
COMPLEMENTARY = 1e-6


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.parser(__doc__, frames=30).parse_args()
    one_character.measure(options, compare)


def compare(package: str, character: characters.Character, shot: characters.Shot) -> dict:
    """Errors and cost of both evaluations of forces."""
    # The module is part of the extension, which is enabled by now.
    import jounce

    host = flesh.added(character.armature, character.body, shot.first)

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"{package}.{name}")

    _, body, motion = recordings.recorded(module, host, range(shot.first, shot.last + 1))
    render = bpy.context.scene.render
    dt = render.fps_base / render.fps / PER_FRAME
    mesh, modes, material = body.mesh, body.modes, body.material
    settings = host.jounce.motion_settings()
    motions = module("core.stepping.motion")
    stiffness = motions.stiffness_of(motions.built_frequency(body, settings.frequency_of), settings)
    started = time.perf_counter()
    cubature = jounce.Cubature.train(mesh, material, modes, host.jounce.clusters, body.rig)
    training = time.perf_counter() - started
    ways = {
        "clusters": jounce.Model.skinning(mesh, material, modes, body.labels, body.rig),
        "cubature": jounce.Model.skinning(mesh, material, modes, body.labels, body.rig, cubature=cubature),
    }
    poses = list(between(motion.poses))
    mass = module("core.body.built_bodies").DENSITY * mesh.vertex_volumes
    exact = full_space(body, mass, stiffness, poses, dt)
    report = {
        "vertices": len(mesh.vertices),
        "pinned": float(np.mean(body.pinned)),
        "frequency": host.jounce.frequency,
        "clusters": ways["clusters"].cluster_count,
        "tets": ways["cubature"].cluster_count,
        "training s": training,
    }
    for name, model in ways.items():
        found, seconds = reduced(model, stiffness, poses, dt)
        report[f"error, {name}"] = norm(found - exact, mass) / norm(exact, mass)
        report[f"size, {name}"] = norm(found, mass) / norm(exact, mass)
        report[f"ms, {name}"] = 1e3 * seconds
    return report


def between(poses: np.ndarray) -> Iterator[np.ndarray]:
    """Poses of all steps, interpolated linearly between frames."""
    yield poses[0]
    for before, after in zip(poses, poses[1:], strict=False):
        for step in range(1, PER_FRAME + 1):
            share = step / PER_FRAME
            yield np.ascontiguousarray((1 - share) * before + share * after)


def norm(motion: np.ndarray, mass: np.ndarray) -> float:
    """Norm of displacements (f, n, 3), weighted by mass."""
    return float(np.sqrt((mass[None, :, None] * motion**2).sum()))


def reduced(
    model: jounce.Model, stiffness: float, poses: list[np.ndarray], dt: float
) -> tuple[np.ndarray, float]:
    """Displacements (f, n, 3) after each step, and seconds per step."""
    import jounce

    simulation = jounce.Simulation(model, dt=dt, stiffness=stiffness, max_iterations=100, tolerance=1e-6)
    simulation.reset(poses[0])
    found, seconds = [], 0.0
    for pose in poses[1:]:
        started = time.perf_counter()
        simulation.step(pose)
        seconds += time.perf_counter() - started
        found.append(np.array(simulation.displacement(), float))
    return np.array(found), seconds / len(found)


def full_space(
    body: jounce.Body, mass: np.ndarray, stiffness: float, poses: list[np.ndarray], dt: float
) -> np.ndarray:
    """Full-space displacements (f, n, 3) after each step."""
    mesh, pinned = body.mesh, np.asarray(body.pinned)
    vertices = np.asarray(mesh.vertices)
    corners, hats = np.asarray(mesh.cells), cells.gradients(mesh)
    # As rigid as possible: without a Poisson ratio Young's modulus is twice the shear modulus.
    tets = stiffness * body.material.young * np.broadcast_to(mesh.volumes, len(mesh.tets))
    weight = tets.reshape(len(corners), -1).sum(axis=1)
    laplacian = assembled(hats @ hats.transpose(0, 2, 1), weight, corners, len(vertices))
    twisting = assembled(cells.twists(mesh), weight, corners, len(vertices))
    whole = laplacian + twisting + np.diag(mass / dt**2)
    inverse = bounded_inverse(whole, ~pinned, complement(body, mass))
    points = np.hstack([vertices, np.ones((len(vertices), 1))])
    size = CHANGE * np.ptp(vertices, axis=0).max()
    rig = np.asarray(body.rig.weights)
    last = before = skinned(rig, poses[0], points)
    u = u_before = np.zeros_like(vertices)
    found = []
    for pose in poses[1:]:
        posed = skinned(rig, pose, points)
        rest = deformation(posed, hats, corners)
        stretch = rotation(rest).transpose(0, 2, 1) @ rest
        inertia = (mass / dt**2)[:, None] * (2 * (last + u) - before - u_before - posed)
        constant = inertia - laplacian @ posed
        now = u
        for _ in range(ITERATIONS):
            target = rotation(deformation(posed + now, hats, corners) @ stretch) @ stretch
            pull = pulled(target, hats, weight, corners, len(vertices))
            following = inverse @ (constant + pull)
            change = np.abs(following - now).max()
            now = following
            if change < size:
                break
        u_before, u, before, last = u, now, last, posed
        found.append(u)
    return np.array(found)


def assembled(blocks: np.ndarray, weight: np.ndarray, corners: np.ndarray, count: int) -> np.ndarray:
    """Weighted sum (n, n) of one matrix per element."""
    places = corners[:, :, None].astype(np.int64) * count + corners[:, None, :]
    values = (weight[:, None, None] * blocks).ravel()
    return np.bincount(places.ravel(), values, minlength=count * count).reshape(count, count)


def complement(body: jounce.Body, mass: np.ndarray) -> np.ndarray:
    """Normalised conditions (n, k) on a displacement: zero momentum along each bone's four affine motions.

    They cover the bones for which the modes satisfy them, which takes ten conditions on their weights.
    """
    vertices = np.asarray(body.mesh.vertices)
    unit = (vertices - vertices.mean(axis=0)) / np.ptp(vertices, axis=0).max()
    places = np.hstack([unit, np.ones((len(vertices), 1))])
    rig = np.asarray(body.rig.weights)
    counting = np.zeros_like(rig)
    for bone, into in enumerate(body.merged):
        counting[:, into] += rig[:, bone]
    held = np.where(body.pinned, 0.0, np.maximum(1.0 - np.asarray(body.leak), 1e-6) * mass)
    modes = np.asarray(body.modes.weights)
    modes = modes / np.linalg.norm(modes, axis=0)
    conditions = []
    for momentum in (held[:, None] * counting).T:
        if not momentum.any():
            continue
        moments = [momentum * places[:, p] * places[:, q] for p in range(4) for q in range(p, 4)]
        if all(np.abs(moment @ modes).max() < COMPLEMENTARY * np.linalg.norm(moment) for moment in moments):
            conditions += [momentum * place for place in places.T]
    return np.array([condition / np.linalg.norm(condition) for condition in conditions]).T.reshape(
        len(mass), -1
    )


def bounded_inverse(matrix: np.ndarray, free: np.ndarray, conditions: np.ndarray) -> np.ndarray:
    """Inverse for displacements of the free vertices under the conditions, (n, n)."""
    inverse = np.linalg.inv(matrix[np.ix_(free, free)])
    if conditions.shape[1] > 0:
        held = conditions[free]
        moved = inverse @ held
        inverse -= moved @ np.linalg.pinv(held.T @ moved, rcond=1e-10, hermitian=True) @ moved.T
    whole = np.zeros_like(matrix)
    whole[np.ix_(free, free)] = inverse
    return whole


def skinned(weights: np.ndarray, pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Rigged positions of the vertices (n, 3)."""
    moved = weights @ pose.reshape(len(pose), 12)
    return np.einsum("nij,nj->ni", moved.reshape(-1, 3, 4), points)


def deformation(values: np.ndarray, hats: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Gradients (e, 3, 3) of a field given at the vertices."""
    return values[corners].transpose(0, 2, 1) @ hats


def rotation(matrices: np.ndarray) -> np.ndarray:
    """The rotations (e, 3, 3) closest to matrices."""
    left, _, right = np.linalg.svd(matrices)
    left[..., :, 2] *= np.sign(np.linalg.det(left @ right))[..., None]
    return left @ right


def pulled(
    target: np.ndarray, hats: np.ndarray, weight: np.ndarray, corners: np.ndarray, count: int
) -> np.ndarray:
    """Right-hand side (n, 3) of the elements' targets."""
    forces = (weight[:, None, None] * (hats @ target.transpose(0, 2, 1))).reshape(-1, 3)
    return np.stack([np.bincount(corners.ravel(), forces[:, c], minlength=count) for c in range(3)], axis=1)


if __name__ == "__main__":
    script.run(main)
