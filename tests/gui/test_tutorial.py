"""The pictures of the first tutorial: our own creature, from its pose to its bake.

`cargo x pictures` takes the WebP files from here.
"""

import sys
from math import radians
from pathlib import Path

import bpy
import scenes
from mathutils import Euler
from test_panel import settled

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import creature

# A frame in which the creature lands.
FRAME = 21
VIEW = (radians(82.0), 0.0, radians(55.0))
PART = "1050x692+0+84"


def shown(window, name):
    """Keeps the window as one of the tutorial's pictures."""
    bpy.context.scene.frame_set(FRAME)
    yield 0.5
    window.screenshot(f"tutorial-{name}")
    window.montage(f"tutorial_{name}", [[(f"tutorial-{name}", PART)]], "80%")


def test_from_a_pose_to_a_bake(window):
    built = creature.build()
    body = built.body
    bpy.context.scene.frame_end = 60
    window.look_at(body)
    # The belly shows from half aside.
    window.viewport.spaces[0].region_3d.view_rotation = Euler(VIEW).to_quaternion()
    window.viewport.spaces[0].shading.color_type = "VERTEX"
    scenes.activate(built.armature)
    window.show_sidebar()
    yield from shown(window, "add")
    window.invoke("jounce.setup")
    yield lambda: not window.is_running("JOUNCE_OT_setup")
    yield lambda: settled(body)
    yield from shown(window, "flesh")
    belly = next(part for part in body.jounce.parts if part.name == "belly")
    belly.amount = 2.5
    body.jounce.softness = 1.5
    yield 2.0
    yield lambda: settled(body)
    yield from shown(window, "parts")
    bpy.ops.jounce.bake()
    yield from shown(window, "bake")
    assert len(body.data.shape_keys.key_blocks) > 2
