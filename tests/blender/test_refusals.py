"""Refusals give one sentence, and leave the scene unchanged."""

import bpy
import pytest
import scenes
import snapshot


def state():
    """Everything a refused operator could have changed."""
    bpy.context.view_layer.update()
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH" and obj.library is None]
    jounce = {
        obj.name: (obj.jounce.is_host, obj.jounce.host, tuple(obj.jounce.bind_matrix)) for obj in meshes
    }
    return {obj.name: snapshot.snapshot(obj) for obj in meshes} | {
        "file": snapshot.file_state(),
        "jounce": jounce,
    }


# Blender's prefix for the message of a greyed operator.
GREYED = "Operator bpy.ops.jounce."


def assert_refused(operator, *words, **arguments):
    """Asserts a refusal of the operator in one sentence with these words, without any change."""
    before = state()
    with pytest.raises(RuntimeError) as caught:
        operator(**arguments)
    errors = [line for line in str(caught.value).splitlines() if line.startswith(("Error: ", GREYED))]
    assert len(errors) == 1 and errors[0].endswith(".")
    for word in words:
        assert word in errors[0], errors[0]
    assert snapshot.differences(before, state()) == []


def share_mesh(obj):
    """A second user of the same mesh."""
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", obj.data))


def no_vertices(obj):
    """An empty mesh."""
    obj.data.clear_geometry()


def not_finite(obj):
    """A vertex at NaN."""
    obj.data.attributes["position"].data[5].vector = (0.0, float("nan"), 0.0)


def absolute_keys(obj):
    """Shape keys over time."""
    obj.shape_key_add(name="Basis")
    obj.data.shape_keys.use_relative = False


def scaled_to_nothing(obj):
    """A flattened object."""
    obj.scale.x = 0.0
    bpy.context.view_layer.update()


def edit_mode(_obj):
    """The mesh in Edit Mode."""
    bpy.ops.object.mode_set(mode="EDIT")


def generative_modifier(obj):
    """A subdivision before the armature."""
    obj.modifiers.new("Smooth", "SUBSURF")
    obj.modifiers.move(1, 0)


def envelopes_only(obj):
    """An armature modifier without vertex groups."""
    obj.modifiers["Armature"].use_vertex_groups = False


BAD_MESHES = (
    (share_mesh, "shares its mesh with Twin"),
    (no_vertices, "no vertices"),
    (not_finite, "Vertex 5"),
    (absolute_keys, "Relative"),
    (scaled_to_nothing, "scale"),
    (edit_mode, "Edit Mode"),
    (generative_modifier, "Smooth"),
    (envelopes_only, "vertex groups"),
)


@pytest.fixture(autouse=True)
def object_mode(empty_file):
    """Returns to Object Mode after each test, for opening the next file."""
    yield
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize(("spoil", "word"), BAD_MESHES, ids=lambda value: getattr(value, "__name__", None))
def test_add_refuses_unusable_meshes(spoil, word):
    obj, _ = scenes.character()
    scenes.activate(obj)
    spoil(obj)
    assert_refused(bpy.ops.jounce.add, "Column", word)


