"""One character for `honest_body.py`: added as an artist does, with its body's input saved to a file.

python honest_body_of.py FILE --report OUT.json --folder DIR [--frames N]
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import extension
import flesh
import script


def main() -> None:
    """Writes the surface of a character and the data for the core."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--frames", type=int, help="not asked for: a body at rest has none")
    options = parser.parse_args()
    package = extension.enable()
    try:
        character = characters.load(options.file)
        flesh.select([character.armature])
        bpy.ops.jounce.setup()
    except (characters.Unreadable, RuntimeError) as refusal:
        sentence = str(refusal).strip().removeprefix("Error: ")
        options.report.write_text(json.dumps({"notes": [f"refused: {sentence}"]}), encoding="utf-8")
        return
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    bodies = importlib.import_module(f"{package.__name__}.bridge.body.bodies")
    surface = bodies.read(host, bpy.context, lambda _sentence: None).surface
    core = surface.core
    options.folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        options.folder / f"{options.file.stem}.npz",
        points=surface.points,
        triangles=surface.triangles,
        weights=surface.weights,
        heads=core.heads,
        parents=core.parents,
        names=np.array(core.names),
        roles=np.array([role.native for role in core.roles]),
        amount=core.amount,
        resolution=host.jounce.resolution,
        rigid=np.zeros(len(surface.points), bool) if core.rigid is None else core.rigid,
    )
    options.report.write_text(json.dumps({"points": len(surface.points)}), encoding="utf-8")


if __name__ == "__main__":
    script.run(main)
