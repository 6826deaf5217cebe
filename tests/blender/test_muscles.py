"""Muscles: painted flesh contracts in the final motion, and in no other."""

import math
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from layouts import drawn
from previews import FRAMES, shape, shown
from test_refusals import assert_refused

# The muscle is on one side of the upper half of the column.
LOW, HIGH = 1.1, 1.9
KEYS = {1: 0.0, 4: 0.0, 8: 0.6}


@pytest.fixture
def column(tmp_path):
    """A built, still column in a saved file with one side pinned, in final quality."""
    obj, rig = scenes.character()
    rig.animation_data_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    # Without a core, flesh compensates motion elsewhere on its bone.
    obj.jounce.quality, obj.jounce.poisson, obj.jounce.bone_core = "FINAL", 0.4, 0.3
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    bpy.ops.jounce.map_add(kind="PIN")
    obj.vertex_groups["Pin"].add(np.flatnonzero(rest_of(obj)[:, 0] < 0.05).tolist(), 1.0, "REPLACE")
    bpy.context.view_layer.update()
    bpy.ops.jounce.build()
    return obj


def rest_of(obj):
    return np.array([vertex.co for vertex in obj.data.vertices])


def is_muscle(obj):
    x, _, z = rest_of(obj).T
    return (x > 0.05) & (z > LOW) & (z < HIGH)


def paint(obj):
    """Paints the muscle with fading ends."""
    bpy.ops.jounce.map_add(kind="MUSCLE")
    group = obj.vertex_groups["Muscle"]
    for vertex in np.flatnonzero(is_muscle(obj)).tolist():
        place = (obj.data.vertices[vertex].co.z - LOW) / (HIGH - LOW)
        group.add([vertex], math.sin(math.pi * place), "REPLACE")


def swing(obj):
    """Keys the bones of the column."""
    scenes.swing(obj.find_armature())
    scenes.settle_scene()


def key(obj, values=KEYS):
    for frame, value in values.items():
        obj.jounce.contraction = value
        obj.jounce.keyframe_insert("contraction", frame=frame)


def baked(obj, target="MESH_CACHE"):
    """The shapes (f, p, 3) of a bake, which is freed again."""
    scenes.activate(obj)
    bpy.ops.jounce.bake(target=target)
    shapes = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    return shapes


def cache_of(obj):
    return Path(bpy.path.abspath(f"//shot {obj.name}.jcache"))


def test_a_keyed_contraction_shortens_and_bulges_what_is_painted_and_dies_away_from_there(column):
    paint(column)
    still = baked(column)
    key(column)
    moved = baked(column) - still
    assert np.abs(moved[:4]).max() < 1e-6
    x, _, height = rest_of(column).T
    out, _, up = moved[-1].T
    side, middle = x > 0.29, 0.5 * (LOW + HIGH)
    assert out[side & (np.abs(height - middle) < 0.1)].max() > 0.005
    assert up[side & (height > middle + 0.1) & (height < HIGH)].mean() < -0.01
    assert up[side & (height < middle - 0.1) & (height > LOW)].mean() > 0.01
    # The flesh beside is drawn along, by less and less.
    most = [np.abs(moved[:, np.abs(height - z) < 0.1]).max() for z in (1.0, 0.67, 0.33, 0.0)]
    assert (np.diff(most) < 0.0).all() and most[-1] < 0.1 * np.abs(moved).max()


def test_the_preview_shows_what_is_baked_bit_for_bit(column, session):
    paint(column)
    key(column)
    bpy.ops.jounce.preview()
    seen = shown(column, "FINAL")
    kept = cache_of(column).read_bytes()
    assert session(column).status() == "Final"
    # In any order, and by scrubbing alone.
    for frame in (12, 3, 7, 9):
        assert np.array_equal(shape(column, frame), seen[frame - 1])
    bpy.ops.jounce.preview()
    cache_of(column).unlink()
    from_nothing = baked(column)
    assert cache_of(column).read_bytes() == kept
    assert np.abs(seen - from_nothing).max() < 1e-5
    assert np.array_equal(baked(column), from_nothing)


def test_a_changed_contraction_acts_at_once_and_in_the_draft(column, session):
    paint(column)
    bpy.ops.jounce.preview()
    relaxed = shown(column, "FINAL")
    draft = list(session(column).cache.coefficients)
    column.jounce.contraction = 0.5
    tensed = shown(column, "FINAL")
    assert np.abs(tensed - relaxed).max() > 0.01
    pairs = zip(session(column).cache.coefficients, draft, strict=True)
    assert max(np.abs(now - old).max() for now, old in pairs) > 0.01
    column.jounce.muscle_stiffness = 40.0
    assert np.abs(shown(column, "FINAL") - tensed).max() > 1e-3
    column.jounce.muscle_stiffness, column.jounce.contraction = 10.0, 0.0
    assert np.abs(shown(column, "FINAL") - relaxed).max() < 1e-6


