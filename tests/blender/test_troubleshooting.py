"""The guide by symptom: its names are on the screen, and its causes and cures act as described."""

import re
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "addon" / "troubleshooting.md"
FRAMES = range(1, 25)
# Blender's own labels, and texts of panels for data with other labels elsewhere.
OTHERS = {"Pose Position", "Render", "Apply", "Show on Mesh", "Flesh", "italics"}


@pytest.fixture
def labels(module):
    """Every label of the extension: properties, their items, operators, panels, fixes of the diagnosis."""
    found = {button for button, _ in module("bridge.body.diagnosis").FIXES.values()} | OTHERS
    for cls in module("registration").CLASSES:
        found.add(getattr(cls, "bl_label", ""))
        for prop in cls.bl_rna.properties:
            found.add(prop.name)
            found |= {item.name for item in getattr(prop, "enum_items", ())}
    return found


def test_the_guide_names_what_is_on_the_screen(labels):
    named = set(re.findall(r"\*([^*\n]+)\*", GUIDE.read_text(encoding="utf-8")))
    assert len(named) > 60
    assert named - labels == set()


@pytest.fixture
def column():
    """A built column, swinging and stopping, without limit, and its armature."""
    obj, rig = scenes.character()
    scenes.settle_scene(FRAMES[-1])
    scenes.add_and_build(obj)
    obj.jounce.use_limit = False
    return obj, rig


def motion(obj, frames=FRAMES):
    """Distance of each vertex from the pose, (f, p), as a share of the size."""
    bpy.ops.jounce.build()
    posed = scenes.evaluated_frames(obj, frames)
    bpy.ops.jounce.bake(target="SKINNING_NODES", frame_start=frames.start, frame_end=frames.stop - 1)
    moved = scenes.evaluated_frames(obj, frames) - posed
    bpy.ops.jounce.free_bake()
    return np.linalg.norm(moved, axis=2) / np.linalg.norm(np.ptp(posed[0], axis=0))


def paint(obj, setting, value):
    """A map with one value everywhere."""
    group = obj.vertex_groups.new(name=setting)
    group.add(range(len(obj.data.vertices)), value, "REPLACE")
    setattr(obj.jounce, setting, group.name)


def set_all(**values):
    """Changes settings of the body."""

    def change(obj, _rig):
        for name, value in values.items():
            setattr(obj.jounce, name, value)

    return change


STILL = {
    "strength": set_all(strength=0.0),
    "strength map": lambda obj, _rig: paint(obj, "strength_group", 0.0),
    "leak": lambda obj, _rig: paint(obj, "leak_group", 0.0),
    "cut": set_all(cut=True),
    "rest position": lambda _obj, rig: setattr(rig.data, "pose_position", "REST"),
}


@pytest.mark.parametrize("cause", STILL)
def test_nothing_moves(column, cause):
    STILL[cause](*column)
    assert motion(column[0]).max() < 5e-4


