"""Maps and counted bones, from vertex groups and bone collections to the bake."""

import bpy
import numpy as np
import pytest
import scenes


@pytest.fixture
def column():
    """A column on two bones with Jounce, not built yet."""
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    return obj, rig


def weights_of(obj, name):
    """Weights (p,) of a group, 0 outside of it."""
    index = obj.vertex_groups[name].index
    return np.array([sum(g.weight for g in v.groups if g.group == index) for v in obj.data.vertices])


def bake(obj):
    """Displacement of each vertex by the bake, (f, p), in metres."""
    frames = range(1, 10)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    posed = scenes.evaluated_frames(obj, frames)
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=9)
    return np.linalg.norm(scenes.evaluated_frames(obj, frames) - posed, axis=2)


KINDS = [
    ("STIFFNESS", "stiffness_group", "Stiffness", 0.5),
    ("LEAK", "leak_group", "Leak", 1.0),
    ("PIN", "pin_group", "Pin", 0.0),
    ("STRENGTH", "strength_group", "Strength", 1.0),
    ("MUSCLE", "muscle_group", "Muscle", 0.0),
]


@pytest.mark.parametrize("factors", [(), (0.1, 7.0), (0.5, 0.6)])
@pytest.mark.parametrize(("kind", "setting", "name", "value"), KINDS)
def test_a_new_map_changes_nothing(column, kind, setting, name, value, factors):
    obj, _ = column
    if factors:
        obj.jounce.stiffness_soft, obj.jounce.stiffness_stiff = factors
    before, digest = bake(obj), obj.jounce.built_digest
    bpy.ops.jounce.map_add(kind=kind)
    assert getattr(obj.jounce, setting) == name
    assert (weights_of(obj, name) == value).all()
    assert np.array_equal(bake(obj), before)
    assert obj.jounce.built_digest == digest


def young_of(obj, module):
    """Young's modulus (p,) around each vertex of a built body, relative to the usual one."""
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    young = np.broadcast_to(body.material.young, len(body.labels))[body.embedding.tets]
    return young / module("core.stepping.motion").YOUNG


def test_a_new_stiffness_map_is_painted_softer_and_stiffer_and_all_else_stays(column, module):
    obj, _ = column
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    bpy.ops.jounce.map_add(kind="STIFFNESS")
    group = obj.vertex_groups["Stiffness"]
    group.add(np.flatnonzero(heights > 1.7).tolist(), 1.0, "REPLACE")
    group.add(np.flatnonzero(heights < 0.3).tolist(), 0.0, "REPLACE")
    bpy.ops.jounce.build()
    young = young_of(obj, module)
    # A cell has the mean of its contents, on a log scale.
    assert young[heights > 1.9].min() > 15.0 and young[heights < 0.1].max() < 1.0 / 15.0
    assert np.allclose(young[(heights > 0.7) & (heights < 1.3)], 1.0, rtol=0.1)


def test_a_mesh_without_the_group_is_as_stiff_as_without_the_map(column, module):
    obj, rig = column
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    coat.jounce.host = obj
    bpy.ops.jounce.map_add(kind="STIFFNESS")
    obj.vertex_groups["Stiffness"].add([0], 1.0, "REPLACE")
    read = module("bridge.body.bodies").read
    bpy.ops.jounce.build()
    stiffness = read(obj, bpy.context, print).surface.maps.stiffness
    assert stiffness[0] == pytest.approx(30.0) and (stiffness[1:] == 1.0).all()
    scenes.activate(coat)
    bpy.ops.jounce.map_add(kind="STIFFNESS")
    assert (weights_of(coat, "Stiffness") == 0.5).all()


def test_a_map_of_an_older_file_means_what_it_meant(column, module):
    obj, rig = column
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    coat.jounce.host = obj
    group = obj.vertex_groups.new(name="Soft")
    group.add([0, 1], 0.5, "REPLACE")
    group.add([2], 1.0, "REPLACE")
    obj.jounce.stiffness_group = "Soft"
    obj.jounce.stiffness_soft = 0.25
    bpy.ops.jounce.build()
    stiffness = module("bridge.body.bodies").read(obj, bpy.context, print).surface.maps.stiffness
    assert np.allclose(stiffness[:4], [7.5**0.5, 7.5**0.5, 30.0, 0.25])
    assert np.allclose(stiffness[len(obj.data.vertices) :], 0.25)
    bpy.ops.jounce.map_smooth(kind="STIFFNESS", times=1)
    scenes.activate(coat)
    bpy.ops.jounce.map_add(kind="STIFFNESS")
    assert not weights_of(coat, "Soft").any() and not obj.jounce.stiffness_centred
    assert obj.jounce.stiffness_soft == 0.25


def test_a_map_from_the_selection(column):
    obj, _ = column
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z < 0.5
    bpy.ops.jounce.map_from_selection(kind="PIN")
    low = np.array([vertex.co.z < 0.5 for vertex in obj.data.vertices])
    assert np.allclose(weights_of(obj, "Pin"), low)
    moved = bake(obj)
    assert moved[:, low].max() < 1e-5
    assert moved[:, ~low].max() > 1e-3


