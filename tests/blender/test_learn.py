"""Learn This Shot: the final motion of a shot in a few displacements, live and baked."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from layouts import drawn
from previews import FRAMES, assert_shown_as_baked, shown
from test_refusals import assert_refused


@pytest.fixture
def character():
    """A built character without limits, which apply to final flesh alone."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    return obj, rig


def previewed_finally(obj):
    """The final and the draft shapes of a body, and the shapes of the rig alone; the preview is on."""
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview()
    return shown(obj, "FINAL"), shown(obj, "DRAFT"), posed


def test_what_was_learnt_moves_as_the_final_motion_does(character, session, lessons):
    obj, _ = character
    final, draft, posed = previewed_finally(obj)
    bpy.ops.jounce.learn()
    assert obj.jounce.quality == "LEARNT"
    found = shown(obj, "LEARNT")
    size = np.linalg.norm(final - posed)
    error = np.linalg.norm(found - final) / size
    assert error < 0.05 < np.linalg.norm(draft - final) / size
    facts = lessons.of(obj).facts
    assert facts.error == pytest.approx(error, rel=1e-2)
    assert facts.draft_error == pytest.approx(np.linalg.norm(draft - final) / size, rel=1e-2)
    assert session(obj).status() == f"Learnt, {error:.1%} from Final"
    assert session(obj).final.error.share == facts.error
    assert len(session(obj).final.error.apart) == len(obj.data.vertices)
    assert list(session(obj).final.warnings()) == []


def test_a_bake_is_what_is_shown(character):
    obj, _ = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj)


def test_final_frames_that_are_kept_are_not_simulated_again(character, module, tmp_path):
    obj, _ = character
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.jounce.learn()
    (cache,) = tmp_path.glob("*.jcache")
    kept = cache.read_bytes()
    bpy.ops.jounce.learn()
    assert cache.read_bytes() == kept


def test_settings_are_live_and_come_near_the_final_motion(character, session):
    obj, _ = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    before = shown(obj, "LEARNT")
    # Damping acts at the frequencies of parts, which a learnt model knows only from its displacements.
    for name, value, near in (("frequency", 9.0, 0.5), ("damping", 0.5, 0.7), ("strength", 0.5, 0.5)):
        setattr(obj.jounce, name, value)
        found = shown(obj, "LEARNT")
        assert np.abs(found - before).max() > 1e-3, name
        final = shown(obj, "FINAL")
        assert np.linalg.norm(found - final) < near * np.linalg.norm(before - final), name
        obj.jounce.property_unset(name)


