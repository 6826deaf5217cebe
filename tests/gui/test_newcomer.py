"""A newcomer's way in the window, by three clicks: on an imported character, Add Jounce, Bake."""

import os
from pathlib import Path

import bpy
from window import Skip

FILE = "mixamo/xbot_samba.fbx"
# Place of a line through the large buttons beside their texts, as a share of the sidebar's width, and their
# heights in pixels.
ALONG, LARGE = 0.28, range(22, 40)


def test_from_a_file_to_a_bake(window):
    path = Path(os.environ.get("JOUNCE_DATA", "/nowhere")) / FILE
    if not path.exists():
        raise Skip("JOUNCE_DATA is not set")
    with window.context():
        bpy.ops.import_scene.fbx(filepath=str(path))
    meshes = [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]
    scene = bpy.context.scene
    scene.frame_end = scene.frame_start + 40
    window.look_at(max(meshes, key=lambda mesh: len(mesh.data.vertices)))
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = None
    window.show_sidebar()
    # The sidebar covers a part of the view; the character is in its middle.
    view = window.region()
    yield from window.click((view.x + view.width // 2, view.y + view.height // 2))
    yield lambda: bpy.context.view_layer.objects.active is not None
    yield from window.click(window.buttons(ALONG, LARGE)[0])
    yield lambda: window.is_running("JOUNCE_OT_setup")
    yield lambda: not window.is_running("JOUNCE_OT_setup")
    hosts = [mesh for mesh in meshes if mesh.jounce.is_host]
    assert hosts and hosts[0].jounce.preview
    yield 1.0
    window.screenshot("newcomer-previewed")
    yield from window.click(window.buttons(ALONG, LARGE)[-1])
    yield lambda: window.is_running("JOUNCE_OT_bake")
    yield lambda: not window.is_running("JOUNCE_OT_bake")
    assert hosts[0].jounce.bake_error < 0.003
    bpy.context.scene.frame_set(20)
    assert any(key.value > 0.1 for key in hosts[0].data.shape_keys.key_blocks[1:])
    window.screenshot("newcomer-baked")
