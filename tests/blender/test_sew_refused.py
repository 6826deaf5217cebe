"""Refused, stopped or undone sewing: both bodies are unchanged."""

import bpy
import pytest
import scenes
import snapshot
from mathutils import Matrix
from sewn import NEAR, body, both, leaf, painted, state, task
from test_refusals import assert_refused


@pytest.fixture
def two():
    """A swinging column and a leaf beside it, both selected."""
    return both()


# All of it or nothing.


def prepared(two):
    """Bodies with much transferred data, and a build long enough to be stopped."""
    branch, other = two
    seam = other.jounce.seams.add()
    seam.name, seam.mesh_a, seam.mesh_b = "Zip", other, other
    pair = seam.pairs.add()
    pair.a, pair.b = 3, 20
    seam.keyframe_insert("closed", frame=2)
    other.jounce.pin_group, other.jounce.muscle_group = painted(other, "Held"), painted(other, "Calf")
    other.jounce.stiffness_group = painted(other, "Firm")
    branch.jounce.resolution, branch.jounce.modes = 40, 20
    return branch, other


@pytest.mark.parametrize("previewed", ["", "branch", "other", "branch and other"])
@pytest.mark.parametrize("steps", [1, 3])
def test_stopped_half_way_both_are_as_before(two, module, steps, previewed):
    branch, other = prepared(two)
    for name, obj in (("branch", branch), ("other", other)):
        if name in previewed:
            scenes.activate(obj)
            bpy.ops.jounce.build()
            bpy.ops.jounce.preview()
    before = state()
    sewing = task(module, branch, other, print)
    for _ in range(steps):
        next(sewing)
    assert other.jounce.host == branch
    sewing.close()
    assert snapshot.differences(before, state()) == []


@pytest.mark.parametrize("baked", [False, True])
def test_a_refused_build_changes_neither(two, baked):
    branch, other = prepared(two)
    if baked:
        for obj in two:
            scenes.activate(obj)
            bpy.ops.jounce.build()
        scenes.activate(branch, other)
        bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=4)
    branch.jounce.bones_counting, branch.jounce.bones_collection = "PICKED", "Nowhere"
    scenes.activate(branch, other)
    before = state()
    with pytest.raises(RuntimeError, match="bone collection"):
        bpy.ops.jounce.sew(**NEAR)
    assert snapshot.differences(before, state()) == []


def test_keys_that_were_there_are_as_before(two, module):
    branch, other = prepared(two)
    branch.keyframe_insert("location", frame=3)
    test_stopped_half_way_both_are_as_before(two, module, 1, "")


# Bodies that cannot be sewn.


def loose(_branch, other):
    other.jounce.kind = "LOOSE"


def attached(branch, _other):
    branch.jounce.kind = "ATTACHED"


def unmoved(_branch, other):
    other.parent = None


def far(_branch, other):
    other.data.transform(Matrix.Translation((9.0, 0.0, 0.0)))


def alone(_branch, other):
    other.select_set(False)


def editing(_branch, _other):
    bpy.ops.object.mode_set(mode="EDIT")


def shared(_branch, other):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Double", other.data))


def disabled(_branch, other):
    other.hide_viewport = True


CANNOT = [
    (loose, "Leaf is loose, and only flesh that follows a rig can be sewn; make it Rigged"),
    (attached, "Column is attached, and only flesh"),
    (unmoved, "Nothing moves Leaf, so it would not follow Column; parent it to a bone"),
    (far, "Nothing of Leaf is near enough to Column; raise Distance"),
    (alone, "No mesh of another body is selected"),
    (editing, "Column is in Edit Mode"),
    (shared, "Leaf shares its mesh with Double"),
]


@pytest.mark.parametrize(("spoil", "said"), CANNOT, ids=lambda value: getattr(value, "__name__", None))
def test_what_cannot_be_sewn_is_said(two, spoil, said):
    spoil(*two)
    bpy.context.view_layer.update()
    try:
        assert_refused(bpy.ops.jounce.sew, said, **NEAR)
    finally:
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")


def test_a_linked_body_is_made_an_override_first(tmp_path):
    _, rig = scenes.character()
    body(leaf(rig))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    branch, _ = scenes.character()
    body(branch)
    with bpy.data.libraries.load(path, link=True) as (_, chosen):
        chosen.objects = ["Leaf"]
    linked = next(obj for obj in bpy.data.objects if obj.library is not None and obj.name == "Leaf")
    bpy.context.scene.collection.objects.link(linked)
    scenes.activate(branch, linked)
    assert_refused(bpy.ops.jounce.sew, "Leaf is linked from library.blend; make a library override", **NEAR)


def test_rigs_that_know_nothing_of_each_other_are_said(two, module):
    branch, other = two
    rig = scenes.armature([("Stem", 1.5, 2.0)], "Stem")
    said = []
    apart = module("bridge.body.sewing").refuse_apart
    apart(branch, other, said.append)
    assert said == []
    other.parent = rig
    apart(branch, other, said.append)
    assert len(said) == 1 and said[0].startswith(
        "Different rigs move Column and Leaf, and the seam stretches"
    )
    follow = rig.pose.bones["Stem"].constraints.new("COPY_TRANSFORMS")
    follow.target, follow.subtarget = branch.modifiers[0].object, "Upper"
    apart(branch, other, said.append)
    assert len(said) == 1


@pytest.mark.parametrize("operator", ["stitch_nearest", "stitch_selected", "stitch_groups"])
def test_other_stitches_name_what_sews_bodies(two, operator):
    branch, other = two
    said = (
        "Leaf does not belong to the body of Column; make one body of both with Sew Bodies, or deselect Leaf."
    )
    assert_refused(getattr(bpy.ops.jounce, operator), said)
    assert len(branch.jounce.seams) == 0
    scenes.activate(other, branch)
    assert_refused(getattr(bpy.ops.jounce, operator), "Column does not belong to the body of Leaf")


def test_undone_in_one_step(two):
    bpy.ops.ed.undo_push(message="before")
    before = {name: state()[name] for name in ("lists", "jounce", "file")}
    bpy.ops.jounce.sew(**NEAR)
    bpy.ops.ed.undo_push(message="sewn")
    bpy.ops.ed.undo()
    assert snapshot.differences(before, {name: state()[name] for name in before}) == []
    bpy.ops.ed.redo()
    branch, other = bpy.data.objects["Column"], bpy.data.objects["Leaf"]
    assert other.jounce.host == branch and len(branch.jounce.seams) == 1