def test_it_stays_with_the_file(character, session, module, tmp_path):
    obj, _ = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    before = shown(obj, "LEARNT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = bpy.data.objects["Column"]
    module("bridge.preview.previews").sync()
    scenes.activate(obj)
    assert np.array_equal(shown(obj, "LEARNT"), before)


def test_fewer_displacements_are_further_off(character, lessons):
    obj, _ = character
    errors = []
    bpy.context.scene.frame_end = 40
    for count in ("16", "32", "64"):
        obj.jounce.displacements = count
        bpy.ops.jounce.learn()
        errors.append(lessons.of(obj).facts.error)
        assert len(lessons.of(obj).shapes) <= int(count) + 36
    assert errors[0] > errors[-1]
    assert lessons.of(obj).facts.held_out > errors[-1]


def test_another_clip_is_told_and_learnt_beside_the_first(character, session, lessons):
    obj, rig = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    first = lessons.of(obj).facts.clips[0]
    pose = rig.pose.bones["Lower"]
    pose.rotation_mode = "XYZ"
    other = bpy.data.actions.new("Lean")
    rig.animation_data.action = other
    for frame, angle in ((1, 0.0), (6, 1.2), (12, 0.0)):
        pose.rotation_euler = (0.0, angle, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.activate(obj)
    bpy.ops.jounce.fill_cache()
    assert session(obj).final.error is None
    (sentence,) = session(obj).final.warnings()
    assert "unlike any that was learnt" in sentence
    bpy.ops.jounce.learn(also=True)
    clips = lessons.of(obj).facts.clips
    assert [clip.name for clip in clips] == [first.name, "Lean"]
    bpy.ops.jounce.fill_cache()
    assert list(session(obj).final.warnings()) == []
    assert lessons.of(obj).facts.error < 0.1
    bpy.ops.jounce.learn(also=True)
    assert lessons.of(obj).facts.clips == clips


def test_what_was_not_seen_moves_in_modes_of_the_body(character, module, monkeypatch):
    obj, rig = character
    bpy.ops.jounce.preview()
    seen, other = rig.animation_data.action, bpy.data.actions.new("Lean")
    pose = rig.pose.bones["Lower"]
    pose.rotation_mode = "XYZ"
    rig.animation_data.action = other
    for frame, angle in ((1, 0.0), (4, 0.5), (7, -0.3), (12, 0.1)):
        pose.rotation_euler = (0.0, angle, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    errors = []
    for modes in (0, 6):
        monkeypatch.setattr(module("core.shot.learning"), "MODES", modes)
        rig.animation_data.action = seen
        bpy.ops.jounce.learn()
        rig.animation_data.action = other
        final, found = shown(obj, "FINAL"), shown(obj, "LEARNT")
        errors.append(np.linalg.norm(found - final))
    assert errors[1] < 0.9 * errors[0]


def test_flesh_that_is_far_from_what_was_learnt_is_told(character, session):
    obj, _ = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    obj.jounce.frequency *= 3.0
    obj.jounce.law = "stvk"
    bpy.ops.jounce.fill_cache()
    subjects = [sentence.split()[1].strip(",") for sentence in session(obj).final.warnings()]
    assert subjects == ["flesh", "law"]


def test_flesh_learns_how_it_hardens(character, session, lessons):
    obj, _ = character
    obj.jounce.frequency, obj.jounce.hardening = 3.0, 20.0
    bpy.ops.jounce.learn()
    assert lessons.of(obj).facts.hardening == 20.0
    bpy.ops.jounce.preview()
    hard = shown(obj, "LEARNT")
    assert not any("hardening" in sentence for sentence in session(obj).final.warnings())
    obj.jounce.hardening = 0.0
    assert np.abs(shown(obj, "LEARNT") - hard).max() > 1e-4
    assert any("hardening" in sentence for sentence in session(obj).final.warnings())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda obj: setattr(obj.jounce, "resolution", 10), "mesh or resolution"),
        (lambda obj: obj.vertex_groups["Upper"].add([0, 1, 2, 3], 0.5, "REPLACE"), "bone weights"),
    ],
)
def test_a_body_that_is_another_one_shows_its_draft_until_it_learns_again(character, session, change, what):
    obj, _ = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    change(obj)
    bpy.ops.jounce.build()
    draft = shown(obj, "DRAFT")
    assert np.array_equal(shown(obj, "LEARNT"), draft)
    (sentence,) = session(obj).final.warnings()
    assert what in sentence and "Learn Again" in sentence
    assert_refused(bpy.ops.jounce.bake, "Column", what)
    bpy.ops.jounce.learn()
    assert not np.array_equal(shown(obj, "LEARNT"), draft)
    assert list(session(obj).final.warnings()) == []


def test_quality_without_a_lesson_shows_the_draft_and_says_what_to_do(character, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    draft = shown(obj, "DRAFT")
    assert np.array_equal(shown(obj, "LEARNT"), draft)
    assert "press Learn This Shot" in session(obj).status()
    assert_refused(bpy.ops.jounce.bake, "Column", "press Learn This Shot")


def test_files_from_before_there_were_lessons_keep_their_quality():
    items = bpy.types.Object.bl_rna.properties["jounce"].fixed_type.properties["quality"].enum_items
    assert {item.identifier: item.value for item in items} == {
        "DRAFT": 0,
        "FINAL": 1,
        "LEARNT": 2,
        "AUTOMATIC": 3,
    }


@pytest.mark.parametrize("place", [20, 200, -1])
def test_damaged_lessons_are_refused(character, session, lessons, module, place):
    obj, _ = character
    bpy.ops.jounce.learn()
    data = bytearray(obj.jounce["learnt"])
    data[place] ^= 1
    obj.jounce["learnt"], obj.jounce.learnt_digest = bytes(data), f"other {place}"
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "cannot be read any more; press Learn This Shot" in session(obj).status()
    bpy.ops.jounce.learn()
    assert lessons.of(obj).facts.error < 0.05


def test_it_is_forgotten(character, lessons):
    obj, _ = character
    obj.jounce.property_unset("quality")
    before = snapshot.snapshot(obj)
    assert not bpy.ops.jounce.forget_learnt.poll()
    bpy.ops.jounce.learn()
    bpy.ops.jounce.forget_learnt()
    assert lessons.of(obj) is None and obj.jounce.quality == "AUTOMATIC" and "learnt" not in obj.jounce
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_it_is_undone_and_done_again(character, session, lessons, module):
    obj, _ = character
    bpy.ops.jounce.preview()
    draft = shown(obj, "DRAFT")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.jounce.learn()
    learnt, kept = shown(obj, "LEARNT"), lessons.of(obj).pack()
    bpy.ops.ed.undo_push(message="learnt")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    scenes.activate(obj)
    assert obj.jounce.quality == "DRAFT" and lessons.of(obj) is None
    module("bridge.preview.previews").sync()
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), draft)
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Column"]
    scenes.activate(obj)
    assert obj.jounce.quality == "LEARNT" and lessons.of(obj).pack() == kept
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), learnt)


