"""Several previewed bodies in one file: each fills a separate cache."""

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES, baked

NAMES = ("Column", "Coarse", "Round")


@pytest.fixture(autouse=True)
def no_waiting(module, monkeypatch):
    """Changes are checked without waiting for another change."""
    monkeypatch.setattr(module("bridge.preview.session"), "QUIET_SECONDS", 0.0)


def cast():
    """Three built characters with previews; the last one's armature preserves volume."""
    made = []
    for number, name in enumerate(NAMES):
        obj, rig = scenes.character()
        obj.name, rig.name = name, f"{name} Rig"
        rig.location.x = 2.0 * number
        made.append(obj)
    made[2].modifiers["Armature"].use_deform_preserve_volume = True
    scenes.settle_scene()
    for obj in made:
        scenes.add_and_build(obj)
    scenes.activate(*made)
    bpy.ops.jounce.preview()
    return made


def all_of(names=NAMES):
    return [bpy.data.objects[name] for name in names]


def suspected(preview, objects):
    """The sessions of bodies marked for a check."""
    known = [preview.session(obj) for obj in objects]
    for each in known:
        each.suspect()
    return known


def work_a_little(known):
    """The timer's work in a window, until each has its own stage."""
    for each in known:
        while not each.is_staged:
            each.work(bpy.context, 2e-5)
    assert not any(each.complete for each in known)


def fill(preview, objects):
    """Fills all by turns, as the timer does."""
    known = [preview.session(obj) for obj in objects]
    # Enough for a busy machine to finish as well.
    for _ in range(100_000):
        working = [each for each in known if each.busy]
        for each in working:
            each.work(bpy.context, 1e-3)
        if not working:
            break
    assert [each.status() for each in known] == ["Draft"] * len(known)
    assert not stages()


def stages():
    blocks = (*bpy.data.scenes, *bpy.data.objects, *bpy.data.meshes)
    return [block.name for block in blocks if block.name.startswith(("Jounce Stage", "Jounce Double"))]


def shown(objects):
    return [scenes.evaluated_frames(obj, FRAMES) for obj in objects]


def assert_same(objects, expected):
    assert all(np.array_equal(now, before) for now, before in zip(shown(objects), expected, strict=True))


def test_each_fills_its_own_cache(preview):
    objects = cast()
    expected = shown(objects)
    known = suspected(preview, objects)
    work_a_little(known)
    fill(preview, objects)
    assert_same(objects, expected)
    scenes.activate(*objects)
    bpy.ops.jounce.preview()
    for seen, right in zip(expected, baked(*objects, target="SKINNING_NODES"), strict=True):
        assert np.abs(seen - right).max() < 1e-5


def leave_the_first(preview, _tmp_path):
    preview.session(bpy.data.objects["Column"]).leave_stage()
    return NAMES


def switch_one_off(_preview, _tmp_path):
    scenes.activate(bpy.data.objects["Coarse"])
    bpy.ops.jounce.preview()
    return ("Column", "Round")


def save(_preview, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "cast.blend"))
    return NAMES


def reopen(preview, tmp_path):
    save(preview, tmp_path)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "cast.blend"))
    return NAMES


def undo(_preview, _tmp_path):
    bpy.ops.ed.undo()
    return NAMES


def undo_and_redo(_preview, _tmp_path):
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    return NAMES


def delete_the_stage(_preview, _tmp_path):
    for scene in [scene for scene in bpy.data.scenes if scene.name.startswith("Jounce Stage")]:
        bpy.data.scenes.remove(scene)
    return NAMES


MEANWHILE = (leave_the_first, switch_one_off, save, reopen, undo, undo_and_redo, delete_the_stage)


@pytest.mark.parametrize("meanwhile", MEANWHILE, ids=lambda step: step.__name__)
def test_others_go_on_whatever_happens_while_they_fill(preview, tmp_path, meanwhile):
    objects = cast()
    expected = dict(zip(NAMES, shown(objects), strict=True))
    bpy.ops.ed.undo_push(message="previewed")
    work_a_little(suspected(preview, objects))
    bpy.ops.ed.undo_push(message="while they fill")
    left = meanwhile(preview, tmp_path)
    bpy.context.scene.frame_set(1)
    fill(preview, all_of(left))
    assert_same(all_of(left), [expected[name] for name in left])


def previewed_in_turn():
    """Two built bodies on one rig, the second built and shown after the first."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    scenes.settle_scene()
    for each in (obj, coat):
        scenes.add_and_build(each)
        bpy.ops.jounce.preview()
    return obj, coat


@pytest.fixture
def evaluations():
    """Counts evaluations other than those of a new frame."""
    begun = []

    def begin(*_):
        begun.append(bpy.context.scene.frame_current)

    bpy.app.handlers.depsgraph_update_post.append(begin)
    yield begun
    bpy.app.handlers.depsgraph_update_post.remove(begin)


def test_no_evaluation_begins_within_another_where_one_is_read_after_another_was_shown(preview, evaluations):
    objects = previewed_in_turn()
    known = [preview.session(obj) for obj in objects]
    for frame in (5, 2):
        read = [each.motions for each in known]
        for each in known:
            each.suspect(reread=True)
        evaluations.clear()
        bpy.context.scene.frame_set(frame)
        assert not evaluations
        assert all(each.motions is not before for each, before in zip(known, read, strict=True))


def test_what_is_tagged_after_bodies_were_previewed_in_turn_is_evaluated():
    objects = previewed_in_turn()
    before = shown(objects)
    for obj in objects:
        obj.update_tag()
        bpy.context.view_layer.update()
    assert_same(objects, before)
