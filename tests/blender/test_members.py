"""Meshes added to an existing body, and removed again: all or nothing, and the settings stay."""

import bpy
import pytest
import scenes
import snapshot


@pytest.fixture
def dressed():
    """A built column, and a forgotten coat and hat."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    coat, hat = scenes.column("Coat", radius=0.35), scenes.column("Hat", radius=0.2, rings=4)
    for mesh in (coat, hat):
        scenes.skin(mesh, rig, 2.0)
    bpy.context.view_layer.update()
    return obj, coat, hat


def joined(dressed):
    """The same with all meshes in the body."""
    obj, coat, hat = dressed
    scenes.activate(obj, coat, hat)
    bpy.ops.jounce.body_add()
    return dressed


def everything():
    """All data of the scene's meshes and of the file that could change."""
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    jounce = {obj.name: snapshot.properties(obj.jounce) for obj in meshes if obj.is_property_set("jounce")}
    return {obj.name: snapshot.snapshot(obj) for obj in meshes} | {
        "jounce": jounce,
        "file": snapshot.file_state(),
    }


def is_current(obj, module):
    """True if a body is built in its present state."""
    read = module("bridge.body.bodies").read(obj, bpy.context, print).surface
    return obj.jounce.built_digest == read.digest(obj.jounce.build_settings())


@pytest.mark.parametrize("active", ["host", "new"])
def test_forgotten_meshes_join_and_the_body_is_built(dressed, module, active):
    obj, coat, hat = dressed
    obj.jounce.frequency = 3.25
    scenes.activate(*((obj, coat, hat) if active == "host" else (hat, coat, obj)))
    assert bpy.ops.jounce.body_add() == {"FINISHED"}
    assert coat.jounce.host == hat.jounce.host == obj and obj.jounce.host is None
    assert is_current(obj, module)
    assert obj.jounce.frequency == 3.25 and len(obj.jounce.findings) == 0


def test_a_mesh_leaves_and_keeps_nothing_of_the_body(dressed, module):
    obj, coat, hat = dressed
    before = snapshot.snapshot(coat)
    joined(dressed)
    obj.jounce.damping = 0.5
    scenes.activate(coat)
    assert bpy.ops.jounce.body_remove() == {"FINISHED"}
    assert not coat.is_property_set("jounce") and hat.jounce.host == obj
    assert snapshot.differences(before, snapshot.snapshot(coat)) == []
    assert is_current(obj, module) and obj.jounce.damping == 0.5
    scenes.activate(obj, coat)
    bpy.ops.jounce.body_add()
    assert coat.jounce.host == obj and is_current(obj, module)


def test_a_body_that_was_not_built_stays_so(dressed):
    obj, coat, _ = dressed
    obj.jounce.built_digest = ""
    scenes.activate(obj, coat)
    bpy.ops.jounce.body_add()
    assert coat.jounce.host == obj and not obj.jounce.built_digest
    scenes.activate(coat)
    bpy.ops.jounce.body_remove()
    assert not obj.jounce.built_digest and not coat.is_property_set("jounce")


def test_a_preview_goes_on_with_the_meshes_that_are_left(dressed, module):
    obj, coat, hat = dressed
    offsets, preview = module("bridge.rig.preview_modifier"), module("bridge.preview.previews")
    bpy.ops.jounce.preview()
    joined(dressed)
    assert obj.jounce.preview and all(offsets.is_shown(mesh) for mesh in dressed)
    scenes.activate(hat)
    bpy.ops.jounce.body_remove()
    assert obj.jounce.preview and offsets.is_shown(coat) and not offsets.is_shown(hat)
    scenes.activate(obj)
    bpy.ops.jounce.fill_cache()
    assert preview.session(obj).status() == "Draft"


def test_a_mesh_that_leaves_takes_its_part_of_the_bake_along(dressed):
    obj, coat, hat = dressed
    before = snapshot.snapshot(coat)
    joined(dressed)
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert coat.jounce.bake_keys > 0
    shape = scenes.evaluated_frames(obj, range(1, 10))
    scenes.activate(coat)
    bpy.ops.jounce.body_remove()
    assert snapshot.differences(before, snapshot.snapshot(coat)) == []
    assert (scenes.evaluated_frames(obj, range(1, 10)) == shape).all() and hat.jounce.bake_keys > 0


def test_seams_to_a_mesh_that_left_are_off_until_it_comes_back(dressed, module):
    obj, coat, _ = joined(dressed)
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    bpy.ops.jounce.build()
    (seam,) = obj.jounce.seams
    pairs = len(seam.pairs)
    scenes.activate(coat)
    bpy.ops.jounce.body_remove()
    assert not seam.use and len(seam.pairs) == pairs and is_current(obj, module)
    scenes.activate(obj, coat)
    bpy.ops.jounce.body_add()
    seam.use = True
    bpy.ops.jounce.build()
    assert is_current(obj, module)


