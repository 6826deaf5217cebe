"""Contact of loose bodies, with one in the collection of the other."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_collisions import cube, ground
from test_loose import collide
from test_refusals import assert_refused

FRAMES = range(1, 17)
EDGE = 0.4

pytestmark = pytest.mark.usefixtures("coarse_setup")


def jelly(name, place):
    """A cube as a loose body, built, without a preview."""
    obj = cube(name, half=EDGE / 2)
    obj.location = place
    bpy.context.view_layer.update()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.kind, obj.jounce.use_gravity, obj.jounce.frequency = "LOOSE", True, 30.0
    obj.jounce.damping = 1.0
    obj.jounce.handles, obj.jounce.clusters, obj.jounce.resolution = 8, 12, 4
    bpy.ops.jounce.build()
    return obj


def preview(*objects):
    """Shows the motion of bodies."""
    scenes.activate(*objects)
    bpy.ops.jounce.preview()


@pytest.fixture
def pair(tmp_path):
    """A cube on the ground, and a second cube falling onto the first, in a saved file, still without
    contact."""
    scenes.settle_scene(FRAMES[-1])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    floor = ground(0.0)
    lower = jelly("Lower", (0.0, 0.0, EDGE / 2))
    upper = jelly("Upper", (0.05, 0.0, 2.0 * EDGE))
    collide(lower, floor)
    collide(upper, floor)
    preview(lower, upper)
    return lower, upper


@pytest.fixture
def touching(pair):
    """The same, with the lower cube in the collection of the upper cube."""
    lower, upper = pair
    upper.jounce.collision_collection.objects.link(lower)
    bpy.context.view_layer.update()
    return pair


def shown(*objects, frames=FRAMES):
    """The shapes of each, all read frame by frame."""
    shapes = [[] for _ in objects]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for obj, each in zip(objects, shapes, strict=True):
            each.append(scenes.evaluated(obj))
    return [np.array(each) for each in shapes]


def troubles(session, *objects):
    return [session(obj).trouble for obj in objects]


def test_one_lands_on_the_other_which_gives_way(pair, session):
    lower, upper = pair
    through = shown(lower, upper)
    assert through[1][-1][:, 2].min() < 0.1 * EDGE
    upper.jounce.collision_collection.objects.link(lower)
    bpy.context.view_layer.update()
    below, above = shown(lower, upper)
    assert troubles(session, *pair) == ["", ""]
    assert above[..., 2].min() > 0.8 * EDGE
    # The lower body is pressed, and was not before.
    assert below[..., 2].max(axis=1).min() < through[0][..., 2].max(axis=1).min() - 0.02 * EDGE
    # Their middles stay apart.
    assert (above[..., 2] - below[..., 2]).mean(axis=1).min() > 0.85 * EDGE


def test_either_may_have_the_other_in_its_collection(touching):
    lower, upper = touching
    expected = shown(lower, upper)
    upper.jounce.collision_collection.objects.unlink(lower)
    lower.jounce.collision_collection.objects.link(upper)
    bpy.context.view_layer.update()
    assert all(map(np.array_equal, shown(lower, upper), expected))


def test_a_third_that_nothing_touches_has_the_bits_it_has_alone(touching):
    lower, upper = touching
    third = jelly("Third", (5.0, 0.0, 1.0))
    preview(third)
    (alone,) = shown(third)
    upper.jounce.collision_collection.objects.link(third)
    bpy.context.view_layer.update()
    assert np.array_equal(shown(lower, upper, third)[2], alone)


def test_any_order_of_frames_shows_the_same_bits(touching, session):
    lower, upper = touching
    in_turn = shown(lower, upper)
    bpy.ops.jounce.clear_cache()
    order = [12, 3, 16, 1, 9, 2, 15]
    for obj, expected in zip(touching, in_turn, strict=True):
        scenes.activate(obj)
        bpy.ops.jounce.clear_cache()
        jumped = [shown(obj, frames=[frame])[0][0] for frame in order]
        assert np.array_equal(np.array(jumped), expected[np.array(order) - 1])
    for obj in touching:
        scenes.activate(obj)
        bpy.ops.jounce.fill_cache()
    assert all(map(np.array_equal, shown(lower, upper), in_turn))
    assert all(session(obj).filling.simulated in (0, len(FRAMES)) for obj in touching)


@pytest.mark.parametrize("both", [True, False])
def test_a_bake_has_the_bits_of_the_preview(touching, both, module):
    lower, upper = touching
    expected = shown(lower, upper)
    session = module("bridge.preview.previews").session
    coefficients = [np.array(session(obj).cache.coefficients) for obj in touching]
    recorded = module("ops.bake").recorded
    settings = [obj.jounce.bake_settings("FRAME_KEYS", FRAMES[0], FRAMES[-1]) for obj in touching]
    asked = list(zip(touching, settings, strict=True))[: 2 if both else 1]
    module("core.passes.touching_pass").TOGETHER.clear()
    for obj in touching:
        module("bridge.motions.motions").forget(obj)
    task = recorded(asked, bpy.context, pytest.fail)
    while True:
        try:
            next(task)
        except StopIteration as stop:
            takes = stop.value
            break
    for (_, taken), known in zip(takes, coefficients, strict=False):
        assert np.array_equal(taken.motion.coefficients, known)
    scenes.activate(*touching[: 2 if both else 1])
    assert bpy.ops.jounce.bake(target="FRAME_KEYS") == {"FINISHED"}
    assert all(np.abs(a - b).max() < 1e-6 for a, b in zip(shown(lower, upper), expected, strict=True))


def test_frames_that_have_not_converged_are_told_and_marked(touching, session, module, monkeypatch, capsys):
    monkeypatch.setattr(module("core.stepping.motion"), "ITERATIONS", 1)
    touching[1].jounce.damping = 0.9
    shown(*touching)
    previews = module("bridge.preview.previews")
    for obj, frames in zip(touching, previews.rough(bpy.context.scene), strict=True):
        assert frames and set(frames) <= set(FRAMES)
        more = f" and {len(frames) - 1} more" if len(frames) > 1 else ""
        assert f"In frame {frames[0]}{more}" in session(obj).status()
    scenes.activate(touching[0])
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert "Lower: In frame " in capsys.readouterr().out


def test_a_change_of_one_changes_the_other(touching):
    lower, upper = touching
    before = shown(lower, upper)
    upper.jounce.velocity = (0.0, 0.0, -3.0)
    bpy.context.view_layer.update()
    after = shown(lower, upper)
    assert np.abs(after[0] - before[0]).max() > 0.02 * EDGE
    upper.jounce.property_unset("velocity")
    bpy.context.view_layer.update()
    assert all(map(np.array_equal, shown(lower, upper), before))


def test_where_one_starts_is_minded_by_the_other(touching):
    lower, upper = touching
    before = shown(lower, upper)
    upper.location.x = 3.0
    bpy.context.view_layer.update()
    after = shown(lower, upper)
    assert np.abs(after[0] - before[0]).max() > 0.02 * EDGE
    assert after[1][..., 2].min() < 0.1 * EDGE


def test_a_build_of_one_changes_the_other(touching):
    lower, upper = touching
    before = shown(lower, upper)
    upper.jounce.handles = 12
    scenes.activate(upper)
    bpy.ops.jounce.build()
    after = shown(lower, upper)
    assert not np.array_equal(after[0], before[0])


def test_the_most_substeps_count_for_both(touching, module):
    lower, upper = touching
    upper.jounce.substeps = 5
    expected = shown(lower, upper)
    lower.jounce.substeps = 5
    bpy.context.view_layer.update()
    assert all(map(np.array_equal, shown(lower, upper), expected))


def test_what_is_disabled_is_not_touched(touching, session):
    lower, upper = touching
    bpy.ops.jounce.clear_cache()
    lower.hide_viewport = True
    bpy.context.view_layer.update()
    (alone,) = shown(upper)
    assert session(upper).trouble == ""
    assert alone[..., 2].min() < 0.1 * EDGE
    lower.hide_viewport = False
    bpy.context.view_layer.update()
    assert shown(lower, upper)[1][..., 2].min() > 0.8 * EDGE


def test_one_that_is_deleted_is_not_touched_any_more(touching, session):
    lower, upper = touching
    shown(lower, upper)
    bpy.data.objects.remove(lower)
    bpy.context.view_layer.update()
    (alone,) = shown(upper)
    assert session(upper).trouble == ""
    assert alone[..., 2].min() < 0.1 * EDGE


def test_the_file_brings_their_motion_along(touching, module):
    expected = shown(*touching)
    for obj in touching:
        scenes.activate(obj)
        bpy.ops.jounce.fill_cache()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    again = [bpy.data.objects[name] for name in ("Lower", "Upper")]
    assert all(map(np.array_equal, shown(*again), expected))
    known = module("bridge.preview.previews")
    assert all(known.session(obj).filling.simulated == 0 for obj in again)


def test_a_hand_takes_one_and_leaves_the_other_as_it_is(touching, module):
    lower, upper = touching
    below, above = shown(lower, upper, frames=[1, 12])
    grab = module("bridge.preview.pulling").Hand(upper)
    places = scenes.evaluated(upper)
    hit = module("bridge.preview.picking").Hit(0, places[0])
    grab.take(hit, bpy.context.evaluated_depsgraph_get())
    known = module("bridge.preview.previews").session(upper)
    for _ in range(5):
        grab.target = places[0] + (0.0, 0.0, 1.0)
        grab.pull()
        known._due = 0.0
        known.work(bpy.context, 0.0)
    assert np.abs(scenes.evaluated(upper) - places).max() > 0.05 * EDGE
    assert np.array_equal(scenes.evaluated(lower), below[1])
    grab.close()
    assert np.array_equal(shown(upper, frames=[12])[0][0], above[1])


def test_undo_takes_a_change_of_both_back(touching):
    lower, upper = touching
    bpy.ops.ed.undo_push(message="before")
    before = shown(lower, upper)
    upper.jounce.velocity = (0.0, 0.0, -3.0)
    bpy.ops.ed.undo_push(message="thrown")
    assert not np.array_equal(shown(lower, upper)[0], before[0])
    bpy.ops.ed.undo()
    again = [bpy.data.objects[name] for name in ("Lower", "Upper")]
    assert all(map(np.array_equal, shown(*again), before))


def test_lively_is_refused_by_name(touching):
    lower, upper = touching
    lower.jounce.integrator, lower.jounce.use_collisions = "bdf2", False
    scenes.activate(upper)
    assert_refused(bpy.ops.jounce.bake, "Lower", "Lively", "Calm")


def test_remove_leaves_nothing_and_lets_the_other_go_on(touching, session):
    lower, upper = touching
    shown(lower, upper)
    scenes.activate(lower)
    bpy.ops.jounce.remove()
    assert not lower.modifiers
    below, _ = shown(lower, upper)
    assert session(upper).trouble == "" and session(upper).motions.companions == []
    assert np.ptp(below, axis=0).max() == 0.0


def test_both_removed_leave_the_file_as_it_was():
    objects = [cube("Lower", EDGE / 2), cube("Upper", EDGE / 2)]
    objects[1].location.z = 1.0
    scenes.settle_scene(FRAMES[-1])
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        collection.objects.link(obj)
    before = [snapshot.snapshot(obj) for obj in objects], snapshot.file_state()
    scenes.activate(*objects)
    for obj in objects:
        scenes.activate(obj)
        bpy.ops.jounce.setup()
        obj.jounce.use_collisions, obj.jounce.collision_collection = True, collection
    shown(*objects)
    scenes.activate(*objects)
    bpy.ops.jounce.bake()
    bpy.ops.jounce.remove()
    bpy.context.scene.frame_set(1)
    for obj, known in zip(objects, before[0], strict=True):
        assert snapshot.differences(known, snapshot.snapshot(obj)) == []
    assert snapshot.differences(before[1], snapshot.file_state()) == []


def test_a_heap_that_was_set_up_while_it_was_shown_comes_to_rest(session):
    floor = ground(0.0)
    heap = [cube(f"Heap {number}", EDGE / 2) for number in range(3)]
    scenes.settle_scene(4)
    for number, obj in enumerate(heap):
        obj.location = (0.05 * number, 0.0, 0.3 + 0.5 * number)
    bpy.context.view_layer.update()
    for obj in heap:
        scenes.activate(obj)
        bpy.ops.jounce.setup()
        collide(obj, floor, *heap)
    shown(*heap, frames=range(1, 5))
    assert all(session(obj).status().startswith("Draft: it touches Heap") for obj in heap)


def test_add_selected_takes_another_loose_body(pair):
    lower, upper = pair
    scenes.activate(upper, lower)
    assert bpy.ops.jounce.collider_add() == {"FINISHED"}
    assert lower in upper.jounce.collision_collection.objects[:]
