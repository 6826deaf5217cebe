"""Meshes that enclose no flesh, or show none: attached to their bones, or told in a sentence."""

import bmesh
import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

pytestmark = pytest.mark.usefixtures("coarse_setup")

FRAMES = range(1, 17)
HEIGHT, WIDTH = 2.0, 0.6


def card(columns=6, rows=16, bend=0.0):
    """A card along z; bend: distance of the middle from the plane."""
    steps = [(i / columns, k / rows) for k in range(rows + 1) for i in range(columns + 1)]
    points = [(WIDTH * (u - 0.5), bend * (1 - (2 * u - 1) ** 2), HEIGHT * v) for u, v in steps]
    corners = [k * (columns + 1) + i for k in range(rows) for i in range(columns)]
    faces = [(c, c + 1, c + columns + 2, c + columns + 1) for c in corners]
    return scenes.mesh_object("Sheet", points, faces)


def quad():
    return card(1, 1)


def box(thickness):
    """A card with two sides."""
    obj = card()
    edited = bmesh.new()
    edited.from_mesh(obj.data)
    bmesh.ops.solidify(edited, geom=edited.faces[:], thickness=thickness)
    edited.to_mesh(obj.data)
    edited.free()
    return obj


def thin_box():
    return box(0.02)


def thicker_box():
    """Thicker than a cell; it would flap at any frequency."""
    return box(0.06)


def squashed(share=0.01):
    """A column without depth."""
    obj = scenes.column("Sheet")
    for vertex in obj.data.vertices:
        vertex.co.y *= share
    return obj


def cards():
    """Cards of hair side by side, one mesh."""
    made = [card(1, 8) for _ in range(5)]
    for number, obj in enumerate(made):
        for vertex in obj.data.vertices:
            vertex.co.x = 0.05 * vertex.co.x + 0.05 * number
            vertex.co.y += 0.03 * (number % 2)
    scenes.activate(*made)
    bpy.ops.object.join()
    return made[0]


def two_bones(obj):
    rig = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, HEIGHT)])
    obj.parent = rig
    scenes.skin(obj, rig, HEIGHT)
    scenes.swing(rig)
    scenes.settle_scene(FRAMES[-1])
    return rig


def one_bone(obj):
    """As a cape on a spine."""
    rig = scenes.armature([("Spine", HEIGHT, 2.4)])
    obj.parent = rig
    obj.vertex_groups.new(name="Spine").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scenes.swing(rig, "Spine")
    scenes.settle_scene(FRAMES[-1])
    return rig


