"""The panels: their places, and drawing in both places."""

from types import SimpleNamespace

import blf
import bpy
import layouts
import pytest
import scenes
from layouts import Context, Layout, drawn, stand_in
from libraries import build_and_preview, link, make_library


@pytest.fixture
def panels(module):
    """The registered panels of a body."""
    panels = [cls for cls in module("panels").CLASSES if issubclass(cls, bpy.types.Panel)]
    return [cls for cls in panels if getattr(cls, "bl_context", "") != "bone"]


def test_each_panel_is_in_both_places(panels):
    places = {(cls.bl_label, cls.bl_space_type) for cls in panels}
    labels = {label for label, _ in places}
    assert len(panels) == len(places) == 2 * len(labels)
    for cls in panels:
        parent = getattr(cls, "bl_parent_id", None)
        if parent:
            assert getattr(bpy.types, parent).bl_space_type == cls.bl_space_type
        assert (
            cls.bl_context == "physics" if cls.bl_space_type == "PROPERTIES" else cls.bl_category == "Jounce"
        )


def shown(panels):
    """Contents of each visible panel, by its class."""
    layouts = {cls: drawn(cls) for cls in panels if not is_twin_without_object(cls)}
    return {cls: layout for cls, layout in layouts.items() if layout is not None}


def is_twin_without_object(cls):
    """True for a panel in the tab Physics, which Blender hides for the present active object."""
    active = bpy.context.object
    return cls.bl_space_type == "PROPERTIES" and (active is None or active.type in ("ARMATURE", "LIGHT"))


def buttons(layouts):
    """All operators of the panels."""
    return {operator for layout in layouts.values() for operator in layout.operators()}


@pytest.mark.parametrize("active", ["mesh", "armature"])
@pytest.mark.parametrize("state", ["bare", "added", "built", "baked", "previewed"])
def test_each_panel_draws_what_there_is(panels, state, active):
    obj, rig = scenes.character()
    scenes.activate(obj)
    if state != "bare":
        bpy.ops.jounce.add()
        scenes.coarse(obj)
    if state in ("built", "baked", "previewed"):
        bpy.ops.jounce.build()
    if state == "baked":
        bpy.ops.jounce.bake()
    if state == "previewed":
        bpy.ops.jounce.preview()
        bpy.ops.jounce.fill_cache()
    if active == "armature":
        scenes.activate(rig)
    layouts = shown(panels)
    assert ("jounce.setup" in buttons(layouts)) == (state == "bare")
    assert ("jounce.bake" in buttons(layouts)) == (state != "bare")
    assert ("jounce.sew" in buttons(layouts)) == (state != "bare")
    assert ("jounce.grab" in buttons(layouts)) == (state == "previewed")
    texts = [text for layout in layouts.values() for text in layout.texts()]
    assert any(text.startswith("Error ") for text in texts) == (state == "baked")
    assert any(text == "Draft" for text in texts) == (state == "previewed")
    assert any(text.startswith("Baked, frames ") for text in texts) == (state == "baked")


