"""Bodies sewn together: solved as one body, and taken apart again."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from mathutils import Matrix
from previews import FRAMES, assert_shown_as_baked
from sewn import NEAR, body, both, leaf, painted, pairs, settings_of, taken
from test_members import is_current


@pytest.fixture
def two():
    """A swinging column and a leaf beside it, both selected."""
    return both()


def motion(*objects):
    """World positions (f, p, 3) of each of these meshes in a bake of their bodies, which is freed again."""
    scenes.activate(*objects)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=12)
    shapes = [scenes.evaluated_frames(obj, FRAMES) for obj in objects]
    bpy.ops.jounce.free_bake()
    return shapes


def slack(shapes, ends):
    """Largest change of the distance of stitched vertices."""
    gaps = np.linalg.norm(shapes[0][:, ends[:, 0]] - shapes[1][:, ends[:, 1]], axis=2)
    return np.abs(gaps - gaps[0]).max()


# Solved as one.


def test_a_sewn_leaf_follows_the_flesh_of_its_branch(two):
    branch, other = two
    apart = motion(branch, other)
    scenes.activate(branch, other)
    assert bpy.ops.jounce.sew(**NEAR) == {"FINISHED"}
    (seam,) = branch.jounce.seams
    assert (seam.mesh_a, seam.mesh_b, seam.name) == (branch, other, "Column - Leaf")
    together = motion(branch, other)
    assert slack(together, pairs(seam)) < 0.2 * slack(apart, pairs(seam))
    # With the stitches off, the leaf swings separately in the same body.
    seam.use = False
    scenes.activate(branch)
    bpy.ops.jounce.build()
    assert slack(motion(branch, other), pairs(seam)) > 5.0 * slack(together, pairs(seam))


@pytest.mark.parametrize("deformed", [False, True])
def test_what_the_same_bones_deform_is_drawn_off_as_a_whole(deformed):
    branch, rig = scenes.character()
    other = leaf(rig)
    if deformed:
        other.parent_type = "OBJECT"
        other.matrix_world = Matrix()
        other.vertex_groups.new(name="Upper").add(range(len(other.data.vertices)), 1.0, "REPLACE")
        other.modifiers.new("Armature", "ARMATURE").object = rig
    body(other, resolution=8)
    body(branch)
    scenes.activate(branch, other)
    bpy.ops.jounce.sew(**NEAR)
    shapes = zip((branch, other), motion(branch, other), strict=True)
    flesh, drawn = (shape - scenes.evaluated_frames(obj, FRAMES) for obj, shape in shapes)
    as_a_whole = np.linalg.norm(drawn.mean(axis=1), axis=1).max()
    seam = np.linalg.norm(flesh[:, pairs(branch.jounce.seams[0])[:, 0]].mean(axis=1), axis=1).max()
    # An object parented to a bone keeps its place there, and bends to hold the seam.
    assert as_a_whole > 0.5 * seam if deformed else as_a_whole < 0.25 * seam


def test_sewn_bodies_are_the_body_that_is_made_of_both_at_once(two):
    branch, other = two
    bpy.ops.jounce.sew(**NEAR)
    digest, sewn = branch.jounce.built_digest, motion(branch, other)
    scenes.activate(branch)
    bpy.ops.jounce.remove()
    body(branch, other)
    scenes.activate(branch, other)
    bpy.ops.jounce.stitch_nearest(**NEAR)
    bpy.ops.jounce.build()
    assert branch.jounce.built_digest == digest
    assert all(np.array_equal(*each) for each in zip(sewn, motion(branch, other), strict=True))


def test_what_was_sewn_on_is_taken_off_again(two, module):
    branch, other = two
    digest, alone = branch.jounce.built_digest, motion(branch)
    bare = snapshot.snapshot(other)
    scenes.activate(branch, other)
    bpy.ops.jounce.sew(**NEAR)
    scenes.activate(other)
    assert bpy.ops.jounce.body_remove() == {"FINISHED"}
    assert branch.jounce.built_digest == digest and is_current(branch, module)
    assert np.array_equal(motion(branch)[0], alone[0])
    assert not other.is_property_set("jounce") and not branch.jounce.seams[0].use
    del bare["custom"]
    assert snapshot.differences(bare, {key: snapshot.snapshot(other)[key] for key in bare}) == []
    # It may be a separate body again, and be sewn on again.
    body(other, resolution=8)
    scenes.activate(branch, other)
    bpy.ops.jounce.sew(**NEAR)
    assert [seam.use for seam in branch.jounce.seams] == [False, True] and is_current(branch, module)


def test_the_preview_shows_both_as_they_are_baked(two, preview):
    branch, other = two
    for obj in two:
        scenes.activate(obj)
        bpy.ops.jounce.preview()
    scenes.activate(branch, other)
    bpy.ops.jounce.sew(**NEAR)
    assert branch.jounce.preview and preview.session(branch) is not None
    assert not other.jounce.preview and preview.session(other) is None
    bpy.ops.jounce.fill_cache()
    assert_shown_as_baked(branch, other, size=1.0)


def test_all_near_meshes_of_several_bodies_are_sewn_on(two, module):
    branch, other = two
    twin = leaf(branch.modifiers[0].object, "Twin", -1.0)
    button = scenes.column("Button", height=0.2, radius=0.05, rings=2)
    scenes.hang(button, branch.modifiers[0].object)
    body(twin, button)
    scenes.activate(branch, other, twin)
    bpy.ops.jounce.sew(**NEAR)
    assert [seam.name for seam in branch.jounce.seams] == ["Column - Leaf", "Column - Twin"]
    assert module("bridge.body.bodies").members(branch) == (branch, button, other, twin)
    assert is_current(branch, module)


def test_nearest_is_what_is_nearest_at_rest(two):
    branch, other = two
    bpy.context.scene.frame_set(5)
    bpy.ops.jounce.sew(**NEAR)
    posed = pairs(branch.jounce.seams[0])
    scenes.activate(other)
    bpy.ops.jounce.body_remove()
    bpy.context.scene.frame_set(1)
    scenes.activate(branch, other)
    bpy.ops.jounce.body_add()
    bpy.ops.jounce.stitch_nearest(**NEAR)
    assert np.array_equal(pairs(branch.jounce.seams[1]), posed)


# Transferred data.


def test_stitch_groups_come_along_with_their_keys(two, module):
    branch, other = two
    scenes.activate(branch, other)
    branch.jounce.frequency = 3.25
    for obj, name in ((branch, "Cut"), (other, "Cut"), (other, "Zip")):
        seam = obj.jounce.seams.add()
        seam.name, seam.mesh_a, seam.mesh_b = name, obj, obj
        pair = seam.pairs.add()
        pair.a, pair.b = 3, 20
    seam.stiffness, seam.keep_gap, seam.radius = 0.25, False, 2.0
    for frame, value in ((2, 1.0), (6, 0.5), (9, 0.0)):
        seam.closed = value
        seam.keyframe_insert("closed", frame=frame)
    bpy.ops.jounce.sew(**NEAR)
    assert [each.name for each in branch.jounce.seams] == ["Cut", "Cut 2", "Zip", "Column - Leaf"]
    taken = branch.jounce.seams[2]
    assert (taken.mesh_a, taken.stiffness, taken.keep_gap, taken.radius) == (other, 0.25, False, 2.0)
    assert branch.jounce.frequency == 3.25 and is_current(branch, module)
    (curve,) = snapshot.fcurves(branch.animation_data.action)
    assert curve.data_path == "jounce.seams[2].closed"
    (like,) = snapshot.fcurves(other.animation_data.action)
    assert [curve.evaluate(frame) for frame in range(1, 12)] == [
        like.evaluate(frame) for frame in range(1, 12)
    ]
    bpy.context.scene.frame_set(6)
    assert taken.closed == 0.5


def test_what_drivers_move_stays_behind_and_is_said(two, module):
    branch, other = two
    seam = other.jounce.seams.add()
    seam.name, seam.mesh_a, seam.mesh_b = "Zip", other, other
    seam.pairs.add()
    seam.driver_add("closed")
    warned = taken(module, branch, other)
    assert warned == ["What stays behind of Leaf, as Column has no place for it: what moves Closed of Zip."]


def test_marks_and_maps_come_along(two, module):
    branch, other = two
    branch.jounce.bone_core = 0.5
    other.data.polygons.foreach_set("select", [index < 8 for index in range(len(other.data.polygons))])
    scenes.activate(other)
    bpy.ops.jounce.mark_rigid()
    other.jounce.is_rigid = True
    pin = painted(other, "Held")
    other.jounce.pin_group = branch.jounce.pin_group = pin
    other.jounce.stiffness_group = painted(other, "Firm")
    other.jounce.stiffness_stiff = 12.0
    other.jounce.leak_group, branch.jounce.leak_group = painted(other, "Let In"), painted(branch, "Leak")
    marked = module("bridge.body.hard_parts").marked(other.data)
    scenes.activate(branch, other)
    warned = taken(module, branch, other)
    assert warned == ["What stays behind of Leaf, as Column has no place for it: the map Leak."]
    state = branch.jounce
    assert (state.pin_group, state.stiffness_group, state.leak_group) == ("Held", "Firm", "Leak")
    assert state.stiffness_stiff == 12.0 and state.bone_core == 0.5
    assert other.jounce.is_rigid and marked.sum() == 8
    assert np.array_equal(module("bridge.body.hard_parts").marked(other.data), marked)
    read = module("bridge.body.bodies").read(branch, bpy.context, print).surface
    rows = slice(len(branch.data.vertices), None)
    assert (read.maps.stiffness[: rows.start] == 1.0).all()
    assert read.maps.stiffness[rows].max() == pytest.approx(12.0)


@pytest.mark.parametrize("reason", ["named so", "weights of meshes without it", "other factors"])
def test_a_map_that_would_mean_something_else_stays_behind(two, module, reason):
    branch, other = two
    other.jounce.stiffness_group = painted(other, "Firm")
    if reason == "named so":
        painted(branch, "Firm")
    elif reason == "other factors":
        branch.jounce.stiffness_group, branch.jounce.stiffness_stiff = "Firm", 3.0
    else:
        other.jounce.stiffness_soft = 0.5
    (warned,) = taken(module, branch, other)
    assert "the factors of the map Stiffness" in warned if reason == "other factors" else "the map" in warned
    assert branch.jounce.stiffness_group == ("Firm" if reason == "other factors" else "")


def test_muscles_come_along_with_their_contraction(two, module):
    branch, other = two
    scenes.activate(other)
    bpy.ops.jounce.muscle_add()
    for muscle, name in zip(other.jounce.muscles, ("Calf", "Thigh"), strict=True):
        muscle.muscle_group, muscle.muscle_stiffness = painted(other, name), 4.0
        for frame, value in ((1, 0.0), (5, 0.5)):
            muscle.contraction = value
            muscle.keyframe_insert("contraction", frame=frame)
    assert taken(module, branch, other) == []
    assert [(each.muscle_group, each.muscle_stiffness) for each in branch.jounce.muscles] == [
        ("Calf", 4.0),
        ("Thigh", 4.0),
    ]
    paths = [curve.data_path for curve in snapshot.fcurves(branch.animation_data.action)]
    assert paths == ["jounce.contraction", "jounce.more_muscles[0].contraction"]
    bpy.context.scene.frame_set(5)
    assert [each.contraction for each in branch.jounce.muscles] == [0.5, 0.5]


def test_nothing_of_a_host_is_left_on_what_was_sewn_on(two):
    branch, other = two
    other.jounce.frequency, other.jounce.damping = 7.0, 0.4
    scenes.activate(other)
    bpy.ops.jounce.ground()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    scenes.activate(branch, other)
    bpy.ops.jounce.sew(**NEAR)
    assert settings_of(other) <= {"name", "format", "bind_matrix", "armature_matrix"}
    assert "Ground" not in bpy.data.objects
    bpy.ops.jounce.remove()
    assert not any(obj.is_property_set("jounce") for obj in bpy.data.objects)


def test_bakes_are_dealt_with_as_where_meshes_join_and_leave(two):
    branch, other = two
    bare = snapshot.snapshot(other)
    scenes.activate(branch, other)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=12)
    shown = scenes.evaluated_frames(branch, FRAMES)
    bpy.ops.jounce.sew(**NEAR)
    # The active body's bake plays until the next one; the other's is freed.
    assert np.array_equal(scenes.evaluated_frames(branch, FRAMES), shown)
    assert snapshot.differences(bare["keys"], snapshot.snapshot(other)["keys"]) == []
    assert not other.jounce.bake_target and branch.jounce.bake_keys > 0


def test_bodies_that_were_not_built_stay_so(two):
    branch, other = two
    branch.jounce.built_digest = ""
    bpy.ops.jounce.sew(**NEAR)
    assert other.jounce.host == branch and not branch.jounce.built_digest
    assert len(branch.jounce.seams) == 1


def test_a_copy_that_became_a_body_can_be_sewn_on(two, module):
    branch, other = two
    bpy.ops.jounce.sew(**NEAR)
    scenes.activate(other)
    bpy.ops.object.duplicate()
    bpy.context.view_layer.update()
    module("bridge.preview.previews").sync()
    copy = bpy.data.objects["Leaf.001"]
    assert copy.jounce.is_host
    scenes.activate(branch, copy)
    bpy.ops.jounce.sew(distance=30.0)
    module("bridge.preview.previews").sync()
    assert not copy.jounce.is_host and copy.jounce.host == branch
