"""Capsules of a character's own bones, and objects parented to bones, as colliders."""

import bpy
import numpy as np
import pytest
import scenes
from mathutils import Matrix
from previews import FRAMES, assert_shown_as_baked
from test_collisions import collide, cube


@pytest.fixture
def figure(tmp_path):
    """A built trunk with two arms of two bones, in one mesh; the left arm swings into the trunk."""
    trunk = scenes.column("Trunk", 2.0, 0.35)
    arms = [scenes.column(f"Arm {side}", 1.2, 0.12) for side in "LR"]
    for arm, side in zip(arms, (1.0, -1.0), strict=True):
        turn = Matrix.Rotation(side * np.pi / 2, 4, "Y")
        arm.data.transform(Matrix.Translation((side * 0.35, 0.0, 1.8)) @ turn)
    bones = [("Trunk", None, (0, 0, 0), (0, 0, 2))]
    for side, name in ((1.0, "L"), (-1.0, "R")):
        places = [(side * x, 0.0, 1.8) for x in (0.35, 0.95, 1.55)]
        bones += [(f"Upper.{name}", "Trunk", *places[:2]), (f"Lower.{name}", f"Upper.{name}", *places[1:])]
    rig = skeleton(bones)
    weigh(trunk, rig, ["Trunk"])
    for arm, side in zip(arms, "LR", strict=True):
        weigh(arm, rig, [f"Upper.{side}", f"Lower.{side}"])
    scenes.activate(trunk, *arms)
    bpy.ops.object.join()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    for bone, angles in (("Upper.L", (0.0, 1.35)), ("Lower.L", (0.0, 0.7))):
        pose = rig.pose.bones[bone]
        pose.rotation_mode = "XYZ"
        for frame, angle in zip((1, 8), angles, strict=True):
            pose.rotation_euler = swung(rig, bone, angle)
            pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(trunk)
    trunk.jounce.quality, trunk.jounce.resolution = "FINAL", 24
    bpy.ops.jounce.build()
    return trunk, rig


