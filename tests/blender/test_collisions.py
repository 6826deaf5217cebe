"""Collisions of final flesh and of drafts with objects of the scene."""

import bpy
import numpy as np
import pytest
import scenes
from layouts import drawn
from previews import FRAMES, assert_shown_as_baked, shape, shown
from test_final_preview import cache_of
from test_refusals import assert_refused

# Place of the wall in the way of the swinging column.
WALL = -0.7


def ground(height, name="Ground"):
    """A flat square across the scene."""
    corners = [(-3.0, -3.0, 0.0), (3.0, -3.0, 0.0), (3.0, 3.0, 0.0), (-3.0, 3.0, 0.0)]
    obj = scenes.mesh_object(name, corners, [(0, 1, 2, 3)])
    obj.location.z = height
    return obj


def cube(name="Cube", half=0.3):
    """A closed box about its origin."""
    corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return scenes.mesh_object(name, corners, faces)


def welded(name):
    """A box that waves, with a modifier that takes a double vertex away."""
    obj = cube(name)
    obj.data.vertices.add(1)
    obj.data.vertices[8].co = obj.data.vertices[0].co
    for kind in ("WAVE", "WELD"):
        obj.modifiers.new(kind, kind)
    return obj


def collide(obj, *others):
    """Has a body collide with these objects."""
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for other in others:
        collection.objects.link(other)
    obj.jounce.quality, obj.jounce.use_collisions = "FINAL", True
    obj.jounce.collision_collection = collection
    bpy.context.view_layer.update()


@pytest.fixture
def character(tmp_path):
    """A built column with a swinging upper end, in a saved file."""
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    return obj, rig


@pytest.fixture
def wall(character):
    """A wall in the way of the swinging column."""
    obj = ground(0.0, "Wall")
    # It faces along +y, towards the column.
    obj.rotation_euler, obj.location = (-np.pi / 2, 0.0, 0.0), (0.0, WALL, 1.0)
    bpy.context.view_layer.update()
    return obj


def beyond(frames, plane=WALL):
    """Largest depth of any vertex in any frame behind a plane that faces along y."""
    return float(plane - frames[..., 1].min())


def test_flesh_stays_outside_of_a_wall_in_preview_and_bake(character, wall):
    obj, _ = character
    bpy.ops.jounce.preview()
    free = scenes.evaluated_frames(obj, FRAMES)
    assert beyond(free) > 0.1
    collide(obj, wall)
    stopped = scenes.evaluated_frames(obj, FRAMES)
    assert beyond(stopped) < 1e-3
    assert_shown_as_baked(obj)


def test_a_draft_stops_at_a_wall_and_bakes_as_previewed(character, wall):
    obj, _ = character
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.preview()
    free = scenes.evaluated_frames(obj, FRAMES)
    collide(obj, wall)
    obj.jounce.quality = "DRAFT"
    bpy.context.view_layer.update()
    stopped = scenes.evaluated_frames(obj, FRAMES)
    assert beyond(stopped) < 0.01 * beyond(free)
    assert_shown_as_baked(obj)
    obj.jounce.integrator = "bdf2"
    bpy.context.view_layer.update()
    assert beyond(scenes.evaluated_frames(obj, FRAMES)) > 0.1


def test_any_order_of_frames_shows_the_same_bits_as_a_bake_of_shapes(character, wall):
    obj, _ = character
    collide(obj, wall)
    bpy.ops.jounce.preview()
    late = shape(obj, 9)
    assert np.array_equal(shape(obj, 4), scenes.evaluated_frames(obj, range(4, 5))[0])
    in_order = scenes.evaluated_frames(obj, FRAMES)
    assert np.array_equal(late, in_order[8])
    bpy.ops.jounce.fill_cache()
    kept = cache_of(obj).read_bytes()
    cache_of(obj).unlink()
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert cache_of(obj).read_bytes() == kept


