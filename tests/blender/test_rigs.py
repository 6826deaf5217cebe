"""Rigs beyond linear skinning: the flesh follows their actual shape, and bakes show the simulation."""

import math

import bpy
import numpy as np
import pytest
import recordings
import scenes
import test_bake
from matrices import crossed

FRAMES, assert_baked, simulated = test_bake.FRAMES, test_bake.assert_baked, test_bake.simulated
EXACT = ("SKINNING_NODES", "MESH_CACHE")
TARGETS = test_bake.TARGETS


def twist(rig):
    """Turns the upper bone about its own axis too, back and forth."""
    bone = rig.pose.bones["Upper"]
    for frame, angle in ((1, 0.0), (5, 2.4), (8, 1.0)):
        bone.rotation_euler.y = angle
        bone.keyframe_insert("rotation_euler", frame=frame)


def preserve_volume(obj, rig):
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    twist(rig)


def animate_key(obj, rig):
    """A key that bulges the column on one side, driven by the artist."""
    obj.shape_key_add(name="Basis")
    bulge = obj.shape_key_add(name="Bulge")
    for point in bulge.points:
        point.co.x += 0.3 * max(point.co.x, 0.0) * math.sin(point.co.z / 2.0 * math.pi)
    for frame, value in ((1, 0.0), (4, 1.0), (7, 0.1)):
        bulge.value = value
        bulge.keyframe_insert("value", frame=frame)


def drive_key(obj, rig):
    """A corrective key driven by a bone."""
    obj.shape_key_add(name="Basis")
    corrective = obj.shape_key_add(name="Corrective")
    for point in corrective.points:
        point.co.y -= 0.1 * (abs(point.co.z - 1.0) < 0.4)
    driver = corrective.driver_add("value").driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = rig, 'pose.bones["Upper"].rotation_euler[0]'


def lattice(obj, moving=True):
    """A lattice around the column, after the armature, with swaying upper points."""
    data = bpy.data.lattices.new("Cage")
    data.points_u = data.points_v = data.points_w = 3
    cage = bpy.data.objects.new("Cage", data)
    bpy.context.scene.collection.objects.link(cage)
    cage.location.z, cage.scale = 1.0, (2.0, 2.0, 3.0)
    obj.modifiers.new("Cage", "LATTICE").object = cage
    if moving:
        cage.shape_key_add(name="Basis")
        sway = cage.shape_key_add(name="Sway")
        for point in sway.data:
            point.co.x += 0.15 if point.co.z > 0.0 else 0.0
        for frame, value in ((1, 0.0), (4, 1.0), (8, -0.5)):
            sway.value = value
            sway.keyframe_insert("value", frame=frame)
    return cage


def add_lattice(obj, rig):
    lattice(obj)


def lattice_before_the_armature(obj, rig):
    lattice(obj)
    obj.modifiers.move(1, 0)


def second_armature(obj, rig):
    """Another armature moves the upper half on top of the first."""
    other = scenes.armature([("Upper", 1.0, 2.0)], "Other")
    scenes.swing(other)
    obj.modifiers.new("Second", "ARMATURE").object = other


def envelopes(obj, rig):
    obj.modifiers["Armature"].use_bone_envelopes = True


def bendy_bones(obj, rig):
    bone = rig.data.bones["Upper"]
    bone.bbone_segments = 8
    pose = rig.pose.bones["Upper"]
    for frame, roll in ((1, 0.0), (5, 1.2), (8, 0.3)):
        pose.bbone_curveinx = roll
        pose.bbone_rollout = roll
        pose.keyframe_insert("bbone_curveinx", frame=frame)
        pose.keyframe_insert("bbone_rollout", frame=frame)


def hook(obj, rig):
    """The top hangs on an empty that jumps sideways."""
    empty = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame, x in ((1, 0.0), (5, 0.2), (7, 0.0)):
        empty.location.x = x
        empty.keyframe_insert("location", frame=frame)
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object = empty
    modifier.vertex_indices_set([v.index for v in obj.data.vertices if v.co.z > 1.4])


# Rigs that shape keys can be pulled back through exactly, and others.
INVERTIBLE = {"preserve volume": (preserve_volume,), "key": (animate_key,), "driver": (drive_key,)}
INVERTIBLE["preserve volume, key"] = (preserve_volume, animate_key)
OTHERS = {
    "lattice": (add_lattice,),
    "lattice first": (lattice_before_the_armature,),
    "two armatures": (second_armature,),
    "envelopes": (envelopes,),
    "bendy bones": (bendy_bones,),
    "hook": (hook,),
    "all": (preserve_volume, animate_key, second_armature, add_lattice, hook),
}


def rigged(*changes):
    """A built body on a rig with these changes."""
    obj, rig = scenes.character()
    for change in changes:
        change(obj, rig)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    return obj, rig


def recorded(module, host):
    """Coefficients (f, m, 3, 4) of the motion over the frames, and their size as a share of the diagonal."""
    scene, body, motion = recordings.recorded(module, host, range(1, 13))
    moved = np.stack([body.model.displacement(z, body.embedding) for z in motion.coefficients])
    return moved / scene.surface.diagonal


