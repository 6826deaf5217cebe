"""Shots in Blender: materials, pushes, force fields, cuts and the limit reach the bake."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot


@pytest.fixture
def built():
    """A built character with a still rig after a swing."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    return obj, rig


def baked(obj, last=12, **settings):
    """World positions over frames with the bake, for these settings."""
    for name, value in settings.items():
        setattr(obj.jounce, name, value)
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=last)
    shapes = scenes.evaluated_frames(obj, range(1, last + 1))
    bpy.ops.jounce.free_bake()
    return shapes


def still(rig):
    """Takes the animation away."""
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.rotation_euler = (0.0, 0.0, 0.0)


def test_a_shot_that_begins_in_motion_begins_without_a_jolt(built):
    obj, rig = built
    still(rig)
    for frame in (1, 12):
        rig.location.x = 0.3 * frame
        rig.keyframe_insert("location", frame=frame)
    for curve in snapshot.fcurves(rig.animation_data.action):
        curve.keyframe_points[0].interpolation = "LINEAR"
    posed = scenes.evaluated_frames(obj, range(1, 13))
    size = float(np.linalg.norm(np.ptp(posed[0], axis=0)))
    largest = {start: np.abs(baked(obj, start=start) - posed).max() / size for start in ("MOVING", "SETTLED")}
    assert largest["SETTLED"] > 1e-2
    assert largest["MOVING"] < 1e-4


def test_a_push_and_a_wind_of_the_same_strength_do_the_same(built):
    obj, rig = built
    still(rig)
    rest = baked(obj)
    assert np.abs(rest - rest[0]).max() < 1e-6
    pushed = baked(obj, push=(0.0, 0.0, -5.0), frequency=2.0)
    assert np.abs(pushed - rest).max() > 1e-3
    obj.jounce.push = (0.0, 0.0, 0.0)
    bpy.ops.object.effector_add(type="WIND", rotation=(np.pi, 0.0, 0.0))
    bpy.context.object.field.strength = 5.0
    blown = baked(obj)
    assert np.abs(blown - pushed).max() < 1e-5
    assert np.abs(baked(obj, field_weight=0.0) - rest).max() < 1e-6

    assert obj.jounce.built_frequency > 0.0


def test_fields_that_are_not_followed_are_said(built, module):
    obj, _ = built
    bpy.ops.object.effector_add(type="MAGNET")
    name = bpy.context.object.name
    said = []
    module("bridge.body.bodies").read(obj, bpy.context, said.append)
    assert [text for text in said if name in text and "left out" in text]


@pytest.mark.parametrize("linear", [True, False])
def test_drag_calms_a_swing(built, linear):
    obj, _ = built
    # A held start causes a swing of its own.
    settings = {"frequency": 2.0, "damping": 0.0, "integrator": "bdf2", "start": "SETTLED"}
    # Such a soft body would reach the limit of stretch, which bounds the swing as well.
    settings["use_stretch"] = False

    def swing():
        # Over a few swings: drag shifts them, and in a few frames a braked one may be the faster.
        return np.sqrt(np.square(np.diff(baked(obj, last=96, **settings)[7:], axis=0)).mean())

    free = swing()
    bpy.ops.object.effector_add(type="DRAG")
    # Blender's own names say the opposite.
    field = bpy.context.object.field
    field.linear_drag, field.quadratic_drag = (0.0, 2.0) if linear else (2.0, 0.0)
    bpy.context.view_layer.update()
    dragged = [swing()]
    for weight in (4.0, 1000.0):
        obj.jounce.field_weight = weight
        dragged.append(swing())
    assert free > 0.01
    assert dragged[0] < 0.95 * free
    assert dragged[1] < 0.95 * dragged[0]
    assert dragged[2] < 0.7 * free


def test_turbulence_is_repeatable_and_moves(built):
    obj, rig = built
    still(rig)
    bpy.ops.object.effector_add(type="TURBULENCE")
    field = bpy.context.object.field
    field.strength, field.size, field.use_global_coords = 20.0, 0.7, True
    first = baked(obj, frequency=2.0)
    assert np.abs(first[-1] - baked(obj, field_weight=0.0)[-1]).max() > 1e-4
    assert np.array_equal(first, baked(obj, field_weight=1.0))