def test_a_motion_that_was_stopped_goes_on_with_what_sticks_when_the_file_is_opened_again(
    character, wall, session, module
):
    obj, _ = character
    collide(obj, wall)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    whole = cache_of(obj).read_bytes()
    bpy.ops.jounce.clear_cache()
    shape(obj, 5)
    bpy.ops.wm.save_mainfile()
    data = cache_of(obj).read_bytes()
    assert 0 < len(data) < len(whole)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Column"]
    module("bridge.preview.previews").sync()
    shape(obj, 3)
    assert len(session(obj).final.cache) == 5
    shape(obj, 12)
    # The data for display without Blender is written last, once all frames are there.
    assert whole.startswith(cache_of(obj).read_bytes()) and len(session(obj).final.cache) == 12
    bpy.ops.jounce.fill_cache()
    assert cache_of(obj).read_bytes() == whole


def test_what_moves_a_collider_is_simulated_anew_from_there_on(character, wall, session):
    obj, _ = character
    collide(obj, wall)
    for frame, place in ((1, WALL), (7, WALL), (8, WALL + 0.2)):
        wall.location.y = place
        wall.keyframe_insert("location", frame=frame)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    draft, final = list(known.cache.coefficients), list(known.final.cache.coefficients)
    wall.location.y = WALL + 0.3
    wall.keyframe_insert("location", frame=8)
    wall.update_tag()
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert all(now is then for now, then in zip(known.cache.coefficients, draft, strict=True))
    same = [now is then for now, then in zip(known.final.cache.coefficients, final, strict=True)]
    assert same == [True] * 7 + [False] * 5
    assert beyond(shape(obj, 12)[None], WALL + 0.3) < 1e-3
    assert_shown_as_baked(obj)


@pytest.mark.parametrize("change", ["friction", "shape", "mesh", "collection", "scale", "off", "draft"])
def test_each_change_of_what_is_collided_with_shows(character, wall, session, change):
    obj, _ = character
    collide(obj, wall)
    bpy.ops.jounce.preview()
    before = scenes.evaluated_frames(obj, FRAMES)
    if change == "friction":
        obj.jounce.collision_friction = 5.0
    elif change == "shape":
        wall.jounce_shape = "SPHERE"
    elif change == "mesh":
        for vertex in wall.data.vertices:
            vertex.co.z += 0.1
        wall.data.update()
    elif change == "collection":
        other = ground(0.0, "Other")
        other.rotation_euler, other.location = (-np.pi / 2, 0.0, 0.0), (0.0, WALL + 0.2, 1.0)
        obj.jounce.collision_collection.objects.link(other)
    elif change == "scale":
        # A plane stays a plane at any size, a ball does not.
        wall.jounce_shape, wall.scale = "SPHERE", (0.5, 0.5, 0.5)
    elif change == "off":
        obj.jounce.use_collisions = False
    else:
        obj.jounce.quality = "DRAFT"
    bpy.context.view_layer.update()
    after = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(after - before).max() > 1e-3
    assert_shown_as_baked(obj)


def test_renaming_and_what_does_not_act_leave_the_motion_as_it_is(character, wall):
    obj, _ = character
    collide(obj, wall)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    kept = cache_of(obj).read_bytes()
    wall.name = "Barrier"
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    obj.jounce.collision_collection.objects.link(lamp)
    obj.jounce.collision_collection.name = "Scenery"
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert cache_of(obj).read_bytes() == kept