@pytest.mark.parametrize(("rig", "target"), crossed(INVERTIBLE, TARGETS))
def test_keys_and_volume_preserving_armatures_take_every_target(simulated, rig, target):
    obj, _ = rigged(*INVERTIBLE[rig])
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize(("rig", "target"), crossed(OTHERS, EXACT))
def test_any_other_rig_takes_the_targets_after_it(simulated, rig, target):
    obj, _ = rigged(*OTHERS[rig])
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize("rig", OTHERS)
def test_any_other_rig_refuses_shape_keys_and_says_what_to_do(rig):
    obj, _ = rigged(*OTHERS[rig])
    for target in ("MODAL_KEYS", "FRAME_KEYS"):
        with pytest.raises(RuntimeError, match="bake to Skinning Nodes or Mesh Cache"):
            bpy.ops.jounce.bake(target=target)
    assert obj.jounce.bake_keys == 0


@pytest.mark.parametrize("target", TARGETS)
def test_an_object_with_keyframes_and_shape_keys(simulated, target):
    obj = scenes.column()
    animate_key(obj, None)
    for frame, x in ((1, 0.0), (4, 0.6), (6, 0.5)):
        obj.location.x, obj.rotation_euler.y = x, x
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize("change", [animate_key, add_lattice, second_armature, hook, bendy_bones])
def test_the_flesh_feels_what_is_not_linear(module, change):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    change(obj, rig)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    moved = recorded(module, obj)
    assert np.abs(moved).max() > 1e-4


def test_a_nonlinear_rig_that_does_nothing_changes_nothing(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    # At the limit a step ends anywhere within its tolerance.
    obj.jounce.use_stretch = False
    linear = recorded(module, obj)
    lattice(obj, moving=False)
    bpy.context.view_layer.update()
    assert np.abs(recorded(module, obj) - linear).max() < 1e-6


def test_preserving_volume_without_a_turn_is_linear_skinning(module):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    bone = rig.pose.bones["Upper"]
    bone.rotation_euler = (0.0, 0.0, 0.0)
    for frame, x in ((1, 0.0), (4, 0.4), (6, 0.1)):
        bone.location.x = x
        bone.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    linear = recorded(module, obj)
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    assert np.abs(linear).max() > 0.002
    assert np.abs(recorded(module, obj) - linear).max() < 1e-6
    twist(rig)
    turned = recorded(module, obj)
    obj.modifiers["Armature"].use_deform_preserve_volume = False
    assert np.abs(recorded(module, obj) - turned).max() > 1e-3


def test_animated_and_driven_keys_count_for_the_modes(module):
    obj, rig = scenes.character()
    animate_key(obj, rig)
    driven = obj.shape_key_add(name='He said "oh"', from_mix=False)
    driven.points[3].co.y += 0.1
    driven.driver_add("value")
    for name, muted in (("Still", False), ("Muted", True)):
        key = obj.shape_key_add(name=name, from_mix=False)
        key.points[5].co.x += 0.2
        key.mute = muted
        key.value = 0.5
        if muted:
            key.keyframe_insert("value", frame=1)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    read = module("bridge.body.bodies").read
    shapes = read(obj, bpy.context, print).surface.shapes
    assert shapes.shape == (2, len(obj.data.vertices), 3)
    bulge = shapes[0] + read(obj, bpy.context, print).surface.points
    assert np.allclose(bulge, [p.co for p in obj.data.shape_keys.key_blocks["Bulge"].points], atol=1e-6)
    assert np.flatnonzero(shapes[1].any(axis=1)).tolist() == [3]
    counted = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest).modes.eigenvalues
    bpy.ops.jounce.bake(frame_start=1, frame_end=12)
    digest = read(obj, bpy.context, print).surface.digest(obj.jounce.build_settings())
    assert digest == obj.jounce.built_digest, "the bake's own keys are not the artist's"
    obj.jounce.shape_keys_count = False
    bpy.ops.jounce.build()
    free = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest).modes.eigenvalues
    assert (counted >= free * (1 - 1e-9)).all() and counted[0] > free[0]


def blocks():
    """Names of all objects and meshes of the file."""
    return sorted([*bpy.data.objects.keys(), *bpy.data.meshes.keys(), *bpy.data.shape_keys.keys()])


def test_reading_leaves_nothing_behind(module, monkeypatch):
    obj, _ = rigged(preserve_volume, animate_key, add_lattice)
    before = blocks()
    recorded(module, obj)
    assert blocks() == before
    monkeypatch.setattr(module("bridge.inputs.posed_meshes"), "posed_points", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        recorded(module, obj)
    assert blocks() == before


@pytest.mark.parametrize("target", TARGETS)
def test_a_bake_is_not_taken_for_the_rig(module, target, tmp_path):
    obj, _ = rigged(preserve_volume, animate_key)
    obj.jounce.cache_folder = str(tmp_path)
    first = recorded(module, obj)
    bpy.ops.jounce.bake(target=target, frame_start=1, frame_end=12)
    assert np.abs(recorded(module, obj) - first).max() < 1e-6
    assert obj.jounce.bake_parts


def test_later_modifiers_are_not_the_rig(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    linear = recorded(module, obj)
    obj.modifiers.new("Rounder", "SUBSURF")
    lattice(obj)
    obj.modifiers.new("Smoother", "SMOOTH")
    assert np.array_equal(recorded(module, obj), linear)
