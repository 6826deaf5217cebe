"""Makes the shots for the farm: make_shots.py FOLDER."""

import os
import sys
import traceback
from pathlib import Path

BLENDER = Path(__file__).resolve().parents[1] / "blender"
COUNT, FRAMES = 3, 48


def main() -> None:
    """Each shot in a separate file."""
    sys.path.insert(0, str(BLENDER))
    import bpy
    import extension
    import numpy as np
    import scenes

    extension.enable()
    for shot in range(COUNT):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        obj, rig = scenes.character()
        bone = rig.pose.bones["Upper"]
        for frame in range(1, FRAMES + 1, 4):
            bone.rotation_euler = (0.4 * np.sin(frame + shot), 0.0, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
        scenes.settle_scene(FRAMES)
        scenes.activate(obj)
        bpy.ops.jounce.add()
        scenes.coarse(obj)
        obj.jounce.target = "FRAME_KEYS"
        # Frames in this quality take long enough for a kill.
        obj.jounce.quality = "FINAL"
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[1]) / f"shot {shot}.blend"))


if __name__ == "__main__":
    code = 0
    try:
        main()
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    # Some versions of Blender hang or crash during shutdown.
    os._exit(code)