def ten_bones(obj):
    """As a flag."""
    rig = scenes.armature([(f"Bone {i}", i * HEIGHT / 10, (i + 1) * HEIGHT / 10) for i in range(10)])
    obj.parent = rig
    heights = np.array([vertex.co.z for vertex in obj.data.vertices]) / HEIGHT * 10
    for i in range(10):
        group = obj.vertex_groups.new(name=f"Bone {i}")
        group.add(np.flatnonzero(np.minimum(heights.astype(int), 9) == i).tolist(), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scenes.swing(rig, "Bone 5")
    scenes.settle_scene(FRAMES[-1])
    return rig


@pytest.fixture
def heard(module, monkeypatch):
    """The warnings of operators."""
    said = []
    monkeypatch.setattr(module("ops.operator").JounceOperator, "warn", lambda _self, text: said.append(text))
    return said


ATTACHED = "Sheet encloses no flesh, so it is an attached body that its bones hold softly; paint the map Pin"
SHEETS = [quad, card, squashed, thin_box, thicker_box, cards]


def motion(shown, posed):
    """The distance from the pose (f, p) as a share of the size."""
    return np.linalg.norm(shown - posed, axis=2) / np.linalg.norm(np.ptp(posed[0], axis=0))


@pytest.mark.parametrize(
    ("make", "rigged"),
    [
        # The default run has each sheet on one rig, and each rig with one sheet.
        pytest.param(make, rigged, marks=[] if make is card or rigged is two_bones else pytest.mark.long)
        for make in SHEETS
        for rigged in (two_bones, one_bone, ten_bones)
    ],
)
def test_a_sheet_swings_about_its_pose_and_does_not_flap(make, rigged, heard):
    obj = make()
    rigged(obj)
    posed, before = scenes.evaluated_frames(obj, FRAMES), snapshot.snapshot(obj)
    scenes.activate(obj)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert obj.jounce.kind == "ATTACHED" and heard[0].startswith(ATTACHED)
    assert not obj.jounce.is_property_set("frequency") and not obj.jounce.fitted_names
    moved = motion(scenes.evaluated_frames(obj, FRAMES), posed)
    assert 0.01 < moved.max() < 0.1
    assert moved[-1].max() < 0.01
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


@pytest.mark.parametrize("make", [scenes.column, lambda: squashed(0.2), lambda: box(0.15)])
def test_a_thick_mesh_is_flesh(make, heard):
    obj = make()
    two_bones(obj)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert obj.jounce.kind == "RIGGED" and not heard and len(obj.jounce.findings) == 0


def test_a_sheet_that_cannot_be_attached_stays_as_it_is():
    obj = card()
    two_bones(obj)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Bulge")
    for point in key.data:
        point.co.y += 0.05
    for frame, value in ((1, 0.0), (8, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    scenes.settle_scene(FRAMES[-1])
    before = snapshot.snapshot(obj), snapshot.file_state()
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="Sheet encloses no flesh.* shape keys .* attached body"):
        bpy.ops.jounce.setup()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_a_sheet_that_is_flesh_is_found_and_attached_by_a_click():
    obj = card()
    two_bones(obj)
    posed = scenes.evaluated_frames(obj, FRAMES)
    scenes.add_and_build(obj)
    assert obj.jounce.kind == "RIGGED"
    bpy.ops.jounce.diagnose()
    found = [kept.fix for kept in obj.jounce.findings]
    assert "make_attached" in found
    assert bpy.ops.jounce.fix(index=found.index("make_attached")) == {"FINISHED"}
    assert obj.jounce.kind == "ATTACHED" and len(obj.jounce.findings) == 0
    bpy.ops.jounce.preview()
    assert 0.01 < motion(scenes.evaluated_frames(obj, FRAMES), posed).max() < 0.1


def test_a_new_pin_map_changes_nothing_and_a_painted_one_holds():
    obj = card()
    two_bones(obj)
    posed = scenes.evaluated_frames(obj, FRAMES)
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    before = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.map_add(kind="PIN")
    bpy.ops.jounce.build()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), before)
    top = [vertex.index for vertex in obj.data.vertices if vertex.co.z > 0.9 * HEIGHT]
    obj.vertex_groups[obj.jounce.pin_group].add(top, 1.0, "REPLACE")
    bpy.ops.jounce.build()
    after = scenes.evaluated_frames(obj, FRAMES)
    assert motion(after, posed)[:, top].max() < 0.3 * motion(before, posed)[:, top].max()


def test_a_skin_that_is_pinned_wholly_is_told_so(heard):
    obj = scenes.column(radius=0.6, rings=48, sides=48)
    two_bones(obj)
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.vertex_groups.new(name="Pin").add(range(1, len(obj.data.vertices)), 1.0, "REPLACE")
    obj.jounce.pin_group = "Pin"
    scenes.coarse(obj)
    obj.jounce.resolution = 20
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake()
    cause = "All of the skin of Column is pinned, so none of it moves as flesh"
    sentence = f"{cause}; take some of it out of the map Pin."
    assert heard == [sentence] and obj.jounce.bake_keys == 0
    bpy.ops.jounce.diagnose()
    assert [found.sentence for found in obj.jounce.findings] == [sentence]
    assert_refused(bpy.ops.jounce.fit, cause)