def test_a_working_operator_shows_its_progress(module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    known = module("bridge.common.progress")
    known.show(0.5, bpy.context)
    try:
        for operators in (set(), {"jounce.preview"}):
            drawn = layouts.drawn(bpy.types.JOUNCE_PT_main)
            assert [given["factor"] for name, given in drawn.drawn if name == "progress"] == [0.5]
            assert set(drawn.operators()) == operators
            scenes.coarse(obj)
            bpy.ops.jounce.build()
    finally:
        known.show(None, bpy.context)
    assert "jounce.bake" in layouts.drawn(bpy.types.JOUNCE_PT_main).operators()


@pytest.mark.parametrize(
    "target", ["MODAL_KEYS", "FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE", "HELPER_BONES", "OWN_BONES"]
)
@pytest.mark.parametrize("stiffness", ["FREQUENCY", "PHYSICAL"])
def test_panels_show_what_belongs_to_the_choice(panels, target, stiffness):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.target, obj.jounce.stiffness_by = target, stiffness
    obj.jounce.bones_counting = "PICKED"
    bpy.ops.jounce.map_add(kind="STIFFNESS")
    bpy.ops.jounce.map_add(kind="LEAK")
    names = {name for layout in shown(panels).values() for name in layout.properties()}
    assert {"bones_collection", "stiffness_soft", "stiffness_stiff", "stiffness_centred"} <= names
    assert ("young" in names) == (stiffness == "PHYSICAL") != ("frequency" in names)
    assert ("tolerance" in names) == (target == "MODAL_KEYS")
    assert ("cache_folder" in names) == (target == "MESH_CACHE")
    assert ("helper_count" in names) == (target == "HELPER_BONES")
    assert ("own_collection" in names) == (target == "OWN_BONES")


def test_menus_and_lists_draw(module):
    obj, _ = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    scenes.add_and_build(obj, coat)
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    classes = module("panels").CLASSES
    menus = [cls for cls in classes if issubclass(cls, bpy.types.Menu) and not hasattr(cls, "preset_subdir")]
    assert len(menus) == 6
    for cls in menus:
        assert len(drawn(cls).operators()) >= 5, cls
    lists = {cls.__name__: stand_in(cls) for cls in classes if issubclass(cls, bpy.types.UIList)}
    state = obj.jounce
    modes, seams = lists["JOUNCE_UL_modes"], lists["JOUNCE_UL_seams"]
    modes.draw_item(Context(), modes.layout, state, state.modes_built[1], 0, state, "mode_index", 1)
    assert modes.layout.operators() == ["jounce.flex_mode"] and "Mode 2" in modes.layout.texts()
    seams.draw_item(Context(), seams.layout, state, state.seams[0], 0, state, "seam_index", 0)
    assert seams.layout.properties() == ["use", "name"]
    assert seams.layout.texts() == [f"{len(state.seams[0].pairs)}"]


MISTAKES = [
    lambda layout, state: layout.prop(state, "no_such_setting"),
    lambda layout, state: layout.operator("jounce.no_such_operator"),
    lambda layout, state: layout.operator("jounce.bake", icon="NO_SUCH_ICON"),
    lambda layout, state: setattr(layout.operator("jounce.fix"), "number", 1),
    lambda layout, state: setattr(layout.operator("jounce.map_add"), "kind", "HAIR"),
    lambda layout, state: layout.row().menu("JOUNCE_MT_no_such_menu"),
    lambda layout, state: layout.label(words="No such argument"),
    lambda layout, state: layout.label(text=3),
    lambda layout, state: layout.no_such_function(),
    lambda layout, state: setattr(layout.column(), "no_such_attribute", True),
    lambda layout, state: layout.prop(state),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_panel_would_be_seen(mistake):
    obj, _ = scenes.character()
    with pytest.raises((AssertionError, AttributeError)):
        mistake(Layout(), obj.jounce)


def empty_selection(obj, _rig, _coat):
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None


def host_deleted(obj, _rig, coat):
    scenes.activate(coat)
    bpy.data.objects.remove(obj)


def host_unlinked(obj, _rig, coat):
    bpy.context.scene.collection.objects.unlink(obj)
    scenes.activate(coat)


def host_in_another_scene(obj, _rig, coat):
    bpy.data.scenes.new("Other").collection.objects.link(obj)
    host_unlinked(obj, _rig, coat)


def armature_deleted(_obj, rig, _coat):
    bpy.data.objects.remove(rig)


def armature_in_pose_mode(obj, rig, _coat):
    scenes.activate(rig, obj)
    bpy.ops.object.mode_set(mode="POSE")


def armature_in_edit_mode(obj, rig, _coat):
    scenes.activate(rig, obj)
    bpy.ops.object.mode_set(mode="EDIT")


def mesh_in_edit_mode(_obj, _rig, _coat):
    bpy.ops.object.mode_set(mode="EDIT")


def mesh_in_weight_paint(_obj, _rig, _coat):
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")


def light_active(obj, _rig, _coat):
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT"))
    bpy.context.scene.collection.objects.link(light)
    scenes.activate(light, obj)


def empty_active(obj, _rig, _coat):
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    scenes.activate(empty, obj)


def hidden(obj, _rig, _coat):
    obj.hide_set(True)


def disabled(obj, _rig, _coat):
    obj.hide_viewport = True


def shared_mesh(obj, _rig, _coat):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", obj.data))


def no_vertices(obj, _rig, _coat):
    obj.data.clear_geometry()


def unbound(obj, _rig, _coat):
    obj.jounce.property_unset("bind_matrix")


def stale_indices(obj, _rig, _coat):
    obj.jounce.seam_index, obj.jounce.mode_index = 99, 99
    bpy.context.scene.jounce.clip_index = 99


def half_a_seam(obj, _rig, coat):
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    bpy.data.objects.remove(coat)


def forgotten_bodies(obj, _rig, _coat):
    import importlib

    importlib.import_module(
        f"{bpy.types.JOUNCE_PT_main.__module__.rpartition('.panels')[0]}.core.body.built_bodies"
    ).CACHE.clear()


ODD = [
    empty_selection,
    host_deleted,
    host_unlinked,
    host_in_another_scene,
    armature_deleted,
    armature_in_pose_mode,
    armature_in_edit_mode,
    mesh_in_edit_mode,
    mesh_in_weight_paint,
    light_active,
    empty_active,
    hidden,
    disabled,
    shared_mesh,
    no_vertices,
    unbound,
    stale_indices,
    half_a_seam,
    forgotten_bodies,
]


# Odd states in which a default run presses the buttons: nothing active, the host gone, its rig active in
# another mode, a seam without its other side.
PRESSED = [
    (empty_selection, True),
    (host_deleted, False),
    (armature_in_pose_mode, True),
    (half_a_seam, False),
]


def spoilt(spoil, previewed):
    """Brings a clothed character into an odd state."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    scenes.add_and_build(obj, coat)
    scenes.activate(obj)
    if previewed:
        bpy.ops.jounce.preview()
    spoil(obj, rig, coat)


@pytest.fixture
def object_mode():
    """Blender in object mode after the test."""
    yield
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("previewed", [False, True])
@pytest.mark.parametrize("spoil", ODD)
def test_panels_draw_whatever_has_happened(panels, object_mode, spoil, previewed):
    spoilt(spoil, previewed)
    assert shown(panels)


@pytest.mark.parametrize(
    ("spoil", "previewed"),
    [
        pytest.param(spoil, previewed, marks=[] if (spoil, previewed) in PRESSED else pytest.mark.long)
        for spoil in ODD
        for previewed in (False, True)
    ],
)
def test_panels_draw_and_buttons_answer_whatever_has_happened(panels, object_mode, spoil, previewed):
    spoilt(spoil, previewed)
    for operator in sorted(buttons(shown(panels)) - {"jounce.material_preset_add"}):
        run = getattr(bpy.ops.jounce, operator.removeprefix("jounce."))
        try:
            run()
        except RuntimeError as error:
            assert "Traceback" not in str(error), f"{operator}: {error}"
        shown(panels)


@pytest.mark.parametrize("instance", [True, False])
def test_a_linked_character_offers_its_override_alone(panels, tmp_path, instance):
    library = make_library(tmp_path / "library.blend", build_and_preview)
    scenes.activate(link(library, instance))
    layouts = shown(panels)
    assert buttons({cls: layout for cls, layout in layouts.items() if "main" in cls.__name__}) == {
        "jounce.override"
    }
    pressed = [
        name for name in buttons(layouts) if getattr(bpy.ops.jounce, name.removeprefix("jounce.")).poll()
    ]
    assert pressed == ["jounce.override"]


@pytest.mark.parametrize("width", [160, 220, 400])
def test_what_a_panel_says_is_no_wider_than_it(panels, module, monkeypatch, width):
    monkeypatch.setattr(layouts.Context, "region", SimpleNamespace(width=width))
    obj, _ = scenes.character()
    obj.name = "Dress_of_the_Queen_of_Spades_upper_layer"
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    bpy.ops.jounce.build()
    bpy.ops.jounce.preview()
    obj.jounce.use_collisions = True
    bpy.ops.jounce.diagnose()
    known = module("bridge.preview.previews").session(obj)
    known.trouble = f"Nothing of {obj.name} is pinned where its bones hold it; paint what is held."
    texts = [text for layout in shown(panels).values() for text in layout.texts()]
    assert "pinned" in " ".join(texts)
    blf.size(0, 11.0)
    assert max(blf.dimensions(0, text)[0] for text in texts) <= width - 60