def test_without_a_map_a_contraction_changes_no_bit(column):
    before = baked(column)
    kept = cache_of(column).read_bytes()
    key(column)
    bpy.ops.jounce.map_add(kind="MUSCLE")
    assert np.array_equal(baked(column), before)
    assert cache_of(column).read_bytes() == kept


def test_painting_builds_nothing_and_unpainting_brings_the_motion_back(column, module):
    digest, before = column.jounce.built_digest, baked(column)
    kept = cache_of(column).read_bytes()
    paint(column)
    key(column)
    assert np.abs(baked(column) - before).max() > 0.01
    assert column.jounce.built_digest == digest
    column.vertex_groups.remove(column.vertex_groups["Muscle"])
    cache_of(column).unlink()
    assert np.array_equal(baked(column), before)
    assert cache_of(column).read_bytes() == kept


def of_quality(obj, quality):
    """The shapes (f, p, 3) of a bake at a quality."""
    obj.jounce.quality = quality
    return baked(obj)


def test_a_draft_and_what_was_learnt_do_not_contract_and_say_so(column, session):
    def sentence():
        panel = drawn(bpy.types.JOUNCE_PT_motion)
        assert ("contraction" in panel.properties()) == bool(column.jounce.muscle_group)
        return " ".join(panel.texts())

    swing(column)
    bpy.ops.jounce.learn()
    before = {quality: of_quality(column, quality) for quality in ("DRAFT", "LEARNT")}
    assert "contract" not in sentence()
    paint(column)
    key(column)
    for quality, shapes in before.items():
        assert np.array_equal(of_quality(column, quality), shapes)
        assert "contract in the final motion alone" in sentence()
        assert "quality" in drawn(bpy.types.JOUNCE_PT_motion).properties()
    column.jounce.quality = "FINAL"
    assert "contract" not in sentence()
    bpy.ops.jounce.preview()
    for quality in ("LEARNT", "FINAL"):
        column.jounce.quality = quality
        bpy.ops.jounce.fill_cache()
        assert session(column).trouble == "" and "contract" not in session(column).status()


def test_a_shot_with_muscles_is_learnt_as_it_is(column, session, lessons):
    swing(column)
    paint(column)
    key(column)
    bpy.ops.jounce.learn()
    assert 0.0 < lessons.of(column).facts.error < 1.0
    bpy.ops.jounce.preview()
    shown(column, "LEARNT")
    assert session(column).final.error.share == lessons.of(column).facts.error
    # Another contraction has no stored error.
    key(column, {8: 0.2})
    shown(column, "LEARNT")
    assert session(column).final.error is None


def test_a_loop_holds_a_contraction_but_no_keys_of_it(column):
    column.jounce.loop = True
    still = baked(column)
    paint(column)
    column.jounce.contraction = 0.5
    tensed = baked(column)
    assert np.abs(tensed - still).max() > 0.01 and np.abs(tensed - tensed[0]).max() < 1e-4
    key(column)
    assert_refused(bpy.ops.jounce.bake, "contraction", "loop", target="MESH_CACHE")
    column.jounce.quality = "DRAFT"
    baked(column)


def test_a_body_without_bones_has_muscles_that_do_nothing():
    obj = scenes.column()
    obj.location.x = 1.0
    obj.keyframe_insert("location", frame=1)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    before = baked(obj, "FRAME_KEYS")
    paint(obj)
    obj.jounce.contraction = 1.0
    assert np.array_equal(baked(obj, "FRAME_KEYS"), before)


def test_copies_contract_by_themselves(column):
    paint(column)
    bpy.ops.object.duplicate()
    other = bpy.context.object
    assert other.jounce.muscle_group == "Muscle"
    other.jounce.contraction = 0.5
    for obj, moves in ((column, False), (other, True)):
        scenes.activate(obj)
        bpy.ops.jounce.build()
        posed = scenes.evaluated_frames(obj, FRAMES)
        assert bool(np.abs(baked(obj) - posed).max() > 0.01) is moves