def test_removing_jounce_takes_it_away(lessons):
    obj, _ = scenes.character()
    before = snapshot.snapshot(obj)
    scenes.add_and_build(obj)
    bpy.ops.jounce.learn()
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_the_preview_waits_while_a_body_learns(character, session, module):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    previews, learn = module("bridge.preview.previews"), module("ops.learn")
    task = learn.learn_body(obj, bpy.context, False, print)
    while not next(task).stage.startswith("Learning"):
        pass
    bpy.context.scene.frame_set(5)
    assert previews.shown_in(bpy.context.scene) == [] and session(obj).final is None
    task.close()
    assert previews.shown_in(bpy.context.scene) == [session(obj)]
    bpy.context.scene.frame_set(6)
    assert session(obj).final is None


def test_stopping_changes_nothing(character, module):
    obj, _ = character
    before = snapshot.snapshot(obj)
    learn = module("ops.learn")
    for stage in ("Frame", "Simulating", "Learning", "Comparing"):
        task = learn.learn_body(obj, bpy.context, False, print)
        while not next(task).stage.startswith(stage):
            pass
        task.close()
        assert obj.jounce.quality == "DRAFT", stage
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def panel_of(obj, panel="preview"):
    """Contents of a panel for a body: operators with their texts, and labels."""
    scenes.activate(obj)
    layout = drawn(getattr(bpy.types, f"JOUNCE_PT_{panel}"))
    return layout.operators(), layout.texts()


def test_the_panel_says_how_near_it_is_and_offers_what_helps(character, lessons):
    obj, _ = character
    operators, _ = panel_of(obj)
    assert {"jounce.learn", "jounce.learnt_load"} <= set(operators)
    bpy.ops.jounce.learn()
    operators, texts = panel_of(obj)
    facts = lessons.of(obj).facts
    assert {"jounce.learnt_save", "jounce.forget_learnt"} <= set(operators)
    assert f"{facts.error:.1%} from Final" in texts
    assert not any("displacements" in text for text in texts)
    _, inside = panel_of(obj, "inside")
    count = len(lessons.of(obj).shapes)
    assert "RigAction, 12 frames" in inside
    assert f"{count} displacements leave {facts.left_out:.1%} out" in inside
    shares = [lessons.of(obj).left_out_by(fewer) for fewer in (4, 8, 16, 32)]
    assert ", ".join(f"{n}: {share:.1%}" for n, share in zip((4, 8, 16, 32), shares, strict=True)) in inside
    assert f"{facts.error:.1%} from Final, the draft {facts.draft_error:.0%}" in inside
    before = operators.count("jounce.learn")
    bpy.ops.jounce.preview()
    obj.jounce.frequency *= 3.0
    bpy.ops.jounce.fill_cache()
    operators, texts = panel_of(obj)
    assert operators.count("jounce.learn") == before + 1
    assert any(text.startswith("The flesh is 9 times as stiff") for text in texts)


