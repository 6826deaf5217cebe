"""Bake Sound: impacts on a body sound in a strip of the sequencer; everything else there is the artist's."""

import wave
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from layouts import drawn
from test_collisions import ground
from test_loose import block, collide
from test_refusals import assert_refused

FPS = 24.0
LAST = 40

pytestmark = [
    pytest.mark.skipif(not bpy.app.build_options.audaspace, reason="this Blender was built without sound"),
    pytest.mark.usefixtures("coarse_setup"),
]


@pytest.fixture
def bell(tmp_path):
    """A firm loose body that hits the ground in frame 12, in a saved file."""
    obj = block("Bell", half=0.1, height=1.1)
    scenes.settle_scene(LAST)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.activate(obj)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    obj.jounce.frequency = 60.0
    # The sound of a draft is made in the same way, and sooner.
    obj.jounce.quality = "DRAFT"
    collide(obj, ground(0.0))
    return obj


def strips(scene=None):
    """All strips of a scene, none without a sequencer."""
    editor = (scene or bpy.context.scene).sequence_editor
    if editor is None:
        return []
    return list(editor.strips if hasattr(editor, "strips") else editor.sequences)


def new_strip(kind, name, channel, *arguments, **options):
    """A strip of the artist's."""
    editor = bpy.context.scene.sequence_editor_create()
    made = editor.strips if hasattr(editor, "strips") else editor.sequences
    return getattr(made, kind)(name, *arguments, channel=channel, **options)


def samples(path):
    """Samples of a WAV file, in [-1, 1]."""
    with wave.open(str(path), "rb") as file:
        assert file.getframerate() == 48000
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32767.0


def bake():
    """Bakes the sound of the selection."""
    assert bpy.ops.jounce.bake_sound() == {"FINISHED"}


def test_a_strip_plays_the_blow_when_it_falls(bell, tmp_path):
    bake()
    (strip,) = strips()
    assert (strip.type, strip.name, strip.channel) == ("SOUND", "Bell", 1)
    assert strip.frame_final_start == bpy.context.scene.frame_start
    path = tmp_path / "shot Bell.wav"
    assert Path(bpy.path.abspath(strip.sound.filepath)) == path
    assert strip.sound.filepath.startswith("//")
    heard = samples(path)
    assert len(heard) == round(((LAST - 1) / FPS + bell.jounce.sound_ring_out) * 48000)
    assert strip.frame_final_duration == pytest.approx(len(heard) / 48000 * FPS, abs=1)
    assert np.abs(heard).max() == pytest.approx(0.9, abs=1e-3)
    # It falls by a metre.
    hit = np.flatnonzero(np.abs(heard) > 0.01)[0] / 48000
    assert hit == pytest.approx(np.sqrt(2.0 / 9.81), abs=1.5 / FPS)


def test_it_is_of_its_material_at_its_pitch(bell, tmp_path):
    def heard(name, material, pitch=1.0):
        bell.jounce.sound_material, bell.jounce.sound_pitch = material, pitch
        bake()
        return samples(tmp_path / name)

    def lowest(ringing):
        spectrum = np.abs(np.fft.rfft(ringing))
        return np.flatnonzero(spectrum > 0.05 * spectrum.max())[0] * 48000 / len(ringing)

    steel = heard("shot Bell.wav", "STEEL", 0.2)
    assert lowest(heard("shot Bell 2.wav", "STEEL", 0.4)) == pytest.approx(2.0 * lowest(steel), rel=0.02)
    wood = heard("shot Bell 3.wav", "WOOD", 0.2)

    def lingering(ringing):
        begin = np.flatnonzero(np.abs(ringing) > 0.01)[0]
        early, late = ringing[begin : begin + 2400], ringing[begin + 2400 : begin + 7200]
        return (late**2).sum() / (early**2).sum()

    assert lingering(wood) < 0.1 * lingering(steel)


def test_the_next_bake_takes_the_place_of_the_strip_and_leaves_the_artists(bell, tmp_path):
    new_strip("new_effect", "Title", 1, "COLOR", frame_start=1, **length(20))
    bake()
    assert [(strip.name, strip.channel) for strip in strips()] == [("Title", 1), ("Bell", 2)]
    first = next(strip for strip in strips() if strip.type == "SOUND")
    first.channel, first.volume, first.name = 4, 0.5, "Clang"
    bpy.context.scene.frame_end = LAST - 5
    bake()
    (title, again) = strips()
    assert (title.name, title.channel, title.frame_final_duration) == ("Title", 1, 20)
    assert (again.channel, again.volume) == (4, 0.5)
    assert Path(bpy.path.abspath(again.sound.filepath)).name == "shot Bell 2.wav"
    assert len(bpy.data.sounds) == 1


def length(frames):
    """Length of an effect, in this Blender's argument."""
    return {"length": frames} if bpy.app.version >= (5, 0, 0) else {"frame_end": 1 + frames}


