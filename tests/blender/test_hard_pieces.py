"""Pieces that follow their bones as a whole: the same ones as in the command for USD, and without motion."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pieces

pytestmark = pytest.mark.usefixtures("coarse_setup")


def made(case: str) -> list[bpy.types.Object]:
    """The meshes of a made character on an armature that swings, the first one active, all selected."""
    rig = scenes.armature(
        [("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)][: pieces.CASES[case][0].weights.shape[1]]
    )
    meshes = []
    for piece in pieces.CASES[case]:
        obj = scenes.mesh_object(piece.name, piece.points.tolist(), piece.faces)
        obj.parent = rig
        if piece.material:
            obj.data.materials.append(bpy.data.materials.new(piece.material))
        for bone, weights in zip(rig.pose.bones, piece.weights.T, strict=True):
            group = obj.vertex_groups.new(name=bone.name)
            for vertex in np.flatnonzero(weights).tolist():
                group.add([vertex], float(weights[vertex]), "REPLACE")
        obj.modifiers.new("Armature", "ARMATURE").object = rig
        meshes.append(obj)
    scenes.swing(rig, rig.pose.bones[-1].name)
    scenes.settle_scene()
    scenes.activate(*meshes)
    return meshes


@pytest.mark.parametrize("case", pieces.CASES)
def test_the_pieces_that_are_hard_in_usd_are_hard_in_blender(module, case):
    host, *_ = made(case)
    bpy.ops.jounce.add()
    host.jounce.bone_core = 0.5
    module("bridge.body.binding").bind(host, bpy.context)
    surface = module("bridge.body.bodies").read(host, bpy.context, print).surface
    hard = np.zeros(len(surface.points), bool) if surface.core.rigid is None else surface.core.rigid
    found = {part.name: set(hard[part.points].tolist()) for part in surface.parts}
    assert found == {piece.name: {piece.is_hard} for piece in pieces.CASES[case]}


@pytest.mark.parametrize("case", ["rod", "pillar", "plate", "buckle"])
def test_hard_pieces_keep_their_shape_while_the_body_moves(case):
    body, other = made(case)
    frames = range(1, 13)
    posed = [scenes.evaluated_frames(obj, frames) for obj in (body, other)]
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    baked = [scenes.evaluated_frames(obj, frames) for obj in (body, other)]
    motion = [np.linalg.norm(b - p, axis=2).max() / 2.0 for b, p in zip(baked, posed, strict=True)]
    assert motion[0] > 0.01
    assert motion[1] < 1e-3
    edges = np.array([edge.vertices[:] for edge in other.data.edges])
    long, short = (
        np.linalg.norm(x[:, edges[:, 0]] - x[:, edges[:, 1]], axis=2) for x in (posed[1], baked[1])
    )
    assert np.abs(short / long - 1.0).max() < 1e-3


@pytest.mark.parametrize("case", ["prop", "prop of two"])
def test_a_prop_has_no_flesh_unless_its_bone_is_free(case):
    (prop,) = made(case)
    with pytest.raises(RuntimeError, match="Prop follows its bones rigidly, .* Role Free"):
        bpy.ops.jounce.setup()
    assert not prop.is_property_set("jounce")
    for bone in prop.parent.pose.bones:
        bone.jounce_role = "FREE"
    assert bpy.ops.jounce.setup() == {"FINISHED"}


def test_a_machine_stays_as_it_is_until_a_bone_asks_for_flesh():
    lower, upper = made("machine")
    with pytest.raises(
        RuntimeError, match="Lower follows its bones rigidly, like a prop or a machine, .* Flesh"
    ):
        bpy.ops.jounce.setup()
    assert not lower.is_property_set("jounce") and not upper.is_property_set("jounce")
    lower.parent.pose.bones["Upper"].jounce_role = "FLESH"
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert lower.jounce.is_host


def test_a_prop_beside_a_character_is_left_as_it_is():
    (prop,) = made("prop")
    body, rig = scenes.character()
    rig.location.x = 3.0
    scenes.activate(rig, prop.parent)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert body.jounce.is_host
    assert not prop.is_property_set("jounce")


def test_a_jelly_on_the_only_bone_of_its_rig_is_flesh():
    (jelly,) = made("jelly")
    posed = scenes.evaluated_frames(jelly, range(1, 13))
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    moved = np.linalg.norm(scenes.evaluated_frames(jelly, range(1, 13)) - posed, axis=2).max()
    assert moved > 0.02
