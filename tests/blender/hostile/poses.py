"""Degenerate poses, and rigs changed after the build."""

import bpy
import scenes

from .hand import Hand
from .row import refuses, works


def keyed_scale(thing: object, scales: tuple[tuple[int, float], ...]) -> None:
    """Keys the scale of an object or a bone."""
    for frame, scale in scales:
        thing.scale = (scale,) * 3
        thing.keyframe_insert("scale", frame=frame)
    scenes.settle_scene()


HIDDEN_MEANWHILE = ((1, 1.0), (4, 1.0), (5, 0.0), (7, 0.0), (8, 1.0))


@works
def armature_keyed_to_nothing(jounce: Hand) -> None:
    """An armature keyed to scale 0 for some frames, as a way to hide it."""
    obj, rig = scenes.character()
    keyed_scale(rig, HIDDEN_MEANWHILE)
    jounce.live(obj)


@works
def armature_of_scale_zero_at_first(jounce: Hand) -> None:
    """An armature keyed to scale 0 at first."""
    obj, rig = scenes.character()
    keyed_scale(rig, ((1, 1.0), (2, 0.0), (5, 0.0), (6, 1.0)))
    jounce.live(obj)


@works
def bone_keyed_to_nothing(jounce: Hand) -> None:
    """A bone keyed to scale 0 for some frames."""
    obj, rig = scenes.character()
    keyed_scale(rig.pose.bones["Upper"], HIDDEN_MEANWHILE)
    jounce.live(obj, targets=("SKINNING_NODES", "MESH_CACHE"))


@works
def flattened_bone(jounce: Hand) -> None:
    """A bone with scale 0 along one axis."""
    obj, rig = scenes.character()
    rig.pose.bones["Upper"].scale.x = 0.0
    scenes.settle_scene()
    jounce.live(obj, targets=("SKINNING_NODES", "MESH_CACHE"))


@works
def mirrored_bone(jounce: Hand) -> None:
    """A bone with a negative scale."""
    obj, rig = scenes.character()
    rig.pose.bones["Upper"].scale.x = -1.0
    scenes.settle_scene()
    jounce.live(obj, targets=("SKINNING_NODES", "MESH_CACHE"))


@works
def bone_that_grows(jounce: Hand) -> None:
    """A bone keyed to ten times its size."""
    obj, rig = scenes.character()
    keyed_scale(rig.pose.bones["Upper"], ((1, 1.0), (12, 10.0)))
    jounce.live(obj, targets=("FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE"))


def spoilt_bone(jounce: Hand, place: float) -> None:
    """A bone in an impossible place; the preview holds the flesh, and a bake says so."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bone = rig.pose.bones["Upper"]
    bone.location.x = place
    bpy.context.view_layer.update()
    for frame in (3, 6, 1):
        bpy.context.scene.frame_set(frame)
    jounce.preview(obj)
    jounce.refused("bake", "bone Upper of Rig", obj, target="MESH_CACHE")
    bone.location.x = 0.0


@refuses
def bone_at_no_number(jounce: Hand) -> None:
    """A bone is moved by hand to NaN."""
    spoilt_bone(jounce, float("nan"))


@refuses
def bone_at_infinity(jounce: Hand) -> None:
    """A bone is moved by hand to infinity."""
    spoilt_bone(jounce, float("inf"))


@refuses
def bone_beyond_all_measure(jounce: Hand) -> None:
    """A bone is moved by hand by a million million."""
    spoilt_bone(jounce, 1e12)


@works
def bone_keyed_beyond_all_measure(jounce: Hand) -> None:
    """A bone is keyed to fly off by a million million for some frames."""
    obj, rig = scenes.character()
    bone = rig.pose.bones["Upper"]
    for frame, place in ((1, 0.0), (4, 0.0), (5, 1e12), (7, 1e12), (8, 0.0)):
        bone.location.x = place
        bone.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    jounce.live(obj, targets=("SKINNING_NODES",))


@works
def bone_renamed_after_the_build(jounce: Hand) -> None:
    """A bone renamed during a preview; Blender renames its group as well."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    rig.data.bones["Upper"].name = "Chest"
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def bone_deleted_after_the_build(jounce: Hand) -> None:
    """A bone deleted during a preview; its vertex group stays."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["Upper"])
    bpy.ops.object.mode_set(mode="OBJECT")
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def bone_added_after_the_bake(jounce: Hand) -> None:
    """A bone added to the rig of a baked body."""
    obj, rig = scenes.character()
    jounce.live(obj, targets=("MODAL_KEYS",))
    jounce.bake("FRAME_KEYS", obj)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Third")
    bone.head, bone.tail = (0.0, 0.0, 2.0), (0.0, 0.0, 3.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    jounce.scrub(obj)
    jounce.bake("FRAME_KEYS", obj)


@works
def armature_deleted_while_previewed(jounce: Hand) -> None:
    """A previewed body with its armature deleted."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.scrub(obj)
    bpy.data.objects.remove(rig)
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def armature_deleted_after_the_bake(jounce: Hand) -> None:
    """A baked body with its armature deleted."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("SKINNING_NODES", obj)
    bpy.data.objects.remove(rig)
    jounce.scrub(obj)


@works
def armature_unlinked_while_previewed(jounce: Hand) -> None:
    """A previewed body with its armature removed from the scene."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.context.scene.collection.objects.unlink(rig)
    jounce.scrub(obj)


@works
def another_armature(jounce: Hand) -> None:
    """A previewed body with another armature in its modifier."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    other = scenes.armature([("Upper", 0.0, 2.0)], "Other")
    scenes.swing(other)
    obj.modifiers["Armature"].object = other
    scenes.settle_scene()
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def armature_data_swapped(jounce: Hand) -> None:
    """A previewed body with other bones in its armature object."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    other = scenes.armature([("Upper", 0.0, 2.0)], "Other")
    rig.data = other.data
    scenes.settle_scene()
    jounce.scrub(obj)


@works
def pose_cleared_by_hand(jounce: Hand) -> None:
    """A previewed body without its action, and with bones moved by hand."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    rig.animation_data.action = None
    rig.pose.bones["Upper"].rotation_euler.x = 1.0
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.bake("MESH_CACHE", obj)


@works
def teleports(jounce: Hand) -> None:
    """A rig with a leap of a kilometre in one frame and back in the next."""
    obj, rig = scenes.character()
    for frame, place in ((1, 0.0), (5, 0.0), (6, 1000.0), (7, 0.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    jounce.live(obj, targets=("MODAL_KEYS", "SKINNING_NODES"))