@pytest.mark.parametrize("operation", ["join", "leave"])
@pytest.mark.parametrize(("steps", "previewed"), [(1, False), (3, False), (1, True)])
def test_stopped_half_way_nothing_was_changed(dressed, module, operation, steps, previewed):
    obj, coat, _ = dressed
    if operation == "leave":
        joined(dressed)
        scenes.activate(obj, coat)
        bpy.ops.jounce.stitch_nearest(distance=10.0)
        bpy.ops.jounce.build()
    scenes.activate(obj)
    if previewed:
        bpy.ops.jounce.preview()
    else:
        # Large enough to be stopped before the end.
        obj.jounce.resolution, obj.jounce.modes = 40, 20
    before = everything()
    task = getattr(module("ops.members"), operation)(obj, [coat], bpy.context, print)
    for _ in range(steps):
        next(task)
    task.close()
    assert snapshot.differences(before, everything()) == []


@pytest.mark.parametrize("operator", ["body_add", "body_remove"])
def test_a_refused_build_changes_nothing(dressed, operator):
    obj, coat, hat = dressed
    if operator == "body_remove":
        joined(dressed)
    obj.jounce.bones_counting, obj.jounce.bones_collection = "PICKED", "Nowhere"
    scenes.activate(coat, *((obj,) if operator == "body_add" else ()))
    before = everything()
    with pytest.raises(RuntimeError, match="bone collection"):
        getattr(bpy.ops.jounce, operator)()
    assert snapshot.differences(before, everything()) == []


def test_what_cannot_join_or_leave_is_said(dressed):
    obj, coat, hat = dressed
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="Every selected mesh has Jounce already"):
        bpy.ops.jounce.body_add()
    with pytest.raises(RuntimeError, match="Only the main mesh of the body is selected"):
        bpy.ops.jounce.body_remove()
    scenes.activate(coat)
    with pytest.raises(RuntimeError, match="No selected object has Jounce"):
        bpy.ops.jounce.body_add()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", hat.data))
    scenes.activate(obj, coat, hat)
    before = everything()
    with pytest.raises(RuntimeError, match="Hat shares its mesh with Twin"):
        bpy.ops.jounce.body_add()
    assert snapshot.differences(before, everything()) == []


def test_a_mesh_that_can_show_no_preview_joins_none(dressed):
    obj, coat, _ = dressed
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    coat.modifiers.new("Fine", "MULTIRES")
    scenes.activate(obj, coat)
    before = everything()
    refusal = "The modifier Fine of Coat needs the mesh itself.*switch the preview off"
    with pytest.raises(RuntimeError, match=refusal):
        bpy.ops.jounce.body_add()
    assert snapshot.differences(before, everything()) == []
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    scenes.activate(obj, coat)
    assert bpy.ops.jounce.body_add() == {"FINISHED"} and coat.jounce.host == obj


def test_a_fix_that_builds_is_taken_back_as_a_whole(dressed, module):
    obj, coat, hat = dressed
    coat.hide_set(True)
    rig = hat.modifiers[0].object
    hat.modifiers.clear()
    scenes.hang(hat, rig)
    obj.jounce.resolution, obj.jounce.modes = 40, 20
    scenes.activate(obj)
    bpy.ops.jounce.diagnose()
    fixes = [found.fix for found in obj.jounce.findings]
    assert fixes == ["add_to_body", "build"]
    before = everything()
    fix = module("ops.diagnosis").built
    for name, meant in (("add_to_body", hat), ("build", obj)):
        task = fix(name, meant, obj, bpy.context, print)
        next(task)
        task.close()
        assert snapshot.differences(before, everything()) == []
    assert [found.fix for found in obj.jounce.findings] == fixes


def test_a_fix_that_builds_is_one_step_of_one_operator(dressed, monkeypatch):
    obj, coat, hat = dressed
    coat.hide_set(True)
    rig = hat.modifiers[0].object
    hat.modifiers.clear()
    scenes.hang(hat, rig)
    scenes.activate(obj)
    bpy.ops.jounce.diagnose()
    started = []
    monkeypatch.setattr(bpy.types.JOUNCE_OT_build, "task", lambda *_: started.append("build"))
    assert bpy.ops.jounce.fix(index=0) == {"FINISHED"}
    assert hat.jounce.host == obj and started == [] and len(obj.jounce.findings) == 0
