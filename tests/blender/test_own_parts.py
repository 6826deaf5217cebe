"""Parts of the artist's: made from vertices, bones, a sphere or a brush, and in the list like all others."""

import itertools

import bpy
import layouts
import numpy as np
import pytest
import scenes
import snapshot
from test_maps import weights_of

FRAMES = range(1, 13)


def heights(obj):
    return np.array([vertex.co.z for vertex in obj.data.vertices])


def select(obj, chosen):
    """Selects vertices as in Edit Mode."""
    for vertex, flag in zip(obj.data.vertices, chosen, strict=True):
        vertex.select = bool(flag)


@pytest.fixture(params=[True, False], ids=["anatomy", "plain"])
def shown(request):
    """A column with flesh, previewed, its upper third selected; with and without parts that a build finds."""
    obj, rig = scenes.character()
    if request.param:
        rig.data.bones["Upper"].name = "Tail"
        rig.pose.bones["Tail"].jounce_role = "FREE"
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.bone_core = 0.5 if request.param else 0.0
    bpy.ops.jounce.build()
    bpy.ops.jounce.fit()
    bpy.ops.jounce.preview(show="FLESH")
    select(obj, heights(obj) > 1.4)
    return obj, rig


def moved(obj, where):
    """Mean distance of the flesh from its pose outside of and within a part, as previewed."""
    fleshed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="POSE")
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="FLESH")
    distance = np.linalg.norm(fleshed - posed, axis=2).mean(axis=0)
    return float(distance[~where].mean()), float(distance[where].mean())


@pytest.mark.parametrize(
    ("setting", "steps", "quality"),
    [("amount", (0.0, 0.5, 1.0, 2.0, 3.0), "DRAFT"), ("softness", (0.25, 0.5, 1.0, 2.0, 4.0), "FINAL")],
)
def test_each_step_is_seen_without_a_button(shown, setting, steps, quality, tmp_path):
    obj, _ = shown
    obj.jounce.quality, obj.jounce.cache_folder = quality, str(tmp_path)
    bpy.ops.jounce.part_add(part_name="Top")
    distances = []
    for value in steps:
        setattr(obj.jounce.parts["Top"], setting, value)
        bpy.ops.jounce.fill_cache()
        distances.append(moved(obj, heights(obj) > 1.4))
    # The tip of a free tail is carried by the bend of its root, most of which lies below the part.
    is_tip = quality == "FINAL" and bool(obj.jounce.bone_core)
    least, whole = (1.0, 1.05) if is_tip else (1.1, 1.5)
    assert all(after[1] > least * before[1] for before, after in itertools.pairwise(distances)), distances
    assert distances[-1][1] > whole * distances[0][1], distances


def test_a_softness_gives_the_same_flesh_whatever_was_before(shown, module):
    obj, _ = shown
    bpy.ops.jounce.part_add(softness=2.0)
    first = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.parts["Part"].softness = 0.5
    other = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.parts["Part"].softness = 2.0
    module("core.body.built_bodies").CACHE.clear()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), first) and not np.array_equal(other, first)


def test_a_new_part_by_default_changes_nothing(shown, module):
    obj, _ = shown
    before = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.part_add()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), before)
    part = obj.jounce.parts["Part"]
    assert part.own and part.is_plain and obj.jounce.part == part
    bpy.ops.jounce.build()
    assert 0.1 < obj.jounce.parts["Part"].found < 0.5


def test_a_rim_fades_out_along_the_surface(shown):
    obj, _ = shown
    z = heights(obj)
    bpy.ops.jounce.part_add(rim=25.0)
    weights = weights_of(obj, "Part")
    size = np.linalg.norm(np.ptp([vertex.co for vertex in obj.data.vertices], axis=0))
    edge = z[z > 1.4].min()
    near = np.clip(1.0 - (edge - z) / (0.25 * size), 0.0, 1.0)
    sides = np.linalg.norm([vertex.co[:2] for vertex in obj.data.vertices], axis=1) > 0.1
    assert np.allclose(weights[sides], np.minimum(near * near * (3.0 - 2.0 * near), 1.0)[sides], atol=1e-3)
    bpy.ops.jounce.part_add(rim=0.0)
    assert set(weights_of(obj, "Part.001")) == {0.0, 1.0}