@pytest.mark.parametrize("start", ["SETTLED", "MOVING"])
def test_at_even_speed_only_a_held_start_is_felt(column, start):
    obj, rig = column
    obj.jounce.start = start
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (0.0, 0.0, 0.0)
    for frame in (-20, 40):
        rig.location.x = 0.05 * frame
        rig.keyframe_insert("location", frame=frame)
    for curve in snapshot.fcurves(rig.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    obj.jounce.damping = 1.0
    # A critically damped jolt fades by an eighth a frame.
    moved = motion(obj, range(1, 31)).max(axis=1)
    jolt = moved[:6].max()
    assert (jolt > 5e-3) == (start == "SETTLED") and moved[-1] < max(0.05 * jolt, 5e-4)


def test_where_all_is_pinned_one_sentence_says_so(column):
    paint(column[0], "pin_group", 1.0)
    with pytest.raises(RuntimeError, match="pinned"):
        bpy.ops.jounce.build()


def test_it_does_move(column):
    assert motion(column[0]).max() > 0.01


LESS = {
    "softness": set_all(softness=0.1),
    "strength": set_all(strength=0.3),
    "limit": set_all(use_limit=True, limit=1.0),
}


@pytest.mark.parametrize("cure", LESS)
def test_it_moves_less(column, cure):
    set_all(use_stretch=False)(*column)
    before = motion(column[0]).max()
    LESS[cure](*column)
    assert motion(column[0]).max() < 0.6 * before


@pytest.mark.parametrize("cure", [set_all(damping=1.0), set_all(integrator="backward_euler")])
def test_it_swings_for_less_long(column, cure):
    set_all(integrator="bdf2", damping=0.02)(*column)
    before = motion(column[0])[-4:].max()
    cure(*column)
    assert motion(column[0])[-4:].max() < 0.7 * before


def test_fitting_to_the_shot_makes_it_firmer_or_softer(column):
    obj, _ = column
    found = []
    for amount in (0.5, 4.0):
        obj.jounce.amount = amount
        bpy.ops.jounce.fit()
        found.append(obj.jounce.frequency)
    assert found[0] > 1.5 * found[1]


def test_jitter_is_passed_on_less_when_it_is_softer_and_damped(column):
    obj, rig = column
    jitter = np.random.default_rng(0).uniform(-0.03, 0.03, len(FRAMES))
    rig.animation_data_clear()
    bone = rig.pose.bones["Upper"]
    for frame, angle in zip(FRAMES, jitter, strict=True):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)

    def shake():
        """Motion of vertices from frame to frame, beside the swing of the whole."""
        posed = scenes.evaluated_frames(obj, FRAMES)
        bpy.ops.jounce.bake(target="SKINNING_NODES")
        shapes = scenes.evaluated_frames(obj, FRAMES)
        bpy.ops.jounce.free_bake()
        return np.abs(np.diff(shapes, axis=0)).mean() / np.abs(np.diff(posed, axis=0)).mean()

    set_all(frequency=12.0, damping=0.05, integrator="bdf2")(obj, rig)
    before = shake()
    set_all(frequency=2.0, damping=0.6)(obj, rig)
    assert shake() < 0.9 * before


@pytest.mark.parametrize("cure", ["teleports", "cut"])
def test_a_leap_bends_nothing(column, cure):
    obj, rig = column
    rig.animation_data_clear()
    for frame, place in ((1, 0.0), (10, 0.0), (11, 6.0), (24, 6.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    obj.jounce.find_teleports = False
    assert motion(obj).max() > 0.02
    if cure == "teleports":
        obj.jounce.find_teleports = True
    else:
        for frame, value in ((10, False), (11, True), (12, False)):
            obj.jounce.cut = value
            obj.keyframe_insert("jounce.cut", frame=frame)
    assert motion(obj).max() < 5e-4


def test_a_bake_from_another_frame_has_another_past(column):
    obj, _ = column

    def shape(first):
        bpy.ops.jounce.bake(target="SKINNING_NODES", frame_start=first)
        found = scenes.evaluated_frames(obj, range(8, 9))[0]
        bpy.ops.jounce.free_bake()
        return found

    assert np.abs(shape(1) - shape(7)).max() > 1e-3


def test_a_smaller_tolerance_is_nearer_to_the_preview(column):
    obj, _ = column
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    seen = scenes.evaluated_frames(obj, FRAMES)
    off = []
    for tolerance in (2.0, 0.02):
        obj.jounce.tolerance = tolerance
        bpy.ops.jounce.bake(target="MODAL_KEYS")
        off.append(np.abs(scenes.evaluated_frames(obj, FRAMES) - seen).max())
    assert off[1] < 0.1 * off[0]


def test_a_cleared_cache_makes_the_file_smaller(column, tmp_path):
    obj, _ = column
    obj.jounce.preview or bpy.ops.jounce.preview()
    bpy.context.scene.frame_end = 240
    bpy.ops.jounce.fill_cache()

    def size():
        path = tmp_path / "size.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
        return path.stat().st_size

    before = size()
    bpy.ops.jounce.clear_cache()
    assert size() < before - 240 * 6 * 12 * 4


def test_frames_outside_of_the_bake_stand_still(column):
    obj, rig = column
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    rig.animation_data_clear()
    shapes = scenes.evaluated_frames(obj, range(24, 40))
    assert np.array_equal(shapes[0], shapes[-1])
