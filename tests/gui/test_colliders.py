"""Previews among colliders of every kind: each completes in a window, and nothing new restarts nothing."""

import importlib

import bpy
import extension
import scenes
from mathutils import Matrix

FRAMES = range(1, 13)
# A preview starts once, and may restart once for its new data.
RESTARTS = 2


def module(name):
    """A module of the extension."""
    return importlib.import_module(f"{extension.INSTALLED}.{name}")


class Counted:
    """Counts the restarts of each body's check."""

    def __enter__(self):
        self._kind = module("bridge.preview.session").Session
        self._restart, self.times = self._kind.restart, {}

        def restart(known, cache):
            self.times[known.host.name] = self.times.get(known.host.name, 0) + 1
            self._restart(known, cache)

        self._kind.restart = restart
        return self

    def __exit__(self, *_):
        self._kind.restart = self._restart


def rigged():
    """A swinging column in final quality."""
    obj, rig = scenes.character()
    scenes.settle_scene(FRAMES[-1])
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    return obj, rig


def loose(name="Jelly", height=0.8):
    """A falling box."""
    obj = scenes.column(name, height=0.4, radius=0.2, rings=3, sides=8)
    obj.location.z = height
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.kind, obj.jounce.use_gravity, obj.jounce.frequency = "LOOSE", True, 30.0
    obj.jounce.handles, obj.jounce.clusters, obj.jounce.resolution = 8, 12, 4
    bpy.ops.jounce.build()
    return obj


def attached():
    """A sheet with its upper edge on a swinging bone."""
    rows = 8
    steps = [0.1 * index for index in range(rows)]
    corners = [row * rows + column for row in range(rows - 1) for column in range(rows - 1)]
    faces = [(c, c + 1, c + rows + 1, c + rows) for c in corners]
    obj = scenes.mesh_object("Cape", [(x - 0.35, 0.4, 1.0 + z) for z in steps for x in steps], faces)
    rig = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)])
    obj.parent = rig
    scenes.skin(obj, rig, 2.0)
    scenes.swing(rig)
    scenes.settle_scene(FRAMES[-1])
    obj.vertex_groups.new(name="Pins").add([v.index for v in obj.data.vertices if v.co.z > 1.65], 1.0, "ADD")
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.kind, obj.jounce.pin_group, obj.jounce.handles = "ATTACHED", "Pins", 12
    bpy.ops.jounce.build()
    return obj, rig


def square(name="Floor", height=-0.05):
    """A flat square across the scene."""
    corners = [(-3.0, -3.0, 0.0), (3.0, -3.0, 0.0), (3.0, 3.0, 0.0), (-3.0, 3.0, 0.0)]
    obj = scenes.mesh_object(name, corners, [(0, 1, 2, 3)])
    obj.location.z = height
    return obj


def empty(kind, name="Empty"):
    """An empty beside the body, displayed as something."""
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.empty_display_type, obj.empty_display_size, obj.location = kind, 0.3, (0.0, -0.9, 1.6)
    return obj


def ball(name="Ball"):
    """A closed mesh in the way of the column, a child of an empty."""
    obj = scenes.column(name, height=0.5, radius=0.25, rings=3, sides=8)
    obj.location = (0.0, -0.8, 1.4)
    return obj


def carried(_body, _rig):
    """A keyed mesh below a parent."""
    obj, parent = ball(), empty("PLAIN_AXES", "Parent")
    obj.parent, obj.matrix_parent_inverse = parent, Matrix.Translation((0.0, 0.9, -1.6))
    for frame, x in ((1, 0.0), (20, 0.4)):
        obj.location.x = x
        obj.keyframe_insert("location", index=0, frame=frame)
    return obj


