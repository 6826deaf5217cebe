"""Animation of a fitted frequency, and the message about another animation."""

import bpy
import pytest
import scenes
from layouts import drawn
from libraries import build, link, make_library


@pytest.fixture
def fitted():
    """A column with a frequency fitted to its action Walk: mesh and armature."""
    obj, rig = scenes.character()
    rig.animation_data.action.name = "Walk"
    scenes.add_and_build(obj)
    bpy.ops.jounce.fit()
    return obj, rig


@pytest.fixture
def difference(module):
    """The message about a body, after Blender has noticed the change."""

    def said(obj):
        bpy.context.view_layer.update()
        return module("bridge.inputs.played_actions").difference(obj)

    return said


def play(rig, name, angle=0.4, end=12):
    """Gives a rig a new action that swings its upper bone."""
    rig.animation_data_create()
    rig.animation_data.action = bpy.data.actions.new(name)
    for frame in (1, end // 2, end):
        rig.pose.bones["Upper"].rotation_euler = (angle * (frame == end // 2), 0.0, 0.0)
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.update()


WALK_RUN = "Fitted to the action Walk; Run is played now."


def shown(module, name):
    """Present contents of a panel."""
    return drawn(getattr(module(f"panels.{name.lower()}"), f"JOUNCE_PT_{name.lower()}"))


@pytest.mark.parametrize("panel", ["motion", "diagnosis"])
def test_another_action_is_said_with_a_button(module, fitted, difference, panel):
    obj, rig = fitted
    assert difference(obj) == "" and "jounce.fit_again" not in shown(module, panel).operators()
    play(rig, "Run")
    assert difference(obj) == WALK_RUN
    assert " ".join(shown(module, panel).texts()).count(WALK_RUN) == 1
    before = obj.jounce.frequency
    assert bpy.ops.jounce.fit_again() == {"FINISHED"}
    assert difference(obj) == "" and obj.jounce.frequency != before
    assert "jounce.fit_again" not in shown(module, panel).operators()


def test_the_closed_diagnosis_counts_it(module, fitted):
    play(fitted[1], "Run")
    assert "1" in shown(module, "diagnosis").texts()
    assert "Nothing found" not in shown(module, "diagnosis").texts()


def test_names_and_polish_say_nothing(fitted, difference):
    obj, rig = fitted
    action = rig.animation_data.action
    action.name = "Stroll"
    assert difference(obj) == ""
    rig.animation_data.action = action.copy()
    assert difference(obj) == ""
    rig.animation_data.action = action
    action.name = "Walk"
    rig.pose.bones["Upper"].rotation_euler = (0.7, 0.0, 0.0)
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=5)
    assert difference(obj) == ""


def test_another_action_of_the_same_name_is_said(fitted, difference):
    obj, rig = fitted
    bpy.data.actions.remove(rig.animation_data.action)
    play(rig, "Walk", end=20)
    assert difference(obj) == "Fitted to the action Walk, which keys other channels or frames now."


def test_strips_count_as_far_as_they_are_heard(fitted, difference):
    obj, rig = fitted
    data = rig.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("Walk", 1, data.action)
    walk, data.action = data.action, None
    bpy.ops.jounce.fit()
    assert difference(obj) == ""
    strip.frame_start, strip.frame_end = 3, 11
    assert difference(obj).startswith("Fitted to the action Walk, which")
    bpy.ops.jounce.fit_again()
    track.mute = True
    assert difference(obj) == ""
    data.action = walk
    assert difference(obj).startswith("Fitted to the action Walk, which")


def test_a_frequency_set_by_hand_is_fitted_to_nothing(fitted, difference):
    obj, rig = fitted
    play(rig, "Run")
    obj.jounce.frequency *= 1.5
    assert difference(obj) == ""
    obj.jounce.frequency = obj.jounce.fitted_frequency
    assert difference(obj) == WALK_RUN
    obj.jounce.stiffness_by = "PHYSICAL"
    assert difference(obj) == ""


def test_keys_on_settings_are_no_action(fitted, difference):
    obj, _ = fitted
    obj.keyframe_insert("jounce.damping", frame=1)
    assert difference(obj) == ""


def test_what_the_rig_follows_counts(difference):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    lead = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)], "Lead")
    scenes.swing(lead)
    constraint = rig.pose.bones["Upper"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = lead, "Upper"
    scenes.add_and_build(obj)
    bpy.ops.jounce.fit()
    assert difference(obj) == ""
    play(lead, "Run")
    assert difference(obj).endswith("; Run is played now.")


def test_what_add_jounce_made_firmer_is_softer_again_with_a_calm_action(difference):
    obj, rig = scenes.character()
    for frame in range(1, 13):
        rig.pose.bones["Upper"].rotation_euler = (0.6 * (-1) ** frame, 0.0, 0.0)
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=frame)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    firm = obj.jounce.frequency
    assert firm > 5.0
    play(rig, "Calm", angle=0.01)
    assert difference(obj).endswith("; Calm is played now.")
    assert bpy.ops.jounce.fit_again() == {"FINISHED"}
    assert obj.jounce.frequency < 0.5 * firm and difference(obj) == ""


def test_undo_brings_the_sentence_back(fitted, difference):
    _, rig = fitted
    play(rig, "Run")
    bpy.ops.ed.undo_push(message="run")
    bpy.ops.jounce.fit_again()
    bpy.ops.ed.undo_push(message="fit")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert difference(obj) == WALK_RUN
    bpy.ops.ed.redo()
    assert difference(bpy.data.objects["Column"]) == ""


def test_a_copy_of_the_character_is_fitted_as_well(fitted, difference):
    obj, rig = fitted
    scenes.activate(obj, rig)
    bpy.ops.object.duplicate()
    copy = next(o for o in bpy.context.selected_objects if o.type == "MESH")
    assert copy != obj and copy.jounce.fitted_names == "Walk"
    assert difference(copy) == ""


def test_a_character_of_another_file_says_it_in_the_shot(tmp_path, difference):
    def fit(obj, rig, coat):
        build(obj, rig, coat)
        scenes.swing(rig)
        rig.animation_data.action.name = "Walk"
        bpy.ops.jounce.fit()

    library = make_library(tmp_path / "library.blend", fit)
    scenes.activate(link(library, instance=True))
    bpy.ops.jounce.override()
    own = {obj.name.split(".")[0]: obj for obj in bpy.data.objects if obj.library is None}
    obj, rig = own["Column"], own["Rig"]
    assert difference(obj) == ""
    play(rig, "Run")
    assert difference(obj) == WALK_RUN
    scenes.activate(obj)
    bpy.ops.jounce.build()
    assert bpy.ops.jounce.fit_again() == {"FINISHED"}
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = next(o for o in bpy.data.objects if o.name.startswith("Column") and o.library is None)
    assert obj.jounce.fitted_names == "Run" and difference(obj) == ""


def test_a_body_that_was_never_fitted_has_no_such_button(difference):
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    play(rig, "Run")
    assert difference(obj) == ""
    with pytest.raises(RuntimeError, match="No selected body was fitted to a shot; use Fit to Shot first"):
        bpy.ops.jounce.fit_again()
