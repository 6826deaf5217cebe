"""Learn This Shot: what the final motion of a shot was, in a few displacements, live and baked."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from previews import FRAMES, assert_shown_as_baked
from test_refusals import assert_refused


@pytest.fixture
def character():
    """A built character without limits, which hold the final flesh alone."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    return obj, rig


@pytest.fixture
def session(module):
    """Finds the session of a previewed object."""
    return module("bridge.preview.previews").session


@pytest.fixture
def lessons(module):
    """What bodies have learnt."""
    return module("bridge.preview.lessons")


def shown(obj, quality):
    """The shapes (f, p, 3) of a previewed body at a quality, all of its frames simulated."""
    obj.jounce.quality = quality
    bpy.ops.jounce.fill_cache()
    return scenes.evaluated_frames(obj, FRAMES)


def previewed_finally(obj):
    """The final and the draft shapes of a body, and those of its rig alone; its preview is on."""
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
    assert session(obj).status() == f"Learnt 1 - 12, {error:.1%} from Final"
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
    for name, value in (("frequency", 6.0), ("damping", 0.5), ("strength", 0.5)):
        setattr(obj.jounce, name, value)
        found = shown(obj, "LEARNT")
        assert np.abs(found - before).max() > 1e-3, name
        final = shown(obj, "FINAL")
        assert np.linalg.norm(found - final) < 0.5 * np.linalg.norm(before - final), name
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
    for frames in (12, 40):
        bpy.context.scene.frame_end = frames
        bpy.ops.jounce.learn()
    for count in ("16", "32", "64"):
        obj.jounce.displacements = count
        bpy.ops.jounce.learn()
        errors.append(lessons.of(obj).facts.error)
        assert len(lessons.of(obj).shapes) <= int(count)
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


def test_flesh_that_is_far_from_what_was_learnt_is_told(character, session):
    obj, _ = character
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    obj.jounce.frequency *= 3.0
    obj.jounce.law = "stvk"
    bpy.ops.jounce.fill_cache()
    assert [sentence.split()[1] for sentence in session(obj).final.warnings()] == ["flesh", "law"]


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
    before = snapshot.snapshot(obj)
    assert not bpy.ops.jounce.forget_learnt.poll()
    bpy.ops.jounce.learn()
    bpy.ops.jounce.forget_learnt()
    assert lessons.of(obj) is None and obj.jounce.quality == "DRAFT" and "learnt" not in obj.jounce
    obj.jounce.property_unset("quality")
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_removing_jounce_takes_it_away(lessons):
    obj, _ = scenes.character()
    before = snapshot.snapshot(obj)
    scenes.add_and_build(obj)
    bpy.ops.jounce.learn()
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_stopping_changes_nothing(character, module):
    obj, _ = character
    before = snapshot.snapshot(obj)
    module("ops.learn")
    for stage in ("Frame", "Simulating", "Learning", "Comparing"):
        task = module("ops.learn").learn_body(obj, bpy.context, False, print)
        while not next(task).stage.startswith(stage):
            pass
        task.close()
        assert obj.jounce.quality == "DRAFT", stage
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_stitches_are_refused(character):
    obj, _ = character
    coat = scenes.column("Coat", radius=0.35)
    scenes.activate(obj, coat)
    bpy.ops.jounce.body_add()
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    assert_refused(bpy.ops.jounce.learn, "Column", "stitches", "choose Final")
    assert obj.jounce.quality == "DRAFT"


def test_a_push_is_refused(character):
    obj, _ = character
    obj.jounce.push = (1.0, 0.0, 0.0)
    assert_refused(bpy.ops.jounce.learn, "Column", "force fields and pushes")


def test_skinning_nodes_are_refused(character):
    obj, _ = character
    bpy.ops.jounce.learn()
    assert_refused(bpy.ops.jounce.bake, "Column", "mesh cache", target="SKINNING_NODES")
