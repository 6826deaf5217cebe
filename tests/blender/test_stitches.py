"""Seams, from the selection to the bake."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
from character_files import DATA, needs


@pytest.fixture
def dressed():
    """A column on two bones and a wider sleeve around its upper half, one body without a build."""
    obj, rig = scenes.character()
    sleeve = scenes.column("Sleeve", height=0.8, radius=0.4)
    for vertex in sleeve.data.vertices:
        vertex.co.z += 1.1
    sleeve.parent = rig
    scenes.skin(sleeve, rig, 2.0)
    scenes.settle_scene()
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    return obj, sleeve


def select(obj, chosen):
    for vertex in obj.data.vertices:
        vertex.select = chosen(vertex.co)


def bake(obj):
    """World positions (f, p, 3) of a baked motion."""
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=9)
    return scenes.evaluated_frames(obj, range(1, 10))


def test_nearest_points_of_two_meshes_are_stitched(dressed):
    obj, sleeve = dressed
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_nearest(distance=10.0, most=20)
    seam = obj.jounce.seams[0]
    assert (seam.mesh_a, seam.mesh_b, seam.name) == (obj, sleeve, "Column - Sleeve")
    assert 5 < len(seam.pairs) <= 20
    bpy.ops.jounce.build()
    assert f"{len(seam.pairs)} stitches" in obj.jounce.built_summary


def test_changed_stitches_take_the_short_way_and_act(dressed):
    obj, sleeve = dressed
    scenes.activate(obj)
    bpy.ops.jounce.build()
    before = obj.jounce.built_digest
    plain = bake(obj)
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_nearest(distance=10.0, most=30)
    bpy.ops.jounce.build()
    assert obj.jounce.built_digest != before
    stitched = bake(obj)
    assert np.abs(stitched - plain).max() > 1e-3
    obj.jounce.seams[0].use = False
    bpy.ops.jounce.build()
    assert obj.jounce.built_digest == before
    assert np.allclose(bake(obj), plain, atol=1e-4)


def test_selected_vertices_are_paired(dressed):
    obj, sleeve = dressed
    select(obj, lambda co: False)
    for index in (3, 4, 100, 101):
        obj.data.vertices[index].select = True
    scenes.activate(obj)
    bpy.ops.jounce.stitch_selected()
    pairs = [(pair.a, pair.b) for pair in obj.jounce.seams[0].pairs]
    assert sorted(pairs) == [(3, 4), (100, 101)]
    select(obj, lambda co: co.z > 1.3)
    select(sleeve, lambda co: co.z > 1.3)
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_selected(most=8)
    seam = obj.jounce.seams[1]
    assert 0 < len(seam.pairs) <= 8
    assert all(obj.data.vertices[pair.a].co.z > 1.3 for pair in seam.pairs)


def test_groups_are_stitched(dressed):
    obj, sleeve = dressed
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_groups(group_a="Upper", group_b="Upper", most=10)
    assert 0 < len(obj.jounce.seams[0].pairs) <= 10
    assert obj.jounce.seam_index == 0
    bpy.ops.jounce.stitch_remove()
    assert len(obj.jounce.seams) == 0


def test_nearest_is_what_is_nearest_at_rest(dressed):
    obj, sleeve = dressed
    sleeve.modifiers.clear()
    scenes.hang(sleeve, obj.parent)
    scenes.activate(obj, sleeve)
    found = []
    for frame in (1, 5):
        bpy.context.scene.frame_set(frame)
        bpy.ops.jounce.stitch_nearest(distance=10.0)
        found.append([(pair.a, pair.b) for pair in obj.jounce.seams[-1].pairs])
    assert found[0] == found[1]


def test_what_stitches_refuse(dressed):
    obj, sleeve = dressed
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="a single loose part"):
        bpy.ops.jounce.stitch_nearest()
    select(obj, lambda co: False)
    with pytest.raises(RuntimeError, match="select pairs"):
        bpy.ops.jounce.stitch_selected()
    with pytest.raises(RuntimeError, match='no vertex group "Nose"'):
        bpy.ops.jounce.stitch_groups(group_a="Nose", group_b="Nose")
    with pytest.raises(RuntimeError, match="No stitch group is chosen"):
        bpy.ops.jounce.stitch_remove()
    scenes.activate(obj, sleeve)
    with pytest.raises(RuntimeError, match="near enough"):
        bpy.ops.jounce.stitch_nearest(distance=0.001)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    obj.jounce.seams[0].pairs[0].a = 100000
    with pytest.raises(RuntimeError, match="missing vertex"):
        bpy.ops.jounce.build()
    obj.jounce.seams[0].mesh_b = None
    with pytest.raises(RuntimeError, match="a mesh of another body"):
        bpy.ops.jounce.build()


def test_remove_takes_the_seams_away(dressed):
    obj, sleeve = dressed
    scenes.activate(obj, sleeve)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    bpy.ops.jounce.remove()
    assert len(obj.jounce.seams) == 0


def test_vertices_in_one_place_are_one_part(module):
    obj, _ = scenes.character()
    before = len(obj.data.vertices)
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.edge_split(type="EDGE")
    bpy.ops.object.mode_set(mode="OBJECT")
    parts = module("bridge.body.stitches").loose_parts(obj)
    assert len(parts) == len(obj.data.vertices) > before
    assert parts.max() == 0


@needs("open_humanoid/kaykit_Mage.glb")
def test_stitches_hold_the_hat_of_a_character():
    """A jumping mage with a separate mesh as a hat; hard hats need no stitches."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))
    import character

    mage = character.load(DATA / "open_humanoid" / "kaykit_Mage.glb")
    body, head, hat = (bpy.data.objects[f"Mage_{name}"] for name in ("Body", "Head", "Hat"))
    mage.armature.animation_data.action = scenes.imported_action("Jump_Full_Short")
    parts = ("ArmLeft", "ArmRight", "LegLeft", "LegRight", "Cape")
    scenes.activate(body, head, hat, *(bpy.data.objects[f"Mage_{name}"] for name in parts))
    bpy.ops.jounce.setup()
    bpy.ops.jounce.preview()
    assert not body.jounce.preview
    # Nothing else is to hold the hat.
    body.jounce.bone_core, body.jounce.use_stretch = 0.0, False
    # At the frequency of a new body; softer flesh pulls the hat further than a stitch as stiff holds it.
    body.jounce.frequency = 5.0
    scenes.activate(hat, head)
    bpy.ops.jounce.stitch_nearest(distance=5.0, most=30)
    [seam] = body.jounce.seams
    ends = np.array([(pair.a, pair.b) for pair in seam.pairs])
    gaps = []
    for use, stiffness in ((False, 1.0), (True, 1.0), (True, 20.0)):
        seam.use, seam.stiffness = use, stiffness
        scenes.activate(body)
        bpy.ops.jounce.build()
        bpy.ops.jounce.free_bake()
        posed = gap(hat, head, ends)
        bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=0, frame_end=28)
        gaps.append(np.abs(gap(hat, head, ends) - posed).max())
    free, held, firm = gaps
    assert held < 0.6 * free
    assert firm < free / 4.0
    # With the core of Add Jounce, the hat is as hard as the head below it, and needs none.
    body.jounce.bone_core, seam.use = 0.5, False
    scenes.activate(body)
    bpy.ops.jounce.build()
    bpy.ops.jounce.free_bake()
    posed = gap(hat, head, ends)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=0, frame_end=28)
    assert np.abs(gap(hat, head, ends) - posed).max() < 1e-5 < gaps[1]


def gap(one, other, ends):
    """The distance (f, s) of stitched vertices in every frame of the jump."""
    points = [
        scenes.evaluated_frames(obj, range(0, 29))[:, rows]
        for obj, rows in zip((one, other), ends.T, strict=True)
    ]
    return np.linalg.norm(points[0] - points[1], axis=2)
