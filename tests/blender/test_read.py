"""Readings from a scene reproduce Blender's own evaluation exactly."""

import math

import bpy
import numpy as np
import pytest
import scenes
from mathutils import Vector

FRAMES = range(1, 10, 2)


@pytest.fixture
def read(module):
    """Reads the body of these objects, bound in their present place; by default fails on warnings."""
    bodies = module("bridge.body.bodies")

    def read_body(obj, *others, warnings=None):
        scenes.activate(obj, *others)
        bpy.ops.jounce.add()
        bodies.bind(obj, bpy.context)
        said = [] if warnings is None else warnings
        scene = bodies.read(obj, bpy.context, said.append)
        assert warnings is not None or said == []
        return scene

    return read_body


def posed(scene, part):
    """Posed world positions (p, 3) of a part: sum_j w_j T_j [X; 1]."""
    pose = scene.reader.read(bpy.context.evaluated_depsgraph_get())
    points, weights = scene.surface.points[part.points], scene.surface.weights[part.points]
    homogeneous = np.column_stack((points, np.ones(len(points))))
    return np.einsum("pb,bij,pj->pi", weights, pose, homogeneous)


def assert_follows(scene, scale=1.0, tolerance=2e-6):
    """Asserts that every part follows Blender on all frames, to a fraction of the body's size."""
    moved = 0.0
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        for obj, part in zip(scene.objects, scene.surface.parts, strict=True):
            expected = scenes.evaluated(obj) * scale
            assert np.abs(posed(scene, part) - expected).max() < tolerance * scene.surface.diagonal
            moved = max(moved, np.abs(expected - scene.surface.points[part.points]).max())
    assert moved > 0.01 * scene.surface.diagonal


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_armature_scales(read, scale):
    obj, _ = scenes.character(scale)
    assert_follows(read(obj))


def test_unit_scale_of_the_scene(read):
    obj, _ = scenes.character()
    bpy.context.scene.unit_settings.scale_length = 0.01
    scene = read(obj)
    assert scene.surface.diagonal < 0.05
    assert_follows(scene, scale=0.01)


def test_mesh_and_armature_with_their_own_moving_transforms(read):
    obj, rig = scenes.character()
    obj.matrix_local = scenes.placed(Vector((0.1, -0.2, 0.3)), 0.7, (1.1, 0.9, 1.2))
    for frame, x in ((1, 0.0), (9, 2.0)):
        rig.location.x, rig.rotation_euler.z = x, x
        rig.keyframe_insert("location", frame=frame)
        rig.keyframe_insert("rotation_euler", frame=frame)
    assert_follows(read(obj))


def test_mesh_that_moves_apart_from_its_armature(read):
    obj, rig = scenes.character()
    obj.parent = None
    for frame, x in ((1, 0.0), (9, 0.5)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    assert_follows(read(obj))


def test_constraints_drivers_and_inverse_kinematics(read):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (0.0, 0.0, 2.0)
    for frame, x in ((1, 0.0), (9, 1.0)):
        target.location.x = x
        target.keyframe_insert("location", frame=frame)
    constraint = rig.pose.bones["Upper"].constraints.new("IK")
    constraint.target = target
    driver = rig.pose.bones["Lower"].driver_add("scale", 0).driver
    driver.expression = "1 + frame / 20"
    scenes.settle_scene()
    assert_follows(read(obj))


def test_several_meshes_share_bones_and_rigid_pieces_have_one(read):
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    eyes = [scenes.column(name, 0.1, 0.05, 2, 6) for name in ("Eye.L", "Eye.R")]
    for side, eye in zip((-0.1, 0.1), eyes, strict=True):
        eye.parent, eye.parent_type, eye.parent_bone = rig, "BONE", "Upper"
        eye.location = (side, 0.0, -0.2)
    bpy.context.scene.frame_set(5)
    scene = read(obj, coat, *eyes)
    assert scene.surface.weights.shape[1] == 3
    assert_follows(scene)


def test_pieces_on_bones_are_bound_at_rest_whatever_the_frame(read, module):
    obj, rig = scenes.character()
    eye = scenes.column("Eye", 0.1, 0.05, 2, 6)
    eye.parent, eye.parent_type, eye.parent_bone = rig, "BONE", "Upper"
    first = read(obj, eye).surface.points
    bpy.context.scene.frame_set(5)
    module("bridge.body.bodies").bind(obj, bpy.context)
    again = module("bridge.body.bodies").read(obj, bpy.context, print).surface.points
    assert np.abs(again - first).max() < 1e-6
    assert rig.data.pose_position == "POSE"


def test_an_object_without_armature_follows_itself(read):
    obj = scenes.column()
    for frame, angle in ((1, 0.0), (9, 2.0)):
        obj.rotation_euler.y = angle
        obj.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scene = read(obj)
    assert scene.surface.weights.shape[1] == 1
    assert_follows(scene)


def test_armature_parenting_without_a_modifier(read):
    obj, rig = scenes.character()
    obj.modifiers.clear()
    obj.parent_type = "ARMATURE"
    scenes.settle_scene()
    assert_follows(read(obj))


def test_weights_of_any_sum_vertices_of_no_bone_and_bones_that_do_not_deform(read):
    obj, rig = scenes.character()
    obj.vertex_groups["Upper"].add(range(len(obj.data.vertices)), 0.011, "REPLACE")
    obj.vertex_groups["Lower"].add(range(20), 1.0, "REPLACE")
    obj.vertex_groups["Upper"].add(range(40, 80), 1.0, "REPLACE")
    for group in obj.vertex_groups:
        group.remove(range(60, 66))
    obj.vertex_groups.new(name="No Bone").add(range(30), 1.0, "REPLACE")
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    helper = rig.data.edit_bones.new("Helper")
    helper.head, helper.tail, helper.use_deform = (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), False
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="Helper").add(range(50), 0.7, "REPLACE")
    assert_follows(read(obj))