def test_a_map_from_bones_blends_as_their_weights(column, module):
    obj, rig = column
    scenes.select_bones(rig, "Upper")
    bpy.ops.jounce.map_from_bones(kind="LEAK", value=0.25)
    expected = 1.0 - 0.75 * weights_of(obj, "Upper")
    assert np.allclose(weights_of(obj, "Leak"), expected, atol=1e-4)


def test_painted_stiffness_and_strength_act_where_they_are(column):
    obj, _ = column
    before = bake(obj)
    high = np.array([vertex.co.z > 1.0 for vertex in obj.data.vertices])
    for vertex, chosen in zip(obj.data.vertices, high, strict=True):
        vertex.select = bool(chosen)
    bpy.ops.jounce.map_from_selection(kind="STIFFNESS")
    stiff = bake(obj)
    assert stiff[:, high].max() / stiff.max() < 0.8 * before[:, high].max() / before.max()
    obj.jounce.stiffness_group = ""
    obj.jounce.strength = 0.0
    assert bake(obj).max() < 1e-5


def test_strength_may_be_animated(column):
    obj, _ = column
    whole = bake(obj)
    for frame, strength in ((1, 0.0), (6, 0.0), (7, 1.0)):
        obj.jounce.strength = strength
        obj.jounce.keyframe_insert("strength", frame=frame)
    moved = bake(obj)
    assert moved[:5].max() < 1e-5 < 1e-4 < moved[6:].max()
    assert whole[:5].max() > 1e-3


def test_the_bones_of_a_collection_count(column, module):
    obj, rig = column
    rig.data.collections.new("Main").assign(rig.data.bones["Lower"])
    obj.jounce.bones_counting, obj.jounce.bones_collection = "PICKED", "Main"
    bpy.ops.jounce.build()
    assert "1 of 2 bones count" in obj.jounce.built_summary
    obj.jounce.bones_counting = "ALL"
    bpy.ops.jounce.build()
    assert "2 of 2 bones count" in obj.jounce.built_summary


def test_what_maps_and_bones_refuse(column):
    obj, rig = column
    obj.jounce.bones_counting = "PICKED"
    with pytest.raises(RuntimeError, match="bone collection"):
        bpy.ops.jounce.build()
    for vertex in obj.data.vertices:
        vertex.select = False
    with pytest.raises(RuntimeError, match="No vertex of Column is selected"):
        bpy.ops.jounce.map_from_selection(kind="PIN")
    assert "Pin" not in obj.vertex_groups
    scenes.select_bones(rig)
    with pytest.raises(RuntimeError, match="select some in Pose Mode"):
        bpy.ops.jounce.map_from_bones(kind="PIN")


def test_painting_starts_on_the_right_group(column):
    obj, _ = column
    obj.vertex_groups.new(name="Other")
    assert bpy.ops.jounce.map_paint(kind="PIN") == {"FINISHED"}
    assert obj.mode == "WEIGHT_PAINT"
    assert obj.vertex_groups.active.name == "Pin"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_report_says_how_the_change_is_seen(column, module, capfd):
    obj, _ = column
    bpy.ops.jounce.build()
    bpy.ops.jounce.map_add(kind="PIN")
    assert "paint it; build to see it." in capfd.readouterr().out
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    digest = obj.jounce.built_digest
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z < 0.5
    bpy.ops.jounce.map_from_selection(kind="PIN")
    assert "paint it; the preview shows it in a moment." in capfd.readouterr().out
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    assert obj.jounce.built_digest != digest, "the preview did not build the body by itself"


def test_what_is_hidden_cannot_be_painted(column):
    obj, _ = column
    obj.hide_set(True)
    bpy.context.view_layer.objects.active = obj
    with pytest.raises(RuntimeError, match="Column is hidden"):
        bpy.ops.jounce.map_paint(kind="PIN")
    assert "Pin" not in obj.vertex_groups and not obj.jounce.pin_group


def test_a_sphere_is_around_the_cursor_where_the_mesh_is_posed(column):
    obj, rig = column
    rig.location.x = 5.0
    bpy.context.view_layer.update()
    bpy.context.scene.cursor.location = (5.0, 0.0, 2.0)
    bpy.ops.jounce.map_from_sphere(kind="PIN", radius=30.0)
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    weights = weights_of(obj, "Pin")
    assert weights[heights > 1.9].min() > 0.3
    assert weights[heights < 1.0].max() == 0.0
    bpy.context.scene.cursor.location = (50.0, 0.0, 2.0)
    with pytest.raises(RuntimeError, match="The 3D cursor is too far from Column"):
        bpy.ops.jounce.map_from_sphere(kind="PIN")


