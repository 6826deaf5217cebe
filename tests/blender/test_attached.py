"""Attached bodies: surfaces that hang on the rig by pins; displayed, baked and removed again."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from layouts import drawn
from mathutils import Matrix, Vector
from previews import assert_shown_as_baked
from test_loose import collide
from test_refusals import assert_refused

FRAMES = range(1, 25)
SIDE, ROWS = 0.8, 12
SIZE = SIDE * np.sqrt(2.0)


def sheet(name="Cape", hung=True):
    """A square sheet in the plane x z, with the upper edge on a bone swinging along y."""
    steps = np.linspace(0.0, SIDE, ROWS)
    points = [(x - SIDE / 2, 0.0, 1.0 + z) for z in steps for x in steps]
    corners = [row * ROWS + column for row in range(ROWS - 1) for column in range(ROWS - 1)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], [(c, c + 1, c + ROWS + 1, c + ROWS) for c in corners])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    if hung:
        hang(obj)
    scenes.settle_scene(FRAMES[-1])
    return obj


def hang(obj):
    """Gives a mesh an armature with a single bone."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("Spine")
    bone.head, bone.tail = Vector((0.0, 0.0, 1.0 + SIDE)), Vector((0.0, 0.0, 1.3 + SIDE))
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, angle in ((1, 0.0), (8, 0.6), (16, -0.5), (24, 0.3)):
        pose = rig.pose.bones["Spine"]
        pose.rotation_mode = "XYZ"
        pose.rotation_euler = (angle, 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
        pose.location = (0.0, 0.0, 0.4 * angle)
        pose.keyframe_insert("location", frame=frame)
    obj.vertex_groups.new(name="Spine").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.parent = rig
    bpy.context.view_layer.update()


def held(obj):
    """The vertices of the upper edge."""
    return [vertex.index for vertex in obj.data.vertices if vertex.co.z > 1.0 + 0.95 * SIDE]


def attach(obj):
    """Makes the mesh an attached body pinned at its upper edge, and shows it."""
    scenes.activate(obj)
    assert bpy.ops.jounce.add() == {"FINISHED"}
    state = obj.jounce
    state.kind, state.use_gravity, state.handles = "ATTACHED", True, 24
    obj.vertex_groups.new(name="Pin").add(held(obj), 1.0, "REPLACE")
    state.pin_group = "Pin"
    assert bpy.ops.jounce.build() == {"FINISHED"}
    bpy.ops.jounce.preview()
    return obj


@pytest.fixture
def cape(tmp_path):
    """An attached body in a saved file."""
    obj = sheet()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return attach(obj)


def rigged(obj):
    """Shape of a mesh in the rig alone, (f, p, 3)."""
    obj.jounce.preview = False
    bpy.ops.jounce.clear_cache()
    shown = [modifier for modifier in obj.modifiers if modifier.type == "NODES"]
    for modifier in shown:
        modifier.show_viewport = False
    places = scenes.evaluated_frames(obj, FRAMES)
    for modifier in shown:
        modifier.show_viewport = True
    return places


def test_what_is_pinned_follows_its_bones_and_the_rest_swings(cape):
    assert "triangles" in cape.jounce.built_summary and cape.jounce.is_attached
    shown = scenes.evaluated_frames(cape, FRAMES)
    carried, top = rigged(cape), held(cape)
    low = [vertex.index for vertex in cape.data.vertices if vertex.co.z < 1.0 + 1e-6]
    assert np.abs(shown[:, top] - carried[:, top]).max() < 0.02 * SIZE
    assert np.abs(shown[:, low] - carried[:, low]).max() > 0.2 * SIZE
    # Lengths of the cape are kept, except for the stretch by weight and swing.
    edges = np.array([edge.vertices[:] for edge in cape.data.edges])
    lengths = np.linalg.norm(shown[:, edges[:, 0]] - shown[:, edges[:, 1]], axis=2)
    rest = np.linalg.norm(carried[0, edges[:, 0]] - carried[0, edges[:, 1]], axis=1)
    assert np.abs(lengths / rest - 1.0).max() < 0.15


def test_any_order_of_frames_shows_the_same_bits_and_a_bake_the_same_shapes(cape):
    in_turn = scenes.evaluated_frames(cape, FRAMES)
    bpy.ops.jounce.clear_cache()
    order = [17, 3, 24, 1, 9, 2, 23]
    jumped = [scenes.evaluated_frames(cape, range(frame, frame + 1))[0] for frame in order]
    assert np.array_equal(np.array(jumped), in_turn[np.array(order) - 1])
    bpy.ops.jounce.fill_cache()
    assert np.array_equal(scenes.evaluated_frames(cape, FRAMES), in_turn)
    assert_shown_as_baked(cape, size=SIZE)


@pytest.mark.parametrize("target", ["MODAL_KEYS", "FRAME_KEYS", "MESH_CACHE"])
def test_it_is_baked_to_what_needs_no_modes(cape, target):
    shown = scenes.evaluated_frames(cape, FRAMES)
    assert bpy.ops.jounce.bake(target=target) == {"FINISHED"}
    baked = scenes.evaluated_frames(cape, FRAMES)
    most = 2e-3 if target == "MODAL_KEYS" else 1e-6
    assert np.abs(shown - baked).max() < most * SIZE


@pytest.mark.parametrize("target", ["SKINNING_NODES", "HELPER_BONES", "OWN_BONES"])
def test_what_needs_modes_is_refused(cape, target):
    assert_refused(bpy.ops.jounce.bake, "Cape", "attached", "mesh cache", target=target)


def test_it_is_at_rest_where_nothing_moves_or_pulls(cape):
    cape.jounce.use_gravity = False
    bpy.data.objects["Rig"].animation_data_clear()
    bpy.context.view_layer.update()
    shown, carried = scenes.evaluated_frames(cape, FRAMES), rigged(cape)
    assert np.abs(shown - carried).max() < 1e-6 * SIZE


def test_it_stays_outside_of_a_capsule_on_its_bone(cape):
    ball = bpy.data.objects.new("Ball", None)
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.2
    bpy.context.scene.collection.objects.link(ball)
    ball.jounce_shape = "SPHERE"
    ball.location = (0.0, 0.21, 1.3)
    collide(cape, ball)
    shown = scenes.evaluated_frames(cape, FRAMES)
    away = np.linalg.norm(shown - np.array(ball.location), axis=2).min()
    assert 0.2 - 0.01 * SIZE < away < 0.2 + 0.05 * SIZE
    cape.jounce.use_collisions = False
    free = scenes.evaluated_frames(cape, FRAMES)
    assert np.linalg.norm(free - np.array(ball.location), axis=2).min() < 0.15


@pytest.mark.parametrize(
    ("name", "value"), [("thickness", 2.0), ("bending", 100.0), ("handles", 12), ("pin_group", "Half")]
)
def test_a_setting_of_the_model_asks_for_another_build(cape, name, value):
    cape.vertex_groups.new(name="Half").add(held(cape)[: ROWS // 2], 1.0, "REPLACE")
    before, built = scenes.evaluated_frames(cape, FRAMES), cape.jounce.built_digest
    setattr(cape.jounce, name, value)
    bpy.ops.jounce.build()
    assert cape.jounce.built_digest != built
    assert np.abs(scenes.evaluated_frames(cape, FRAMES) - before).max() > 1e-3 * SIZE


@pytest.mark.parametrize(("name", "value"), [("cloth_frequency", 8.0), ("damping", 2.0), ("gravity", 0.2)])
def test_a_setting_of_the_motion_acts_without_a_build(cape, name, value):
    before, built = scenes.evaluated_frames(cape, FRAMES), cape.jounce.built_digest
    setattr(cape.jounce, name, value)
    after = scenes.evaluated_frames(cape, FRAMES)
    assert cape.jounce.built_digest == built
    assert np.abs(after - before).max() > 5e-3 * SIZE


def test_a_larger_one_moves_alike(cape):
    small = scenes.evaluated_frames(cape, FRAMES)
    rig = bpy.data.objects["Rig"]
    rig.scale = (50.0, 50.0, 50.0)
    bpy.context.view_layer.update()
    bpy.ops.jounce.build()
    large = scenes.evaluated_frames(cape, FRAMES)
    assert np.abs(large / 50.0 - small).max() < 2e-3 * SIZE


def test_nothing_pinned_is_refused():
    obj = sheet()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.vertex_groups.new(name="Pin")
    obj.jounce.kind, obj.jounce.pin_group = "ATTACHED", "Pin"
    assert_refused(bpy.ops.jounce.build, "Cape", "pinned", "map Pin")


def test_a_part_that_hangs_on_nothing_is_refused():
    obj, other = sheet(), sheet("Card", hung=False)
    other.data.transform(Matrix.Translation((2.0, 0.0, 0.0)))
    scenes.activate(obj, other)
    bpy.ops.object.join()
    attach_refused(obj)


def attach_refused(obj):
    """Pins the upper edge of the first of two sheets, and asserts that the other is named."""
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.kind = "ATTACHED"
    obj.vertex_groups.new(name="Pin").add(
        [i for i in held(obj) if obj.data.vertices[i].co.x < 1.0], 1.0, "REPLACE"
    )
    obj.jounce.pin_group = "Pin"
    assert_refused(bpy.ops.jounce.build, "1 loose parts", "Cape", "fall")


def cyclic(obj, way):
    """Ends the motion of the rig in its first pose, moved on along x."""
    rig = obj.find_armature()
    rig.pose.bones["Spine"].rotation_euler, rig.pose.bones["Spine"].location = (
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    )
    for path in ("rotation_euler", "location"):
        rig.pose.bones["Spine"].keyframe_insert(path, frame=FRAMES[-1])
    for frame, x in ((FRAMES[0], 0.0), (FRAMES[-1], way)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()


def wall_at(y):
    """A wall that faces along -y."""
    corners = [(9.0, y, 9.0), (-9.0, y, 9.0), (-9.0, y, -9.0), (9.0, y, -9.0)]
    return scenes.mesh_object("Wall", corners, [(0, 1, 2, 3)])


@pytest.mark.parametrize(("way", "touches"), [(0.0, False), (0.5, True)])
def test_it_loops_in_place_and_as_a_walk_along_a_wall(cape, way, touches):
    cyclic(cape, way)
    free = scenes.evaluated_frames(cape, FRAMES)
    assert np.abs(free[-1] - free[0] - (way, 0.0, 0.0)).max() > 0.05 * SIZE
    if touches:
        collide(cape, wall_at(0.1))
    cape.jounce.loop = True
    bpy.ops.jounce.fill_cache()
    shown = scenes.evaluated_frames(cape, FRAMES)
    assert np.abs(shown[-1] - shown[0] - (way, 0.0, 0.0)).max() < 1e-4 * SIZE
    low = [vertex.index for vertex in cape.data.vertices if vertex.co.z < 1.0 + 1e-6]
    assert (shown[:, low, 1].max() < 0.1 + 1e-5) == touches
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert cape.jounce.bake_seam < 1e-4
    assert np.abs(scenes.evaluated_frames(cape, FRAMES) - shown).max() < 1e-6 * SIZE


@pytest.mark.parametrize("operator", ["fit", "learn", "flex_mode"])
def test_what_is_for_flesh_is_refused(cape, operator):
    assert_refused(getattr(bpy.ops.jounce, operator), "Cape", "attached")


def test_its_file_brings_its_motion_along(cape):
    shown = scenes.evaluated_frames(cape, FRAMES)
    bpy.ops.jounce.fill_cache()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert np.array_equal(scenes.evaluated_frames(bpy.data.objects["Cape"], FRAMES), shown)


def test_remove_leaves_nothing_of_it():
    obj = sheet()
    obj.vertex_groups.new(name="Pin").add(held(obj), 1.0, "REPLACE")
    before = snapshot.snapshot(obj), snapshot.file_state()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.kind, obj.jounce.pin_group, obj.jounce.use_gravity = "ATTACHED", "Pin", True
    bpy.ops.jounce.build()
    bpy.ops.jounce.preview()
    scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bake()
    assert snapshot.differences(before[0], snapshot.snapshot(obj))
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_its_panels_show_what_it_is_made_of_and_nothing_of_flesh(cape, module):
    panels = [cls for cls in module("panels").CLASSES if issubclass(cls, bpy.types.Panel)]
    layouts = [
        layout for cls in panels if cls.bl_space_type == "VIEW_3D" and (layout := drawn(cls)) is not None
    ]
    shown = {name for layout in layouts for name in layout.properties()}
    wanted = {
        "kind",
        "handles",
        "thickness",
        "bending",
        "cloth_frequency",
        "damping",
        "use_gravity",
        "pin_group",
        "push",
    }
    assert wanted <= shown
    others = {
        "modes",
        "resolution",
        "frequency",
        "pose_rest",
        "quality",
        "limit",
        "leak_group",
        "velocity",
    }
    assert not others & shown


@pytest.mark.parametrize(
    "field", ["WEIGHTS", "CLUSTERS", "CORE", "LEAK", "STIFFNESS", "STRETCH", "VELOCITY", "PENETRATION"]
)
def test_overlays_are_drawn_of_it(cape, module, field):
    fields = module("core.display.fields")
    body = module("core.body.built_bodies").CACHE.get(cape.jounce.built_digest)
    picture = module("overlay.picture").Picture(cape, body, fields.Field(field), 0, None, None)
    [skin] = picture._skins
    shape = module("bridge.preview.evaluated_meshes").shape(cape, bpy.context.evaluated_depsgraph_get())
    assert np.isfinite(picture.values(skin, shape, bpy.context.scene)).all()