def test_it_goes_to_another_shot_of_the_character_as_a_file(character, session, lessons, tmp_path):
    obj, _ = character
    bpy.ops.jounce.learn()
    path = tmp_path / "column.jlearnt"
    bpy.ops.jounce.learnt_save(filepath=str(path.with_suffix("")))
    assert list(tmp_path.iterdir()) == [path]
    kept = path.read_bytes()
    bpy.ops.jounce.learnt_save(filepath=str(path))
    assert path.read_bytes() == kept
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    other, _ = scenes.character()
    scenes.add_and_build(other)
    other.name = "Other"
    other.jounce.use_limit = other.jounce.use_stretch = False
    bpy.ops.jounce.learnt_load(filepath=str(path))
    assert other.jounce.quality == "LEARNT" and lessons.of(other).pack() == kept
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(other).status() == f"Learnt, {lessons.of(other).facts.error:.1%} from Final"


def test_files_of_others_stay_and_are_refused(character, lessons, tmp_path):
    obj, _ = character
    bpy.ops.jounce.learn()
    before = lessons.of(obj)
    thesis = tmp_path / "thesis.jlearnt"
    thesis.write_text("thesis")
    assert_refused(bpy.ops.jounce.learnt_save, "thesis", "another name", filepath=str(thesis))
    assert thesis.read_text() == "thesis"
    for path in (thesis, tmp_path / "missing.jlearnt", tmp_path):
        assert_refused(bpy.ops.jounce.learnt_load, str(path), "no learnt motion", filepath=str(path))
    whole = tmp_path / "whole.jlearnt"
    bpy.ops.jounce.learnt_save(filepath=str(whole))
    cut = tmp_path / "cut.jlearnt"
    cut.write_bytes(whole.read_bytes()[:-9])
    assert_refused(bpy.ops.jounce.learnt_load, "cut.jlearnt", "damaged", filepath=str(cut))
    obj.jounce.resolution = 8
    bpy.ops.jounce.build()
    assert_refused(bpy.ops.jounce.learnt_load, "whole.jlearnt", "mesh or resolution", filepath=str(whole))
    assert lessons.of(obj) is before
    place = tmp_path / "no" / "such.jlearnt"
    assert_refused(bpy.ops.jounce.learnt_save, "such.jlearnt", "another folder", filepath=str(place))


def test_frames_in_which_the_flesh_holds_are_not_learnt(character, lessons):
    obj, rig = character
    held = FRAMES[4:6]
    for frame in FRAMES:
        rig.scale = (0.0,) * 3 if frame in held else (1.0,) * 3
        rig.keyframe_insert("scale", frame=frame)
    bpy.ops.jounce.learn()
    assert lessons.of(obj).facts.clips[0].frames == len(FRAMES) - len(held)


def vanish(rig):
    rig.scale = (0.0,) * 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (vanish, ("No frame", "scaled to nothing")),
        (lambda rig: None, ("Column", "does not move", "animate it")),
    ],
)
def test_a_shot_without_motion_is_refused(character, change, words):
    obj, rig = character
    rig.animation_data_clear()
    change(rig)
    bpy.context.view_layer.update()
    assert_refused(bpy.ops.jounce.learn, *words)
    assert obj.jounce.quality == "DRAFT" and not obj.jounce.learnt_digest


def test_stitches_are_refused(character):
    obj, _ = character
    coat = scenes.column("Coat", radius=0.35)
    scenes.activate(obj, coat)
    bpy.ops.jounce.body_add()
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    assert_refused(bpy.ops.jounce.learn, "Column", "stitches", "choose Final")
    assert obj.jounce.quality == "DRAFT"


def test_skinning_nodes_are_refused(character):
    obj, _ = character
    bpy.ops.jounce.learn()
    assert_refused(bpy.ops.jounce.bake, "Column", "mesh cache", target="SKINNING_NODES")


def test_what_is_moved_by_hand_moves_in_what_was_learnt(character, session):
    obj, rig = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(12)
    posed = scenes.evaluated(obj)
    known = session(obj)
    rig.location.x = 0.5
    bpy.context.view_layer.update()
    assert known.interactive.shaper is known.final.fine
    moved = []
    while known.interactive is not None and len(moved) < 600:
        known._due = 0.0
        known.work(bpy.context, 0.0)
        bpy.context.view_layer.update()
        moved.append(np.abs(scenes.evaluated(obj) - posed - [0.5, 0.0, 0.0]).max())
    assert known.interactive is None and max(moved) > 1e-3
    rig.location.x = 0.0
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(12)
    assert np.array_equal(scenes.evaluated(obj), posed)
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.fill_cache()
    rig.location.x = 0.5
    bpy.context.view_layer.update()
    assert known.interactive.shaper is known.filling.owner
