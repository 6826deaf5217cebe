"""The panel Inside: shapes on the mesh, measurements, and a file as it was before."""

import bpy
import numpy as np
import pytest
import scenes
from layouts import drawn
from snapshot import file_state, snapshot


@pytest.fixture
def settings():
    """Settings of the panel, as new."""
    found = bpy.context.window_manager.jounce
    yield found
    for name in ("scrub", "family", "number", "spectrum", "samples"):
        found.property_unset(name)


def built():
    """A built character, its mesh active."""
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    scenes.activate(obj)
    return obj


def state(obj):
    """All that an artist's file holds of the character."""
    return snapshot(obj), file_state()


def off(obj, settings):
    settings.scrub = 0.0


def other_frame(obj, settings):
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(1)


def other_object(obj, settings):
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.context.view_layer.update()
    obj.update_tag()
    bpy.context.view_layer.update()
    scenes.activate(obj)


def operator(obj, settings):
    bpy.ops.jounce.linear_modes()


def file_saved(obj, settings, folder):
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shown.blend"), copy=True)


@pytest.mark.parametrize("end", [off, other_frame, other_object, operator])
@pytest.mark.parametrize("previewed", [False, True])
def test_a_shape_on_the_mesh_leaves_every_bit_as_it_was(settings, end, previewed):
    obj = built()
    if previewed:
        bpy.ops.jounce.preview()
        bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(1)
    before, shown = state(obj), scenes.evaluated(obj)
    settings.scrub = 0.5
    half = scenes.evaluated(obj) - shown
    settings.scrub = -1.0
    whole = scenes.evaluated(obj) - shown
    assert np.abs(half).max() > 0.02
    if not previewed:
        assert np.abs(whole + 2.0 * half).max() < 1e-5
    end(obj, settings)
    assert settings.scrub == 0.0
    assert np.array_equal(scenes.evaluated(obj), shown)
    assert state(obj) == before


def test_a_saved_file_holds_no_shape(settings, tmp_path):
    obj = built()
    settings.scrub = 1.0
    assert len(obj.modifiers) == 2
    file_saved(obj, settings, tmp_path)
    assert settings.scrub == 0.0 and len(obj.modifiers) == 1
    with bpy.data.libraries.load(str(tmp_path / "shown.blend")) as (there, _):
        assert not [name for name in there.node_groups if "Jounce" in name]


def test_undo_returns_to_no_shape(settings):
    obj = built()
    bpy.ops.ed.undo_push(message="Built")
    name = obj.name
    settings.scrub = 1.0
    bpy.ops.ed.undo_push(message="Shown")
    bpy.ops.ed.undo_push(message="Shown again")
    bpy.ops.ed.undo()
    obj = bpy.data.objects[name]
    assert settings.scrub == 0.0 and [modifier.type for modifier in obj.modifiers] == ["ARMATURE"]


def test_linear_modes_and_derivatives_are_shown_and_vanish_at_the_bones(module, settings):
    obj = built()
    shown = module("bridge.preview.displayed_modes")
    module("core.display.modes").VIBRATIONS.clear()
    settings.family = "DERIVATIVES"
    settings.scrub = 1.0
    assert "press Compute Linear Modes" in module("bridge.preview.scrubbing").trouble
    assert settings.scrub == 0.0 and len(obj.modifiers) == 1
    bpy.ops.jounce.linear_modes()
    known = shown.vibrations(obj)
    assert len(known.modes) == 8 and len(known.derivatives) == 36 and known.pair(8) == (1, 1)
    assert (np.diff(known.ratios) > -1e-9).all()
    still = scenes.evaluated(obj)
    seen = {}
    for family, number in (("LINEAR", 1), ("LINEAR", 3), ("DERIVATIVES", 9)):
        settings.family, settings.number, settings.scrub = family, number, 1.0
        seen[family, number] = scenes.evaluated(obj) - still
        # Six hundredths of the diagonal of the tet mesh's render points.
        diagonal = np.linalg.norm(np.ptp([vertex.co for vertex in obj.data.vertices], axis=0))
        longest = np.linalg.norm(seen[family, number], axis=1).max()
        assert abs(longest / (0.06 * diagonal) - 1.0) < 1e-3
    pairs = [("LINEAR", 1), ("LINEAR", 3), ("DERIVATIVES", 9)]
    units = [seen[pair].ravel() / np.linalg.norm(seen[pair]) for pair in pairs]
    assert np.abs(np.triu(np.stack(units) @ np.stack(units).T, 1)).max() < 0.9


def test_a_measured_frame_is_the_cached_one(module, settings):
    obj = built()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(1)
    with pytest.raises(RuntimeError, match="No step leads to frame 1"):
        bpy.ops.jounce.measure_frame()
    bpy.context.scene.frame_set(9)
    before = state(obj)
    bpy.ops.jounce.measure_frame()
    found = module("bridge.preview.displayed_modes").MEASURED[obj.session_uid]
    assert found.frame == 9 and found.motion == "Draft" and state(obj) == before
    assert found.report.iterations >= 1 and found.report.converged and found.seconds > 0.0
    session = module("bridge.preview.previews").session(obj)
    assert found.cache == sum(each.nbytes for each in session.cache.coefficients)
    body = session.motions.body
    assert found.model == len(body.model.to_bytes())
    said = " ".join(drawn(bpy.types.JOUNCE_PT_inside).texts())
    assert "Draft, frame 9: " in said and " iterations, residual " in said and "Model " in said


def test_the_measured_step_ends_where_the_cache_says(module):
    obj = built()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    filling = module("bridge.preview.previews").session(obj).filling
    again = filling.simulation_at(7)
    before = again.coefficients.copy()
    assert np.array_equal(before, filling.cache.coefficients[7])
    report, _ = filling.measured(8)
    drive = filling._native(8)
    drive.set_up(again)
    own = again.step(drive.pose, drive.force, drive.offsets, drive.drag, drive.colliders)
    assert np.array_equal(again.coefficients, filling.cache.coefficients[8])
    assert (own.iterations, own.residual) == (report.iterations, report.residual)


def test_a_preview_that_is_getting_ready_has_no_rough_frames(module):
    """Timelines are drawn before a session has read its body."""
    obj = built()
    fresh = module("bridge.preview.session").Session(obj, bpy.context.scene)
    assert fresh.filling is None and fresh.rough == []
