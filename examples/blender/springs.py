"""Measures what spring bones miss of the final motion of an action that they have not seen.

    python springs.py FILE [FILE ...] --extension dist/jounce-0.1.0.zip [--springs 16] [--three FOLDER]

Prints a row a character: Add Jounce, then Export Spring Bones over all actions, of which the last is not
seen; a single action is not seen in its last third. With `--three`, the folder of an `npm install three
@pixiv/three-vrm-springbone`, three-vrm plays each file too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import character as characters
import flesh


def main() -> None:
    """Prints a table of all files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--extension", type=Path)
    parser.add_argument("--springs", type=int, default=16)
    parser.add_argument("--three", type=Path)
    options = parser.parse_args()
    flesh.enable(options.extension)
    print("| character | springs | missed | nearest | farthest | three-vrm |")
    print("| --- | --- | --- | --- | --- | --- |")
    for file in options.files:
        with tempfile.TemporaryDirectory() as folder:
            print(row(file, options.springs, options.three, Path(folder) / "hero.glb"), flush=True)


def row(file: Path, count: int, three: Path | None, path: Path) -> str:
    """The row of a character."""
    character = characters.load(file)
    shot = characters.choose_shot(character)
    scene = bpy.context.scene
    characters.assign(character.armature, shot.action)
    scene.frame_start, scene.frame_end = shot.first, shot.last
    flesh.select([character.armature])
    bpy.ops.jounce.setup()
    flesh.select([next(mesh for mesh in character.body if mesh.jounce.is_host)])
    try:
        bpy.ops.jounce.export_springs(filepath=str(path), count=count, fair=100.0)
    except RuntimeError as refusal:
        return f"| {character.name} | 0 | {str(refusal).strip().removeprefix('Error: ')} | | | |"
    told = json.loads(path.with_name(f"{path.stem}.springs.json").read_text())
    errors = sorted((error, bone) for bone, error in told["missedByBone"].items())
    near, far = (
        ", ".join(f"{bone} {error:.0%}" for error, bone in part) for part in (errors[:3], errors[3:][-3:])
    )
    missed = f"{told['missedOfUnseenMotion']:.0%}"
    return f"| {character.name} | {len(told['bones'])} | {missed} | {near} | {far} | {apart(path, three)} |"


def apart(path: Path, three: Path | None) -> str:
    """Distance of the tails in three-vrm from those of the reference, as a share of their extent."""
    if three is None:
        return ""
    import numpy as np
    import spring_bones

    own = spring_bones.tails(path, 120)
    size = np.linalg.norm(np.ptp(own.reshape(-1, 3), axis=0))
    return f"{np.abs(spring_bones.tails_in_three(path, three, len(own)) - own).max() / size:.1e}"


if __name__ == "__main__":
    main()
