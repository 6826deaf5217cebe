"""Flesh out of its own skin: two legs of one mesh that press into each other."""

import bpy
import numpy as np
import pytest
import scenes
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from previews import FRAMES, assert_shown_as_baked

# Distance of a leg from the middle, its radius, and the way that the right one goes.
ASIDE, RADIUS, WAY = 0.5, 0.3, 0.55


@pytest.fixture
def legs(tmp_path):
    """A built body of two legs, of which the right one comes, in a saved file."""
    left, right = (scenes.column(radius=RADIUS) for _ in range(2))
    left.location.x, right.location.x = -ASIDE, ASIDE
    scenes.activate(left, right)
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=False)
    rig = scenes.armature([("Left", 0.0, 1.0), ("Right", 1.0, 2.0)])
    for obj, name in ((left, "Left"), (right, "Right")):
        group = obj.vertex_groups.new(name=name)
        group.add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    scenes.activate(left, right)
    bpy.ops.object.join()
    left.parent = rig
    left.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Right"]
    for frame, way in ((1, 0.0), (6, -WAY), (12, -WAY)):
        # The bone stands along z: its own x is that of the world.
        bone.location.x = way
        bone.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(left)
    left.jounce.quality = "FINAL"
    return left


def deepest(obj):
    """Largest depth of the left leg behind the sides of the right one, by Blender's own search."""
    half, found = len(obj.data.vertices) // 2, 0.0
    sides = [face.vertices for face in obj.data.polygons if len(face.vertices) == 4]
    faces = [tuple(corner - half for corner in side) for side in sides if min(side) >= half]
    for points in scenes.evaluated_frames(obj, FRAMES):
        tree = BVHTree.FromPolygons(points[half:].tolist(), faces)
        # Beside the ends, the nearest place on a side tells no depth.
        for point in (Vector(point) for point in points[:half] if 0.2 < point[2] < 1.8):
            place, normal, _, _ = tree.find_nearest(point)
            found = max(found, normal.dot(place - point))
    return found


def test_legs_stay_out_of_each_other_in_preview_and_bake(legs):
    bpy.ops.jounce.preview()
    through = deepest(legs)
    assert through > 0.1
    legs.jounce.use_collisions = True
    free = scenes.evaluated_frames(legs, FRAMES)
    legs.jounce.self_collision = True
    assert deepest(legs) < 0.2 * through
    legs.jounce.self_collision = False
    assert np.array_equal(scenes.evaluated_frames(legs, FRAMES), free)
    legs.jounce.self_collision = True
    assert_shown_as_baked(legs)
