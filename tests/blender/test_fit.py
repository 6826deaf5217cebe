"""The frequency fitted to a shot."""

import itertools

import bpy
import layouts
import numpy as np
import pytest
import scenes
import snapshot


def size_of_motion(obj):
    """Size of the motion, without a twentieth of the vertices and a twentieth of the frames."""
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    fleshed = scenes.evaluated_frames(obj, range(1, 13))
    bpy.ops.jounce.free_bake()
    rigged = scenes.evaluated_frames(obj, range(1, 13))
    moved = np.linalg.norm(fleshed - rigged, axis=2)
    return np.quantile(np.quantile(moved, 0.95, axis=1), 0.95) / np.linalg.norm(np.ptp(rigged[0], axis=0))


@pytest.mark.parametrize("amount", [1.0, 3.0])
def test_the_flesh_moves_as_far_as_wanted(amount):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.amount = amount
    current = bpy.context.scene.frame_current
    assert bpy.ops.jounce.fit() == {"FINISHED"}
    assert bpy.context.scene.frame_current == current
    assert size_of_motion(obj) == pytest.approx(amount / 100.0, rel=0.06)


def test_stopped_between_any_two_steps_it_changes_nothing(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.amount = 1.0
    fit = module("ops.fit")

    def fitted():
        fit.keep_fit((yield from fit.fit(obj, bpy.context, range(1, 13))), bpy.context)

    stages = [step.stage for step in fitted()]
    assert obj.jounce.frequency != 5.0 and stages.count("Fitting") >= 24
    obj.jounce.frequency = 5.0
    before = snapshot.snapshot(obj), snapshot.properties(obj.jounce), bpy.context.scene.frame_current
    for stop in range(1, len(stages), 3):
        task = fitted()
        # The number of waits for the simulation differs between runs.
        if len(list(itertools.islice(task, stop))) < stop:
            assert stop > len(stages) // 2
            break
        task.close()
        assert before == (
            snapshot.snapshot(obj),
            snapshot.properties(obj.jounce),
            bpy.context.scene.frame_current,
        )


def said(capsys):
    """The last line reported by an operator."""
    return capsys.readouterr().out.strip().splitlines()[-1]


def calm(rig, angle=0.03):
    """Has the upper bone of a rig swing a little."""
    rig.animation_data_clear()
    for frame in range(1, 13):
        rig.pose.bones["Upper"].rotation_euler = (angle * np.sin(0.5 * frame), 0.0, 0.0)
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=frame)


def test_calm_flesh_gets_softer_until_its_stretch_stands_in_the_way(capsys):
    obj, rig = scenes.character()
    calm(rig, 0.08)
    scenes.add_and_build(obj)
    obj.jounce.amount = 50.0
    bpy.ops.jounce.fit()
    assert "softer, it would stretch too far" in said(capsys)
    tight = obj.jounce.frequency
    lively = obj.jounce.shot_amount
    assert 1.3 < tight < 5.0
    obj.jounce.stretch *= 0.5
    bpy.ops.jounce.fit()
    assert obj.jounce.frequency > 1.05 * tight and obj.jounce.shot_amount < lively
    obj.jounce.use_stretch = False
    bpy.ops.jounce.fit()
    assert obj.jounce.frequency == pytest.approx(1.3) and obj.jounce.shot_amount == 2.5
    assert "softer, it would swim" in said(capsys)
    obj.jounce.amount = 0.5
    bpy.ops.jounce.fit()
    assert obj.jounce.frequency > tight and "Target Amplitude allows no more" in said(capsys)


def test_a_fit_does_not_depend_on_the_frequency_before():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    found = []
    for before in (0.5, 5.0, 80.0):
        obj.jounce.frequency = before
        bpy.ops.jounce.fit()
        found.append(obj.jounce.frequency)
    assert found == [found[0]] * 3 and found[0] not in (0.5, 5.0, 80.0)


def test_setting_up_softens_a_calm_shot_and_says_why(capsys):
    obj, rig = scenes.character()
    calm(rig)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    state = obj.jounce
    assert state.frequency < 2.6 and state.shot_amount > 1.0
    told = said(capsys)
    assert f"{obj.name}: soft flesh. It moves by up to {state.fitted_size:.1%} of its size; " in told
    # Words of the solver are in Inside.
    assert not any(word in told for word in ("Hz", "acceleration", "tets", "modes"))
    drawn = " ".join(layouts.drawn(bpy.types.JOUNCE_PT_inside).texts())
    numbers = f"{state.frequency:.3g} Hz, feels {state.shot_amount:.0%} of the rig's acceleration, moves"
    assert numbers in drawn
    state.frequency *= 2.0
    assert "feels" not in " ".join(layouts.drawn(bpy.types.JOUNCE_PT_inside).texts())