def test_the_integrator_without_collisions_is_said_with_a_button(character, wall, session, module):
    obj, _ = character
    collide(obj, wall)
    obj.jounce.integrator, words = "bdf2", "integrator Lively"
    ((sentence, fix),) = module("bridge.loads.colliders").hindrances(obj)
    assert words in sentence and module("bridge.body.diagnosis").FIXES[fix][0] == "Use Calm"
    layout = drawn(module("panels.collisions").JOUNCE_PT_collisions)
    assert "jounce.collisions_fix" in layout.operators()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert words in session(obj).status()
    assert_refused(bpy.ops.jounce.bake, "Column", words, target="MESH_CACHE")
    bpy.ops.jounce.diagnose()
    index = [found.fix for found in obj.jounce.findings].index(fix)
    bpy.ops.jounce.fix(index=index)
    assert obj.jounce.integrator == "backward_euler"
    obj.jounce.integrator = "bdf2"
    bpy.ops.jounce.collisions_fix(fix=fix)
    assert obj.jounce.integrator == "backward_euler"
    assert list(module("bridge.loads.colliders").hindrances(obj)) == []
    assert "jounce.collisions_fix" not in drawn(module("panels.collisions").JOUNCE_PT_collisions).operators()
    assert not bpy.ops.jounce.collisions_fix.poll()


def test_a_collider_that_changes_its_size_is_refused_with_its_frame(character, wall, session):
    obj, _ = character
    collide(obj, wall)
    for frame, size in ((1, 1.0), (6, 1.0), (7, 1.5)):
        wall.scale = (size, size, size)
        wall.keyframe_insert("scale", frame=frame)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "Wall has another size in frame 7" in session(obj).status()
    bpy.ops.jounce.preview()
    assert_refused(bpy.ops.jounce.bake, "Wall", "frame 7", target="MESH_CACHE")


def test_what_was_learnt_stops_at_a_wall_too(character, wall, lessons, session):
    obj, _ = character
    collide(obj, wall)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.learn()
    stopped, facts = shown(obj, "LEARNT"), lessons.of(obj).facts
    assert beyond(stopped) < 1e-3
    assert facts.error < 0.1
    assert session(obj).status() == f"Learnt, {facts.error:.1%} from Final"
    assert list(session(obj).final.warnings()) == []
    # A nearer wall than in the lesson stops it as well, at an unknown distance from the final motion.
    wall.location.y = 0.6 * WALL
    bpy.context.view_layer.update()
    assert beyond(stopped, 0.6 * WALL) > 0.1
    assert beyond(shown(obj, "LEARNT"), 0.6 * WALL) < 1e-3
    assert session(obj).status() == "Learnt"
    assert_shown_as_baked(obj)


