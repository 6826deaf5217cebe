"""The panels: where they are, and that each can be drawn in both places."""

from types import SimpleNamespace

import bpy
import pytest
import scenes
from libraries import build_and_preview, link, make_library


class Layout:
    """Stands in for a layout without a window: keeps what is drawn, and looks up what it names."""

    def __init__(self) -> None:
        self.operators: list[str] = []

    def __getattr__(self, name: str):
        return lambda *_args, **_kwargs: self

    def operator(self, name: str, **_kwargs):
        category, operator = name.split(".")
        assert operator in dir(getattr(bpy.ops, category)), name
        self.operators.append(name)
        return self

    def prop(self, data, name: str, **_kwargs) -> None:
        assert name in data.bl_rna.properties, name


class Context:
    """The context with what it has only in a window."""

    region = SimpleNamespace(width=300)
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))

    def __getattr__(self, name: str):
        return getattr(bpy.context, name)


def stand_in(cls: type[bpy.types.Panel]):
    """An object with the methods of a panel and a layout; Blender alone can make real panels."""
    own = {}
    for base in reversed(cls.__mro__):
        if ".panels" in base.__module__:
            own |= {name: value for name, value in vars(base).items() if not name.startswith("__")}
    return type(cls.__name__, (), own | {"layout": Layout()})()


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


@pytest.mark.parametrize("active", ["mesh", "armature"])
@pytest.mark.parametrize("state", ["bare", "added", "built", "baked"])
def test_each_panel_draws_what_there_is(panels, state, active):
    obj, rig = scenes.character()
    scenes.activate(obj)
    if state != "bare":
        bpy.ops.jounce.add()
        scenes.coarse(obj)
    if state in ("built", "baked"):
        bpy.ops.jounce.build()
    if state == "baked":
        bpy.ops.jounce.bake()
    if active == "armature":
        scenes.activate(rig)
    drawn = []
    for cls in panels:
        if active == "armature" and cls.bl_space_type == "PROPERTIES":
            continue
        if not hasattr(cls, "poll") or cls.poll(bpy.context):
            panel = stand_in(cls)
            for draw in ("draw_header", "draw_header_preset", "draw"):
                getattr(panel, draw, lambda _context: None)(Context())
            drawn += panel.layout.operators
    assert ("jounce.setup" in drawn) == (state == "bare")
    assert ("jounce.bake" in drawn) == (state != "bare")


@pytest.mark.parametrize("instance", [True, False])
def test_a_linked_character_offers_its_override_alone(panels, tmp_path, instance):
    library = make_library(tmp_path / "library.blend", build_and_preview)
    scenes.activate(link(library, instance))
    main = next(cls for cls in panels if cls.__name__ == "JOUNCE_PT_main")
    panel = stand_in(main)
    panel.draw(Context())
    assert panel.layout.operators == ["jounce.override"]
