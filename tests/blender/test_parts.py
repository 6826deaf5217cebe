"""Parts of a body: what a build finds, how their sliders act, the list, and copies to other characters."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import bpy
import layouts
import numpy as np
import pytest
import scenes
from character_files import DATA, needs

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters
import flesh

FRAMES = range(1, 13)
RIGS = ("mixamo/xbot_samba.fbx", "open_humanoid/Smooth_Male_Suit.fbx", "open_creature/Cow.fbx")


def tailed():
    """A column whose upper half is a tail, with anatomy and previewed; and its armature."""
    obj, rig = scenes.character()
    rig.data.bones["Upper"].name = "Tail"
    rig.pose.bones["Tail"].jounce_role = "FREE"
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.bone_core = 0.5
    bpy.ops.jounce.build()
    return obj, rig


@pytest.fixture
def shown():
    """The column with a tail, fitted and previewed; and its armature."""
    obj, rig = tailed()
    bpy.ops.jounce.fit()
    bpy.ops.jounce.preview(show="FLESH")
    return obj, rig


def moved(obj):
    """Mean distance of the flesh from its pose in the lower and the upper half, as previewed."""
    fleshed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="POSE")
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="FLESH")
    distance = np.linalg.norm(fleshed - posed, axis=2).mean(axis=0)
    upper = np.array([vertex.co.z for vertex in obj.data.vertices]) > 1.2
    return float(distance[~upper].mean()), float(distance[upper].mean())


def body_of(module, obj):
    """The built body of an object."""
    return module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)


def test_a_build_lists_what_it_finds(shown):
    obj, _ = shown
    assert obj.jounce.parts.keys() == ["tail", "rest"]
    assert sum(part.found for part in obj.jounce.parts) == pytest.approx(1.0, abs=0.02)
    assert obj.jounce.parts["tail"].bones.split("\n") == ["Tail"]
    assert all(part.is_plain for part in obj.jounce.parts)


def test_inside_tells_frequency_motion_and_reason_of_each_part(module, shown):
    obj, _ = shown
    reports = {part.name: part.report for part in obj.jounce.parts}
    assert all(report.hertz > 0.0 and report.size > 0.0 for report in reports.values()), reports

    def told():
        return " ".join(layouts.drawn(bpy.types.JOUNCE_PT_inside).texts())

    for name, label in (("tail", "Tail"), ("rest", "Other")):
        hertz, size, reason = vars(reports[name]).values()
        assert f"{label}: {hertz:.2g} Hz, moves {size:.1%}; {reason.value}" in told()
    bpy.ops.jounce.build()
    assert {part.name: part.report for part in obj.jounce.parts} == reports
    obj.jounce.frequency *= 2.0
    assert "moves" not in told()


@pytest.mark.usefixtures("coarse_setup")
def test_add_jounce_finds_parts_and_a_body_of_a_script_has_none():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    assert obj.jounce.bone_core == 0.0 and len(obj.jounce.parts) == 0
    other, _ = scenes.character()
    scenes.activate(other)
    bpy.ops.jounce.setup()
    assert other.jounce.anatomy and other.jounce.parts.keys() == ["rest"]


@pytest.mark.parametrize(
    ("setting", "steps", "least"),
    [
        ("amount", (0.0, 0.5, 1.0, 2.0, 3.0), 1.1),
        ("softness", (0.25, 0.5, 1.0, 2.0, 4.0), 1.05),
    ],
)
def test_each_step_of_a_part_is_seen_without_a_button_and_hardly_elsewhere(shown, setting, steps, least):
    obj, _ = shown
    distances = []
    for value in steps:
        setattr(obj.jounce.parts["tail"], setting, value)
        distances.append(moved(obj))
    grown = [after[1] / before[1] for before, after in itertools.pairwise(distances)]
    assert min(grown) > least and distances[-1][1] > 1.5 * distances[0][1], distances
    lower, upper = np.ptp(distances, axis=0)
    assert lower < 0.5 * upper, distances


def test_an_amount_leaves_the_modes(module, shown):
    obj, _ = shown
    before = body_of(module, obj)
    obj.jounce.parts["tail"].amount = 2.0
    bpy.ops.jounce.fill_cache()
    after = body_of(module, obj)
    assert after is not before and np.array_equal(after.modes.weights, before.modes.weights)
    obj.jounce.parts["tail"].amount = 1.0
    bpy.ops.jounce.fill_cache()
    assert body_of(module, obj) is before


def test_damping_changes_the_swing_of_its_part_at_once_and_the_bake_alike(module, session, shown):
    obj, _ = shown
    tail, obj.jounce.quality = obj.jounce.parts["tail"], "FINAL"
    bpy.ops.jounce.fill_cache()
    digest, plain = obj.jounce.built_digest, scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="POSE")
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    upper = np.array([vertex.co.z for vertex in obj.data.vertices]) > 1.2
    swings = []
    for damping in (0.25, 0.5, 1.0, 2.0, 4.0):
        tail.damping = damping
        assert session(obj).complete and obj.jounce.built_digest == digest
        frames = scenes.evaluated_frames(obj, FRAMES)
        assert np.array_equal(frames, plain) == (damping == 1.0)
        swings.append(np.linalg.norm(frames - posed, axis=2)[:, upper].mean())
    assert all(before > 1.02 * after for before, after in itertools.pairwise(swings)), swings
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - frames).max() < 1e-5


def test_a_damping_multiplies_the_follow_through_of_its_part(module, shown):
    obj, _ = shown
    directions = module("bridge.inputs.directions")
    obj.jounce.parts["tail"].damping = 2.0
    obj.jounce.directions.add().name = "tail"
    obj.jounce.directions["tail"].follow_through = 3.0
    assert directions.values(obj, 1)["tail"].follow == 1.5
    obj.jounce.parts["tail"].damping = 1.0
    obj.jounce.directions.clear()
    assert directions.is_neutral(obj)


def test_mute_and_solo_are_amounts_of_nothing(module, shown):
    obj, _ = shown
    parts, acting = obj.jounce.parts, module("core.rig.part_settings").acting

    def silent():
        """Names of the parts that feel nothing, whatever the fit chose for the others."""
        return [setting.name for setting in acting(obj.jounce.part_rows()) if setting.amount == 0.0]

    parts["tail"].mute = True
    assert silent() == ["tail"]
    muted = moved(obj)
    parts["tail"].mute, parts["tail"].solo = False, True
    assert silent() == ["rest"]
    soloed = moved(obj)
    parts["tail"].solo = False
    plain = moved(obj)
    parts["tail"].mute = parts["rest"].mute = True
    still = moved(obj)
    assert muted[1] < 0.5 * plain[1] and soloed[1] > muted[1]
    # The rest goes along with a tail that swings.
    assert max(still) < 1e-3 * min(plain)


def test_the_old_flesh_moves_on_while_a_part_is_built(module, shown):
    obj, _ = shown
    bpy.context.scene.frame_set(6)
    fleshed = scenes.evaluated(obj)
    known = module("bridge.preview.previews").session(obj)
    with module("bridge.preview.previews").paused():
        obj.jounce.parts["tail"].softness = 3.0
        bpy.context.view_layer.update()
        known.prepare(bpy.context, 0.0)
        assert known._building is not None
        bpy.context.view_layer.update()
        assert np.array_equal(scenes.evaluated(obj), fleshed)


def test_settings_stay_through_builds_and_a_lost_part(shown):
    obj, rig = shown
    obj.jounce.parts["tail"].amount = 2.0
    bpy.ops.jounce.build()
    assert obj.jounce.parts["tail"].amount == 2.0
    rig.pose.bones["Tail"].jounce_role = "FLESH"
    rig.data.bones["Tail"].name = "Upper"
    bpy.ops.jounce.build()
    assert obj.jounce.parts["tail"].found == 0.0 and obj.jounce.parts["tail"].amount == 2.0
    obj.jounce.parts["tail"].amount = 1.0
    bpy.ops.jounce.build()
    assert "tail" not in obj.jounce.parts


def test_the_eye_shows_one_part(module, shown):
    obj, _ = shown
    window, fields = bpy.context.window_manager.jounce, module("core.display.fields")
    obj.jounce.parts["rest"].shown = True
    obj.jounce.parts["tail"].shown = True
    assert window.field == "PART" and [part.shown for part in obj.jounce.parts] == [True, False]
    body = body_of(module, obj)
    values, scale = fields.at_rest(fields.Field.PART, body, 0, 1.0, {obj.jounce.part.name: None})
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    assert scale.title == "Tail" and values[heights > 1.8].min() > 0.9 and values[heights < 0.5].max() < 0.1
    obj.jounce.parts["tail"].shown = False
    assert window.field == "NONE"
    values, scale = fields.at_rest(fields.Field.PART, body, 0, 1.0, {"wings": None})
    assert not values.any() and scale.title == "No such part is built"


def test_parts_of_the_selected_bones_are_set_at_once(shown):
    obj, rig = shown
    state = obj.jounce
    assert state.parts_of_bones() == []
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    try:
        bpy.ops.pose.select_all(action="SELECT")
        assert [part.name for part in state.parts_of_bones()] == ["tail", "rest"]
        state.bones_amount, state.bones_softness, state.bones_damping = 2.0, 0.5, 3.0
        assert [(part.amount, part.softness, part.damping) for part in state.parts] == [(2.0, 0.5, 3.0)] * 2
        assert (state.bones_amount, state.bones_softness, state.bones_damping) == (2.0, 0.5, 3.0)
        assert "bones_amount" in layouts.drawn(bpy.types.JOUNCE_PT_main).properties()
        bpy.ops.pose.select_all(action="DESELECT")
        assert "bones_amount" not in layouts.drawn(bpy.types.JOUNCE_PT_main).properties()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_switches_of_the_selected_bones_act_on_all_their_parts(module, shown):
    obj, rig = shown
    state, window = obj.jounce, bpy.context.window_manager.jounce
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    try:
        bpy.ops.pose.select_all(action="SELECT")
        assert not (state.bones_mute or state.bones_solo or state.bones_shown)
        state.parts["tail"].mute = True
        assert not state.bones_mute
        state.bones_mute = state.bones_solo = True
        assert state.bones_mute and state.bones_solo
        assert all(part.mute and part.solo for part in state.parts)
        state.bones_mute = state.bones_solo = False
        assert not any(part.mute or part.solo for part in state.parts)
        state.bones_shown = True
        assert window.field == "PART" and all(part.shown for part in state.parts)
        fields = module("core.display.fields")
        parts = dict.fromkeys(part.name for part in state.shown_parts())
        values, scale = fields.at_rest(fields.Field.PART, body_of(module, obj), 0, 1.0, parts)
        assert scale.title == "Tail, Other" and values.min() > 0.9 and values.max() <= 1.0
        switches = {"bones_shown", "bones_mute", "bones_solo"}
        assert switches <= set(layouts.drawn(bpy.types.JOUNCE_PT_main).properties())
        rig.data.bones["Lower"].select = False
        assert [part.shown for part in state.parts] == [True, False]
        state.bones_mute = True
        assert [part.mute for part in state.parts] == [True, False]
        bpy.ops.pose.select_all(action="DESELECT")
        assert not state.bones_mute
        assert not switches & set(layouts.drawn(bpy.types.JOUNCE_PT_main).properties())
        # Without bones the eye is that of the chosen part again.
        assert state.shown_parts() == [state.part]
        state.parts["rest"].shown = True
        assert not state.bones_shown and [part.shown for part in state.parts] == [False, True]
        state.bones_shown = False
        assert window.field == "NONE"
    finally:
        window.parts_of_bones = False
        window.field = "NONE"
        bpy.ops.object.mode_set(mode="OBJECT")


def lists():
    """The lists in the main panel."""
    drawn = layouts.drawn(bpy.types.JOUNCE_PT_main).drawn
    return [given["listtype_name"] for function, given in drawn if function == "template_list"]


def test_the_panel_lists_parts_with_their_switches(shown):
    obj, _ = shown
    assert lists() == ["JOUNCE_UL_parts"]
    row = layouts.stand_in(bpy.types.JOUNCE_UL_parts)
    row.draw_item(layouts.Context(), row.layout, obj.jounce, obj.jounce.parts[0], 0, obj.jounce, "part_index")
    assert row.layout.texts() == ["Tail"]
    assert row.layout.properties() == ["amount", "softness", "shown", "mute", "solo"]
    assert "damping" in layouts.drawn(bpy.types.JOUNCE_PT_main).properties()
    obj.jounce.anatomy = False
    bpy.ops.jounce.build()
    assert lists() == []


def test_settings_go_to_other_characters_part_by_part(shown):
    source, _ = shown
    same, _ = tailed()
    plain, _ = scenes.character()
    scenes.add_and_build(plain)
    source.jounce.preset = "Jelly"
    source.jounce.parts["tail"].amount, source.jounce.parts["rest"].mute = 2.0, True
    source.jounce.parts["tail"].damping = 3.0
    scenes.activate(source, same, plain)
    bpy.ops.jounce.settings_copy()
    for target in (same, plain):
        assert target.jounce.preset == "Jelly"
    assert same.jounce.parts["tail"].amount == 2.0 and same.jounce.parts["rest"].mute
    assert same.jounce.parts["tail"].damping == 3.0
    assert len(plain.jounce.parts) == 0


def test_a_copy_of_a_mesh_keeps_the_parts_of_its_body(module, shown):
    obj, _ = shown
    coat = scenes.column("Coat", radius=0.35)
    scenes.activate(obj, coat)
    bpy.ops.jounce.body_add()
    obj.jounce.parts["tail"].softness = 2.0
    scenes.activate(coat)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    bpy.context.view_layer.update()
    assert copy.jounce.is_host and copy.jounce.parts["tail"].softness == 2.0
    assert obj.jounce.parts["tail"].softness == 2.0


def read_beside(path):
    """The armature of a file, read into the open scene, and the host of its flesh."""
    before = set(bpy.data.objects)
    characters.read(path)
    new = [obj for obj in bpy.data.objects if obj not in before]
    armature = next(obj for obj in new if obj.type == "ARMATURE")
    bpy.context.scene.frame_end = 12
    return armature, flesh.added(armature, [obj for obj in new if obj.type == "MESH"], 1)


@needs(*RIGS)
def test_settings_go_by_anatomy_to_characters_with_other_rigs(module):
    armatures, hosts = zip(*(read_beside(DATA / name) for name in RIGS), strict=True)
    source, *targets = (host.jounce for host in hosts)
    source.preset = "Cartoon"
    source.parts["belly"].amount, source.parts["belly"].softness = 2.5, 2.0
    source.parts["thighs"].mute, source.parts["rest"].amount = True, 0.5
    bellies = [points_of(module, host, "belly") for host in hosts]
    frequencies, before = [host.jounce.frequency for host in hosts], list(map(moved_most, hosts, bellies))
    scenes.activate(*armatures)
    assert bpy.ops.jounce.settings_copy() == {"FINISHED"}
    assert [host.jounce.frequency for host in hosts] == frequencies
    for target in targets:
        assert target.preset == "Cartoon"
        for name in ("belly", "thighs", "rest"):
            rows = (replace(state.parts[name].row(), fitted=(1.0, 1.0)) for state in (target, source))
            assert next(rows) == next(rows)
    after = list(map(moved_most, hosts, bellies))
    ratios = [now / then for now, then in zip(after[1:], before[1:], strict=True)]
    # Bellies move farther, although the thighs are mute and the rest of the body feels half.
    assert min(ratios) > 1.1, ratios


def iter_of(result):
    """A task that is done at once, with a result."""
    yield from ()
    return result


def fits_of_parts(state):
    """Fitted softness and amount of each part."""
    return {part.name: (part.fitted_softness, part.fitted_amount) for part in state.parts}


@needs(RIGS[0])
def test_a_fit_sets_each_part_beside_the_body_and_leaves_the_sliders(module):
    _, host = read_beside(DATA / RIGS[0])
    state = host.jounce
    state.amount = 1.0
    scenes.activate(host)
    assert bpy.ops.jounce.fit() == {"FINISHED"}
    assert module("ops.fit").is_built(host, bpy.context)
    first, frequency, moved = fits_of_parts(state), state.frequency, moved_most(host)
    assert np.ptp(np.log(list(first.values()))) > 0.2
    assert all((part.softness, part.amount) == (1.0, 1.0) for part in state.parts)
    settings = module("core.rig.part_settings").acting(state.part_rows())
    assert {each.name: (each.softness, each.amount) for each in settings}.items() <= first.items()
    # Flesh stretched by the rig alone has no fit of parts, and is built without one.
    fitting = module("core.shot.fitting")

    def stretched(trials, *_):
        extent = fitting.Extent(0.01, 0.9, parts=(fitting.Extent(0.01),) * len(trials.gauge.parts))
        return iter_of(fitting.Fitted(0.5, extent, fitting.Reason.RIG))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module("ops.fit"), "tuned", stretched)
        assert bpy.ops.jounce.fit() == {"FINISHED"}
        assert set(fits_of_parts(state).values()) == {(1.0, 1.0)}
        assert module("ops.fit").is_built(host, bpy.context)
    # The artist's settings stay, and change nothing of what is found.
    state.parts["belly"].amount, state.parts["thighs"].softness = 0.5, 2.0
    bpy.ops.jounce.build()
    assert bpy.ops.jounce.fit() == {"FINISHED"}
    assert fits_of_parts(state) == first and state.frequency == frequency
    assert (state.parts["belly"].amount, state.parts["thighs"].softness) == (0.5, 2.0)
    state.parts["belly"].amount = state.parts["thighs"].softness = 1.0
    assert moved_most(host) == pytest.approx(moved, rel=1e-5)
    # A stopped fit changes nothing.
    digest, task = state.built_digest, module("ops.fit").fit(host, bpy.context, FRAMES)
    while next(task).fraction < 0.4:
        pass
    task.close()
    assert fits_of_parts(state) == first and state.built_digest == digest


def points_of(module, host, part):
    """Vertices of a host in a part."""
    body = module("core.body.built_bodies").CACHE.get(host.jounce.built_digest)
    owners = module("core.shot.motion_extent").owner_of_points(body)
    return np.flatnonzero(owners[: len(host.data.vertices)] == body.parts.index(part))


def moved_most(host, points=slice(None)):
    """The largest distance of some previewed vertices from their pose, in the object's space."""
    shapes = scenes.evaluated_frames(host, FRAMES)
    scenes.activate(host)
    bpy.ops.jounce.preview(show="POSE")
    posed = scenes.evaluated_frames(host, FRAMES)
    bpy.ops.jounce.preview(show="FLESH")
    return float(np.linalg.norm(shapes - posed, axis=2)[:, points].max())
