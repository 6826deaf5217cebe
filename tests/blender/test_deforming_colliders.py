"""Flesh beside colliders that deform: the arm of another rig, and a wall with a shape key."""

import bpy
import numpy as np
import pytest
import scenes
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from previews import FRAMES, assert_shown_as_baked
from test_collisions import collide, cube, welded

# Cells along the sides of the wall.
CELLS = 24


@pytest.fixture
def character(tmp_path):
    """A built column with a swinging upper end, in a saved file."""
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    return obj, rig


def arm():
    """A thinner column with a rig of its own, whose upper half bends towards the character."""
    obj = scenes.column(height=2.0, radius=0.15)
    obj.name = "Arm"
    rig = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)], "Other Rig")
    obj.parent = rig
    scenes.skin(obj, rig, 2.0)
    rig.location = (0.0, -0.9, 0.6)
    bone = rig.pose.bones["Upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (5, -0.7), (12, -0.7)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.update()
    return obj


def wall():
    """A wall that faces the character along y, and bulges towards it."""
    steps = np.linspace(-1.5, 1.5, CELLS + 1)
    points = [(x, -1.0, 1.0 + z) for z in steps for x in steps]
    corner = [row * (CELLS + 1) + column for row in range(CELLS) for column in range(CELLS)]
    faces = [(c + CELLS + 1, c + CELLS + 2, c + 1, c) for c in corner]
    obj = scenes.mesh_object("Wall", points, faces)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Bulge")
    for point, (x, _, z) in zip(key.data, points, strict=True):
        point.co.y += 0.3 * np.exp(-2.0 * (x * x + (z - 1.6) ** 2))
    for frame, value in ((1, 0.0), (6, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.view_layer.update()
    return obj


def deepest(obj, other):
    """Largest depth of the flesh behind the shown surface of another mesh, by Blender's own search."""
    found = 0.0
    for frame, points in zip(FRAMES, scenes.evaluated_frames(obj, FRAMES), strict=True):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        tree = BVHTree.FromObject(other, depsgraph)
        inside = other.evaluated_get(depsgraph).matrix_world.inverted()
        for point in (inside @ Vector(point) for point in points):
            place, normal, _, away = tree.find_nearest(point)
            if (point - place).dot(normal) < 0.0:
                found = max(found, away)
    return found


# A bulge has nothing rigid: its patches are flatter than it.
@pytest.mark.parametrize(("make", "share"), [(arm, 0.1), (wall, 0.2)])
def test_flesh_stays_outside_of_what_deforms_in_preview_and_bake(character, make, share):
    obj, _ = character
    other = make()
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    through = deepest(obj, other)
    assert through > 0.05
    collide(obj, other)
    assert deepest(obj, other) < share * through
    assert_shown_as_baked(obj)


def test_a_change_of_what_deforms_it_shows(character, session):
    obj, _ = character
    other = arm()
    scenes.activate(obj)
    collide(obj, other)
    bpy.ops.jounce.preview()
    before = scenes.evaluated_frames(obj, FRAMES)
    place = other.parent.location.y
    other.parent.location.y -= 5.0
    bpy.context.view_layer.update()
    far = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(far - before).max() > 0.03
    other.parent.location.y = place
    bpy.context.view_layer.update()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), before)
    assert session(obj).status().split(".")[0] == "Final"


def test_two_characters_with_flesh_collide_with_each_others_bones(character):
    obj, _ = character
    other = arm()
    scenes.activate(obj)
    collide(obj, other)
    bpy.ops.jounce.preview()
    before = scenes.evaluated_frames(obj, FRAMES)
    place = other.parent.location.copy()
    other.parent.location.y -= 5.0
    bpy.context.view_layer.update()
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - before).max() > 0.03
    other.parent.location = place
    scenes.activate(other)
    scenes.add_and_build(other)
    scenes.activate(other, obj)
    bpy.ops.jounce.collider_add()
    assert obj.name in other.jounce.collision_collection.all_objects
    other.jounce.quality = "FINAL"
    scenes.activate(other)
    bpy.ops.jounce.preview()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), before)


def test_clothes_of_the_own_rig_leave_the_flesh_inside_alone(character):
    obj, rig = character
    sleeve = scenes.column(height=2.0, radius=0.4)
    sleeve.name, sleeve.parent = "Sleeve", rig
    scenes.skin(sleeve, rig, 2.0)
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    free = scenes.evaluated_frames(obj, FRAMES)
    collide(obj, sleeve)
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), free)


def test_a_mesh_that_loses_vertices_is_refused_by_name_and_frame(character, session):
    obj, _ = character
    other = wall()
    modifier = other.modifiers.new("Fewer", "DECIMATE")
    for frame, ratio in ((4, 1.0), (5, 0.3)):
        modifier.ratio = ratio
        modifier.keyframe_insert("ratio", frame=frame)
    bpy.context.scene.frame_set(1)
    scenes.activate(obj)
    collide(obj, other)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "Wall is at an infinite place in frame 5, or has lost vertices" in session(obj).status()


def test_an_armature_without_a_size_is_refused_by_name(character, session):
    obj, _ = character
    other = arm()
    for frame, size in ((4, 1.0), (5, 0.0)):
        other.parent.scale = (size, size, size)
        other.parent.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(1)
    scenes.activate(obj)
    collide(obj, other)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "Arm has another size in frame" in session(obj).status()


def test_the_shape_without_its_deleted_bones_collides(character, session):
    obj, _ = character
    other = arm()
    scenes.activate(obj)
    collide(obj, other)
    bpy.ops.jounce.preview()
    before = scenes.evaluated_frames(obj, FRAMES)
    bpy.data.objects.remove(other.parent)
    bpy.context.view_layer.update()
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - before).max() > 0.03
    assert session(obj).status().split(".")[0] == "Final"


def test_what_patches_cannot_follow_is_said(character):
    obj, _ = character
    bare, thin, frame = cube("Bare"), welded("Thin"), scenes.mesh_object("Frame", [(0, 0, 5), (1, 0, 5)], [])
    frame.modifiers.new("Wave", "WAVE")
    bare.modifiers.new("Wave", "WAVE")
    scenes.activate(bare)
    bpy.ops.jounce.add()
    scenes.activate(obj)
    collide(obj, bare, thin, frame)
    bpy.ops.jounce.diagnose()
    said = {found.obj: found.sentence for found in obj.jounce.findings}
    assert said["Bare"].startswith("Bare has flesh of its own and no bones")
    assert said["Frame"].startswith("Frame has no faces")
    assert said["Thin"].startswith("Thin deforms, and its modifiers take vertices away")
