"""Rigs of all scales and kinds, as in imported files."""

import bpy
import scenes

from .hand import Hand
from .row import refuses, works

# Targets for rigs beyond blended bones.
BEHIND_A_RIG = ("SKINNING_NODES", "MESH_CACHE", "HELPER_BONES")


@works
def two_bones(jounce: Hand) -> None:
    """A column on two swinging bones."""
    obj, _ = scenes.character()
    jounce.live(obj)


@works
def centimetres_in_metres(jounce: Hand) -> None:
    """An armature at scale 0.01 with data a hundred times as large."""
    obj, _ = scenes.character(0.01)
    jounce.live(obj)


@works
def armature_scaled_a_hundredfold(jounce: Hand) -> None:
    """An armature at scale 100."""
    obj, _ = scenes.character(100.0)
    jounce.live(obj)


@works
def no_armature(jounce: Hand) -> None:
    """A mesh with its own keyframes only."""
    obj = scenes.column()
    for frame, place in ((1, 0.0), (6, 1.0), (12, 0.0)):
        obj.location.x = place
        obj.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def nothing_moves(jounce: Hand) -> None:
    """A mesh without any motion."""
    obj = scenes.column()
    scenes.settle_scene()
    jounce.live(obj)


@works
def hung_on_a_bone(jounce: Hand) -> None:
    """A mesh parented to a bone."""
    _, rig = scenes.character()
    crate = scenes.column("Crate", height=0.5)
    scenes.hang(crate, rig)
    jounce.live(crate)


@works
def parented_with_armature_deform(jounce: Hand) -> None:
    """A mesh deformed by its parent, without a modifier."""
    obj, rig = scenes.character()
    obj.modifiers.clear()
    obj.parent_type = "ARMATURE"
    jounce.live(obj)


@refuses
def envelopes(jounce: Hand) -> None:
    """An armature modifier without vertex groups."""
    obj, _ = scenes.character()
    obj.modifiers["Armature"].use_vertex_groups = False
    jounce.refused("add", "vertex groups", obj)


@works
def preserved_volume(jounce: Hand) -> None:
    """An armature modifier that preserves volume."""
    obj, _ = scenes.character()
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    jounce.live(obj)


def deformed_twice() -> bpy.types.Object:
    """A mesh with a second armature after the first."""
    obj, _ = scenes.character()
    second = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)], "Second")
    scenes.swing(second, "Lower")
    obj.modifiers.new("Second", "ARMATURE").object = second
    scenes.settle_scene()
    return obj


@works
def two_armature_modifiers(jounce: Hand) -> None:
    """A second armature that deforms the result of the first."""
    jounce.live(deformed_twice(), targets=BEHIND_A_RIG)


@refuses
def keys_before_a_second_armature(jounce: Hand) -> None:
    """A bake to shape keys before a second armature."""
    obj = deformed_twice()
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("bake", "modifier Second", obj, target="MODAL_KEYS")


@works
def armature_modifier_switched_off(jounce: Hand) -> None:
    """An armature modifier switched off in viewports."""
    obj, _ = scenes.character()
    obj.modifiers["Armature"].show_viewport = False
    jounce.live(obj)


@works
def armature_modifier_of_nothing(jounce: Hand) -> None:
    """An armature modifier without an armature."""
    obj, _ = scenes.character()
    obj.modifiers["Armature"].object = None
    jounce.live(obj)


@works
def no_bones(jounce: Hand) -> None:
    """An armature without bones."""
    obj = scenes.column()
    rig = scenes.armature([])
    scenes.skin(obj, rig, 2.0)
    scenes.settle_scene()
    jounce.live(obj)


@works
def no_deforming_bones(jounce: Hand) -> None:
    """An armature without deforming bones."""
    obj, rig = scenes.character()
    for bone in rig.data.bones:
        bone.use_deform = False
    jounce.live(obj)


@works
def weights_of_zero(jounce: Hand) -> None:
    """Vertex groups with only zero weights."""
    obj, _ = scenes.character()
    for group in obj.vertex_groups:
        group.add(range(len(obj.data.vertices)), 0.0, "REPLACE")
    jounce.live(obj)


@works
def weights_beyond_one(jounce: Hand) -> None:
    """Weights with a sum of two at some vertices and of a hundredth at others."""
    obj, _ = scenes.character()
    obj.vertex_groups["Lower"].add(range(60), 1.0, "REPLACE")
    obj.vertex_groups["Upper"].add(range(60), 1.0, "REPLACE")
    obj.vertex_groups["Lower"].add(range(100, 150), 0.01, "REPLACE")
    jounce.live(obj)


@works
def vertices_without_weights(jounce: Hand) -> None:
    """A stripe of vertices in no group."""
    obj, _ = scenes.character()
    for group in obj.vertex_groups:
        group.remove(range(70, 90))
    jounce.live(obj)


