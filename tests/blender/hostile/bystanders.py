"""Data without Jounce stays untouched, even by reading with visible effects."""

import bpy
import scenes

from .hand import TARGETS, Hand
from .row import refuses, works


def others() -> None:
    """Objects of many kinds, a posed armature, custom properties, a selection and an active object."""
    collection = bpy.context.scene.collection
    data = {
        "Lamp": bpy.data.lights.new("Lamp", "AREA"),
        "Camera": bpy.data.cameras.new("Camera"),
        "Curve": bpy.data.curves.new("Curve", "CURVE"),
        "Letters": bpy.data.curves.new("Letters", "FONT"),
        "Ball": bpy.data.metaballs.new("Ball"),
        "Cage": bpy.data.lattices.new("Cage"),
        "Speaker": bpy.data.speakers.new("Speaker"),
        "Empty": None,
    }
    for name, block in data.items():
        collection.objects.link(bpy.data.objects.new(name, block))
    bpy.data.objects["Empty"]["mood"] = {"calm": 1, "list": [1, 2, 3]}
    bystander, rig = scenes.character()
    bystander.name, rig.name = "Bystander", "Bystanding Rig"
    rig.pose.bones["Upper"]["stretch"] = 0.5
    rig.pose.bones["Upper"].rotation_euler.y = 0.4
    bystander.shape_key_add(name="Basis")
    bystander.vertex_groups.new(name="Pin").add([1, 2, 3], 0.5, "REPLACE")


@works
def one_body_of_many_objects(jounce: Hand) -> None:
    """A body beside objects of every kind, with another character active and posed by hand."""
    others()
    obj, _ = scenes.character()
    bystander = bpy.data.objects["Bystander"]
    scenes.activate(bystander, bpy.data.objects["Lamp"])
    jounce.live(obj)


@works
def previewed_beside_others(jounce: Hand) -> None:
    """A previewed body beside objects of every kind, through save, reopen and undo."""
    others()
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.fill(obj)
    path = str(jounce.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    jounce.scrub(bpy.data.objects["Column"])
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Lamp"].location.x = 3.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    jounce.scrub(bpy.data.objects["Column"])


@works
def a_pose_that_is_not_keyed(jounce: Hand) -> None:
    """A bone moved by hand without keys stays there during all bakes."""
    obj, rig = scenes.character()
    rig.pose.bones["Lower"].location.x = 0.2
    bpy.context.view_layer.update()
    jounce.add(obj)
    jounce.build(obj)
    for target in TARGETS:
        jounce.bake(target, obj)
    assert abs(rig.pose.bones["Lower"].location.x - 0.2) < 1e-6


@works
def an_old_file_opened(jounce: Hand) -> None:
    """A file without Jounce, opened, played, undone and saved with the extension enabled."""
    others()
    path = str(jounce.folder / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Lamp"].location.x = 3.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    bpy.ops.wm.save_mainfile()


@refuses
def asked_of_others(jounce: Hand) -> None:
    """All operators for bodies called on objects without Jounce; nothing is written on them."""
    others()
    bpy.context.view_layer.update()
    for name in ("Lamp", "Empty", "Bystander", "Bystanding Rig"):
        for operator in ("build", "bake", "free_bake", "remove", "preview", "fill_cache", "diagnose", "fit"):
            jounce.refused(operator, "Jounce", bpy.data.objects[name])


@works
def a_second_body_stays(jounce: Hand) -> None:
    """A body is baked, freed and removed beside another body; the other keeps its bake."""
    obj, _ = scenes.character()
    other, rig = scenes.character()
    rig.location.x = 2.0
    scenes.settle_scene()
    jounce.add(other)
    jounce.build(other)
    jounce.bake("MODAL_KEYS", other)
    jounce.live(obj)
    jounce.remove(obj)
    if jounce.is_there:
        assert len(other.data.shape_keys.key_blocks) > 2
    jounce.scrub(other)


@works
def another_add_on_poses_the_rig(jounce: Hand) -> None:
    """A function of another add-on turns a bone at every frame, before Jounce is called and after."""
    obj, rig = scenes.character()
    rig.pose.bones["Lower"].rotation_mode = "XYZ"
    seen: set[str] = set()

    def turn(scene: bpy.types.Scene, *_: object) -> None:
        seen.add(scene.name)
        rig.pose.bones["Lower"].rotation_euler.y = 0.1 * (scene.frame_current % 5)

    for kind in ("frame_change_pre", "frame_change_post"):
        called = getattr(bpy.app.handlers, kind)
        called.append(turn)
        try:
            jounce.live(obj)
        finally:
            called.remove(turn)
    assert seen <= {bpy.context.scene.name}
    bpy.context.scene.frame_set(1)
    rig.pose.bones["Lower"].rotation_euler.y = 0.0
