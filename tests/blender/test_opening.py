"""Stitch groups that open during motion, and colours for the accuracy of updated modes."""

import bpy
import numpy as np
import pytest
import scenes
from layouts import drawn
from previews import FRAMES, baked
from test_refusals import assert_refused


@pytest.fixture
def dressed():
    """A swinging column and a wider sleeve around its upper half, sewn with two stitch groups, built."""
    obj, rig = scenes.character()
    sleeve = scenes.column("Sleeve", height=0.8, radius=0.4)
    for vertex in sleeve.data.vertices:
        vertex.co.z += 1.1
    sleeve.parent = rig
    scenes.skin(sleeve, rig, 2.0)
    scenes.settle_scene()
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    # Nothing else is to hold the sleeve.
    obj.jounce.bone_core, obj.jounce.use_limit, obj.jounce.use_stretch = 0.0, False, False
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_nearest(distance=10.0, most=3)
    bpy.ops.jounce.stitch_nearest(distance=10.0, most=30)
    scenes.activate(obj)
    bpy.ops.jounce.build()
    return obj, sleeve


def key(obj, values, group=1):
    for frame, value in values.items():
        obj.jounce.seams[group].closed = value
        obj.jounce.seams[group].keyframe_insert("closed", frame=frame)


def shapes(obj, sleeve):
    """World positions (f, p, 3) of both meshes of a bake, which is freed again."""
    scenes.activate(obj)
    return np.concatenate(baked(obj, sleeve, target="FRAME_KEYS"), axis=1)


def test_keys_open_a_group_without_another_build(dressed):
    obj, sleeve = dressed
    key(obj, {1: 1.0, 5: 1.0, 9: 0.0})
    bpy.ops.jounce.build()
    built = obj.jounce.built_digest
    torn = shapes(obj, sleeve)
    key(obj, {5: 1.0, 9: 1.0})
    assert obj.jounce.built_digest == built
    held = shapes(obj, sleeve)
    assert obj.jounce.built_digest == built
    # A seam holds until its opening like a permanent seam.
    assert np.array_equal(torn[:5], held[:5])
    assert np.abs(torn[8:] - held[8:]).max() > 0.01
    # Frame by frame it moves off without a jump.
    apart = np.abs(torn - held).max(axis=(1, 2))
    assert apart[5] < 0.5 * apart.max() and (apart[5:] > 0.0).all()


@pytest.mark.parametrize("quality", ["DRAFT", "FINAL"])
def test_a_preview_shows_what_is_baked_in_any_order_of_frames(dressed, quality):
    obj, sleeve = dressed
    key(obj, {2: 1.0, 7: 0.0, 10: 0.6})
    obj.jounce.quality = quality
    scenes.activate(obj)
    bpy.ops.jounce.build()
    frames = (12, 3, 8, 1, 10, 5, 9, 12)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    shown = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown[frame] = np.concatenate([scenes.evaluated(mesh) for mesh in (obj, sleeve)])
    bpy.ops.jounce.preview()
    expected = shapes(obj, sleeve)
    for frame, seen in shown.items():
        assert np.abs(seen - expected[frame - FRAMES.start]).max() < 2e-6, frame


def test_a_slider_without_keys_opens_too(dressed):
    obj, sleeve = dressed
    sewn = shapes(obj, sleeve)
    before = obj.jounce.built_digest
    obj.jounce.seams[1].closed = 0.0
    bpy.ops.jounce.build()
    assert obj.jounce.built_digest != before
    assert np.abs(shapes(obj, sleeve) - sewn).max() > 1e-3
    obj.jounce.seams[1].closed = 1.0
    bpy.ops.jounce.build()
    assert obj.jounce.built_digest == before
    assert np.allclose(shapes(obj, sleeve), sewn, atol=1e-4)


def test_a_group_that_goes_takes_its_keys_along(dressed, module):
    obj, _ = dressed
    key(obj, {1: 1.0, 4: 0.25}, group=0)
    key(obj, {1: 1.0, 8: 0.5})
    obj.jounce.seam_index = 0
    bpy.ops.jounce.stitch_remove()
    [seam] = obj.jounce.seams
    bpy.context.scene.frame_set(8)
    assert seam.closed == pytest.approx(0.5)
    paths = module("bridge.keys.animation").paths(obj.animation_data)
    assert paths == ["jounce.seams[0].closed"]


def keyed_alike(obj):
    """Keys of both groups in one action of the host."""
    key(obj, {1: 1.0, 4: 0.25}, group=0)
    key(obj, {1: 1.0, 8: 0.5})
    obj.jounce.seam_index = 0
    return obj.animation_data


def assert_nothing_goes(obj, *words):
    assert_refused(bpy.ops.jounce.stitch_remove, *words)
    assert len(obj.jounce.seams) == 2


