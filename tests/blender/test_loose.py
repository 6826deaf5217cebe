"""Loose bodies: meshes without a rig fall, roll and are thrown; displayed, baked and removed again."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from layouts import drawn
from mathutils import Matrix
from previews import assert_shown_as_baked
from test_collisions import ground
from test_refusals import assert_refused

FRAMES = range(1, 25)
FPS = 24.0

pytestmark = pytest.mark.usefixtures("coarse_setup")


def block(name="Jelly", half=0.2, height=1.0):
    """A closed box with some vertices, centred at a height."""
    obj = scenes.column(name, height=2.0 * half, radius=half, rings=4, sides=8)
    obj.data.transform(Matrix.Translation((0.0, 0.0, -half)))
    obj.location.z = height
    return obj


@pytest.fixture
def jelly(tmp_path):
    """A loose body, made with one click, in a saved file."""
    obj = block()
    scenes.settle_scene(FRAMES[-1])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.activate(obj)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    # The final motion is tested in test_loose_final.
    obj.jounce.quality = scenes.QUALITY
    return obj


def test_one_click_makes_a_mesh_without_a_rig_loose(jelly):
    state = jelly.jounce
    assert state.is_loose and state.use_gravity and state.preview
    assert "handles" in state.built_summary


def test_it_falls_as_a_stone_does(jelly):
    shown = scenes.evaluated_frames(jelly, FRAMES).mean(axis=1)
    # Backward Euler in substeps of h falls by g h^2 (1 + 2 + ... + n).
    steps = jelly.jounce.substeps * np.arange(len(FRAMES))
    h = 1.0 / (FPS * jelly.jounce.substeps)
    fallen = 9.81 * h * h * steps * (steps + 1) / 2.0
    assert np.allclose(shown[:, 2], shown[0, 2] - fallen, atol=1e-4)
    assert np.allclose(shown[:, :2], shown[0, :2], atol=1e-4)


@pytest.mark.parametrize(("height", "level"), [(1.0, 0.0), (-2.0, -2.2)])
def test_ground_is_put_where_it_may_fall_to_whichever_frame_is_shown(height, level):
    obj = block(height=height)
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    bpy.context.scene.frame_set(FRAMES[-1])
    bpy.ops.jounce.ground()
    (made,) = obj.jounce.collision_collection.objects
    assert made.location.z == pytest.approx(level)


def test_any_order_of_frames_shows_the_same_bits_and_a_bake_the_same_shapes(jelly):
    jelly.jounce.spin = (100.0, 200.0, 50.0)
    in_turn = scenes.evaluated_frames(jelly, FRAMES)
    bpy.ops.jounce.clear_cache()
    order = [17, 3, 24, 1, 9, 2, 23]
    jumped = [scenes.evaluated_frames(jelly, range(frame, frame + 1))[0] for frame in order]
    assert np.array_equal(np.array(jumped), in_turn[np.array(order) - 1])
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(scenes.evaluated_frames(jelly, FRAMES), in_turn)
    assert_shown_as_baked(jelly, size=0.6)


@pytest.mark.parametrize("target", ["MODAL_KEYS", "FRAME_KEYS", "MESH_CACHE"])
def test_it_is_baked_to_what_needs_no_rig(jelly, target):
    jelly.jounce.spin = (100.0, 200.0, 50.0)
    shown = scenes.evaluated_frames(jelly, FRAMES)
    assert bpy.ops.jounce.bake(target=target) == {"FINISHED"}
    baked = scenes.evaluated_frames(jelly, FRAMES)
    most = 2e-3 if target == "MODAL_KEYS" else 1e-6
    assert np.abs(shown - baked).max() < most * 0.6
    assert np.abs(baked[-1] - baked[0]).max() > 1.0


@pytest.mark.parametrize("target", ["SKINNING_NODES", "HELPER_BONES", "OWN_BONES"])
def test_what_needs_bones_or_modes_is_refused(jelly, target):
    assert_refused(bpy.ops.jounce.bake, "Jelly", "loose", "mesh cache", target=target)


def test_remove_leaves_nothing_of_it(tmp_path):
    obj = block()
    scenes.settle_scene(FRAMES[-1])
    before = snapshot.snapshot(obj), snapshot.file_state()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    obj.jounce.quality = scenes.QUALITY
    scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bake()
    assert snapshot.differences(before[0], snapshot.snapshot(obj))
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_it_is_thrown_and_spins(jelly):
    bpy.context.scene.use_gravity = False
    jelly.jounce.velocity, jelly.jounce.spin = (2.0, 0.0, 1.0), (0.0, 0.0, 90.0)
    shown = scenes.evaluated_frames(jelly, FRAMES)
    middles = shown.mean(axis=1)
    assert np.allclose(middles[-1] - middles[0], np.array([2.0, 0.0, 1.0]) * 23 / FPS, atol=1e-3)
    before, after = (each - each.mean(axis=0) for each in (shown[0], shown[12]))
    turned = np.stack([-before[:, 1], before[:, 0]], axis=1)
    angle = np.arctan2((after[:, :2] * turned).sum(), (after[:, :2] * before[:, :2]).sum())
    assert np.isclose(np.degrees(angle), 45.0, atol=2.0)


def collide(obj, *others):
    """Has a loose body collide with these objects."""
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for other in others:
        collection.objects.link(other)
    obj.jounce.use_collisions, obj.jounce.collision_collection = True, collection
    bpy.context.view_layer.update()


def test_it_lands_on_the_ground_and_comes_to_rest(jelly):
    bpy.context.scene.frame_end = 180
    jelly.jounce.damping = 0.5
    collide(jelly, ground(0.0))
    shown = scenes.evaluated_frames(jelly, range(1, 181))
    lowest = shown[..., 2].min(axis=1)
    assert lowest.min() > -0.01 * 0.6
    assert abs(lowest[-1]) < 0.01 * 0.6
    assert np.abs(shown[-1] - shown[-2]).max() < 1e-4
    bpy.ops.jounce.clear_cache()
    assert np.array_equal(scenes.evaluated_frames(jelly, range(90, 91))[0], shown[89])


def test_it_stands_in_its_first_shape_except_for_the_sag(jelly):
    jelly.jounce.quality, jelly.jounce.damping = "FINAL", 0.5
    jelly.location.z = 0.201
    collide(jelly, ground(0.0))
    (last,) = scenes.evaluated_frames(jelly, range(9, 10))
    assert abs(last[:, 2].min()) < 0.01 * 0.6
    assert 0.93 * 0.4 < np.ptp(last[:, 2]) < 0.4


def test_it_starts_where_its_object_stands_now_without_a_build(jelly):
    built = jelly.jounce.built_digest
    rest = scenes.evaluated_frames(jelly, FRAMES)
    jelly.location, jelly.rotation_euler = (3.0, -1.0, 2.0), (0.0, 0.0, np.pi / 2)
    bpy.context.view_layer.update()
    moved = scenes.evaluated_frames(jelly, FRAMES)
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    expected = (rest - (0.0, 0.0, 1.0)) @ quarter.T + (3.0, -1.0, 2.0)
    assert np.abs(moved - expected).max() < 1e-4
    assert jelly.jounce.built_digest == built


def test_an_object_on_the_move_takes_nothing_along(jelly):
    still = scenes.evaluated_frames(jelly, FRAMES)
    for frame, x in ((1, 0.0), (24, 5.0)):
        jelly.location.x = x
        jelly.keyframe_insert("location", index=0, frame=frame)
    bpy.context.scene.frame_set(1)
    assert np.abs(scenes.evaluated_frames(jelly, FRAMES) - still).max() < 1e-5
    assert_shown_as_baked(jelly, size=0.6)


def test_reset_throws_it_again(jelly):
    for frame, on in ((1, False), (12, True), (13, False)):
        jelly.jounce.cut = on
        jelly.jounce.keyframe_insert("cut", frame=frame)
    bpy.context.scene.frame_set(1)
    shown = scenes.evaluated_frames(jelly, FRAMES)
    assert np.array_equal(shown[11], shown[0])
    assert np.allclose(shown[20], shown[9], atol=1e-5)


def test_another_scale_asks_for_a_build(jelly, module):
    jelly.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    trouble = module("bridge.preview.previews").session(jelly).trouble
    assert "Jelly" in trouble and "build it again" in trouble
    assert bpy.ops.jounce.build() == {"FINISHED"}
    shown = scenes.evaluated_frames(jelly, FRAMES)
    assert np.isclose(np.ptp(shown[0][:, 2]), 0.8, atol=1e-3)
    assert shown[0][:, 2].min() - shown[-1][:, 2].min() > 1.0


def test_the_unit_of_the_scene_is_minded(jelly):
    falls = fall(jelly)
    bpy.context.scene.unit_settings.scale_length = 0.5
    bpy.ops.jounce.build()
    # The same fall in metres is twice as many units.
    assert np.isclose(fall(jelly), 2.0 * falls, rtol=1e-4)


def fall(obj):
    """Depth of the fall of an object's centre."""
    return np.ptp(scenes.evaluated_frames(obj, FRAMES).mean(axis=1)[:, 2])


