"""Files and objects without Jounce: they stay free of its data, and their number costs nothing."""

from types import SimpleNamespace

import bpy
import pytest
import scenes
import snapshot
from previews import previewed, shape
from test_panels import Context, stand_in


@pytest.fixture
def draw_all(module):
    """Polls each panel, and draws the visible ones, with the overlays' search for the body."""
    panels = [cls for cls in module("panels").CLASSES if issubclass(cls, bpy.types.Panel)]
    in_window = SimpleNamespace(layout=stand_in(panels[0]).layout)

    def draw():
        for cls in panels:
            # Blender asks panels of the Properties editor only with an active object.
            asked = bpy.context.object is not None or cls.bl_space_type != "PROPERTIES"
            if asked and getattr(cls, "bl_context", "") != "bone" and shown(cls):
                panel = stand_in(cls)
                for method in ("draw_header", "draw_header_preset", "draw"):
                    getattr(panel, method, lambda _context: None)(Context())
        module("panels.render").draw(in_window, bpy.context)
        module("overlay.view").active_body(bpy.context)

    return draw


def shown(panel):
    return not hasattr(panel, "poll") or panel.poll(bpy.context)


def bystanders():
    """A character, objects parented to it, and other objects and scenes without Jounce."""
    obj, rig = scenes.character()
    hat = scenes.column("Hat", height=0.5)
    scenes.hang(hat, rig)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    empty = bpy.data.objects.new("Empty", None)
    for other in (camera, empty):
        bpy.context.scene.collection.objects.link(other)
    bpy.data.scenes.new("Other").collection.objects.link(empty)
    return [obj, rig, hat, camera, empty]


def use(objects, draw):
    """Use of a file without any click on a button of Jounce: selecting, drawing, playing."""
    for obj in objects:
        scenes.activate(obj)
        draw()
        bpy.ops.ed.undo_push(message="select")
    for frame in (3, 7, 1):
        bpy.context.scene.frame_set(frame)
        draw()


def traces(path):
    """Number of occurrences of Jounce in a saved file."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path.read_bytes().lower().count(b"jounce")


def test_a_file_that_never_used_it_holds_no_trace(draw_all, tmp_path):
    objects = bystanders()
    use(objects, draw_all)
    bpy.ops.ed.undo()
    draw_all()
    assert traces(tmp_path / "first.blend") == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "first.blend"))
    use(bpy.data.objects, draw_all)
    assert traces(tmp_path / "second.blend") == 0


REFUSED = ("build", "bake", "free_bake", "remove", "preview", "fill_cache", "clear_cache", "diagnose", "fit")


def test_what_is_refused_leaves_no_trace(draw_all, tmp_path):
    for obj in bystanders():
        scenes.activate(obj)
        for name in REFUSED:
            with pytest.raises(RuntimeError):
                getattr(bpy.ops.jounce, name)()
    scenes.activate(bpy.data.objects["Camera"])
    for name in ("add", "setup"):
        with pytest.raises(RuntimeError):
            getattr(bpy.ops.jounce, name)()
    assert traces(tmp_path / "refused.blend") == 0


@pytest.mark.parametrize(
    "target", ["FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE", "HELPER_BONES", "OWN_BONES"]
)
def test_a_body_leaves_the_other_objects_of_its_file_alone(draw_all, tmp_path, target):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    objects = bystanders()
    obj, _ = previewed()
    bpy.ops.jounce.fill_cache()
    use([*objects, obj], draw_all)
    scenes.activate(obj)
    bpy.ops.jounce.bake(target=target)
    use([*objects, obj], draw_all)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    others = (*objects, bpy.data.scenes["Other"])
    assert [block.name for block in others if block.is_property_set("jounce")] == []
    bpy.ops.jounce.remove()
    # The list of actions keeps its folder on the scene of the opened panel.
    bpy.context.scene.property_unset("jounce")
    assert traces(tmp_path / "shot.blend") == 0


def test_a_look_at_an_object_does_not_hide_what_it_has():
    obj = scenes.column()
    assert "jounce is set" not in snapshot.custom_properties(obj)
    assert not obj.is_property_set("jounce")
    assert obj.jounce is not None
    assert "jounce is set" in snapshot.custom_properties(obj)


def test_neither_frames_nor_panels_look_through_the_file(draw_all, module, monkeypatch):
    registry = module("bridge.common.registry")
    obj, rig = previewed()
    bpy.ops.jounce.fill_cache()
    others = [bpy.data.objects.new(f"Other {number}", None) for number in range(50)]
    for other in others:
        bpy.context.scene.collection.objects.link(other)
    scenes.activate(rig)
    shape(obj, 2)
    draw_all()
    looked_at = []
    plain = registry.state
    monkeypatch.setattr(registry, "state", lambda block: (looked_at.append(block), plain(block))[1])
    monkeypatch.setattr(
        module("bridge.loads.force_fields"), "followed", lambda *_: pytest.fail("fields are looked for")
    )
    for frame in range(1, 13):
        shape(obj, frame)
        draw_all()
    assert set(looked_at).isdisjoint(others)


def test_the_meshes_of_bodies_are_found_however_they_come_and_go(module, tmp_path):
    registry = module("bridge.common.registry")

    def names():
        bpy.context.view_layer.update()
        return [obj.name for obj in registry.meshes()]

    obj, rig = scenes.character()
    assert names() == []
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    scenes.add_and_build(obj, coat)
    bpy.ops.ed.undo_push(message="body")
    assert names() == ["Coat", "Column"]
    scenes.activate(obj, coat)
    bpy.ops.object.duplicate()
    bpy.ops.ed.undo_push(message="duplicate")
    assert names() == ["Coat", "Coat.001", "Column", "Column.001"]
    bpy.ops.ed.undo()
    assert names() == ["Coat", "Column"]
    bpy.ops.ed.redo()
    assert names() == ["Coat", "Coat.001", "Column", "Column.001"]
    bpy.data.objects["Column.001"].name = "Arm"
    assert names() == ["Arm", "Coat", "Coat.001", "Column"]
    bpy.data.objects.remove(bpy.data.objects["Coat"])
    assert [each.name for each in registry.meshes()] == ["Arm", "Coat.001", "Column"]
    copy = bpy.data.objects["Arm"].copy()
    bpy.data.objects.remove(bpy.data.objects["Arm"])
    bpy.context.scene.collection.objects.link(copy)
    assert names() == ["Arm.001", "Coat.001", "Column"]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "bodies.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert names() == []
    with bpy.data.libraries.load(str(tmp_path / "bodies.blend")) as (_, wanted):
        wanted.objects = ["Column"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    assert names() == ["Column"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "bodies.blend"))
    assert names() == ["Arm.001", "Coat.001", "Column"]