def test_keys_of_another_file_are_not_renumbered(dressed, module, tmp_path):
    obj, _ = dressed
    data = keyed_alike(obj)
    own, library = data.action, str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {own})
    with bpy.data.libraries.load(library, link=True) as (_, linked):
        linked.actions = [own.name]
    [data.action] = linked.actions
    if hasattr(data, "action_slot"):
        data.action_slot = data.action.slots[0]
    assert_nothing_goes(obj, own.name, "another file", "make it local")
    assert len(module("bridge.keys.animation").paths(data)) == 2


def test_keys_behind_a_tweaked_strip_are_not_left_behind(dressed):
    obj, _ = dressed
    data = keyed_alike(obj)
    track = data.nla_tracks.new()
    strip = track.strips.new("Strip", 1, data.action)
    if hasattr(data, "action_slot"):
        strip.action_slot = data.action_slot
    data.action = None
    key(obj, {1: 1.0, 8: 0.5})
    data.nla_tracks.active, strip.select = track, True
    data.use_tweak_mode = True
    assert_nothing_goes(obj, "leave Tweak Mode")
    data.use_tweak_mode = False
    assert bpy.ops.jounce.stitch_remove() == {"FINISHED"}


def test_an_action_that_two_bodies_play_is_in_the_way_only_of_its_own_groups(dressed):
    obj, _ = dressed
    key(obj, {1: 1.0, 4: 0.25}, group=0)
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    obj.jounce.seam_index = 0
    assert_nothing_goes(obj, "single user")
    obj.jounce.seam_index = 1
    assert bpy.ops.jounce.stitch_remove() == {"FINISHED"}
    assert len(obj.jounce.seams) == 1


def test_a_preview_follows_groups_that_come_go_and_are_switched_off(dressed):
    obj, sleeve = dressed
    key(obj, {2: 1.0, 7: 0.0})
    bpy.ops.jounce.build()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()

    def assert_shown():
        for frame in (9, 4):
            bpy.context.scene.frame_set(frame)
        bpy.ops.jounce.fill_cache()
        shown = []
        for frame in (4, 9):
            bpy.context.scene.frame_set(frame)
            shown.append(np.concatenate([scenes.evaluated(mesh) for mesh in (obj, sleeve)]))
        bpy.ops.jounce.preview()
        expected = shapes(obj, sleeve)[[3, 8]]
        bpy.ops.jounce.preview()
        bpy.ops.jounce.fill_cache()
        assert np.abs(np.array(shown) - expected).max() < 2e-6

    obj.jounce.seams[0].use = False
    assert_shown()
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_nearest(distance=10.0, most=5)
    scenes.activate(obj)
    assert_shown()
    obj.jounce.seam_index = 1
    bpy.ops.jounce.stitch_remove()
    assert_shown()


def test_what_opens_cannot_loop_and_other_settings_take_no_keys(dressed):
    obj, _ = dressed
    obj.find_armature().animation_data_clear()
    key(obj, {1: 1.0, 6: 0.0})
    bpy.ops.jounce.build()
    obj.jounce.loop = True
    assert_refused(bpy.ops.jounce.bake, "stitches", "loop", target="FRAME_KEYS")
    with pytest.raises(TypeError, match="not animatable"):
        obj.jounce.seams[0].keyframe_insert("stiffness", frame=1)


def test_of_many_groups_the_first_open(dressed, module):
    obj, sleeve = dressed
    sewing = module("bridge.body.stitches")
    for number in range(2, 33):
        sewing.add(obj, "More", (obj, sleeve), np.array([[number, number]]))
    obj.jounce.seams[30].closed = 0.5
    bpy.ops.jounce.build()
    obj.jounce.seams[31].closed = 0.5
    assert_refused(bpy.ops.jounce.build, "More 30 opens", "first 31")
    obj.jounce.seams[0].use = False
    bpy.ops.jounce.build()


def test_a_radius_is_built_in(dressed):
    obj, sleeve = dressed
    sewn, before = shapes(obj, sleeve), obj.jounce.built_digest
    obj.jounce.seams[1].radius = 5.0
    bpy.ops.jounce.build()
    assert obj.jounce.built_digest != before
    assert 1e-5 < np.abs(shapes(obj, sleeve) - sewn).max() < 0.3
    obj.jounce.seams[1].radius = 0.0
    bpy.ops.jounce.build()
    assert obj.jounce.built_digest == before


def test_the_panel_and_the_colours_say_how_exact_updated_modes_are(dressed, module):
    obj, _ = dressed
    bodies, fields = module("core.body.built_bodies"), module("core.display.fields")

    def texts():
        return " ".join(drawn(bpy.types.JOUNCE_PT_stitches).texts())

    def shown():
        body = bodies.CACHE.get(obj.jounce.built_digest)
        return body, *fields.at_rest(fields.Field.RESIDUAL, body, 0, 1.0)

    assert shown()[1].max() < 1e-6
    obj.jounce.seams[1].stiffness = 0.02
    bpy.ops.jounce.build()
    body, values, scale = shown()
    assert body.residual > 0.0 and f"{body.residual:.2%}" in texts()
    assert len(values) == len(body.embedding.points) and values.max() > 1e-3
    assert scale.high == values.max() and scale.unit == "% of a mode"
