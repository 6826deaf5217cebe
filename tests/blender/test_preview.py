"""The preview shows exactly the later bake: on any frame, in any order, after any detour."""

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES, assert_shown_as_baked, previewed, shape


@pytest.fixture(autouse=True, params=[pytest.param("DRAFT", marks=pytest.mark.long), "AUTOMATIC"])
def quality(request, monkeypatch):
    """Quality of the bodies: a draft alone, and the default."""
    monkeypatch.setattr(scenes, "QUALITY", request.param)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_preview_shows_what_is_baked(scale):
    obj, _ = scenes.character(scale)
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj)


def test_in_other_units_turned_and_mirrored():
    obj, rig = scenes.character()
    bpy.context.scene.unit_settings.scale_length = 0.01
    obj.matrix_local = scenes.placed((0.1, -0.2, 0.3), 0.7, (-1.1, 0.9, 1.2))
    bpy.context.view_layer.update()
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj)


def test_several_meshes_and_shape_keys():
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    for name in ("Basis", "Smile"):
        obj.shape_key_add(name=name)
    obj.data.shape_keys.key_blocks["Smile"].points[7].co.x += 0.1
    obj.data.shape_keys.key_blocks["Smile"].value = 0.5
    scenes.settle_scene()
    scenes.add_and_build(obj, coat)
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj, coat)


def test_what_follows_the_armature_acts_on_the_moved_shape():
    obj, _ = scenes.character()
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "Jounce", "Subdivision"]
    assert_shown_as_baked(obj)


def test_rigs_that_are_not_linear_skinning():
    obj, rig = scenes.character()
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    for name in ("Basis", "Wide"):
        obj.shape_key_add(name=name)
    wide = obj.data.shape_keys.key_blocks["Wide"]
    for point in wide.points:
        point.co.xy *= 1.3
    for frame, value in ((1, 0.0), (4, 1.0), (8, 0.2)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    obj.jounce.target = "SKINNING_NODES"
    bpy.ops.jounce.preview()
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert np.array_equal(shape(obj, 9), shown[8])
    assert_shown_as_baked(obj, target="SKINNING_NODES")
    assert [o.name for o in bpy.data.objects] == ["Column", "Rig"]
    assert [keys.name for keys in bpy.data.shape_keys] == [obj.data.shape_keys.name]


def test_a_body_that_only_its_own_animation_moves():
    obj = scenes.column()
    for frame, x in ((1, 0.0), (4, 1.0), (6, 1.0)):
        obj.location.x = obj.rotation_euler.y = x
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj)


def test_an_animated_strength_acts_in_any_order(preview):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    for frame, strength in ((1, 0.0), (6, 0.0), (7, 1.5)):
        obj.jounce.strength = strength
        obj.jounce.keyframe_insert("strength", frame=frame)
    bpy.ops.jounce.preview()
    shape(obj, 12)
    assert_shown_as_baked(obj)


def test_pushes_fields_and_cuts_act_in_any_order(preview):
    obj, rig = previewed()
    calm = shape(obj, 12)
    for frame, push in ((1, 0.0), (6, 9.0)):
        obj.jounce.push = (push, 0.0, 0.0)
        obj.jounce.keyframe_insert("push", frame=frame)
    assert np.abs(shape(obj, 12) - calm).max() > 1e-3
    for frame, cut in ((3, False), (4, True), (5, False)):
        obj.jounce.cut = cut
        obj.keyframe_insert("jounce.cut", frame=frame)
    pushed = shape(obj, 12)
    bpy.ops.object.effector_add(type="WIND", rotation=(1.0, 0.0, 0.0))
    wind = bpy.context.object
    for frame, strength in ((2, 0.0), (7, 20.0)):
        wind.field.strength = strength
        wind.keyframe_insert("field.strength", frame=frame)
    assert np.abs(shape(obj, 12) - pushed).max() > 1e-3
    blown = shape(obj, 12)
    for frame, flow in ((2, 0.0), (5, 8.0)):
        wind.field.flow = flow
        wind.keyframe_insert("field.flow", frame=frame)
    assert np.abs(shape(obj, 12) - blown).max() > 1e-3
    assert preview.session(obj).complete
    assert_shown_as_baked(obj)


def test_any_order_shows_the_same_bits(preview):
    obj, _ = previewed()
    forward = scenes.evaluated_frames(obj, FRAMES)
    random = np.random.default_rng(7)
    for _ in range(3):
        preview.forget(obj)
        for frame in random.permutation(FRAMES):
            assert np.array_equal(shape(obj, frame), forward[frame - FRAMES.start])
    assert preview.session(obj).complete


def test_frames_before_the_start_show_the_rig_and_later_ones_go_on():
    obj, _ = previewed()
    bpy.context.scene.frame_start = 3
    late = shape(obj, 20)
    early = shape(obj, 1)
    third = shape(obj, 3)
    bpy.ops.jounce.preview()
    assert np.array_equal(early, shape(obj, 1))
    assert np.abs(third - shape(obj, 3)).max() < 1e-6
    assert np.abs(late - shape(obj, 20)).max() > 1e-3