@pytest.mark.parametrize("inverted", [False, True])
def test_vertex_group_of_the_modifier(read, inverted):
    obj, _ = scenes.character()
    mask = obj.vertex_groups.new(name="Mask")
    for vertex in range(len(obj.data.vertices)):
        mask.add([vertex], (vertex % 5) / 4.0, "REPLACE")
    obj.modifiers["Armature"].vertex_group = "Mask"
    obj.modifiers["Armature"].invert_vertex_group = inverted
    assert_follows(read(obj))


def test_shape_keys_are_read_at_their_reference(read):
    obj, _ = scenes.character()
    before = read(obj).surface.points
    obj.shape_key_add(name="Basis")
    smile = obj.shape_key_add(name="Smile")
    smile.points[5].co.x += 0.5
    smile.value = 1.0
    assert np.array_equal(read(obj).surface.points, before)


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (1.0, 2.0, 0.5), (1e4, 1e4, 1e4)])
def test_mirrored_unapplied_and_huge_scales_keep_the_outside_outside(read, scale):
    obj, rig = scenes.character()
    rig.scale = scale
    bpy.context.view_layer.update()
    scene = read(obj)
    corners = scene.surface.points[scene.surface.triangles]
    volume = np.einsum("qi,qi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert volume > 0.0
    assert_follows(scene)


def test_pose_and_weights_are_those_of_the_first_armature(read):
    obj, _ = scenes.character()
    other = scenes.armature([("Lower", 0.0, 1.0)], "Other")
    obj.modifiers.new("Second", "ARMATURE").object = other
    warnings = []
    assert_follows(read(obj, warnings=warnings))
    assert warnings == []


def test_a_mesh_without_weights_follows_its_object_and_that_is_said(read):
    obj, rig = scenes.character()
    obj.vertex_groups.clear()
    obj.vertex_groups.new(name="No Bone").add(range(30), 1.0, "REPLACE")
    obj.vertex_groups.new(name="Upper")
    rig.keyframe_insert("location", frame=1)
    rig.location.x = 1.0
    rig.keyframe_insert("location", frame=9)
    warnings = []
    assert_follows(read(obj, warnings=warnings))
    assert len(warnings) == 1 and "follows its object" in warnings[0]


def test_hidden_objects_are_read_like_shown_ones(read):
    obj, rig = scenes.character()
    scene = read(obj)
    obj.hide_set(True)
    rig.hide_set(True)
    assert_follows(scene)


def test_reading_twice_gives_the_same_bits(read, module):
    obj, rig = scenes.character()
    rig.location = (0.3, math.pi, -1.0)
    first = read(obj)
    settings = obj.jounce.build_settings()
    bpy.context.scene.frame_set(7)
    rig.location.x = 5.0
    again = module("bridge.body.bodies").read(obj, bpy.context, print)
    assert again.surface.digest(settings) == first.surface.digest(settings)
    obj.data.vertices[3].co.x += 0.01
    changed = module("bridge.body.bodies").read(obj, bpy.context, print)
    assert changed.surface.digest(settings) != first.surface.digest(settings)


def test_transforms_far_away_are_as_exact_as_what_blender_says(read):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    rig.rotation_euler, rig.location = (0.3, -0.2, 0.9), (3000.0, -2000.0, 700.0)
    bpy.context.view_layer.update()
    scene = read(obj)
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    pose = scene.reader.read(bpy.context.evaluated_depsgraph_get())
    middle = scene.surface.points.mean(axis=0)
    assert np.abs(pose @ np.array((*middle, 1.0)) - middle).max() < 1e-8