def test_what_bones_move_cannot_be_loose():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.kind = "LOOSE"
    assert_refused(bpy.ops.jounce.build, "Column", "loose", "armature")
    obj.jounce.kind = "RIGGED"
    assert bpy.ops.jounce.build() == {"FINISHED"}


def test_it_cannot_loop(jelly):
    jelly.jounce.loop = True
    assert_refused(bpy.ops.jounce.bake, "Jelly", "loose", "loop")


@pytest.mark.parametrize("operator", ["fit", "learn", "flex_mode"])
def test_what_is_for_flesh_on_a_rig_is_refused(jelly, operator):
    assert_refused(getattr(bpy.ops.jounce, operator), "Jelly", "loose")


def test_its_file_brings_its_motion_along(jelly, tmp_path):
    jelly.jounce.velocity = (1.0, 0.0, 0.0)
    shown = scenes.evaluated_frames(jelly, FRAMES)
    bpy.ops.jounce.fill_cache()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert np.array_equal(scenes.evaluated_frames(bpy.data.objects["Jelly"], FRAMES), shown)


def test_its_panels_show_how_it_starts_and_nothing_of_rigs(jelly, module):
    panels = [cls for cls in module("panels").CLASSES if issubclass(cls, bpy.types.Panel)]
    layouts = [
        layout for cls in panels if cls.bl_space_type == "VIEW_3D" and (layout := drawn(cls)) is not None
    ]
    shown = {name for layout in layouts for name in layout.properties()}
    assert {
        "velocity",
        "spin",
        "cut",
        "kind",
        "handles",
        "frequency",
        "use_gravity",
        "push",
        "quality",
    } <= shown
    assert not {"modes", "bone_core", "pose_rest", "loop", "stiffness_group"} & shown