def test_changes_are_seen_at_once_and_named(preview):
    obj, rig = previewed()
    scene = bpy.context.scene
    scenes.evaluated_frames(obj, FRAMES)
    known = preview.session(obj)
    kept = list(known.cache.coefficients)

    def simulated_anew(change, first):
        change()
        shape(obj, 12)
        now = known.cache.coefficients
        same = [new is old for new, old in zip(now, kept, strict=True)]
        kept[:] = now
        assert same == [index < first for index in range(12)]

    simulated_anew(lambda: setattr(obj.jounce, "frequency", 3.0), 0)
    simulated_anew(lambda: setattr(scene, "use_gravity", False), 12)
    obj.jounce.use_gravity = True
    simulated_anew(lambda: setattr(scene, "use_gravity", True), 0)
    simulated_anew(lambda: setattr(scene.render, "fps", 30), 0)
    rig.pose.bones["Upper"].rotation_euler.z = 0.7
    simulated_anew(lambda: rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=11), 9)
    simulated_anew(lambda: setattr(rig, "location", (0.0, 0.0, 2.0)), 0)
    assert_shown_as_baked(obj)


def change_mesh(obj):
    obj.data.vertices[3].co.x += 0.01
    obj.data.update()


def paint_map(obj):
    scenes.activate(obj)
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z > 1.5
    bpy.ops.jounce.map_from_selection(kind="STIFFNESS")


def add_modes(obj):
    obj.jounce.modes += 2


@pytest.mark.parametrize("change", [change_mesh, paint_map, add_modes])
def test_a_changed_body_is_built_again_by_itself(preview, change):
    obj, _ = previewed()
    known = preview.session(obj)
    before, digest = shape(obj, 5), obj.jounce.built_digest
    change(obj)
    bpy.context.view_layer.update()
    while not known.complete:
        known.work(bpy.context, 0.05)
    assert obj.jounce.built_digest != digest
    assert len(obj.jounce.modes_built) == obj.jounce.modes
    assert known.complete
    moves_otherwise = np.abs(shape(obj, 5) - before).max() > 1e-4
    # Modes belong to the draft.
    assert moves_otherwise == (scenes.QUALITY == "DRAFT" or change is not add_modes)
    assert_shown_as_baked(obj)


def test_the_cache_travels_with_the_file(preview, module, tmp_path):
    obj, _ = previewed()
    expected = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.fill_cache()
    stored = np.array(preview.session(obj).cache.coefficients)
    path = tmp_path / "previewed.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    module("core.body.built_bodies").CACHE.clear()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Column"]
    if obj.jounce.quality == "DRAFT":
        assert np.array_equal(np.array(module("bridge.motions.motions").kept(obj).coefficients), stored)
    else:
        # Drafts of every vertex are simulated again.
        assert module("bridge.motions.motions").kept(obj) is None
    for frame in (7, 2, 12):
        assert np.array_equal(shape(obj, frame), expected[frame - 1])
    obj.name = "Renamed"
    assert np.array_equal(shape(obj, 4), expected[3])
    assert np.array_equal(np.array(preview.session(obj).cache.coefficients), stored)


def test_an_appended_body_goes_on_with_its_cache(preview, module, tmp_path):
    obj, _ = previewed()
    expected = shape(obj, 7)
    bpy.ops.jounce.fill_cache()
    path = tmp_path / "previewed.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.append(filepath=f"{path}/Object/Column", directory=f"{path}/Object/", filename="Column")
    obj = bpy.data.objects["Column"]
    kept = module("bridge.motions.motions").kept(obj)
    assert kept is None if obj.jounce.quality == "AUTOMATIC" else len(kept) == 12
    scenes.settle_scene()
    preview.sync()
    assert np.array_equal(shape(obj, 7), expected)


def test_a_copy_is_previewed_on_its_own(preview):
    obj, rig = previewed()
    expected = scenes.evaluated_frames(obj, FRAMES)
    copy = obj.copy()
    copy.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    preview.sync()
    assert np.array_equal(shape(copy, 9), expected[8])
    assert preview.session(copy) is not preview.session(obj)
    scenes.activate(obj)
    bpy.ops.jounce.remove()
    assert np.array_equal(shape(copy, 5), expected[4])


def test_two_scenes_keep_their_own_time():
    obj, _ = previewed()
    third = shape(obj, 3)
    first = bpy.context.scene
    other = bpy.data.scenes.new("Other")
    other.frame_set(7)
    assert np.array_equal(scenes.evaluated(obj), third)
    assert first.frame_current == 3