def test_smoothing_spreads_a_map(column):
    obj, _ = column
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z > 1.0
    bpy.ops.jounce.map_from_selection(kind="STIFFNESS")
    assert set(weights_of(obj, "Stiffness")) == {0.5, 1.0}
    bpy.ops.jounce.map_smooth(kind="STIFFNESS", times=10)
    weights = weights_of(obj, "Stiffness")
    assert 0.6 < weights[np.isclose(heights, 1.0)].mean() < 0.9
    assert weights[heights > 1.9].min() > 0.9


def test_a_mirror_copies_one_side_to_the_other(column):
    obj, _ = column
    sides = np.array([vertex.co.x for vertex in obj.data.vertices])
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.x > 0.01 and vertex.co.z > 1.0
    bpy.ops.jounce.map_from_selection(kind="PIN")
    bpy.ops.jounce.map_mirror(kind="PIN")
    weights = weights_of(obj, "Pin")
    image = {(round(v.co.x, 4), round(v.co.y, 4), round(v.co.z, 4)): v.index for v in obj.data.vertices}
    for vertex in obj.data.vertices:
        other = image[(round(-vertex.co.x, 4) + 0.0, round(vertex.co.y, 4), round(vertex.co.z, 4))]
        assert weights[vertex.index] == weights[other]
    assert weights[sides < -0.01].sum() == weights[sides > 0.01].sum() > 0.0


def test_maps_are_copied_to_a_body_of_another_size_and_mesh(column):
    source, _ = column
    for vertex in source.data.vertices:
        vertex.select = vertex.co.z > 1.0
    bpy.ops.jounce.map_from_selection(kind="STIFFNESS")
    source.jounce.stiffness_stiff = 77.0
    target = scenes.column("Giant", height=9.0, radius=2.0, rings=31, sides=17)
    target.location = (20.0, 0.0, -3.0)
    bpy.context.view_layer.update()
    scenes.activate(target)
    bpy.ops.jounce.add()
    scenes.activate(source, target)
    assert bpy.ops.jounce.maps_copy() == {"FINISHED"}
    heights = np.array([vertex.co.z for vertex in target.data.vertices]) / 9.0
    weights = weights_of(target, "Stiffness")
    assert weights[heights > 0.6].min() == 1.0
    assert weights[heights < 0.45].max() == 0.5
    assert target.jounce.stiffness_stiff == 77.0
    assert target.jounce.stiffness_centred and target.jounce.stiffness_soft == source.jounce.stiffness_soft
    assert target.jounce.stiffness_group == "Stiffness"
    scenes.activate(target)
    with pytest.raises(RuntimeError, match="No other body is selected"):
        bpy.ops.jounce.maps_copy()


def test_a_copied_pin_leaves_the_stiffness_of_the_other_body(column):
    source, _ = column
    bpy.ops.jounce.map_add(kind="PIN")
    source.jounce.stiffness_stiff = 77.0
    target = scenes.column("Other")
    scenes.activate(target)
    bpy.ops.jounce.add()
    scenes.activate(source, target)
    bpy.ops.jounce.maps_copy()
    assert target.jounce.pin_group == "Pin" and target.jounce.stiffness_stiff == 30.0


def test_a_bone_has_a_leak_of_its_own(column, module):
    obj, rig = column
    before = bake(obj)
    scenes.select_bones(rig, "Upper")
    assert bpy.ops.jounce.bone_leak(value=0.0) == {"FINISHED"}
    assert rig.pose.bones["Upper"].jounce_leak == 0.0
    assert rig.pose.bones["Lower"].jounce_leak == 1.0
    read = module("bridge.body.bodies").read(obj, bpy.context, print).surface.maps.leak
    assert np.allclose(read, 1.0 - weights_of(obj, "Upper"), atol=1e-6)
    upper = np.array([vertex.co.z > 1.6 for vertex in obj.data.vertices])
    assert bake(obj)[:, upper].max() < 0.5 * before[:, upper].max()
    rig.pose.bones["Upper"].jounce_leak = 1.0
    assert np.array_equal(bake(obj), before)


def test_a_leak_for_a_bone_collection(column):
    obj, rig = column
    collection = rig.data.collections.new("Tail")
    collection.assign(rig.data.bones["Upper"])
    scenes.select_bones(rig)
    scenes.activate(obj)
    bpy.ops.jounce.bone_leak(value=0.3, collection="Tail")
    assert rig.pose.bones["Upper"].jounce_leak == pytest.approx(0.3)
    assert rig.pose.bones["Lower"].jounce_leak == 1.0
    with pytest.raises(RuntimeError, match="No bone that moves the body is in the bone collection Nose"):
        bpy.ops.jounce.bone_leak(collection="Nose")
    with pytest.raises(RuntimeError, match="No bone that moves the body is selected"):
        bpy.ops.jounce.bone_leak()


def test_a_preview_is_built_again_when_a_bone_leaks_less(column, module):
    obj, rig = column
    bpy.ops.jounce.build()
    bpy.ops.jounce.preview()
    before = obj.jounce.built_digest
    rig.pose.bones["Upper"].jounce_leak = 0.25
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert obj.jounce.built_digest != before
