"""The meshes, rigs and motions that the goldens were made on, rebuilt the same way each time.

Shared by `make.py`, which writes the goldens, and the tests, which read them. Every mesh is moved to the
origin and scaled to a longest side of 1, so that one set of material parameters suits all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.spatial

GOLDEN = Path(__file__).resolve().parent
FRAMES = 100  # steps of each trajectory
YOUNG, DENSITY, DT = 1e4, 1e3, 0.01


@dataclass
class Case:
    """A rigged tet mesh in motion.

    `weights` (n, b), or what is known of them: values (s, b) at `surface` (s,) vertex indices.
    `poses` (frames + 1, b, 3, 4), the first one the rest pose.
    """

    vertices: np.ndarray
    tets: np.ndarray
    poses: np.ndarray
    weights: np.ndarray
    surface: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.poses = np.ascontiguousarray(self.poses)
        self.weights = np.ascontiguousarray(self.weights)


def data_folder() -> Path | None:
    """Folder of the meshes: `JOUNCE_DATA`, or `../shared/data` beside the repository; None if absent."""
    root = GOLDEN.parents[1]
    named = os.environ.get("JOUNCE_DATA")
    candidates = [Path(named)] if named else [root.parent / "shared" / "data"]
    return next((c for c in candidates if (c / "research").is_dir()), None)


def bar() -> Case:
    """A tapered, bent bar of 6 x 4 x 20 cells with three bones; made by script, so it is always there."""
    counts = (7, 5, 21)
    ijk = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1).reshape(-1, 3)
    u, v, s = (ijk / (np.array(counts) - 1)).T
    taper = 0.3 - 0.15 * s
    vertices = np.stack([taper * (u - 0.5) + 0.2 * s * s, 0.8 * taper * (v - 0.45), s], 1)
    tets = _cube_tets(counts)
    ramps = [np.clip((s - low) / 0.3, 0.0, 1.0) for low in (0.2, 0.55)]
    weights = np.stack([1 - ramps[0], ramps[0] - ramps[1], ramps[1]], 1)
    time = np.arange(FRAMES + 1) * DT
    angles = np.stack(
        [0.0 * time, 0.5 * np.sin(9 * time), 0.8 * np.sin(9 * time - 0.5) + 0.8 * np.sin(0.5)], 1
    )
    poses = np.stack([_turns(a, pivots=(0.0, 0.35, 0.7)) for a in angles])
    vertices, poses = _normalised(vertices, poses)
    return Case(vertices, tets, poses, weights)


def elephant() -> Case:
    """The 7,842-vertex elephant; 14 bones and their motion come with the golden."""
    vertices, tets = _read("fast_cody/elephant/elephant.msh")
    stored = np.load(GOLDEN / "elephant_rig.npz")
    vertices, _ = _normalised(vertices, np.eye(3, 4)[None, None])
    return Case(
        vertices, tets, stored["poses"].astype(float), np.ascontiguousarray(stored["weights"] / 32768.0)
    )


def fish() -> Case:
    """The 10,000-vertex fish with its two bones and swimming motion."""
    return _skinned(
        "fast_cody/cd_fish/cd_fish.msh", "fast_cody/cd_fish/skeleton_rig.json", "fast_cody/cd_fish/swim.json"
    )


def octopus() -> Case:
    """The 16,738-vertex octopus with its single bone and floating motion."""
    folder = "fast_cody/cartoon_octopus"
    return _skinned(f"{folder}/cartoon_octopus.msh", f"{folder}/single_bone.json", f"{folder}/float.json")


CASES: dict[str, Callable[[], Case]] = {"bar": bar, "elephant": elephant, "fish": fish, "octopus": octopus}


def leak_factor(quantised: np.ndarray) -> np.ndarray:
    """D (n,) from the stored form: multiples of 2^-16, 2^-19 for zero, with an exact 1 - D."""
    return np.where(quantised == 0, 2.0**-19, quantised * 2.0**-16)


def _cube_tets(counts: tuple[int, int, int]) -> np.ndarray:
    """Six tets a cell around its main diagonal, all positive."""
    index = np.arange(np.prod(counts)).reshape(counts)
    paths = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]
    tets = []
    for number, path in enumerate(paths):
        corner = np.zeros(3, int)
        corners = [corner.copy()]
        for axis in path:
            corner[axis] = 1
            corners.append(corner.copy())
        if number >= 3:
            corners[2], corners[3] = corners[3], corners[2]
        windows = [
            index[tuple(slice(c, n - 1 + c) for c, n in zip(corner, counts, strict=True))].ravel()
            for corner in corners
        ]
        tets.append(np.stack(windows, 1))
    return np.concatenate(tets)


def _turns(angles: np.ndarray, pivots: tuple[float, ...]) -> np.ndarray:
    """Chained turns about y at heights on the z axis, as (b, 3, 4)."""
    total, pose = np.eye(4), []
    for angle, pivot in zip(angles, pivots, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, 0, s, -s * pivot], [0, 1, 0, 0], [-s, 0, c, pivot - c * pivot], [0, 0, 0, 1]])
        total = total @ turn
        pose.append(total[:3])
    return np.stack(pose)


def _normalised(vertices: np.ndarray, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = vertices.min(0), vertices.max(0)
    centre, size = (low + high) / 2, (high - low).max()
    moved = poses.copy()
    moved[..., 3] = (poses[..., :3] @ centre + poses[..., 3] - centre) / size
    return (vertices - centre) / size, moved


def _homogeneous(matrices: np.ndarray) -> np.ndarray:
    last = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*matrices.shape[:-2], 1, 4))
    return np.concatenate([matrices, last], -2)


def _research() -> Path:
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(
            "research meshes are absent: set JOUNCE_DATA to the folder that holds research/"
        )
    return folder / "research"


def _read(name: str) -> tuple[np.ndarray, np.ndarray]:
    import meshio

    mesh = meshio.read(_research() / name)
    return mesh.points.astype(float), mesh.cells_dict["tetra"].astype(np.int64)


def _skinned(mesh_name: str, rig_name: str, motion_name: str) -> Case:
    """A mesh whose rig is known at surface points: found again among the vertices, weights normalised."""
    vertices, tets = _read(mesh_name)
    rig = json.loads((_research() / rig_name).read_text())
    motion = json.loads((_research() / motion_name).read_text())
    points, weights = np.array(rig["V"]), np.array(rig["W"])
    used = np.unique(np.array(rig["F"]))
    distance, surface = scipy.spatial.cKDTree(vertices).query(points[used])
    if distance.max() > 1e-5:
        raise ValueError(f"{rig_name}: its points are not vertices of {mesh_name}")
    poses = _homogeneous(np.array(motion["P"][: FRAMES + 1])) @ np.linalg.inv(
        _homogeneous(np.array(rig["p0"]))
    )
    vertices, poses = _normalised(vertices, poses[..., :3, :])
    known = weights[used] / weights[used].sum(1, keepdims=True)
    return Case(vertices, tets, poses, known, surface)