def test_undo_brings_back_what_was_shown(preview):
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.jounce.preview()
    bpy.ops.ed.undo_push(message="preview")
    expected = shape(obj, 7)
    obj.jounce.damping = 0.9
    bpy.ops.ed.undo_push(message="damping")
    assert not np.array_equal(shape(obj, 7), expected)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert obj.jounce.preview
    assert np.array_equal(shape(obj, 7), expected)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert not obj.jounce.preview
    assert preview.session(obj) is None
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Column"]
    assert np.array_equal(shape(obj, 7), expected)


def test_rigs_that_a_second_scene_cannot_evaluate_are_played_in_order(preview):
    obj, rig = scenes.character()
    scene = bpy.context.scene
    curve = rig.driver_add("location", 0)
    curve.driver.type = "SUM"
    target = curve.driver.variables.new().targets[0]
    target.id_type, target.id, target.data_path = "SCENE", scene, "frame_current"
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    posed = shape(obj, 9)
    assert "read the scene" in preview.session(obj).status()
    bpy.ops.jounce.fill_cache()
    assert np.abs(shape(obj, 9) - posed).max() > 1e-3
    assert_shown_as_baked(obj)


def test_a_baked_body_is_not_previewed_and_a_bake_ends_the_preview():
    obj, _ = previewed()
    bpy.ops.jounce.bake()
    assert not obj.jounce.preview
    assert [modifier.name for modifier in obj.modifiers] == ["Armature"]
    with pytest.raises(RuntimeError, match="free the bake"):
        bpy.ops.jounce.preview()


def test_while_paused_nothing_is_written(preview):
    obj, _ = previewed()
    values = np.empty(3 * len(obj.data.vertices), np.float32)
    shape(obj, 7)
    obj.data.attributes["jounce"].data.foreach_get("vector", values)
    before = values.copy()
    with preview.paused():
        shape(obj, 3)
        obj.data.attributes["jounce"].data.foreach_get("vector", values)
        assert np.array_equal(values, before)
    shape(obj, 3)
    obj.data.attributes["jounce"].data.foreach_get("vector", values)
    assert not np.array_equal(values, before)


def test_a_mesh_in_edit_mode_is_left_alone():
    obj, _ = previewed()
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.frame_set(7)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_shown_as_baked(obj)


def own_handlers():
    """The kinds of handlers added by the preview."""
    return {
        kind
        for kind in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, kind), list)
        for handler in getattr(bpy.app.handlers, kind)
        if handler.__module__.endswith(".bridge.preview.previews")
    }


def test_the_timeline_is_drawn_over_only_while_something_is_previewed(module):
    timeline = module("overlay.timeline")
    obj, _ = previewed()
    assert len(timeline._handlers) == 1
    bpy.ops.jounce.preview()
    assert not timeline._handlers


def test_cached_frames_are_fresh_until_something_changes(preview):
    obj, _ = previewed()
    shape(obj, 5)
    assert preview.strips(bpy.context.scene) == [(range(1, 6), range(6, 6))]
    preview.session(obj).suspect()
    assert preview.strips(bpy.context.scene) == [(range(1, 1), range(1, 6))]


ALWAYS = {"load_post", "undo_post", "redo_post"}


def test_handlers_are_there_only_while_something_is_previewed(package):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    assert own_handlers() == ALWAYS
    bpy.ops.jounce.preview()
    assert "frame_change_pre" in own_handlers()
    bpy.ops.jounce.preview()
    assert own_handlers() == ALWAYS
    bpy.ops.jounce.preview()
    package.unregister()
    try:
        assert own_handlers() == set()
    finally:
        package.register()


@pytest.mark.posix
def test_many_frames_keep_the_memory(preview):
    import resource

    obj, _ = previewed()
    scene = bpy.context.scene

    def play(count):
        for frame in range(count):
            scene.frame_set(1 + frame % 12)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = play(500)
    assert play(2000) - before < 4000, "kilobytes"


def test_playing_through_the_cache_shows_the_same_bits_and_what_changes_meanwhile(preview, monkeypatch):
    obj, rig = previewed()
    expected = scenes.evaluated_frames(obj, FRAMES)
    monkeypatch.setattr(preview, "is_playing", lambda: True)
    for frame in (*FRAMES, *FRAMES):
        assert np.array_equal(shape(obj, frame), expected[frame - 1])
    bone = rig.pose.bones["Upper"]
    bone.rotation_euler.z = 0.7
    bone.keyframe_insert("rotation_euler", frame=3)
    bpy.context.view_layer.update()
    changed = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(changed - expected).max() > 1e-3
    monkeypatch.undo()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), changed)


def test_a_bake_knows_that_it_hid_a_preview_until_it_is_freed():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert not obj.jounce.bake_hid_preview
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.preview(show="FLESH")
    for _ in range(2):
        bpy.ops.jounce.bake(target="FRAME_KEYS")
        assert obj.jounce.bake_hid_preview and not obj.jounce.preview
    bpy.ops.jounce.free_bake()
    assert not obj.jounce.bake_hid_preview
