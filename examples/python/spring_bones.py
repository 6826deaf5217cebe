"""Plays a GLB file with spring bones, as VRMC_springBone 1.0 describes it, and compares it with three-vrm.

    python spring_bones.py hero.glb [--three FOLDER] [--steps 300]

FOLDER: where `npm install three @pixiv/three-vrm-springbone` was run.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from jounce import gltf

STEP = 1.0 / 60.0


class SpringPlayer:
    """The springs of a character. `step` turns the joints of all springs in the matrices of a pose."""

    def __init__(self, character: gltf.Character) -> None:
        """Springs of two joints each, such as Jounce writes."""
        chains = character.json["extensions"]["VRMC_springBone"]["springs"]
        self.heads = [chain["joints"][0] for chain in chains]
        self.tails = [chain["joints"][1]["node"] for chain in chains]
        self._character = character
        self._current: list[np.ndarray] = []
        self._before: list[np.ndarray] = []

    def step(self, worlds: np.ndarray, seconds: float = STEP) -> np.ndarray:
        """The matrices (n, 4, 4) of all nodes after a step, for those of a pose; the first call rests."""
        worlds = worlds.copy()
        if not self._current:
            self._current = [worlds[tail, :3, 3].copy() for tail in self.tails]
            self._before = list(self._current)
        for index, (joint, tail) in enumerate(zip(self.heads, self.tails, strict=True)):
            head = joint["node"]
            place, rest = worlds[head, :3, 3], worlds[tail, :3, 3] - worlds[head, :3, 3]
            length = np.linalg.norm(rest)
            axis = rest / length
            current, before = self._current[index], self._before[index]
            inertia = (current - before) * (1.0 - joint["dragForce"])
            pull = axis * joint["stiffness"] * seconds
            fall = np.array(joint["gravityDir"]) * joint["gravityPower"] * seconds
            aim = current + inertia + pull + fall - place
            aim /= np.linalg.norm(aim)
            self._before[index], self._current[index] = current, place + length * aim
            turn = rotation(axis, aim)
            for node in (head, tail):
                worlds[node, :3, :3] = turn @ worlds[node, :3, :3]
            worlds[tail, :3, 3] = self._current[index]
        return worlds


def rotation(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The smallest rotation (3, 3) from one direction to another."""
    x, y, z = np.cross(one, other)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + cross + cross @ cross / (1.0 + one @ other)


def skinned(character: gltf.Character, node: int, worlds: np.ndarray) -> list[np.ndarray]:
    """World places of the vertices of a skinned mesh, for each primitive."""
    own = character.json["nodes"][node]
    skin = character.json["skins"][own["skin"]]
    binds = character.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
    matrices = worlds[skin["joints"]] @ binds
    made = []
    for primitive in character.json["meshes"][own["mesh"]]["primitives"]:
        attributes = primitive["attributes"]
        points = character.array(attributes["POSITION"])
        places = np.zeros_like(points)
        for name in (name for name in attributes if name.startswith("JOINTS_")):
            joints = character.array(attributes[name]).astype(int)
            weights = character.array(attributes[name.replace("JOINTS", "WEIGHTS")])
            for joint, weight in zip(joints.T, weights.T, strict=True):
                own_matrices = matrices[joint]
                moved = np.einsum("pij,pj->pi", own_matrices[:, :3, :3], points) + own_matrices[:, :3, 3]
                places += weight[:, None] * moved
        made.append(places)
    return made


def tails(file: Path, steps: int) -> np.ndarray:
    """Places (steps, springs, 3) of the tails in the first clip, as many steps as it has at most."""
    character = gltf.read(file)
    player, (start, end) = SpringPlayer(character), character.span()
    steps = min(steps, int((end - start) / STEP))
    found = [player.step(character.worlds(start + step * STEP))[player.tails, :3, 3] for step in range(steps)]
    return np.array(found)


def tails_in_three(file: Path, folder: Path, steps: int) -> np.ndarray:
    """The same in three.js with three-vrm, under Node."""
    script = Path(__file__).with_suffix(".mjs")
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "tails.bin"
        subprocess.run(["node", script, folder, file, str(steps), str(STEP), target], check=True)
        return np.fromfile(target).reshape(steps, -1, 3)


def main() -> None:
    """Plays the file in both, and prints how far apart they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--three", type=Path)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    own = tails(options.file, options.steps)
    size = np.linalg.norm(np.ptp(own.reshape(-1, 3), axis=0))
    print(f"{own.shape[1]} springs over {len(own)} steps; their tails move within {size:.3g} m")
    modules = None if options.three is None else options.three / "node_modules"
    if modules is None or not (modules / "@pixiv/three-vrm-springbone").exists():
        print(
            "no three-vrm to compare with: npm install three @pixiv/three-vrm-springbone, and name its folder"
        )
    elif shutil.which("node") is None:
        print("no Node to run three-vrm: install nodejs")
    else:
        apart = np.abs(tails_in_three(options.file, options.three, len(own)) - own).max()
        print(f"three-vrm: {apart / size:.1e} of that apart")


if __name__ == "__main__":
    main()