def test_a_cut_takes_the_jolt_of_a_teleport(built):
    obj, rig = built
    still(rig)
    for frame, place in ((5, 0.0), (6, 8.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    jolted = baked(obj, find_teleports=False) - baked(obj, strength=0.0)
    assert np.abs(jolted).max() > 1e-2
    obj.jounce.strength = 1.0
    for frame, value in ((5, False), (6, True), (7, False)):
        obj.jounce.cut = value
        obj.keyframe_insert("jounce.cut", frame=frame)
    calm = baked(obj)
    obj.animation_data_clear()
    obj.jounce.cut = False
    assert np.abs(calm - baked(obj, strength=0.0)).max() < 1e-4


def test_a_teleport_is_found_and_calm_and_a_run_is_none(built, module):
    obj, rig = built
    still(rig)
    for frame, place in ((5, 0.0), (6, 10.0), (7, 10.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    preview = module("bridge.preview.previews")
    assert preview.session(obj).teleports() == [6]
    shown = scenes.evaluated_frames(obj, range(1, 13))
    bpy.ops.jounce.preview()
    calm = baked(obj)
    assert np.abs(calm - baked(obj, strength=0.0)).max() < 1e-4
    assert np.abs(calm - shown).max() < 1e-5
    rig.animation_data_clear()
    # Ten metres in half a second: two fifths of the column's size a frame.
    for frame, place in ((1, 0.0), (12, 10.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    running = baked(obj, strength=1.0)
    assert np.array_equal(running, baked(obj, find_teleports=False))
    assert np.abs(running - baked(obj, strength=0.0)).max() > 1e-3


def test_what_teleports_cannot_loop(built):
    obj, rig = built
    still(rig)
    for frame, place in ((1, 0.0), (5, 0.0), (6, 10.0), (7, 0.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    obj.jounce.loop = True
    with pytest.raises(RuntimeError, match="reset or teleports within the range"):
        baked(obj)


def test_the_limit_holds(built):
    obj, rig = built
    free = baked(obj, use_limit=False, frequency=1.0)
    limited = baked(obj, use_limit=True, limit=2.0)
    rigged = baked(obj, strength=0.0)
    size = np.linalg.norm(np.ptp(rigged[0], axis=0))
    assert np.linalg.norm(free - rigged, axis=2).max() > 0.03 * size
    assert np.linalg.norm(limited - rigged, axis=2).max() < 0.025 * size


def test_materials_are_presets(built):
    obj, _ = built
    folder = [path for path in bpy.utils.preset_paths("jounce/material") if "jounce" in path]
    files = sorted(path.name for path in map(Path, folder) for path in path.glob("*.py"))
    assert {"Fat.py", "Muscle.py", "Skin.py", "Jelly.py", "Rubber.py"} <= set(files)
    scenes.activate(obj)
    path = next(p for f in folder for p in Path(f).glob("Rubber.py"))
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="JOUNCE_MT_materials")
    assert obj.jounce.stiffness_by == "PHYSICAL"
    assert obj.jounce.young == 1.45e6
    bpy.ops.jounce.material_preset_add(name="My Flesh")
    saved = [p for f in bpy.utils.preset_paths("jounce/material") for p in Path(f).glob("My*")]
    assert saved
    for path in saved:
        path.unlink()


def test_a_physical_body_swings_as_a_body_of_that_frequency(built):
    obj, _ = built
    state = obj.jounce
    # Near a limit the last digits of a stiffness decide about the number of iterations.
    state.use_stretch = False
    wanted = 3.0
    by_frequency = baked(obj, frequency=wanted)
    young = 1e4 * (wanted / state.built_size_frequency) ** 2
    physical = baked(obj, stiffness_by="PHYSICAL", young=young, density=1000.0)
    assert np.abs(physical - by_frequency).max() < 1e-4


def frames_evaluated(meshes):
    """The frames visited by a bake of some bodies, in order."""
    seen = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _depsgraph: seen.append(scene.frame_current))
    try:
        scenes.activate(*meshes)
        bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=12)
    finally:
        bpy.app.handlers.frame_change_post.pop()
    return seen


def test_several_bodies_are_baked_as_each_alone_in_one_pass():
    meshes = []
    for place in range(2):
        obj, rig = scenes.character()
        rig.location.x = 3.0 * place
        obj.name = f"Body {place}"
        scenes.add_and_build(obj)
        obj.jounce.frequency = 2.0 + place
        meshes.append(obj)
    alone = [baked(obj) for obj in meshes]
    one, both = (frames_evaluated(chosen) for chosen in (meshes[:1], meshes))
    assert all(both.count(frame) >= 1 for frame in range(1, 13))
    # The result is compared in a further frame for each body, the one with the largest motion.
    assert len(one) <= len(both) <= len(one) + 2
    for obj, expected in zip(meshes, alone, strict=True):
        assert np.array_equal(scenes.evaluated_frames(obj, range(1, 13)), expected)