def test_a_rim_stays_on_its_leg():
    """Two columns close to each other are far apart along the surface."""
    left, rig = scenes.character()
    right = scenes.column("Right")
    for vertex in right.data.vertices:
        vertex.co.x += 0.65
    scenes.skin(right, rig, 2.0)
    scenes.activate(left, right)
    bpy.ops.object.join()
    scenes.activate(left)
    bpy.ops.jounce.add()
    x = np.array([vertex.co.x for vertex in left.data.vertices])
    select(left, (heights(left) > 1.4) & (x < 0.31))
    bpy.ops.jounce.part_add(rim=50.0)
    weights = weights_of(left, "Part")
    assert weights[x < 0.31].min() < 0.5 < weights[x < 0.31].max() and not weights[x > 0.32].any()


def test_vertices_split_along_a_seam_are_one_place():
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.edge_split(type="EDGE")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.jounce.add()
    z = heights(obj)
    select(obj, z > 1.4)
    bpy.ops.jounce.part_add(rim=25.0)
    weights = weights_of(obj, "Part")
    for level in np.unique(np.round(z, 4)):
        assert np.ptp(weights[np.isclose(z, level, atol=1e-3)]) < 0.02


def test_bones_sphere_and_both_sides_make_parts_too(shown):
    obj, rig = shown
    upper = rig.pose.bones[1].name
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    scenes.select_bones(rig, upper)
    bpy.ops.jounce.part_add(where="BONES", part_name="By Bones")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(weights_of(obj, "By Bones"), weights_of(obj, upper), atol=1e-3)
    scenes.activate(obj)
    bpy.context.scene.cursor.location = (0.3, 0.0, 1.0)
    bpy.ops.jounce.part_add(where="CURSOR", radius=20.0, mirror=True, part_name="Sides")
    sides, x = weights_of(obj, "Sides"), np.array([vertex.co.x for vertex in obj.data.vertices])
    assert sides[x > 0.2].max() > 0.5 and sides[x < -0.2].max() == pytest.approx(
        sides[x > 0.2].max(), abs=1e-3
    )


def test_a_painted_part_acts_after_the_stroke(shown):
    obj, _ = shown
    bpy.ops.jounce.part_add(where="PAINT", amount=3.0)
    assert obj.mode == "WEIGHT_PAINT" and obj.vertex_groups.active.name == "Part"
    bpy.ops.object.mode_set(mode="OBJECT")
    where = heights(obj) > 1.4
    before = moved(obj, where)
    obj.vertex_groups["Part"].add(np.flatnonzero(where).tolist(), 1.0, "REPLACE")
    obj.data.update_tag()
    bpy.context.view_layer.update()
    assert moved(obj, where)[1] > 1.3 * before[1]
    bpy.ops.jounce.part_paint()
    assert obj.mode == "WEIGHT_PAINT"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_mute_and_solo(shown):
    obj, _ = shown
    where = heights(obj) > 1.4
    bpy.ops.jounce.part_add(rim=0.0)
    plain = moved(obj, where)
    part = obj.jounce.parts["Part"]
    part.mute = True
    assert moved(obj, where)[1] < 0.7 * plain[1]
    part.mute, part.solo = False, True
    assert moved(obj, where)[1] > 0.3 * plain[1]
    part.mute = True
    assert max(moved(obj, where)) < 1e-3 * max(plain)


def test_the_eye_shows_it_and_the_list_names_it(shown, module):
    obj, _ = shown
    bpy.ops.jounce.part_add(part_name="Top", rim=0.0)
    bpy.ops.jounce.build()
    part = obj.jounce.parts["Top"]
    part.shown = True
    picture = module("overlay.picture")
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    shown_field = picture.Picture(obj, body, picture.Field.PART, 0, None, None)
    assert shown_field.scale.title == "Top"
    assert np.array_equal(shown_field._values > 0.5, heights(obj) > 1.4)
    part.shown = False
    row = layouts.stand_in(bpy.types.JOUNCE_UL_parts)
    row.draw_item(layouts.Context(), row.layout, obj.jounce, part, 0, obj.jounce, "part_index")
    assert row.layout.texts() == ["Top"]
    drawn = layouts.drawn(bpy.types.JOUNCE_PT_main).drawn
    assert "JOUNCE_UL_parts" in [given.get("listtype_name") for _, given in drawn]