def test_the_map_is_shown_over_a_preview(column, module, session):
    paint(column)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    view, fields = module("overlay.view"), module("core.display.fields")
    _, muscles = view.of_preview(column, fields.Field.MUSCLE)
    body = module("core.body.built_bodies").CACHE.get(column.jounce.built_digest)
    values, scale = fields.muscle(muscles, body)
    assert np.array_equal(values > 0.0, is_muscle(column)) and scale.title == "Muscle"
    assert fields.muscle(None, body)[1].title.startswith("No muscles")


def state(obj):
    """All data of the file and of an object except vertex groups and weights, which are the artist's."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    seen = snapshot.snapshot(obj)
    for part, of_paint in ((seen, "object"), (seen, "groups"), (seen["mesh"], "weights")):
        part.pop(of_paint)
    return snapshot.file_state() | seen | {"shape": scenes.evaluated(obj).tolist()}


def test_a_map_is_undone_and_done_again(column):
    def groups():
        obj = bpy.data.objects["Column"]
        return obj.jounce.muscle_group, "Muscle" in obj.vertex_groups

    bpy.ops.ed.undo_push(message="before")
    bpy.ops.jounce.map_add(kind="MUSCLE")
    bpy.ops.ed.undo_push(message="map")
    assert groups() == ("Muscle", True)
    bpy.ops.ed.undo()
    assert groups() == ("", False)
    bpy.ops.ed.redo()
    assert groups() == ("Muscle", True)


def test_remove_leaves_nothing_but_what_was_painted():
    obj, _ = scenes.character()
    before = state(obj)
    scenes.add_and_build(obj)
    obj.jounce.quality, obj.jounce.contraction = "FINAL", 0.6
    paint(obj)
    painted = weights(obj)
    bpy.ops.jounce.preview()
    shown(obj, "FINAL")
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, state(obj)) == []
    assert not obj.is_property_set("jounce")
    assert np.array_equal(weights(obj), painted) and painted.max() > 0.9


def weights(obj):
    """The weights (p,) of the muscle map."""
    index = obj.vertex_groups["Muscle"].index
    return np.array([sum(g.weight for g in v.groups if g.group == index) for v in obj.data.vertices])


# A muscle on the other half of the same side.
OTHER = (0.15, 0.95)


def paint_other(obj):
    """A second muscle, below the first."""
    bpy.ops.jounce.muscle_add()
    [muscle] = obj.jounce.more_muscles
    assert muscle.muscle_group == "Muscle.001"
    for vertex, (x, _, z) in enumerate(rest_of(obj).tolist()):
        if x > 0.05 and OTHER[0] < z < OTHER[1]:
            place = (z - OTHER[0]) / (OTHER[1] - OTHER[0])
            obj.vertex_groups["Muscle.001"].add([vertex], math.sin(math.pi * place), "REPLACE")
    return muscle


def moves_of(obj, still):
    """Motion of the flesh around each of two muscles, in the last frame."""
    height = rest_of(obj)[:, 2]
    moved = np.linalg.norm(baked(obj)[-1] - still[-1], axis=1)
    return [moved[(height > low) & (height < high)].max() for low, high in ((LOW, HIGH), OTHER)]


def test_two_muscles_contract_each_by_its_own_keys(column):
    paint(column)
    other = paint_other(column)
    still = baked(column)
    key(column)
    first = moves_of(column, still)
    column.animation_data_clear()
    column.jounce.contraction = 0.0
    for frame, value in KEYS.items():
        other.contraction = value
        other.keyframe_insert("contraction", frame=frame)
    second = moves_of(column, still)
    assert first[0] > 0.01 and first[1] < 0.5 * first[0]
    assert second[1] > 0.01 and second[0] < 0.5 * second[1]


def test_the_preview_of_two_muscles_is_what_is_baked(column, session):
    paint(column)
    other = paint_other(column)
    key(column)
    other.contraction = 0.3
    bpy.ops.jounce.preview()
    shown(column, "FINAL")
    kept = cache_of(column).read_bytes()
    other.contraction = 0.6
    shown(column, "FINAL")
    assert cache_of(column).read_bytes() != kept
    other.contraction = 0.3
    shown(column, "FINAL")
    bpy.ops.jounce.preview()
    assert cache_of(column).read_bytes() == kept
    cache_of(column).unlink()
    baked(column)
    assert cache_of(column).read_bytes() == kept


def test_a_second_muscle_without_paint_changes_no_shape(column):
    paint(column)
    key(column)
    before = baked(column)
    bpy.ops.jounce.muscle_add()
    column.jounce.more_muscles[0].contraction = 0.7
    assert np.array_equal(baked(column), before)


def test_a_muscle_that_is_removed_takes_its_keys_and_no_other(column):
    paint(column)
    for value in (0.2, 0.4, 0.6):
        bpy.ops.jounce.muscle_add()
        muscle = column.jounce.more_muscles[-1]
        muscle.contraction = value
        muscle.keyframe_insert("contraction", frame=1)
    driven = column.jounce.more_muscles[2].driver_add("contraction")
    driven.driver.expression = "0.9"
    bpy.ops.jounce.muscle_remove(muscle=2)
    left = column.jounce.more_muscles
    assert [muscle.muscle_group for muscle in left] == ["Muscle.001", "Muscle.003"]
    curves = snapshot.fcurves(column.animation_data.action)
    found = {curve.data_path: curve.evaluate(1) for curve in curves}
    paths = [f"jounce.more_muscles[{index}].contraction" for index in (0, 1)]
    assert found == pytest.approx(dict(zip(paths, (0.2, 0.6), strict=True)))
    assert [driver.data_path for driver in column.animation_data.drivers] == paths[1:]
    assert "Muscle.002" in column.vertex_groups
    assert_refused(bpy.ops.jounce.muscle_remove, "no muscle 4", muscle=3)


def two_muscles(column):
    """Gives a body a second muscle with a key; returns its action."""
    paint(column)
    bpy.ops.jounce.muscle_add()
    column.jounce.more_muscles[0].keyframe_insert("contraction", frame=1)
    return column.animation_data.action


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have no slots")
def test_keys_of_others_in_the_same_action_stay(column):
    action = two_muscles(column)
    data = bpy.data.objects.new("Other", None).animation_data_create()
    data.action = action
    data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
    path = "jounce.more_muscles[0].contraction"
    bag = action.layers[0].strips[0].channelbag(data.action_slot, ensure=True)
    bag.fcurves.new(path)
    bpy.ops.jounce.muscle_remove(muscle=1)
    assert [curve.data_path for curve in bag.fcurves] == [path]
    own = action.layers[0].strips[0].channelbag(column.animation_data.action_slot)
    assert path not in [curve.data_path for curve in own.fcurves]


def test_a_muscle_stays_whose_keys_are_also_those_of_another_body(column):
    two_muscles(column)
    other = column.copy()
    other.data = column.data.copy()
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    assert_refused(bpy.ops.jounce.muscle_remove, "single user", muscle=1)
    assert len(column.jounce.more_muscles) == len(other.jounce.more_muscles) == 1


def test_tools_of_maps_work_on_each_muscle(column):
    paint(column)
    bpy.ops.jounce.muscle_add()
    for vertex in column.data.vertices:
        vertex.select = vertex.co.z > 1.0
    bpy.ops.jounce.map_from_selection(kind="MUSCLE", muscle=1, value=0.5)
    index = column.vertex_groups["Muscle.001"].index
    own = [max((g.weight for g in v.groups if g.group == index), default=0.0) for v in column.data.vertices]
    assert own == pytest.approx([0.5 if v.co.z > 1.0 else 0.0 for v in column.data.vertices])
    bpy.ops.jounce.map_paint(kind="MUSCLE", muscle=1)
    assert column.vertex_groups.active.name == "Muscle.001"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_refused(bpy.ops.jounce.map_add, "no muscle 5", kind="MUSCLE", muscle=4)


def test_a_copy_of_a_part_and_copied_maps_have_all_muscles(column):
    paint(column)
    paint_other(column).muscle_stiffness = 25.0
    other, _ = scenes.character()
    scenes.activate(other)
    bpy.ops.jounce.add()
    scenes.activate(column, other)
    bpy.ops.jounce.maps_copy()
    [muscle] = other.jounce.more_muscles
    assert muscle.muscle_stiffness == 25.0 and muscle.muscle_group in other.vertex_groups
    scenes.activate(column)
    bpy.ops.object.duplicate()
    [muscle] = bpy.context.object.jounce.more_muscles
    assert (muscle.muscle_group, muscle.muscle_stiffness) == ("Muscle.001", 25.0)


def test_the_panels_show_each_muscle(column):
    def shown_of():
        return drawn(bpy.types.JOUNCE_PT_motion).properties().count("contraction")

    assert shown_of() == 0
    paint(column)
    assert shown_of() == 1
    bpy.ops.jounce.muscle_add()
    assert shown_of() == 2
    assert drawn(bpy.types.JOUNCE_PT_maps).properties().count("muscle_stiffness") == 2
