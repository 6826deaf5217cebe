"""Chains without animation in an animated rig swing freely."""

import bpy
import numpy as np
import pytest
import scenes


@pytest.fixture
def beast():
    """A column on a swinging bone and a tail of two bones, with a bone core: mesh and armature."""
    obj, rig = (
        scenes.column(),
        scenes.armature([("Body", 0.0, 1.0), ("Tail1", 1.0, 1.5), ("Tail2", 1.5, 2.0)]),
    )
    obj.parent = rig
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    for name, low, high in (("Body", -1.0, 1.0), ("Tail1", 1.0, 1.5), ("Tail2", 1.5, 3.0)):
        group = obj.vertex_groups.new(name=name)
        group.add(np.flatnonzero((low < heights) & (heights <= high)).tolist(), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scenes.swing(rig, "Body")
    scenes.settle_scene()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.bone_core = 0.5
    return obj, rig


@pytest.fixture
def roles(module):
    """The roles of the bones of a body, built in its present state."""

    def found(obj):
        bpy.context.view_layer.update()
        scenes.activate(obj)
        bpy.ops.jounce.build()
        return module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest).roles

    return found


FREE, FLESH = ["flesh", "free", "free"], ["flesh", "flesh", "flesh"]


def key(rig, bone="Tail2", angle=0.3):
    """Turns a bone over the shot."""
    pose = rig.pose.bones[bone]
    pose.rotation_mode = "XYZ"
    for frame in (1, 8):
        pose.rotation_euler.x = angle * (frame == 8)
        pose.keyframe_insert("rotation_euler", frame=frame)


def drive(rig):
    """Has a driver turn the tail."""
    rig.pose.bones["Tail1"].driver_add("rotation_euler", 0).driver.expression = "frame / 20"


def constrain(rig):
    """Has the tail follow the armature."""
    rig.pose.bones["Tail2"].constraints.new("COPY_ROTATION").target = rig


def test_a_tail_that_nothing_moves_swings(beast, roles):
    assert roles(beast[0]) == FREE


@pytest.mark.parametrize("move", [key, drive, constrain])
def test_a_tail_that_something_moves_does_not(beast, roles, move):
    move(beast[1])
    assert roles(beast[0]) == FLESH


def test_keys_of_one_value_move_nothing(beast, roles):
    key(beast[1], angle=0.0)
    assert roles(beast[0]) == FREE


def test_a_muted_constraint_moves_nothing(beast, roles):
    constrain(beast[1])
    beast[1].pose.bones["Tail2"].constraints[0].mute = True
    assert roles(beast[0]) == FREE


def test_where_nothing_moves_nothing_swings(beast, roles):
    beast[1].animation_data_clear()
    assert roles(beast[0]) == FLESH


def test_a_role_that_is_chosen_stays(beast, roles):
    beast[1].pose.bones["Tail1"].jounce_role = "RIGID"
    assert roles(beast[0]) == ["flesh", "rigid", "free"]


def test_hands_that_are_not_keyed_stay_as_they_are(beast, roles):
    obj, rig = beast
    for name in ("Hand", "Finger"):
        old = {"Hand": "Tail1", "Finger": "Tail2"}[name]
        rig.data.bones[old].name = name
    assert roles(obj) == ["flesh", "rigid", "rigid"]


def test_a_preview_follows_when_the_tail_is_keyed_first(module, beast):
    obj, rig = beast
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    assert body.roles == FREE
    key(rig)
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    assert body.roles == FLESH


def test_a_fit_looks_at_the_rest_of_the_body(module, beast, roles):
    obj, _ = beast
    roles(obj)
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    core = module("bridge.body.bodies").read(obj, bpy.context, print).surface.core
    swings = core.swings(body.roles)
    assert swings.tolist() == [False, True, True]
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    soft = module("core.shot.motion_extent").soft_points(body, swings)
    assert heights[soft].max() < 1.2 < heights[module("core.shot.motion_extent").soft_points(body)].max()


def test_fit_again_builds_what_swings_otherwise_now(module, beast, roles):
    obj, rig = beast
    roles(obj)
    bpy.ops.jounce.fit()
    rig.animation_data.action = bpy.data.actions.new("Wag")
    key(rig)
    key(rig, "Body", 0.5)
    bpy.context.view_layer.update()
    assert bpy.ops.jounce.fit_again() == {"FINISHED"}
    assert module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest).roles == FLESH
    assert "Wag" in obj.jounce.fitted_names