def test_what_was_learnt_without_a_wall_stops_at_one_too(character, wall, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.learn()
    assert beyond(shown(obj, "LEARNT")) > 0.1
    collide(obj, wall)
    assert beyond(shown(obj, "LEARNT")) < 1e-3
    [warning] = session(obj).final.warnings()
    assert warning.startswith("No learnt shot had collisions")
    obj.jounce.integrator = "bdf2"
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert "cannot collide with the integrator Lively" in session(obj).status()


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_scaled_and_parented_colliders_act_where_they_are_seen(character, unit):
    obj, _ = character
    bpy.context.scene.unit_settings.scale_length = unit
    scenes.activate(obj)
    bpy.ops.jounce.build()
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale, parent.location = (2.0, 2.0, 2.0), (0.0, -2.0, 2.0)
    block = cube(half=0.25)
    # The near side is at y = -2 + 2 * (.4 + .25) = -0.7.
    block.parent, block.location, block.scale = parent, (0.0, 0.4, 0.0), (4.0, 1.0, 4.0)
    bpy.context.view_layer.update()
    bpy.ops.jounce.preview()
    assert beyond(scenes.evaluated_frames(obj, FRAMES)) > 0.1
    collide(obj, block)
    assert beyond(scenes.evaluated_frames(obj, FRAMES)) < 1e-3
    assert_shown_as_baked(obj)


def test_objects_that_cannot_be_collided_with_are_left_out_and_said(character, wall):
    obj, rig = character
    soft = welded("Soft")
    off = cube("Off")
    off.hide_viewport = True
    collide(obj, wall, soft, off, obj)
    bpy.ops.jounce.diagnose()
    said = [found.sentence for found in obj.jounce.findings if found.obj in ("Soft", "Off", "Column")]
    for words in ("Soft deforms", "Off is not in this view layer", "Column is of the body"):
        assert any(sentence.startswith(words) for sentence in said), words
    bpy.ops.jounce.preview()
    assert beyond(scenes.evaluated_frames(obj, FRAMES)) < 1e-3
    soft.jounce_shape = "BOX"
    bpy.ops.jounce.diagnose()
    assert not any(found.sentence.startswith("Soft") for found in obj.jounce.findings)


def test_a_mesh_without_faces_has_no_inside_and_is_refused_by_name(character, session):
    obj, _ = character
    frame = scenes.mesh_object("Frame", [(-1, -1, 0), (1, -1, 0), (0, 0, 0.2), (0, 1, 0)], [])
    collide(obj, frame)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "Frame cannot be collided with as it is; choose another shape: " in session(obj).status()


def test_ground_is_put_below_the_body(character):
    obj, rig = character
    rig.location.z = 3.0
    bpy.context.view_layer.update()
    bpy.ops.jounce.ground()
    (made,) = obj.jounce.collision_collection.objects
    assert made.location.z == pytest.approx(3.0) and made.hide_render
    assert obj.jounce.use_collisions and max(made.dimensions) > 4.0
    assert "Ground" in bpy.context.scene.objects


def test_selected_objects_become_the_ground_or_are_added(character, wall):
    obj, _ = character
    scenes.activate(obj, wall)
    bpy.ops.jounce.ground()
    assert list(obj.jounce.collision_collection.objects) == [wall]
    other = cube()
    scenes.activate(obj, other, wall)
    bpy.ops.jounce.collider_add()
    assert set(obj.jounce.collision_collection.objects) == {wall, other}
    scenes.activate(obj)
    assert not bpy.ops.jounce.collider_add.poll()


def test_ground_is_made_where_what_is_selected_is_none(character):
    obj, _ = character
    prop, empty = cube("Prop"), bpy.data.objects.new("Control", None)
    bpy.context.scene.collection.objects.link(empty)
    prop.location.x = 1.0
    bpy.context.view_layer.update()
    scenes.activate(obj, prop, empty)
    assert bpy.ops.jounce.ground() == {"FINISHED"}
    assert obj.jounce.collision_collection.objects.keys() == ["Ground"]


def test_a_landscape_that_is_selected_is_the_ground(character):
    obj, _ = character
    land = ground(-0.02, "Land")
    land.scale = (3.0, 3.0, 1.0)
    bpy.context.view_layer.update()
    scenes.activate(obj, land)
    bpy.ops.jounce.ground()
    assert obj.jounce.collision_collection.objects.keys() == ["Land"]


def test_a_file_keeps_its_colliders(character, wall, tmp_path):
    obj, _ = character
    collide(obj, wall)
    wall.jounce_shape, wall.jounce_resolution, obj.jounce.collision_friction = "BOX", 32, 0.25
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    state, wall = bpy.data.objects["Column"].jounce, bpy.data.objects["Wall"]
    assert state.use_collisions and wall.name in state.collision_collection.objects
    assert (wall.jounce_shape, wall.jounce_resolution, state.collision_friction) == ("BOX", 32, 0.25)


def test_deleted_colliders_act_no_more(character, wall, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    free = scenes.evaluated_frames(obj, FRAMES)
    collide(obj, wall, cube())
    scenes.evaluated_frames(obj, FRAMES)
    bpy.data.objects.remove(wall)
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.view_layer.update()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), free)