@pytest.mark.parametrize(("spoil", "word"), BAD_MESHES, ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize("operator", ["build", "bake"])
def test_build_and_bake_refuse_what_became_unusable(spoil, word, operator):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    spoil(obj)
    assert_refused(getattr(bpy.ops.jounce, operator), "Column", word)


def test_add_refuses_what_is_no_mesh():
    _, rig = scenes.character()
    scenes.activate(rig)
    assert_refused(bpy.ops.jounce.add, "not a mesh")


def test_add_refuses_meshes_of_another_body():
    obj, _ = scenes.character()
    other = scenes.column("Other")
    scenes.activate(obj, other)
    bpy.ops.jounce.add()
    third = scenes.column("Third")
    scenes.activate(third, other)
    assert_refused(bpy.ops.jounce.add, "Other", "Column")
    scenes.activate(other)
    assert_refused(bpy.ops.jounce.add, "Other", "Column")


@pytest.mark.parametrize("operator", ["build", "bake", "free_bake", "remove"])
def test_other_operators_need_a_body(operator):
    obj, _ = scenes.character()
    scenes.activate(obj)
    assert_refused(getattr(bpy.ops.jounce, operator), "Add Jounce")


@pytest.mark.parametrize("operator", ["add", "build", "bake", "free_bake", "remove"])
def test_all_operators_need_an_object(operator):
    assert_refused(getattr(bpy.ops.jounce, operator))


def test_bake_needs_a_build():
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    assert_refused(bpy.ops.jounce.bake, "Build")


def test_bake_refuses_an_empty_range():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    assert_refused(bpy.ops.jounce.bake, "frame 3", frame_start=7, frame_end=3)


@pytest.mark.parametrize("count", [1, 2])
def test_build_refuses_meshes_without_faces(count):
    obj = scenes.mesh_object("Points", [(0.0, 0.0, float(index)) for index in range(count)], [])
    scenes.activate(obj)
    bpy.ops.jounce.add()
    assert_refused(bpy.ops.jounce.build, "Points", "no faces")


def test_build_refuses_a_mesh_in_one_place():
    obj = scenes.mesh_object("Dot", [(1.0, 1.0, 1.0)] * 3, [(0, 1, 2)])
    scenes.activate(obj)
    bpy.ops.jounce.add()
    assert_refused(bpy.ops.jounce.build, "one place")


def disable_object(obj):
    """Off in all viewports."""
    obj.hide_viewport = True


def disable_collection(obj):
    """In a collection disabled in all viewports."""
    move_to_collection(obj).hide_viewport = True


def exclude_collection(obj):
    """In a collection excluded from the view layer."""
    name = move_to_collection(obj).name
    bpy.context.view_layer.layer_collection.children[name].exclude = True


def move_to_collection(obj):
    """Moves the object and its armature to a separate collection."""
    collection = bpy.data.collections.new("Own")
    bpy.context.scene.collection.children.link(collection)
    for moved in (obj, obj.parent):
        bpy.context.scene.collection.objects.unlink(moved)
        collection.objects.link(moved)
    return collection


@pytest.mark.parametrize("disable", [disable_object, disable_collection, exclude_collection])
def test_what_the_view_layer_does_not_evaluate_is_refused(disable, module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    disable(obj)
    bpy.context.view_layer.update()
    with pytest.raises(module("core.common.user_error").UserError, match="Column is disabled"):
        next(module("ops.build").build_body(obj, bpy.context, print))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_host_that_is_not_in_the_scene_is_said(elsewhere):
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    scenes.add_and_build(obj, coat)
    if elsewhere:
        bpy.data.scenes.new("Other").collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    scenes.activate(coat)
    for operator in (bpy.ops.jounce.build, bpy.ops.jounce.bake):
        assert_refused(operator, "Column is not in this scene")


def test_build_refuses_an_armature_in_edit_mode():
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.activate(rig, obj)
    bpy.ops.object.mode_set(mode="EDIT")
    assert_refused(bpy.ops.jounce.build, "Rig", "Edit Mode")


@pytest.mark.parametrize(
    ("setting", "word"), [("use_nla", "switched off"), ("use_tweak_mode", "Tweak Mode"), ("is_solo", "solo")]
)
def test_bake_refuses_animation_in_which_it_would_not_play(setting, word):
    obj, _ = scenes.character()
    obj.shape_key_add(name="Basis")
    smile = obj.shape_key_add(name="Smile")
    smile.keyframe_insert("value", frame=1)
    data = obj.data.shape_keys.animation_data
    action, data.action = data.action, None
    track = data.nla_tracks.new()
    track.strips.new("Theirs", 1, action).select = True
    scenes.add_and_build(obj)
    if setting == "is_solo":
        track.is_solo = True
    else:
        setattr(data, setting, setting == "use_tweak_mode")
    if setting == "use_tweak_mode" and not data.use_tweak_mode:
        pytest.skip("this Blender enters Tweak Mode only from its editor")
    assert_refused(bpy.ops.jounce.bake, "Column", word)


def test_linked_objects_are_refused(tmp_path):
    scenes.character()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, chosen):
        chosen.objects = ["Column"]
    obj = bpy.data.objects["Column"]
    bpy.context.scene.collection.objects.link(obj)
    scenes.activate(obj)
    assert_refused(bpy.ops.jounce.add, "library override")


@pytest.mark.skipif(bpy.app.build_options.audaspace, reason="this Blender was built with sound")
def test_a_blender_without_sound_bakes_none():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    assert_refused(bpy.ops.jounce.bake_sound, "built without sound")