def skeleton(bones):
    """An armature of bones, each (name, parent, head, tail)."""
    rig = scenes.armature([])
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in bones:
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def weigh(obj, rig, names):
    """Gives each vertex to the nearest bone of these."""
    bones = [rig.data.bones[name] for name in names]
    middles = [np.array(bone.head_local + bone.tail_local) / 2 for bone in bones]
    groups = [obj.vertex_groups.new(name=name) for name in names]
    for vertex in obj.data.vertices:
        nearest = int(np.argmin([np.linalg.norm(np.array(vertex.co) - middle) for middle in middles]))
        groups[nearest].add([vertex.index], 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig


def swung(rig, bone, angle):
    """The rotation of a bone of the left arm downwards, about the world's y axis."""
    matrix = rig.data.bones[bone].matrix_local.to_3x3()
    return (matrix.inverted() @ Matrix.Rotation(angle, 3, "Y") @ matrix).to_euler()


def test_capsules_fit_the_limbs_and_follow_their_bones(figure):
    obj, rig = figure
    bpy.ops.jounce.bone_capsules()
    made = {capsule.parent_bone: capsule for capsule in obj.jounce.collision_collection.all_objects}
    assert set(made) == {"Upper.L", "Lower.L", "Upper.R", "Lower.R"}
    for frame in (1, 8):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        for name, capsule in made.items():
            bone = rig.pose.bones[name]
            place = rig.matrix_world @ (0.5 * (bone.head + bone.tail))
            assert (capsule.matrix_world.translation - place).length < 0.08
            assert capsule.dimensions.x == pytest.approx(0.24, rel=0.1)
            assert capsule.dimensions.y == pytest.approx(0.6, rel=0.2)
    names = {capsule.name for capsule in made.values()}
    bpy.ops.jounce.bone_capsules()
    assert {capsule.name for capsule in obj.jounce.collision_collection.all_objects} == names


def test_capsules_of_chosen_bones_keep_the_others(figure):
    obj, rig = figure
    bpy.ops.jounce.bone_capsules()
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        select_bone(bone, bone.name == "Trunk")
    bpy.ops.jounce.bone_capsules()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert {c.parent_bone for c in obj.jounce.collision_collection.all_objects} == {
        "Trunk", "Upper.L", "Lower.L", "Upper.R", "Lower.R"
    }  # fmt: skip


def select_bone(bone, chosen):
    """Selects a bone in Pose Mode, or not."""
    (bone if hasattr(bone, "select") else bone.bone).select = chosen


def test_an_arm_stays_out_of_the_side_that_it_swings_into(figure):
    obj, _ = figure
    bpy.ops.jounce.preview()
    free = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bone_capsules()
    touched = scenes.evaluated_frames(obj, FRAMES)
    arm = np.array([vertex.groups[0].group != 0 for vertex in obj.data.vertices])
    (capsule,) = (c for c in obj.jounce.collision_collection.all_objects if c.parent_bone == "Lower.L")

    def deepest(shapes):
        found = []
        for frame, shape_of_frame in zip(FRAMES, shapes, strict=True):
            bpy.context.scene.frame_set(frame)
            local = (
                np.c_[shape_of_frame[~arm], np.ones((~arm).sum())]
                @ np.array(capsule.matrix_world.inverted()).T
            )
            half = max(abs(corner[1]) for corner in capsule.bound_box)
            radius = max(abs(corner[0]) for corner in capsule.bound_box)
            reach = np.clip(local[:, 1], radius - half, half - radius)
            away = np.linalg.norm(local[:, :3] - np.outer(reach, (0, 1, 0)), axis=1) - radius
            found.append(-away.min())
        return max(found)

    assert deepest(free) > 0.03
    assert deepest(touched) < 0.4 * deepest(free)
    # Flesh of the arm itself, inside of the capsule, is not pushed out.
    assert np.abs(touched[0] - free[0]).max() < 2e-3
    assert_shown_as_baked(obj, size=3.0)


def test_capsules_keep_their_size_where_bones_change_theirs(figure, module):
    obj, rig = figure
    bpy.ops.jounce.bone_capsules()
    pose = rig.pose.bones["Lower.L"]
    for frame, size in ((1, 1.0), (8, 1.2)):
        pose.scale = (size, size, size)
        pose.keyframe_insert("scale", frame=frame)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()

    def status(body):
        return module("bridge.preview.previews").session(body).status()

    assert status(obj) == "Final"
    (capsule,) = (c for c in obj.jounce.collision_collection.all_objects if c.parent_bone == "Lower.L")
    capsule.jounce_of_bone = False
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert "another size" in status(obj)


def test_what_is_in_the_flesh_at_rest_stays_there():
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.preview()
    free = scenes.evaluated_frames(obj, FRAMES)
    buckle = cube("Buckle", 0.1)
    buckle.data.transform(Matrix.Translation((0.0, 0.3, 1.6)))
    scenes.hang(buckle, rig)
    collide(obj, buckle)
    touched = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(touched[0] - free[0]).max() < 1e-3
    inside = np.abs(scenes.evaluated_frames(obj, range(1, 2))[0] - (0.0, 0.3, 1.6)).max(axis=1) < 0.1
    assert inside.any()
    assert_shown_as_baked(obj)


def things():
    """The names of all data possibly made by Jounce."""
    kinds = (bpy.data.objects, bpy.data.meshes, bpy.data.collections)
    return [sorted(block.name for block in kind) for kind in kinds]


def test_removing_jounce_takes_what_it_made_to_collide_with(figure):
    obj, _ = figure
    before = things()
    bpy.ops.jounce.ground()
    bpy.ops.jounce.bone_capsules()
    assert things() != before
    bpy.ops.jounce.remove()
    assert things() == before


def test_removing_jounce_leaves_what_is_the_artists_or_collided_with_by_others(figure):
    obj, _ = figure
    bpy.ops.jounce.ground()
    mine = cube("Mine")
    scenes.activate(obj, mine)
    bpy.ops.jounce.collider_add()
    other = scenes.column("Other")
    scenes.activate(other)
    bpy.ops.jounce.add()
    other.jounce.collision_collection = obj.jounce.collision_collection
    scenes.activate(obj)
    bpy.ops.jounce.remove()
    assert {"Ground", "Mine"} <= set(other.jounce.collision_collection.objects.keys())
    scenes.activate(other)
    collection = other.jounce.collision_collection
    bpy.ops.jounce.remove()
    assert collection.objects.keys() == ["Mine"]


def test_removing_jounce_leaves_a_made_ground_that_another_body_collides_with_in_its_own_collection(figure):
    obj, _ = figure
    bpy.ops.jounce.ground()
    ground = obj.jounce.collision_collection.objects["Ground"]
    other = scenes.column("Other")
    scenes.activate(other)
    bpy.ops.jounce.add()
    scenes.activate(other, ground)
    bpy.ops.jounce.collider_add()
    scenes.activate(obj)
    bpy.ops.jounce.remove()
    assert other.jounce.collision_collection.objects.keys() == ["Ground"]
    assert "Ground" in bpy.data.meshes


def test_removing_jounce_leaves_a_made_mesh_that_an_object_of_the_artist_shows(figure):
    obj, _ = figure
    bpy.ops.jounce.ground()
    mesh = obj.jounce.collision_collection.objects["Ground"].data
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Mine", mesh))
    bpy.ops.jounce.remove()
    assert "Ground" not in bpy.data.objects
    assert bpy.data.objects["Mine"].data == mesh