@pytest.mark.usefixtures("coarse_setup")
def test_where_the_rig_crushes_the_skin_flesh_gets_stiffer_until_another_fit(module):
    obj, rig = scenes.character()
    for frame, angle in ((1, 0.0), (6, 2.8), (12, 0.0)):
        rig.pose.bones["Upper"].rotation_mode = "XYZ"
        rig.pose.bones["Upper"].rotation_euler = (angle, 0.0, 0.0)
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    read = module("bridge.body.bodies").read

    def stiffness():
        surface = read(obj, bpy.context, print).surface
        assert surface.digest(obj.jounce.build_settings()) == obj.jounce.built_digest
        return surface.maps.stiffness

    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    folded = stiffness() > 1.0
    assert obj.jounce.folds and 0 < folded.sum() < len(folded)
    assert np.abs(heights[folded] - 1.0).max() < np.abs(heights - 1.0).max()
    # A painted map of stiffness is updated as without folds.
    assert read(obj, bpy.context, print).surface.keeps_stiffness
    bpy.ops.jounce.map_add(kind="STIFFNESS")
    obj.vertex_groups[obj.jounce.stiffness_group].add([0], 1.0, "REPLACE")
    assert not read(obj, bpy.context, print).surface.keeps_stiffness
    obj.jounce.stiffness_group = ""
    calm(rig)
    bpy.ops.jounce.fit()
    assert not obj.jounce.folds and stiffness() is None


def test_setting_up_leaves_the_frequency_of_what_nothing_moves(capsys):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert obj.jounce.frequency == 5.0 and "nothing moves it in these frames" in said(capsys)


def test_a_fit_hardly_evaluates_the_scene():
    obj, _ = scenes.character()
    scenes.settle_scene(end=100)
    scenes.add_and_build(obj)
    obj.jounce.amount = 1.0
    shown, frames = bpy.context.scene, []

    def note(scene, *_):
        if scene == shown:
            frames.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(note)
    try:
        bpy.ops.jounce.fit()
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    assert len(frames) < 10 and obj.jounce.frequency != 5.0


def test_a_rig_that_only_the_scene_moves_is_fitted_to_what_the_scene_shows():
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.amount = 1.0
    rig.animation_data_clear()
    shown = bpy.context.scene

    def swing(scene, *_):
        if scene == shown:
            rig.pose.bones["Upper"].rotation_euler = (0.4 * np.sin(0.5 * scene.frame_current), 0.0, 0.0)

    bpy.app.handlers.frame_change_pre.append(swing)
    try:
        bpy.ops.jounce.fit()
        # A stage would have reported no motion.
        assert size_of_motion(obj) == pytest.approx(0.01, rel=0.1)
    finally:
        bpy.app.handlers.frame_change_pre.remove(swing)


@pytest.mark.usefixtures("coarse_setup")
def test_setting_up_tames_a_violent_shot():
    obj, rig = scenes.character()
    for frame in range(1, 13):
        rig.pose.bones["Upper"].rotation_euler = (1.2 * (-1) ** frame, 0.0, 0.0)
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=frame)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    state = obj.jounce
    assert state.frequency > 2.6 and state.shot_amount < 1.0
    assert size_of_motion(obj) < 1.1 * state.amount / 100.0


def test_refusals_change_nothing():
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    with pytest.raises(RuntimeError, match=r"use Build first"):
        bpy.ops.jounce.fit()
    bpy.ops.jounce.build()
    rig.animation_data_clear()
    with pytest.raises(RuntimeError, match="Nothing moves the body"):
        bpy.ops.jounce.fit()
    obj.jounce.stiffness_by = "PHYSICAL"
    with pytest.raises(RuntimeError, match="that of a material"):
        bpy.ops.jounce.fit()
    assert obj.jounce.frequency == 5.0


def test_a_loop_and_keys_on_other_settings_do_not_stand_in_the_way():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.amount = 0.5
    bpy.ops.jounce.fit()
    plain, obj.jounce.frequency = obj.jounce.frequency, 5.0
    obj.jounce.loop = True
    obj.keyframe_insert("jounce.damping", frame=1)
    bpy.ops.jounce.fit()
    assert obj.jounce.frequency == pytest.approx(plain, rel=1e-6)
    obj.keyframe_insert("jounce.frequency", frame=1)
    with pytest.raises(RuntimeError, match="The frequency of Column is animated"):
        bpy.ops.jounce.fit()


@pytest.mark.parametrize("keys", [None, (1.0, 1.0), (0.5, 2.0)])
def test_a_fit_is_the_same_again_though_it_has_set_an_amount(keys):
    obj, rig = scenes.character()
    calm(rig, 0.015)
    scenes.add_and_build(obj)
    for frame, amount in zip((1, 12), keys or (), strict=False):
        obj.jounce.strength = amount
        obj.keyframe_insert("jounce.strength", frame=frame)
    found = []
    for _ in range(2):
        assert bpy.ops.jounce.fit() == {"FINISHED"}
        found.append((obj.jounce.frequency, obj.jounce.shot_amount))
    assert found[0] == pytest.approx(found[1]) and found[0][1] > 1.5


def test_a_shot_amount_multiplies_the_amount():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    moved = []
    for amount, shot in ((0.1, 1.0), (0.2, 1.0), (0.1, 2.0), (0.4, 0.5)):
        obj.jounce.strength, obj.jounce.shot_amount = amount, shot
        moved.append(size_of_motion(obj))
    assert moved[1] > 1.5 * moved[0]
    assert moved[2:] == pytest.approx([moved[1]] * 2, rel=1e-6)
