"""The copy for game engines: bones alone reproduce the flesh; the artist's character stays."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from matrices import crossed

FRAMES = range(1, 13)


def dressed(scale=1.0):
    """A built character of two meshes with much motion: host, coat, armature."""
    obj, rig = scenes.character(scale)
    coat = scenes.column("Coat", height=2.0 / scale, radius=0.35 / scale)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0 / scale)
    scenes.settle_scene()
    obj.jounce.frequency = 2.0
    scenes.add_and_build(obj, coat)
    bends_freely(obj)
    return obj, coat, rig


def bends_freely(obj):
    """A soft body would reach the limit of stretch and shear parts, while bones can only rotate them."""
    obj.jounce.use_stretch = False


def bake(obj, count=12, influences=4):
    """Bakes to helper bones; the copies of the meshes of the body, the host's first."""
    obj.jounce.helper_count, obj.jounce.helper_influences = count, influences
    assert bpy.ops.jounce.bake(target="HELPER_BONES") == {"FINISHED"}
    return [obj.jounce.bake_copy] + [
        other.jounce.bake_copy for other in bpy.data.objects if other.jounce.host == obj
    ]


def shapes(*meshes):
    """World positions (f, p, 3) of meshes."""
    return np.concatenate([scenes.evaluated_frames(mesh, FRAMES) for mesh in meshes], axis=1)


def size(obj):
    """Length of the diagonal of an object's box at rest, in the world."""
    points = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
    return np.linalg.norm(np.ptp(points, axis=0))


def file_state():
    """Contents of the file, collections included."""
    return snapshot.file_state() | {"collections": sorted(c.name for c in bpy.data.collections)}


def weights_of(mesh):
    """The weights (p, g) of all vertex groups."""
    found = np.zeros((len(mesh.data.vertices), len(mesh.vertex_groups)))
    for vertex in mesh.data.vertices:
        for group in vertex.groups:
            found[vertex.index, group.group] = group.weight
    return found


def stretch(obj, rig):
    """A bone with uneven scale and therefore sheared children."""
    bone = rig.pose.bones["Lower"]
    for frame, scale in ((1, 1.0), (6, 1.4), (12, 1.0)):
        bone.scale = (scale, 1.0, 1.0 / scale)
        bone.keyframe_insert("scale", frame=frame)


def key(obj, rig):
    """An animated shape key."""
    obj.shape_key_add(name="Basis")
    block = obj.shape_key_add(name="Bulge")
    for vertex, point in zip(obj.data.vertices, block.points, strict=True):
        point.co.x = 1.3 * vertex.co.x
    for frame, value in ((1, 0.0), (8, 1.0)):
        block.value = value
        block.keyframe_insert("value", frame=frame)


def travel(obj, rig):
    """An armature moved and rotated as an object."""
    for frame, place in ((1, 0.0), (12, 3.0)):
        rig.location.x, rig.rotation_euler.z = place, place
        rig.keyframe_insert("location", frame=frame)
        rig.keyframe_insert("rotation_euler", frame=frame)


def preserve(obj, rig):
    """An armature that preserves volume."""
    obj.modifiers["Armature"].use_deform_preserve_volume = True


@pytest.mark.parametrize("change", [None, stretch, key, travel, preserve])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_copy_moves_as_the_flesh_to_the_stated_error(change, scale):
    obj, rig = scenes.character(scale)
    if change is not None:
        change(obj, rig)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    bends_freely(obj)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    expected = shapes(obj)
    (copy,) = bake(obj)
    gaps = np.linalg.norm(shapes(copy) - expected, axis=2) / size(obj)
    # Blender's matrices are single precision: under a sheared bone rounding reaches 5e-6 of the size.
    assert gaps.max() == pytest.approx(obj.jounce.bake_error, abs=1e-5)
    assert 1e-4 < obj.jounce.bake_error < 0.05