def test_it_stays_through_builds_and_leaves_the_list_alone(shown):
    obj, _ = shown
    names = obj.jounce.parts.keys()
    bpy.ops.jounce.part_add(part_name="Top", softness=2.0)
    bpy.ops.jounce.build()
    assert obj.jounce.parts.keys() == [*names, "Top"] and obj.jounce.parts["Top"].softness == 2.0
    obj.jounce.part_index = 0
    if names:
        assert not bpy.ops.jounce.part_remove.poll()
    obj.jounce.part_index = len(names)
    assert bpy.ops.jounce.part_remove() == {"FINISHED"}
    assert obj.jounce.parts.keys() == names and "Top" in obj.vertex_groups


def test_a_name_in_use_is_numbered(shown):
    obj, rig = shown
    for name in ("Tail", "belly", rig.pose.bones[0].name):
        bpy.ops.jounce.part_add(part_name=name)
        assert obj.jounce.part.name == f"{name}.001"


def test_without_a_place_nothing_is_made(shown):
    obj, _ = shown
    select(obj, np.zeros(len(obj.data.vertices)))
    before = snapshot.snapshot(obj), obj.jounce.parts.keys()
    with pytest.raises(RuntimeError, match="No vertex of Column is selected"):
        bpy.ops.jounce.part_add()
    assert snapshot.differences(before, (snapshot.snapshot(obj), obj.jounce.parts.keys())) == []


def test_blender_finds_our_presets(module):
    paths = bpy.utils.preset_paths("operator/jounce.part_add")
    assert {"Belly", "Ears", "Tail"} <= module("core.common.preset_values").found(paths).keys()


def test_undo_takes_a_part_back(shown):
    obj, _ = shown
    names = obj.jounce.parts.keys()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.jounce.part_add()
    bpy.ops.ed.undo_push(message="made")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert obj.jounce.parts.keys() == names and "Part" not in obj.vertex_groups


def test_settings_take_it_along_to_the_same_place_of_other_characters(shown):
    obj, _ = shown
    bpy.ops.jounce.part_add(part_name="Top", amount=2.5, softness=2.0)
    obj.jounce.parts["Top"].solo = True
    other, _ = scenes.character(scale=0.5)
    scenes.add_and_build(other)
    for _ in range(2):
        scenes.activate(obj, other)
        bpy.ops.jounce.settings_copy()
        assert other.jounce.parts["Top"].row() == obj.jounce.parts["Top"].row()
        assert np.allclose(weights_of(other, "Top"), weights_of(obj, "Top"), atol=1e-3)
        assert len([part for part in other.jounce.parts if part.own]) == 1


def dressed():
    """A column in a coat with a hat that only the upper bone moves, and a ball far away, as one body."""
    obj, coat, rig = scenes.dressed()
    hat = scenes.column("Hat", height=0.2, radius=0.35)
    for vertex in hat.data.vertices:
        vertex.co.z += 1.9
    hat.vertex_groups.new(name="Upper").add(range(len(hat.data.vertices)), 1.0, "REPLACE")
    hat.modifiers.new("Armature", "ARMATURE").object = rig
    far = scenes.column("Far", height=0.5)
    for vertex in far.data.vertices:
        vertex.co.x += 2.0
    scenes.skin(far, rig, 2.0)
    scenes.activate(obj, hat, far)
    bpy.ops.jounce.body_add()
    scenes.activate(obj)
    return obj, coat, hat, far, rig


def test_a_part_goes_on_in_the_clothes_and_not_far_away():
    obj, coat, hat, far, _ = dressed()
    select(obj, heights(obj) > 1.4)
    bpy.ops.jounce.part_add(rim=0.0)
    assert np.array_equal(weights_of(coat, "Part") > 0.8, heights(coat) > 1.4)
    assert not weights_of(coat, "Part")[heights(coat) < 1.3].any() and weights_of(hat, "Part").max() > 0.8
    assert "Part" not in far.vertex_groups
    bpy.ops.jounce.build()
    assert obj.jounce.parts["Part"].found > 0.1


def test_bones_make_a_part_of_all_their_meshes():
    obj, coat, hat, far, rig = dressed()
    obj.vertex_groups["Upper"].name = "Gone"
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    scenes.select_bones(rig, "Upper")
    assert bpy.ops.jounce.part_add(where="BONES") == {"FINISHED"}
    bpy.ops.pose.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="No selected bone of Rig moves Column"):
        bpy.ops.jounce.part_add(where="BONES")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert weights_of(hat, "Part").min() == 1.0 and "Part" not in obj.vertex_groups
    assert np.allclose(weights_of(coat, "Part"), weights_of(coat, "Upper"), atol=1e-3)
