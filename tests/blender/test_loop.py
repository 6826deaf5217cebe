"""Looping bakes."""

import math

import bpy
import numpy as np
import pytest
import scenes
from character_files import DATA, each
from test_collisions import collide, ground

WALKS = [
    ("open_creature/Cow.fbx", "Walk", 1, 81),
    ("open_creature/Fox.glb", "Walk", 0, 17),
    ("open_humanoid/Smooth_Male_Suit.fbx", "Man_Walk", 1, 26),
    ("open_humanoid/RobotExpressive.glb", "Walking", 0, 23),
    ("open_humanoid/RobotExpressive.glb", "WalkJump", 0, 20),
    ("open_humanoid/CesiumMan.gltf", "Anim_0", 0, 48),
    ("open_creature/Snake.fbx", "Snake_Walk", 1, 21),
]


def octahedron(size):
    """Corners and faces of an octahedron."""
    ends = [(axis, sign) for axis in range(3) for sign in (size, -size)]
    corners = [tuple(sign * (axis == c) for c in range(3)) for axis, sign in ends]
    triples = [(x, y, z) for x in (0, 1) for y in (2, 3) for z in (4, 5)]
    return corners, [(x, y, z) if (x + y + z) % 2 == 0 else (x, z, y) for x, y, z in triples]


def cyclic():
    """A built column with a loop of 24 frames, in which its upper end swings along y."""
    obj, rig = scenes.character()
    pose = rig.pose.bones["Upper"]
    for frame in range(1, 27):
        pose.rotation_euler = (0.5 * math.sin(2.0 * math.pi * (frame - 1) / 24.0), 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene(25)
    scenes.add_and_build(obj)
    obj.jounce.loop = True
    return obj, rig


# A place of the wall in the way of the swinging column, and frames of the loop.
WALL, FRAMES = -0.62, range(1, 26)


@pytest.fixture
def walk(tmp_path):
    """A looping column that walks along a wall and carries a ball, both in its way; rig, wall and ball."""
    obj, rig = cyclic()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "loop.blend"))
    wall = ground(0.0, "Wall")
    wall.rotation_euler, wall.location = (-math.pi / 2, 0.0, 0.0), (0.0, WALL, 1.0)
    ball = scenes.mesh_object("Ball", *octahedron(0.2))
    ball.location, ball.parent = (0.0, 0.75, 1.6), rig
    for frame, place in ((1, 0.0), (25, 1.0)):
        rig.location.x = place
        rig.keyframe_insert("location", frame=frame)
    scenes.activate(obj)
    return obj, rig, wall, ball


@pytest.mark.parametrize("quality", ["DRAFT", "FINAL"])
def test_a_loop_among_colliders_closes_and_is_baked_as_shown(walk, quality, module, monkeypatch):
    obj, _, wall, ball = walk
    # Any depth is told, however small.
    monkeypatch.setattr(module("core.shot.penetration"), "SEEN", 0.0)
    obj.jounce.quality = quality
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    free = scenes.evaluated_frames(obj, FRAMES)
    assert WALL - free[..., 1].min() > 0.1
    collide(obj, wall, ball)
    obj.jounce.quality = quality
    bpy.ops.jounce.fill_cache()
    touched = scenes.evaluated_frames(obj, FRAMES)
    depth = WALL - touched[..., 1].min()
    assert depth < 1e-4
    assert np.abs(touched[-1] - touched[0] - (1.0, 0.0, 0.0)).max() < 2e-4
    bpy.ops.jounce.preview()
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=25)
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - touched).max() < 2e-6
    assert 0.0 < obj.jounce.bake_seam < 1e-4
    size = np.linalg.norm(np.ptp([vertex.co for vertex in obj.data.vertices], axis=0))
    assert depth / size - 1e-6 < obj.jounce.bake_depth < 1e-4


def test_a_collider_that_ends_elsewhere_is_named(walk, session):
    obj, rig, wall, ball = walk
    collide(obj, wall, ball)
    ball.keyframe_insert("location", frame=1)
    ball.location.y += 0.3
    ball.keyframe_insert("location", frame=25)
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="Ball ends neither where it began nor moved along with the body"):
        bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=25)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "Ball ends neither" in session(obj).status()


def test_the_last_frame_of_a_loop_meets_the_first(module):
    obj, _ = cyclic()
    posed = scenes.evaluated_frames(obj, range(1, 26))
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=25)
    baked = scenes.evaluated_frames(obj, range(1, 26))
    assert np.abs(baked - posed).max() > 1e-2
    assert np.abs(baked[-1] - baked[0]).max() < 2e-4 * 2.1
    assert 0.0 < obj.jounce.bake_seam < 1e-4
    bpy.ops.object.effector_add(type="WIND")
    bpy.context.object.field.flow = 5.0
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=25)
    blown = scenes.evaluated_frames(obj, range(1, 26))
    assert np.abs(blown - baked).max() > 1e-3
    assert np.abs(blown[-1] - blown[0]).max() < 2e-4 * 2.1
    with pytest.raises(RuntimeError, match="another pose than the first"):
        bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=20)
    seam, obj.jounce.damping = obj.jounce.bake_seam, 0.5
    settings = obj.jounce.bake_settings("FRAME_KEYS", 1, 25)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    while not (step := next(task)).stage.startswith("Closing the loop"):
        pass
    assert 0.2 < step.fraction <= 0.7
    task.close()
    assert obj.jounce.bake_seam == seam
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    while not next(task).stage.startswith("Pulling back"):
        pass
    task.close()
    assert obj.jounce.bake_seam == seam


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
@pytest.mark.parametrize(("file", "action", "first", "last"), each(WALKS))
def test_walk_cycles_of_real_characters_close(file, action, first, last, integrator, module, monkeypatch):
    path = str(DATA / file)
    if path.endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=path)
    else:
        bpy.ops.import_scene.gltf(filepath=path)
    rig = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    walk = scenes.imported_action(action)
    for strip in rig.animation_data.nla_tracks:
        strip.mute = True
    rig.animation_data.action = walk
    if getattr(walk, "slots", None):
        rig.animation_data.action_slot = walk.slots[0]
    obj = next(found for found in bpy.context.scene.objects if found.find_armature() == rig)
    scenes.settle_scene(last)
    # As fast as most scenes play.
    bpy.context.scene.render.fps = 30
    scenes.add_and_build(obj)
    obj.jounce.loop = True
    obj.jounce.integrator = integrator
    # Without a core and a fit the flesh would meet the limit of stretch all the time.
    obj.jounce.use_stretch = False
    if "Snake" in file:
        # As set by a fit; a softer body finds no loop with the second integrator.
        obj.jounce.frequency = 8.0
    if "Robot" in file and integrator == "bdf2":
        # The robot's host is a hand of thin fingers. If too soft, they reach their limit all the time, and
        # BDF2 does not damp them: at 5 Hz a hundredth of the size stays open after 16 passes, at 10 Hz a
        # ten-thousandth.
        obj.jounce.frequency = 16.0
    loop_pass, reports = module("core.passes.loop_pass").LoopPass, []
    looped = loop_pass.looped

    def noting(filling, cycle):
        motion, report = yield from looped(filling, cycle)
        reports.append(report)
        return motion, report

    monkeypatch.setattr(loop_pass, "looped", noting)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=first, frame_end=last)
    assert 0.0 < obj.jounce.bake_seam < 1e-4
    (report,) = reports
    assert report.position < 1e-4 and report.velocity < 1e-4 and report.passes <= 16