def test_the_file_of_an_earlier_sound_goes_when_the_blend_is_saved_without_it(bell, tmp_path):
    bake()
    bpy.ops.wm.save_mainfile()
    bake()
    assert (tmp_path / "shot Bell.wav").exists()
    bpy.ops.wm.save_mainfile()
    assert not (tmp_path / "shot Bell.wav").exists()
    assert (tmp_path / "shot Bell 2.wav").exists()


def test_a_sound_of_another_name_is_never_written_over(bell, tmp_path):
    (tmp_path / "shot Bell.wav").write_bytes(b"the artist's")
    bake()
    assert (tmp_path / "shot Bell.wav").read_bytes() == b"the artist's"
    assert Path(bpy.path.abspath(strips()[0].sound.filepath)).name == "shot Bell 2.wav"


def test_free_and_remove_leave_no_strip_and_no_sequencer(tmp_path):
    obj = block("Bell", half=0.1, height=1.1)
    scenes.settle_scene(LAST)
    bpy.context.scene.sequence_editor_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    floor = ground(0.0)
    before = snapshot.snapshot(obj), snapshot.file_state()
    for button in (bpy.ops.jounce.free_sound, bpy.ops.jounce.remove):
        scenes.activate(obj)
        if not obj.jounce.is_host:
            bpy.ops.jounce.setup()
            obj.jounce.frequency, obj.jounce.quality = 60.0, scenes.QUALITY
            collide(obj, floor)
        bake()
        assert button() == {"FINISHED"}
        assert strips() == [] and len(bpy.data.sounds) == 0
        assert bpy.context.scene.sequence_editor is None
    assert snapshot.differences(before[0], snapshot.snapshot(obj)) == []


def test_a_copy_of_the_body_leaves_the_sound_to_the_one_it_comes_from(bell):
    bake()
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != bell
    bpy.ops.jounce.remove()
    (strip,) = strips()
    assert bell.jounce.bake_sound == strip.sound


def test_undo_takes_the_strip_away(bell):
    bpy.ops.ed.undo_push(message="before")
    bake()
    bpy.ops.ed.undo_push(message="after")
    assert len(strips()) == 1
    bpy.ops.ed.undo()
    assert strips() == []
    assert bpy.data.objects["Bell"].jounce.bake_sound is None
    bpy.ops.ed.redo()
    assert len(strips()) == 1


@pytest.mark.parametrize("quality", ["DRAFT", "FINAL"])
def test_keyed_flesh_that_stops_at_once_is_heard(tmp_path, quality):
    obj = scenes.column("Plank")
    for frame, height in ((1, 0.0), (20, 4.0), (40, 4.0)):
        obj.location.z = height
        obj.keyframe_insert("location", frame=frame)
    for curve in snapshot.fcurves(obj.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scenes.settle_scene(LAST)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    obj.jounce.quality = quality
    obj.jounce.frequency, obj.jounce.sound_material = 40.0, "WOOD"
    bake()
    heard = samples(tmp_path / "shot Plank.wav")
    hit = np.flatnonzero(np.abs(heard) > 0.01)[0] / 48000
    assert hit == pytest.approx(19.0 / FPS, abs=1.5 / FPS)


def test_a_character_with_a_core_is_struck_by_what_holds_it(tmp_path):
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    rig.animation_data_clear()
    for frame, height in ((1, 0.0), (20, 4.0), (40, 4.0)):
        rig.location.z = height
        rig.keyframe_insert("location", frame=frame)
    for curve in snapshot.fcurves(rig.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scenes.settle_scene(LAST)
    bake()
    heard = samples(tmp_path / f"shot {obj.name}.wav")
    assert np.flatnonzero(np.abs(heard) > 0.01)[0] / 48000 == pytest.approx(19.0 / FPS, abs=1.5 / FPS)


def test_what_cannot_be_heard_is_refused_and_changes_nothing(bell, tmp_path):
    bell.jounce.use_collisions = False
    bpy.context.scene.sequence_editor_clear()
    assert_refused(bpy.ops.jounce.bake_sound, "Bell", "no impact")
    assert strips() == [] and list(tmp_path.glob("*.wav")) == []
    assert bpy.context.scene.sequence_editor is None


def test_without_a_saved_file_there_is_no_place_for_it():
    obj = block("Bell")
    scenes.settle_scene(LAST)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert_refused(bpy.ops.jounce.bake_sound, "not saved", "Bell")


def test_the_panel_has_the_sound(bell, module):
    panel = module("panels.sound").JOUNCE_PT_sound
    bake()
    shown = drawn(panel)
    assert {"jounce.bake_sound", "jounce.free_sound"} <= set(shown.operators())


def test_a_sequencer_that_is_gone_is_not_looked_for(bell):
    bake()
    bpy.context.scene.sequence_editor_clear()
    assert bpy.ops.jounce.free_sound() == {"FINISHED"}
    assert bell.jounce.bake_sound is None and not bpy.data.sounds


def test_what_has_no_volume_makes_no_sound(bell, module):
    bell.jounce.kind = "ATTACHED"
    assert_refused(bpy.ops.jounce.bake_sound, "attached", "no sound")
    assert drawn(module("panels.sound").JOUNCE_PT_sound) is None
