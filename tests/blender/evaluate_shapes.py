"""Opens a .blend without any add-on and writes the evaluated meshes.

    python evaluate_shapes.py FILE.blend OUT.npz FRAME,FRAME,... MESH [MESH ...]

OUT.npz gets one array a frame, named after it: world positions (p, 3) f32 of all meshes, one after the other.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import studio


def main(blend: str, out: str, frames: str, *names: str) -> None:
    """Evaluate the frames."""
    bpy.ops.wm.open_mainfile(filepath=blend, load_ui=False)
    if hasattr(bpy.types.Object, "jounce"):
        raise RuntimeError("The extension is active, so this would prove nothing.")
    meshes = [bpy.data.objects[name] for name in names]
    shapes = {}
    for frame in map(int, frames.split(",")):
        (shape,) = studio.record(meshes, range(frame, frame + 1))
        shapes[str(frame)] = np.concatenate(shape)
    np.savez(out, **shapes)


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    # Blender's exit handlers can hang; the result is written.
    os._exit(0)