@works
def groups_without_bones(jounce: Hand) -> None:
    """Vertex groups named after no bone."""
    obj, _ = scenes.character()
    for name in ("Tail", "mixamorig:Tail", ""):
        obj.vertex_groups.new(name=name or "Group").add(range(20), 1.0, "REPLACE")
    jounce.live(obj)


@works
def masked_armature(jounce: Hand) -> None:
    """An armature modifier limited by an inverted vertex group."""
    obj, _ = scenes.character()
    obj.vertex_groups.new(name="Mask").add(range(40), 0.7, "REPLACE")
    modifier = obj.modifiers["Armature"]
    modifier.vertex_group, modifier.invert_vertex_group = "Mask", True
    jounce.live(obj)


@works
def rest_position(jounce: Hand) -> None:
    """An armature in Rest Position."""
    obj, rig = scenes.character()
    rig.data.pose_position = "REST"
    jounce.live(obj)


@refuses
def armature_in_edit_mode(jounce: Hand) -> None:
    """An armature in Edit Mode."""
    obj, rig = scenes.character()
    jounce.add(obj)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    jounce.refused("build", "Edit Mode", rig, obj)
    bpy.ops.object.mode_set(mode="OBJECT")


@works
def pose_mode(jounce: Hand) -> None:
    """An armature in Pose Mode, some bones selected."""
    obj, rig = scenes.character()
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    jounce.live(obj)
    bpy.ops.object.mode_set(mode="OBJECT")


@works
def hidden_armature(jounce: Hand) -> None:
    """An armature that is hidden."""
    obj, rig = scenes.character()
    rig.hide_set(True)
    jounce.live(obj)


@works
def armature_off_in_viewports(jounce: Hand) -> None:
    """An armature disabled in viewports, where it moves nothing."""
    obj, rig = scenes.character()
    rig.hide_viewport = True
    jounce.live(obj)


@works
def excluded_armature(jounce: Hand) -> None:
    """An armature in a collection excluded from the view layer."""
    obj, rig = scenes.character()
    collection = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["Rigs"].exclude = True
    bpy.context.view_layer.update()
    jounce.live(obj)


@works
def bendy_bones(jounce: Hand) -> None:
    """A bone of four bendy segments."""
    obj, rig = scenes.character()
    rig.data.bones["Upper"].bbone_segments = 4
    jounce.live(obj, targets=BEHIND_A_RIG)


@works
def custom_bone_shapes(jounce: Hand) -> None:
    """Bones displayed as a mesh outside of any scene."""
    obj, rig = scenes.character()
    shape = bpy.data.objects.new("Shape", bpy.data.meshes.new("Shape"))
    for bone in rig.pose.bones:
        bone.custom_shape = shape
    jounce.live(obj)


@works
def inverse_kinematics(jounce: Hand) -> None:
    """A bone aimed at a circling empty."""
    obj, rig = scenes.character()
    goal = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(goal)
    for frame, place in ((1, (1.0, 0.0, 2.0)), (6, (0.0, 1.0, 2.0)), (12, (-1.0, 0.0, 2.0))):
        goal.location = place
        goal.keyframe_insert("location", frame=frame)
    constraint = rig.pose.bones["Upper"].constraints.new("IK")
    constraint.target = goal
    scenes.settle_scene()
    jounce.live(obj)


@works
def shared_armature_data(jounce: Hand) -> None:
    """Two armature objects with the same bones, posed apart, and a body on each."""
    obj, rig = scenes.character()
    twin = rig.copy()
    bpy.context.scene.collection.objects.link(twin)
    other = scenes.column("Other")
    scenes.skin(other, twin, 2.0)
    scenes.settle_scene()
    jounce.live(obj)
    jounce.live(other)


@works
def a_hundred_bones(jounce: Hand) -> None:
    """A chain of a hundred bones, most of them almost still."""
    obj = scenes.column(rings=25, sides=8)
    rig = scenes.armature([(f"Bone {index}", 0.02 * index, 0.02 * (index + 1)) for index in range(100)])
    for vertex in obj.data.vertices:
        name = f"Bone {min(99, int(vertex.co.z / 0.02))}"
        group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
        group.add([vertex.index], 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scenes.swing(rig, "Bone 40")
    scenes.settle_scene()
    jounce.live(obj, targets=("MODAL_KEYS", "SKINNING_NODES", "MESH_CACHE"))


@works
def five_roots(jounce: Hand) -> None:
    """Bones without parents, all with the same weights."""
    obj, rig = scenes.character()
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for index in range(5):
        bone = rig.data.edit_bones.new(f"Root {index}")
        bone.head, bone.tail = (index, 0.0, 0.0), (index, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    for index in range(5):
        obj.vertex_groups.new(name=f"Root {index}").add(range(156), 0.2, "REPLACE")
    jounce.live(obj)
