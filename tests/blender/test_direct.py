"""Directed flesh: keyed shapes in preview and bake, saved, copied and undone."""

import bpy
import numpy as np
import previews
import pytest
import scenes
from directed import FRAMES, SIZE, bulge, character, differing, posed, shapes
from libraries import build, make_library, override


@pytest.fixture(params=["DRAFT", "LEARNT", "FINAL"])
def quality(request):
    return request.param


def test_a_key_is_passed_and_frames_outside_of_its_span_are_the_same_bits(module, quality):
    obj, _ = character(quality)
    before, rigged = shapes(obj), posed(obj)
    world = bulge(module, obj, 12)
    key = obj.jounce.flesh_key
    key.before, key.after = 5, 7
    after = shapes(obj)
    row = 12 - FRAMES.start
    assert np.abs(after[row] - rigged[row] - world).max() < 0.01 * np.abs(world).max()
    assert np.abs(after[row] - before[row]).max() > 0.05
    assert differing(before, after) == list(range(8, 19))


def test_a_bake_is_what_the_preview_shows(module, quality):
    obj, _ = character(quality, end=FRAMES.stop - 1)
    bulge(module, obj, 10)
    obj.jounce.exaggerate, obj.jounce.lag, obj.jounce.follow_through = 1.4, 1.5, 2.0
    shown = shapes(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    assert np.abs(shapes(obj) - shown).max() < 1e-6 * SIZE


def test_a_mesh_cache_and_modal_keys_play_it(module, tmp_path):
    obj, _ = character()
    bulge(module, obj, 10)
    shown = shapes(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    obj.jounce.tolerance = 0.05
    for target, share in (("MESH_CACHE", 1e-6), ("MODAL_KEYS", 1e-3)):
        bpy.ops.jounce.bake(target=target, frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
        assert np.abs(shapes(obj) - shown).max() < share * SIZE
        bpy.ops.jounce.free_bake()


def test_skinning_nodes_are_refused(module):
    obj, _ = character()
    bulge(module, obj, 10)
    with pytest.raises(RuntimeError, match="skinning nodes play modes alone"):
        bpy.ops.jounce.bake(target="SKINNING_NODES")


def test_the_solver_is_not_asked_again(module, session):
    obj, _ = character()
    filling = session(obj).filling
    cache, simulated = filling.cache, filling.simulated
    before = [frame.copy() for frame in cache.coefficients]
    bulge(module, obj, 12)
    obj.jounce.exaggerate = 2.0
    shapes(obj)
    assert session(obj).filling is filling and filling.simulated == simulated
    assert all(np.array_equal(*pair) for pair in zip(before, cache.coefficients, strict=True))


def test_keys_are_moved_muted_scaled_and_removed(module):
    obj, _ = character()
    before = shapes(obj)
    bulge(module, obj, 10)
    key = obj.jounce.flesh_key
    key.before = key.after = 4
    whole = shapes(obj)
    key.frame = 14
    assert differing(before, shapes(obj)) == list(range(11, 18))
    key.frame, key.scale = 10, 0.5
    half = shapes(obj)
    row = 10 - FRAMES.start
    assert np.allclose(half[row], 0.5 * (whole[row] + before[row]), atol=1e-6)
    key.scale, key.mute = 1.0, True
    assert np.array_equal(shapes(obj), before)
    key.mute = False
    assert np.array_equal(shapes(obj), whole)
    bpy.ops.jounce.key_remove()
    assert len(obj.jounce.flesh_keys) == 0 and np.array_equal(shapes(obj), before)


def test_keying_a_frame_again_replaces_its_key(module):
    obj, _ = character()
    bulge(module, obj, 10)
    world = bulge(module, obj, 10, -0.1)
    assert len(obj.jounce.flesh_keys) == 1
    keying = module("bridge.preview.keying")
    assert np.allclose(keying.shown(keying.ready(obj, 10), 10), world, atol=1e-6)


def test_key_flesh_keeps_what_is_shown_when_the_motion_changes(module):
    obj, _ = character()
    bpy.context.scene.frame_set(12)
    bpy.ops.jounce.key_flesh()
    shown, rigged = scenes.evaluated(obj), posed(obj, range(12, 13))[0]
    obj.jounce.damping = 0.5
    bpy.ops.jounce.fill_cache()
    assert np.abs(shapes(obj, range(12, 13))[0] - shown).max() < 1e-5
    assert np.abs(shown - rigged).max() > 0.01


def test_it_is_saved_with_the_file_and_copied_with_the_object(module, tmp_path):
    obj, _ = character()
    bulge(module, obj, 10)
    obj.jounce.lag = 2.0
    shown = shapes(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    obj = bpy.data.objects["Column"]
    scenes.activate(obj)
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(shapes(obj), shown)
    copy = obj.copy()
    copy.data = obj.data.copy()
    bpy.context.collection.objects.link(copy)
    obj.jounce.flesh_keys.clear()
    obj.jounce.lag = 0.0
    scenes.activate(copy)
    bpy.context.view_layer.update()
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    assert np.abs(shapes(copy) - shown).max() < 1e-6
    assert np.abs(shapes(obj) - shown).max() > 1e-3


def test_undo_takes_a_key_back(module):
    obj, _ = character()
    before = shapes(obj)
    bpy.context.scene.frame_set(10)
    bpy.ops.ed.undo_push(message="before")
    bulge(module, obj, 10)
    bpy.ops.ed.undo_push(message="key")
    keyed = shapes(obj)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert len(obj.jounce.flesh_keys) == 0 and np.array_equal(shapes(obj), before)
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Column"]
    assert len(obj.jounce.flesh_keys) == 1 and np.array_equal(shapes(obj), keyed)


def test_sculpting_a_copy_makes_a_key(module):
    obj, _ = character()
    before = shapes(obj)
    bpy.context.scene.frame_set(9)
    bpy.ops.jounce.key_sculpt()
    copy = bpy.context.view_layer.objects.active
    assert copy != obj and copy.mode == "SCULPT" and obj.hide_get()
    assert np.abs(scenes.evaluated(copy) - before[8]).max() < 1e-5
    bpy.ops.object.mode_set(mode="OBJECT")
    wanted = before[8].copy()
    for vertex in copy.data.vertices:
        if vertex.co.z > 1.3:
            vertex.co.y += 0.15
    bpy.context.view_layer.update()
    wanted = scenes.evaluated(copy)
    bpy.context.scene.frame_set(3)
    bpy.ops.jounce.key_sculpted()
    assert obj.jounce.flesh_key.frame == 9 and not obj.hide_get()
    assert bpy.context.view_layer.objects.active == obj and len(bpy.data.objects) == 2
    flesh = module("bridge.preview.previews").session(obj).direction.director().swings.flesh > 0.0
    assert np.abs(shapes(obj)[8] - wanted)[flesh].max() < 1e-4
    assert np.array_equal(shapes(obj)[8][~flesh], before[8][~flesh])


def test_a_discarded_or_spoilt_copy_changes_nothing(module):
    obj, _ = character()
    before = shapes(obj)
    bpy.context.scene.frame_set(9)
    bpy.ops.jounce.key_sculpt()
    bpy.ops.object.mode_set(mode="OBJECT")
    copy = bpy.context.view_layer.objects.active
    copy.data.vertices.add(1)
    with pytest.raises(RuntimeError, match="has other vertices"):
        bpy.ops.jounce.key_sculpted()
    assert copy.name in bpy.data.objects
    bpy.ops.jounce.key_sculpted(discard=True)
    assert len(bpy.data.objects) == 2 and not obj.hide_get()
    assert len(obj.jounce.flesh_keys) == 0 and np.array_equal(shapes(obj), before)


def test_dragging_moves_a_handful(module):
    obj, _ = character()
    before = shapes(obj)
    bpy.context.scene.frame_set(9)
    keying, picking = module("bridge.preview.keying"), module("bridge.preview.picking")
    flesh = module("bridge.preview.previews").session(obj).direction.director().swings.flesh
    point = int(np.argmax(np.array([vertex.co.z for vertex in obj.data.vertices]) * (flesh > 0.99)))
    drag = keying.Drag(obj, 0.12)
    drag.take(picking.Hit(point, before[8][point]))
    drag.target = drag.target + [0.0, 0.1, 0.05]
    drag.move()
    assert np.abs(scenes.evaluated(obj)[point] - before[8][point] - [0.0, 0.1, 0.05]).max() < 1e-5
    drag.drop()
    assert np.array_equal(scenes.evaluated(obj), before[8]) and len(obj.jounce.flesh_keys) == 0
    drag.take(picking.Hit(point, before[8][point]))
    drag.target = drag.target + [0.0, 0.1, 0.05]
    drag.move()
    drag.let_go()
    after = shapes(obj)
    assert np.abs(after[8][point] - before[8][point] - [0.0, 0.1, 0.05]).max() < 1e-5
    away = np.linalg.norm(before[8] - before[8][point], axis=1) > 0.5
    assert np.abs(after[8] - before[8])[away].max() < 1e-5


def test_keys_of_another_mesh_and_broken_ones_count_for_nothing(module):
    obj, _ = character()
    before = shapes(obj)
    bulge(module, obj, 10)
    key = obj.jounce.flesh_key
    for data in (b"", b"12345", np.full(3 * len(obj.data.vertices), np.nan, "<f4").tobytes(), bytes(24)):
        key["shape"] = data
        key.shape_digest = str(hash(data))
        assert np.array_equal(shapes(obj), before)


def test_what_cannot_be_keyed_is_refused(module):
    obj, _ = character()
    keying, user_error = module("bridge.preview.keying"), module("core.common.user_error")
    with pytest.raises(user_error.UserError, match="is not simulated in frame 99"):
        keying.ready(obj, 99)
    with pytest.raises(user_error.UserError, match="vertices at infinite places"):
        keying.keep(obj, 10, np.full((len(obj.data.vertices), 3), np.inf))
    bpy.ops.jounce.preview(show="POSE")
    assert not bpy.ops.jounce.key_flesh.poll()
    assert len(obj.jounce.flesh_keys) == 0


def test_frames_are_the_same_in_any_order(module):
    obj, _ = character()
    bulge(module, obj, 8)
    bulge(module, obj, 15, -0.1)
    obj.jounce.lag, obj.jounce.follow_through = -1.3, 1.7
    forwards = shapes(obj)
    for frame in np.random.default_rng(3).permutation(list(FRAMES)).tolist():
        assert np.array_equal(previews.shape(obj, frame), forwards[frame - FRAMES.start])


def test_bytes_over_others_stay_whole(module):
    obj, _ = character()
    storage = module("bridge.motions.host_storage")
    for count in (3, 2, 50):
        storage.keep(obj, "probe", b"ab\0cd" * count)
        assert storage.of(obj, "probe") == b"ab\0cd" * count


def test_frames_before_a_key_know_it_before_all_are_simulated(module):
    obj, _ = character()
    bulge(module, obj, 15)
    shown = shapes(obj)
    bpy.ops.jounce.clear_cache()
    assert np.array_equal(previews.shape(obj, 8), shown[8 - FRAMES.start])


def test_a_key_is_of_all_meshes_of_a_body(module):
    obj, coat, _ = scenes.dressed()
    scenes.activate(obj)
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    before = [scenes.evaluated_frames(each, range(1, 13)) for each in (obj, coat)]
    bpy.context.scene.frame_set(7)
    scenes.activate(coat)
    bpy.ops.jounce.key_sculpt()
    copy = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in copy.data.vertices:
        vertex.co.x += 0.1 * max(0.0, vertex.co.z - 1.0)
    bpy.ops.jounce.key_sculpted()
    after = [scenes.evaluated_frames(each, range(1, 13)) for each in (obj, coat)]
    assert np.abs(after[0][6] - before[0][6]).max() < 1e-5
    assert 0.05 < np.abs(after[1][6] - before[1][6]).max() < 0.11
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=12)
    baked = [scenes.evaluated_frames(each, range(1, 13)) for each in (obj, coat)]
    assert np.abs(np.array(baked) - np.array(after)).max() < 1e-6 * SIZE


@pytest.mark.parametrize(("scale", "unit"), [(0.01, 1.0), (100.0, 1.0), (1.0, 0.01)])
def test_scales_and_units(module, scale, unit):
    obj, _ = scenes.character(scale)
    bpy.context.scene.unit_settings.scale_length = unit
    scenes.add_and_build(obj)
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    before = shapes(obj, range(1, 13))
    bpy.context.scene.frame_set(7)
    bpy.ops.jounce.key_sculpt()
    copy = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(scenes.evaluated(copy) - before[6]).max() < 1e-5
    for vertex in copy.data.vertices:
        vertex.co.x += 0.1 * max(0.0, vertex.co.z - 1.0 / scale)
    bpy.context.view_layer.update()
    wanted = scenes.evaluated(copy)
    bpy.ops.jounce.key_sculpted()
    obj.jounce.exaggerate = 1.5
    after = shapes(obj, range(1, 13))
    assert np.abs(after[6] - wanted).max() < 1e-4
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=12)
    assert np.abs(shapes(obj, range(1, 13)) - after).max() < 1e-5


def test_a_key_does_not_reach_across_a_cut(module):
    obj, _ = character()
    for frame, cut in ((1, False), (10, True), (11, False)):
        obj.jounce.cut = cut
        obj.keyframe_insert("jounce.cut", frame=frame)
    bpy.ops.jounce.fill_cache()
    before = shapes(obj)
    bulge(module, obj, 12)
    after = shapes(obj)
    assert differing(before, after)[0] == 10
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    assert np.abs(shapes(obj) - after).max() < 1e-6 * SIZE


def test_the_panel_says_that_a_key_fits_no_more(module):
    obj, _ = character()
    bulge(module, obj, 12)
    fits = module("bridge.inputs.directions").fits
    assert fits(obj.jounce.flesh_key)
    obj.data.vertices.add(1)
    assert not fits(obj.jounce.flesh_key)


def test_remove_takes_an_open_copy_along(module):
    obj, rig = character()
    bpy.ops.jounce.key_sculpt()
    bpy.ops.object.mode_set(mode="OBJECT")
    scenes.activate(rig)
    bpy.ops.jounce.remove()
    assert set(bpy.data.objects) == {obj, rig} and not obj.hide_get() and len(bpy.data.meshes) == 1


def test_checks_see_directed_flesh(module, session):
    obj, _ = character()
    before, rigged = shapes(obj), posed(obj)
    obj.jounce.exaggerate = 2.0
    shown = module("bridge.preview.shown_motion").of(session(obj))
    shaped = module("core.body.full_space").shaped
    moved = np.stack([shaped(shown.shaper, each) for each in shown.coefficients])
    assert shown.frames == list(FRAMES) and np.allclose(moved, 2.0 * (before - rigged), atol=1e-5)
    bpy.context.scene.frame_set(7)
    assert session(obj).cage().shape[1] == 3
    bpy.ops.jounce.diagnose()


def test_an_overridden_character_keeps_its_keys(module, tmp_path):
    library = make_library(tmp_path / "library.blend", build)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, rig, _ = override(library)
    scenes.swing(rig)
    scenes.settle_scene()
    scenes.activate(obj)
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(7)
    obj.jounce.exaggerate = 2.0
    bpy.ops.jounce.key_flesh()
    obj.jounce.exaggerate = 1.0
    shown = shapes(obj, range(1, 13))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = next(obj for obj in bpy.data.objects if obj.name.startswith("Column") and obj.library is None)
    scenes.activate(obj)
    assert len(obj.jounce.flesh_keys) == 1
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(shapes(obj, range(1, 13)), shown)


def test_by_hand_the_flesh_goes_on_from_where_it_is_directed(module, session):
    obj, _ = character()
    bulge(module, obj, 24)
    bpy.context.scene.frame_set(24)
    known, shown = session(obj), scenes.evaluated(obj)
    known.begin_by_hand(known.filling.drives[-1])
    known.work(bpy.context, 1.0)
    moved = scenes.evaluated(obj)
    assert not np.array_equal(moved, shown) and np.abs(moved - shown).max() < 0.02


def test_preview_and_bake_have_the_same_bits(module, session, quality):
    obj, _ = character(quality)
    bulge(module, obj, 12)
    obj.jounce.exaggerate, obj.jounce.lag, obj.jounce.follow_through = 1.4, -1.5, 2.0
    known, shaped = session(obj), module("core.body.full_space").shaped
    shown = [known.direction.best(row) for row in range(len(FRAMES))]
    filling, shaper = known.filling, known.motions.body
    if known.final is not None:
        filling, shaper = known.final.by_hand or (known.final._filling, known.final.fine)
    task = module("bridge.motions.direction").of_motion(
        known.motions, bpy.context.scene, filling.motion(), shaper, FRAMES.start
    )
    with pytest.raises(StopIteration) as ended:
        while True:
            next(task)
    baked = ended.value.value
    for row, (coefficients, owner) in enumerate(shown):
        frame = shaped(baked.shaper, baked.motion.coefficients[row])
        assert np.array_equal(frame, shaped(owner, coefficients)), row