@pytest.mark.parametrize("field", ["WEIGHTS", "CLUSTERS", "CORE", "LEAK", "STIFFNESS", "STRETCH", "VELOCITY"])
def test_overlays_are_drawn_of_it(jelly, module, field):
    fields = module("core.display.fields")
    body = module("core.body.built_bodies").CACHE.get(jelly.jounce.built_digest)
    picture = module("overlay.picture").Picture(jelly, body, fields.Field(field), 0, None, None)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    [skin] = picture._skins
    shape = module("bridge.preview.evaluated_meshes").shape(jelly, depsgraph)
    assert np.isfinite(picture.values(skin, shape, bpy.context.scene)).all()
    assert module("overlay.lattice").Lattice(jelly, body, bpy.context)


def test_diagnosis_knows_that_nothing_has_to_move_it(jelly):
    bpy.ops.jounce.diagnose()
    assert not any("Nothing moves" in found.sentence for found in jelly.jounce.findings)


def test_diagnosis_looks_at_what_it_shows(jelly):
    collide(jelly, ground(0.5))
    bpy.ops.jounce.fill_cache()
    assert bpy.ops.jounce.diagnose() == {"FINISHED"}
    assert not any("Ground" in found.sentence for found in jelly.jounce.findings)


def test_what_is_moved_is_no_loose_body():
    obj, rig = block(), bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(rig)
    obj.parent = rig
    rig.keyframe_insert("location", frame=1)
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert not obj.jounce.is_loose


def test_add_jounce_is_undone_in_one_step():
    obj = block()
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.ed.undo_push(message="block")
    bpy.ops.jounce.setup()
    bpy.ops.ed.undo_push(message="jelly")
    assert scenes.evaluated_frames(bpy.data.objects["Jelly"], range(10, 11))[0][:, 2].max() < 1.1
    bpy.ops.ed.undo()
    again = bpy.data.objects["Jelly"]
    assert not again.jounce.is_host and not again.modifiers
    assert np.isclose(scenes.evaluated_frames(again, range(10, 11))[0][:, 2].max(), 1.2, atol=1e-5)
