"""Buttons without a use are grey, with the reason in one sentence."""

import bpy
import pytest
import scenes
import snapshot
from libraries import build_and_preview, link, make_library


@pytest.fixture
def operators(module):
    """The registered operators by the end of their name."""
    return {
        cls.bl_idname.removeprefix("jounce."): cls
        for cls in module("registration").CLASSES
        if issubclass(cls, bpy.types.Operator)
    }


def sentence(name):
    """Reason why an operator cannot run, empty if it can."""
    operator = getattr(bpy.ops.jounce, name)
    if operator.poll():
        return ""
    with pytest.raises(RuntimeError) as caught:
        operator()
    said = str(caught.value)
    begin = f"Operator bpy.ops.jounce.{name}.poll() "
    assert said.startswith(begin), said
    return said.removeprefix(begin).strip()


def can_run(operators):
    """Operators with active buttons; each of the others gives a reason."""
    said = {name: sentence(name) for name in operators}
    for name, why in said.items():
        assert not why or (why.endswith(".") and why.count(". ") == 0 and "failed" not in why), (name, why)
    return {name for name, why in said.items() if not why}


@pytest.fixture(autouse=True)
def listed(module):
    """The Asset Browser lists the example character, so that its button is grey."""
    library = module("bridge.common.asset_library")
    library.add()
    yield
    libraries = bpy.context.preferences.filepaths.asset_libraries
    libraries.remove(libraries[library.NAME])


def test_without_an_object_nothing_can_be_pressed(operators):
    assert can_run(operators) == set()


BODY = {
    "build",
    "fit",
    "bake",
    "bake_actions",
    "bake_sound",
    "free_bake",
    "preview",
    "clear_cache",
    "remove",
    "diagnose",
    "learn",
}
BODY |= {"bone_leak", "bone_role", "ground", "bone_capsules", "settings_save", "settings_load", "wind"}
PAINT = {"add", "muscle_add", "part_add", "material_preset_add", "body_preset_add"} | {
    f"map_{end}"
    for end in ("add", "paint", "from_selection", "from_bones", "from_sphere", "smooth", "mirror")
}
ON_A_MESH = {"stitch_selected", "stitch_groups", "stitch_nearest", "mark_rigid"}


def test_what_can_be_pressed_follows_the_body(operators, tmp_path):
    obj, rig = scenes.character()
    scenes.activate(obj)
    assert can_run(operators) == {"setup", "add", "settings_load"}
    bpy.ops.jounce.add()
    added = BODY | PAINT | ON_A_MESH | {"fix"}
    assert can_run(operators) == added
    bpy.ops.jounce.muscle_add()
    assert can_run(operators) == added | {"muscle_remove"}
    bpy.ops.jounce.muscle_remove(muscle=1)
    scenes.coarse(obj)
    bpy.ops.jounce.build()
    exports = {"export_games", "export_springs", "export_training"}
    assert can_run(operators) == (added | exports | {"flex_mode", "linear_modes", "learnt_load"}) - {"fix"}
    bpy.ops.jounce.learn()
    assert {"learnt_save", "forget_learnt"} <= can_run(operators)
    bpy.ops.jounce.forget_learnt()
    bpy.ops.jounce.preview()
    assert {"fill_cache", "grab", "measure_frame"} <= can_run(operators)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.bake(target="HELPER_BONES")
    assert "select_copy" in can_run(operators)
    assert "free_sound" not in can_run(operators)
    bpy.context.scene.jounce.clip_folder = str(tmp_path)
    assert {"clips_list", "clips_bake"} <= can_run(operators)
    scenes.activate(rig)
    assert can_run(operators) >= BODY | (PAINT - {"add"})
    assert not can_run(operators) & ON_A_MESH


def test_edit_mode_greys_what_reads_the_mesh(operators):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        for name in ("setup", "add", "build", "bake", "fit"):
            assert "Edit Mode" in sentence(name) or name == "setup", name
        assert {"remove", "free_bake", "preview", "diagnose"} <= can_run(operators)
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_a_linked_body_can_only_be_overridden(operators, tmp_path):
    library = make_library(tmp_path / "library.blend", build_and_preview)
    scenes.activate(link(library, False))
    assert can_run(operators) == {"override"}
    assert "library override" in sentence("build")


def test_a_second_body_and_a_forgotten_mesh_say_what_is_meant(operators):
    first, _ = scenes.character()
    second, third = scenes.column("Second"), scenes.column("Third")
    for obj in (first, second):
        scenes.activate(obj)
        bpy.ops.jounce.add()
    scenes.activate(first, third)
    assert "body_add" in can_run(operators)
    assert sentence("sew") == "No mesh of another body is selected; select one beside the active mesh."
    scenes.activate(first, second)
    assert "sew" in can_run(operators)
    assert can_run(operators) & ON_A_MESH == {"mark_rigid"}
    scenes.activate(first, second, third)
    assert sentence("body_add") == "Several bodies are selected; select only one of them."
    assert "maps_copy" in can_run(operators)


def test_asking_writes_nothing(operators):
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    bystander = scenes.column("Bystander")
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT"))
    bpy.context.scene.collection.objects.link(light)
    before = {o: snapshot.custom_properties(o) for o in bpy.data.objects}
    digest = obj.jounce.built_digest
    for active in (obj, rig, bystander, light):
        scenes.activate(active, *bpy.data.objects)
        can_run(operators)
    assert {o: snapshot.custom_properties(o) for o in bpy.data.objects} == before
    assert not bystander.is_property_set("jounce") and not light.is_property_set("jounce")
    assert obj.jounce.built_digest == digest
