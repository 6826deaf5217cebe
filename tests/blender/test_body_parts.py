"""The bone core of a body: its slider, roles of bones, hard parts, the overlay and the presets."""

import bpy
import layouts
import numpy as np
import pytest
import scenes


@pytest.fixture
def column():
    """A column on two bones with Jounce and a core."""
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.bone_core = 0.5
    return obj, rig


def built(module, obj):
    """The body of an object, built in its present state."""
    scenes.activate(obj)
    assert bpy.ops.jounce.build() == {"FINISHED"}
    return module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)


def surface(module, obj):
    """The surface of an object's body."""
    return module("bridge.body.bodies").read(obj, bpy.context, print).surface


def test_add_jounce_switches_it_on_and_a_body_of_a_script_has_none(module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.setup()
    assert obj.jounce.bone_core == module("core.body.sensible").BONE_CORE
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    assert body.roles and 0 < body.pinned.sum() < len(body.pinned)
    other, _ = scenes.character()
    scenes.activate(other)
    bpy.ops.jounce.add()
    assert other.jounce.bone_core == 0.0
    assert built(module, other).roles == []
    assert surface(module, other).core is None


def test_bones_rest_where_the_scene_has_them(module, column):
    obj, rig = column
    rig.scale = (0.5, 0.5, 0.5)
    rig.location.x = 3.0
    bpy.context.view_layer.update()
    built(module, obj)
    core = surface(module, obj).core
    assert core.names == ("Lower", "Upper")
    assert core.parents.tolist() == [-1, 0]
    for head, name in zip(core.heads, core.names, strict=True):
        assert np.allclose(head, rig.matrix_world @ rig.data.bones[name].head_local, atol=1e-6)
    digest = obj.jounce.built_digest
    bpy.context.scene.frame_set(5)
    rig.location.x = 7.0
    assert surface(module, obj).digest(obj.jounce.build_settings()) == digest


def test_a_role_of_a_bone_acts_and_a_preview_follows(module, column):
    obj, rig = column
    body = built(module, obj)
    free = np.asarray(body.pinned).sum()
    bpy.ops.jounce.preview()
    before = obj.jounce.built_digest
    rig.pose.bones["Upper"].jounce_role = "RIGID"
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert obj.jounce.built_digest != before
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    assert body.roles == ["flesh", "rigid"]
    assert body.pinned[np.asarray(body.rig.weights)[:, 1] > 0.5].all()
    assert body.pinned.sum() > free


def test_what_was_cached_beside_another_core_is_not_shown(module, column):
    obj, rig = column
    built(module, obj)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    rig.pose.bones["Upper"].jounce_role = "RIGID"
    bpy.context.view_layer.update()
    shown = []
    for _ in range(2):
        bpy.ops.jounce.fill_cache()
        shown.append(scenes.evaluated_frames(obj, range(1, 13)))
        bpy.ops.jounce.clear_cache()
    assert np.array_equal(*shown)


def test_roles_are_set_on_many_bones(column):
    obj, rig = column
    scenes.select_bones(rig, "Upper")
    scenes.activate(obj)
    assert bpy.ops.jounce.bone_role(role="FREE") == {"FINISHED"}
    assert [bone.jounce_role for bone in rig.pose.bones] == ["AUTOMATIC", "FREE"]
    scenes.select_bones(rig)
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="No bone that moves the body is selected"):
        bpy.ops.jounce.bone_role(role="RIGID")


def test_a_mesh_or_a_material_is_hard(module, column):
    obj, _ = column
    built(module, obj)
    assert surface(module, obj).core.rigid is None
    for name in ("Skin", "Steel"):
        obj.data.materials.append(bpy.data.materials.new(name))
    obj.data.polygons[0].material_index = 1
    obj.data.materials["Steel"].jounce_rigid = True
    hard = np.flatnonzero(surface(module, obj).core.rigid)
    assert sorted(obj.data.polygons[0].vertices) == hard.tolist()
    body = built(module, obj)
    assert body.pinned[body.mesh.tets[body.embedding.tets[hard]]].all()
    obj.jounce.is_rigid = True
    assert surface(module, obj).core.rigid.all()
    with pytest.raises(
        RuntimeError, match="Nothing of Column is left as flesh, .*; lower Bone Core in the panel Bones"
    ):
        bpy.ops.jounce.build()


def test_what_hangs_on_a_bone_is_below_it(module, column):
    obj, rig = column
    hat = scenes.column("Hat", radius=0.2, rings=4)
    scenes.hang(hat, rig)
    scenes.activate(obj)
    hat.select_set(True)
    bpy.ops.jounce.add()
    built(module, obj)
    core = surface(module, obj).core
    assert core.names == ("Lower", "Upper", "Upper")
    assert core.parents.tolist() == [-1, 0, 1]


def test_colours_show_the_core(module, column):
    obj, rig = column
    rig.pose.bones["Upper"].jounce_role = "RIGID"
    body = built(module, obj)
    fields = module("core.display.fields")
    values, scale = fields.at_rest(fields.Field.CORE, body, 0, 1.0)
    assert len(values) == len(obj.data.vertices)
    assert values.min() >= -1e-9 and values.max() <= 1.0 + 1e-9
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    assert np.allclose(values[heights > 1.7], 1.0) and values[heights < 0.7].max() < 0.9
    assert scale.title == "Bone core"
    window = bpy.context.window_manager.jounce
    for shown in (True, False):
        window.show_core = shown
        assert window.show_core is shown and (window.field == "CORE") is shown


def menu_shown(obj):
    """Name of the menu of presets with an active object."""
    scenes.activate(obj)
    drawn = layouts.drawn(bpy.types.JOUNCE_PT_motion).drawn
    return next(given["text"] for function, given in drawn if function == "menu")


def test_the_menu_is_named_after_the_preset_of_the_active_body(package):
    bodies = []
    for name in ("One", "Two"):
        obj, _ = scenes.character()
        obj.name = name
        scenes.activate(obj)
        bpy.ops.jounce.add()
        bodies.append(obj)
    folder = f"{package.__path__[0]}/presets/jounce/body"
    assert [menu_shown(obj) for obj in bodies] == ["Realistic"] * 2
    for obj, name in zip(bodies, ("Jelly", "Subtle"), strict=True):
        scenes.activate(obj)
        bpy.ops.script.execute_preset(filepath=f"{folder}/{name}.py", menu_idname="JOUNCE_MT_bodies")
    assert [menu_shown(obj) for obj in bodies] == ["Jelly", "Subtle"]
    bodies[0].jounce.damping += 0.5
    assert menu_shown(bodies[0]) == "Presets"
    scenes.activate(bodies[0])
    with pytest.raises(RuntimeError, match="no preset"):
        bpy.ops.jounce.body_preset_add(remove_active=True)