def test_how_deep_the_shown_flesh_is_in_what_it_collides_with_is_told(character, wall, module, monkeypatch):
    obj, _ = character
    # The remaining contact is hardly visible.
    monkeypatch.setattr(module("core.shot.penetration"), "SEEN", 1e-5)
    wall.location.y = 0.0
    collide(obj, wall)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bpy.ops.jounce.diagnose()
    (sentence,) = (found.sentence for found in obj.jounce.findings if found.obj == "Wall")
    frame, depth = int(sentence.split()[2]), float(sentence.split()[7])
    assert sentence.startswith(f"In frame {frame} flesh of ") and " m in Wall, " in sentence
    shapes = scenes.evaluated_frames(obj, FRAMES)
    depths = [beyond(each, 0.0) for each in shapes]
    assert FRAMES[int(np.argmax(depths))] == frame
    assert depth == pytest.approx(max(depths), rel=0.06)


def test_the_colours_show_how_deep_the_skin_is(character, wall, module, session):
    """In a wall, and the skin moved further into it."""
    obj, _ = character
    wall.location.y = 0.0
    collide(obj, wall)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    penetration, known = module("bridge.preview.penetration"), session(obj)
    for frame in (FRAMES[0], FRAMES[-1]):
        (shape,) = scenes.evaluated_frames(obj, [frame]) - [0.0, 0.05, 0.0]
        metres = penetration.depths(known, shape, 0) * known.motions.scene.surface.diagonal
        assert np.allclose(metres, np.maximum(-shape[:, 1], 0.0), atol=1e-6)
        assert metres.max() > 0.049
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    picture = module("overlay.picture").Picture(
        obj, body, module("core.display.fields").Field.PENETRATION, 0, None, None
    )
    [skin] = picture._skins
    wall.location.y = 0.3
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    seen = module("bridge.preview.evaluated_meshes").shape(obj, bpy.context.evaluated_depsgraph_get())
    values = picture.values(skin, seen, bpy.context.scene)
    depth = np.maximum(0.3 - seen.in_metres(1.0)[:, 1], 0.0) / known.motions.scene.surface.diagonal
    assert np.allclose(values, 100.0 * depth, atol=1e-3) and picture.scale.title == "Penetration"
    assert values.max() == pytest.approx(picture.scale.high)
    bpy.ops.jounce.preview()
    assert not picture.values(skin, seen, bpy.context.scene).any()
    assert picture.scale.title == "No colliders act in a preview"


def test_hidden_colliders_act_as_shown_ones(character, wall):
    obj, _ = character
    collide(obj, wall)
    for frame, place in ((1, WALL - 1.0), (5, WALL)):
        wall.location.y = place
        wall.keyframe_insert("location", frame=frame)
    bpy.ops.jounce.preview()
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert beyond(shown[5:]) < 1e-3
    wall.hide_set(True)
    bpy.ops.jounce.clear_cache()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), shown)
    assert_shown_as_baked(obj)


def test_what_is_wrong_with_a_collider_is_mended_with_one_click(character, wall, session):
    obj, rig = character
    soft = welded("Soft")
    collide(obj, wall, soft)
    for frame, size in ((1, 1.0), (7, 1.5)):
        wall.scale = (size, size, size)
        wall.keyframe_insert("scale", frame=frame)
    bpy.ops.jounce.diagnose()
    fixes = {found.obj: found.fix for found in obj.jounce.findings if found.obj in ("Soft", "Wall")}
    assert fixes == {"Soft": "use_box", "Wall": "keep_size"}
    for fix in fixes.values():
        bpy.ops.jounce.fix(index=[found.fix for found in obj.jounce.findings].index(fix))
    assert not any(found.obj in ("Soft", "Wall") for found in obj.jounce.findings)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status().split(".")[0] == "Final"


def test_a_collider_that_is_moved_by_hand_moves_the_flesh_by_itself(character, wall, session):
    obj, _ = character
    collide(obj, wall)
    bpy.ops.jounce.preview()
    before = shape(obj, 6)
    wall.location.y += 0.3
    bpy.context.view_layer.update()
    assert session(obj).interactive is None
    assert np.abs(shape(obj, 6) - before).max() > 0.01
    assert beyond(shape(obj, 6)[None], WALL + 0.3) < 1e-3
    assert_shown_as_baked(obj)