def test_more_bones_are_nearer():
    obj, _, _ = dressed()
    # A slow column bends as a whole; at the size's frequency two bones would follow more of the motion.
    obj.jounce.frequency_of = "LOWEST_MODE"
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    expected = shapes(obj)
    off = [np.linalg.norm(shapes(bake(obj, count)[0]) - expected, axis=2).mean() for count in (2, 6, 20)]
    assert off[0] > 1.5 * off[1] > 2.0 * off[2] > 0.0


@pytest.mark.parametrize("influences", [2, 4])
def test_no_vertex_has_more_bones_than_allowed(influences):
    obj, _, _ = dressed()
    for copy in bake(obj, influences=influences):
        weights = weights_of(copy)
        assert (weights > 0.0).sum(axis=1).max() == influences
        assert np.allclose(weights.sum(axis=1), 1.0, atol=1e-6)
        assert set(copy.vertex_groups.keys()) <= set(copy.parent.data.bones.keys())


def test_bones_have_at_most_one_key_a_frame():
    obj, _, _ = dressed()
    armature = bake(obj)[0].parent
    curves = snapshot.fcurves(armature.animation_data.action)
    assert len(curves) == 10 * len(armature.data.bones) == 10 * (12 + 2)
    for curve in curves:
        times = [point.co.x for point in curve.keyframe_points]
        assert sorted(set(times)) == times and set(times) <= set(FRAMES)
        assert all(point.interpolation == "LINEAR" for point in curve.keyframe_points)


def test_helpers_hang_below_the_bone_whose_flesh_they_move():
    obj, _, _ = dressed()
    bones = bake(obj)[0].parent.data.bones
    helpers = [bone for bone in bones if bone.name.startswith("Helper")]
    assert len(helpers) == 12
    # Half way up both bones move the flesh alike.
    clear = [bone for bone in helpers if abs(bone.head_local.z - 1.0) > 0.1]
    assert len(clear) > 6
    assert all(bone.parent.name == ("Upper" if bone.head_local.z > 1.0 else "Lower") for bone in clear)


def test_the_character_of_the_artist_stays_and_nothing_is_left_when_it_is_freed():
    obj, coat, rig = dressed()
    key(obj, rig)
    obj.vertex_groups.new(name="Mask")
    obj.modifiers.new("Smooth", "SUBSURF")
    bpy.ops.jounce.build()
    scenes.settle_scene()
    before = file_state(), [snapshot.snapshot(mesh) for mesh in (obj, coat)]
    bones = snapshot.properties(rig), [snapshot.properties(bone) for bone in rig.pose.bones]
    copy, _ = bake(obj)
    assert [modifier.name for modifier in copy.modifiers] == ["Armature", "Smooth"]
    assert "Mask" in copy.vertex_groups and copy.data.shape_keys is None
    assert snapshot.differences(before[1], [snapshot.snapshot(mesh) for mesh in (obj, coat)]) == []
    assert bones == (snapshot.properties(rig), [snapshot.properties(bone) for bone in rig.pose.bones])
    state = file_state()
    bake(obj)
    assert file_state() == state
    bpy.ops.jounce.free_bake()
    after = file_state(), [snapshot.snapshot(mesh) for mesh in (obj, coat)]
    assert snapshot.differences(list(before), list(after)) == []
    bake(obj)
    bpy.ops.jounce.remove()
    assert file_state() == before[0]


def test_stopped_while_the_bones_are_fitted_it_changes_nothing(module):
    obj, _, _ = dressed()
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    before = file_state(), snapshot.snapshot(obj), snapshot.properties(obj.jounce)
    settings = obj.jounce.bake_settings("HELPER_BONES", 1, 12)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    while next(task).stage != "Fitting: helper bones":
        pass
    task.close()
    assert before == (file_state(), snapshot.snapshot(obj), snapshot.properties(obj.jounce))


def test_a_copy_of_the_character_keeps_the_copy_for_games():
    obj, _, _ = dressed()
    copy, _ = bake(obj)
    twin = obj.copy()
    twin.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    assert twin.jounce.bake_copy == copy and copy.parent is not None
    scenes.activate(twin)
    bpy.ops.jounce.free_bake()
    assert not [collection for collection in bpy.data.collections if collection.name.startswith("Jounce")]