def deforming(_body, _rig):
    """A waving mesh with a box as its collision shape, also moved by shape keys."""
    obj = ball("Waving")
    obj.shape_key_add(name="Basis")
    wide = obj.shape_key_add(name="Wide")
    for frame, value in ((1, 0.0), (20, 1.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)
    obj.modifiers.new("Wave", "WAVE")
    obj.jounce_shape = "BOX"
    return obj


def hung(_body, rig):
    """A mesh on a bone of the body's rig."""
    obj = ball("Belt")
    if rig is not None:
        scenes.hang(obj, rig, "Lower")
        obj.location = (0.0, -1.2, -0.8)
    return obj


def subdivided(_body, _rig):
    """A mesh with modifiers and a constant shape."""
    obj = ball("Smooth")
    obj.modifiers.new("Smooth", "SUBSURF").levels = 2
    return obj


COLLIDERS = {
    "floor": lambda _body, _rig: square(),
    "plane of an empty": lambda _body, _rig: empty("PLAIN_AXES"),
    "ball of an empty": lambda _body, _rig: empty("SPHERE"),
    "carried": carried,
    "deforming": deforming,
    "hung": hung,
    "subdivided": subdivided,
}


def collide(body, *others):
    """Has a body collide with objects."""
    collection = body.jounce.collision_collection
    if collection is None:
        collection = bpy.data.collections.new(f"Around {body.name}")
        bpy.context.scene.collection.children.link(collection)
        body.jounce.collision_collection = collection
    for other in others:
        collection.objects.link(other)
    body.jounce.use_collisions = True
    bpy.context.view_layer.update()


def windy():
    """A force field."""
    bpy.ops.object.effector_add(type="WIND")
    return bpy.context.object


def session(obj):
    """The session of a previewed object."""
    return module("bridge.preview.previews").session(obj)


def completes(window, *bodies):
    """Shows bodies until nothing is left to do, and counts the restarts."""
    scenes.activate(*bodies)
    with Counted() as counted:
        window.invoke("jounce.preview")
        yield lambda: all(session(obj) is not None for obj in bodies)
        yield lambda: all(session(obj).complete and not session(obj).busy for obj in bodies)
        yield 0.5
        assert all(session(obj).complete and not session(obj).busy for obj in bodies)
    for obj in bodies:
        assert not session(obj).trouble
        assert counted.times[obj.name] <= RESTARTS, counted.times
        window.note("colliders.md", ["body", "restarts"], [obj.name, counted.times[obj.name]])


def test_a_rigged_body_among_all_of_them(window):
    obj, rig = rigged()
    collide(obj, *(make(obj, rig) for make in COLLIDERS.values()))
    yield from completes(window, obj)


def test_a_rigged_body_on_a_ground(window):
    obj, _ = rigged()
    scenes.activate(obj)
    bpy.ops.jounce.ground()
    yield from completes(window, obj)


def test_a_rigged_body_with_capsules_of_its_bones(window):
    obj, _ = rigged()
    scenes.activate(obj)
    assert bpy.ops.jounce.bone_capsules() == {"FINISHED"}
    yield from completes(window, obj)


def test_a_rigged_body_in_the_wind(window):
    obj, _ = rigged()
    collide(obj, square())
    windy()
    yield from completes(window, obj)


def test_a_loose_body_among_all_of_them(window):
    obj = loose()
    collide(obj, *(make(obj, None) for make in COLLIDERS.values()))
    yield from completes(window, obj)


def test_loose_bodies_that_touch_each_other(window):
    lower, upper = loose("Lower", 0.0), loose("Upper", 0.9)
    floor = square()
    collide(lower, floor)
    collide(upper, floor, lower)
    yield from completes(window, lower, upper)


def test_an_attached_body_among_all_of_them(window):
    obj, rig = attached()
    collide(obj, *(make(obj, rig) for make in COLLIDERS.values()))
    yield from completes(window, obj)


def checked_again(obj, change):
    """Changes something, and waits until the body is looked at anew and done."""
    known = session(obj)
    passes = known.filling
    change()
    bpy.context.view_layer.update()
    yield lambda: known.filling is not passes
    yield lambda: known.complete and not known.busy
    yield 0.4
    assert known.complete and not known.trouble, known.trouble


def left_alone(obj, change):
    """Makes a change without relevance for the body."""
    known = session(obj)
    passes = known.filling
    change()
    bpy.context.view_layer.update()
    yield 0.6
    assert known.filling is passes and known.complete


def digest(obj):
    """Digest of a body's colliders at the last reading."""
    touched = session(obj).motions.scene.colliders.colliders
    return None if touched is None else touched.digest()


def test_a_change_of_a_collider_is_noticed_and_nothing_else_is(window):
    obj, rig = rigged()
    floor, marker = square(), empty("SPHERE")
    waving = deforming(obj, rig)
    collide(obj, floor, marker, waving)
    yield from completes(window, obj)
    for change in (
        lambda: setattr(floor.location, "z", -0.2),
        lambda: setattr(marker, "empty_display_size", 0.4),
        lambda: setattr(floor.data.vertices[0].co, "z", 0.3) or floor.data.update(),
        lambda: floor.modifiers.new("Thick", "SOLIDIFY"),
        lambda: setattr(waving.constraints.new("COPY_LOCATION"), "target", marker),
        lambda: setattr(floor, "hide_viewport", True),
        lambda: setattr(floor, "hide_viewport", False),
        lambda: obj.jounce.collision_collection.objects.unlink(marker),
        lambda: obj.jounce.collision_collection.objects.link(marker),
    ):
        yield from checked_again(obj, change)
    before = digest(obj)
    yield from checked_again(obj, lambda: floor.modifiers.new("Wave", "WAVE"))
    assert digest(obj) != before
    yield from checked_again(obj, lambda: floor.modifiers.remove(floor.modifiers["Wave"]))
    assert digest(obj) == before
    material = bpy.data.materials.new("Red")
    for change in (
        lambda: floor.data.materials.append(material),
        lambda: setattr(material, "diffuse_color", (1.0, 0.0, 0.0, 1.0)),
        lambda: floor.select_set(True),
        lambda: floor.data.update_tag(),
        lambda: setattr(bpy.data.scenes.new("Other"), "frame_end", 9),
    ):
        yield from left_alone(obj, change)
    # Blender calls the object moved: one check finds no motion.
    yield from checked_again(obj, lambda: setattr(floor, "display_type", "SOLID"))
    assert session(obj).filling.simulated == 0


def test_a_change_of_a_force_field_is_noticed(window):
    obj, _ = rigged()
    obj.jounce.quality, obj.jounce.damping = "DRAFT", 1.0
    field = windy()
    yield from completes(window, obj)
    for change in (
        lambda: setattr(field.field, "strength", 3.0),
        lambda: setattr(field.field, "falloff_power", 1.0),
        lambda: setattr(field.field, "type", "NONE"),
        lambda: setattr(field.field, "type", "FORCE"),
        lambda: setattr(field.location, "z", 2.0),
    ):
        yield from checked_again(obj, change)