def delete_copy(_obj, _coat, copies):
    bpy.data.objects.remove(copies[0])


def delete_all_copies(_obj, _coat, copies):
    for copy in copies:
        bpy.data.objects.remove(copy)


def delete_armature(_obj, _coat, copies):
    bpy.data.objects.remove(copies[0].parent)


def delete_by_key(_obj, _coat, copies):
    scenes.activate(copies[0], copies[0].parent)
    bpy.ops.object.delete()


def delete_member(_obj, coat, _copies):
    bpy.data.objects.remove(coat)


def delete_host(obj, _coat, _copies):
    bpy.data.objects.remove(obj)


def left():
    """Traces of copies in the file."""
    blocks = (bpy.data.objects, bpy.data.armatures, bpy.data.collections, bpy.data.actions, bpy.data.meshes)
    return [block.name for kind in blocks for block in kind if block.get("jounce_made") == "bake"]


DELETED = [delete_copy, delete_all_copies, delete_armature, delete_by_key, delete_member, delete_host]


@pytest.mark.parametrize(("delete", "way"), crossed(DELETED, ["free", "again"]))
def test_what_was_deleted_by_hand_leaves_nothing(delete, way):
    obj, coat, rig = dressed()
    copies = bake(obj)
    delete(obj, coat, copies)
    bpy.context.view_layer.update()
    host = coat if delete is delete_host else obj
    scenes.activate(host)
    if way == "again":
        if delete is delete_host:
            scenes.coarse(host)
        bpy.ops.jounce.build()
        found = set(bake(host))
        armature = next(iter(found)).parent
        assert set(armature.children) == found and armature.name == f"{host.name} Rig"
        kept = {*found, *(copy.data for copy in found), armature, armature.data}
        kept |= {armature.animation_data.action, *armature.users_collection}
        assert len(left()) == len(kept)
    bpy.ops.jounce.free_bake()
    assert left() == []


def test_what_the_artist_adds_to_the_copy_stays():
    obj, coat, _ = dressed()
    copies = bake(obj)
    armature = copies[0].parent
    scenes.activate(copies[0])
    bpy.ops.object.duplicate()
    twin = bpy.context.object
    bpy.data.objects.remove(coat)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    assert list(armature.children) == [twin]
    assert twin.users_collection == armature.users_collection


def test_a_render_still_lacks_the_flesh_and_does_not_show_the_copy(module):
    obj, _, _ = dressed()
    copy, _ = bake(obj)
    assert module("bridge.bake.renders").unbaked(bpy.context.scene) == [obj]
    assert all(collection.hide_render for collection in copy.users_collection)


def test_mode_and_selection_come_back():
    obj, _, rig = dressed()
    scenes.activate(rig, obj)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.jounce.bake(target="HELPER_BONES") == {"FINISHED"}
    assert (bpy.context.mode, bpy.context.object) == ("POSE", rig)
    assert set(bpy.context.selected_objects) == {obj, rig}


def test_the_copy_is_selected_for_an_exporter():
    obj, coat, _ = dressed()
    with pytest.raises(RuntimeError, match="No selected body has a copy"):
        bpy.ops.jounce.select_copy()
    copies = bake(obj)
    bpy.ops.jounce.select_copy()
    assert set(bpy.context.selected_objects) == {*copies, copies[0].parent}
    assert bpy.context.object == copies[0].parent


def test_names_that_are_taken_do_no_harm():
    obj, rig = scenes.character()
    rig.data.bones["Upper"].name = "Helper 1"
    scenes.settle_scene()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    expected = shapes(obj)
    (copy,) = bake(obj, count=3)
    assert len(copy.parent.data.bones) == 5
    gaps = np.linalg.norm(shapes(copy) - expected, axis=2) / size(obj)
    assert gaps.max() == pytest.approx(obj.jounce.bake_error, abs=2e-6)
