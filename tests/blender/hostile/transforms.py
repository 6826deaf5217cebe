"""Objects that are mirrored, sheared, scaled to nothing, far away, or moved by something else."""

import math

import bpy
import scenes
from mathutils import Vector

from .hand import EXACT, Hand
from .row import refuses, works


def empty(name: str = "Empty") -> bpy.types.Object:
    """An empty of the scene."""
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def circling(obj: bpy.types.Object) -> bpy.types.Object:
    """Keys an object to go round."""
    for frame in range(1, 13, 3):
        obj.location = (math.cos(frame), math.sin(frame), 0.0)
        obj.rotation_euler.z = 0.2 * frame
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    return obj


@works
def mirrored(jounce: Hand) -> None:
    """A mesh with a negative scale."""
    obj, _ = scenes.character()
    obj.scale.x = -1.0
    scenes.settle_scene()
    jounce.live(obj)


@works
def uneven_scale(jounce: Hand) -> None:
    """A mesh and an armature with scales of their own along each axis."""
    obj, rig = scenes.character()
    obj.scale, rig.scale = (1.0, 3.0, 0.5), (2.0, 0.5, 1.0)
    scenes.settle_scene()
    jounce.live(obj)


@works
def sheared_by_its_parent(jounce: Hand) -> None:
    """A turned mesh below an unevenly scaled parent."""
    obj, rig = scenes.character()
    above = empty()
    above.scale = (1.0, 2.0, 0.5)
    rig.parent, rig.rotation_euler = above, (0.4, 0.5, 0.6)
    scenes.settle_scene()
    jounce.live(obj)


@refuses
def scaled_to_nothing(jounce: Hand) -> None:
    """An object with scale 0."""
    obj, _ = scenes.character()
    obj.scale = (0.0, 0.0, 0.0)
    scenes.settle_scene()
    jounce.refused("add", "scale", obj)


@refuses
def flattened(jounce: Hand) -> None:
    """An object with scale 0 along one axis."""
    obj, _ = scenes.character()
    obj.scale.y = 0.0
    scenes.settle_scene()
    jounce.refused("add", "scale", obj)


@refuses
def at_no_number(jounce: Hand) -> None:
    """An object at NaN."""
    obj = scenes.column()
    obj.location.x = float("nan")
    bpy.context.view_layer.update()
    jounce.refused("add", "Column", obj)


@works
def keyed_to_nothing(jounce: Hand) -> None:
    """A mesh keyed to scale 0 for some frames, as a way to hide it."""
    obj, _ = scenes.character()
    for frame, scale in ((1, 1.0), (4, 1.0), (5, 0.0), (7, 0.0), (8, 1.0)):
        obj.scale = (scale,) * 3
        obj.keyframe_insert("scale", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def parent_keyed_to_nothing(jounce: Hand) -> None:
    """A character below an empty keyed to scale 0 for some frames."""
    obj, rig = scenes.character()
    above = empty()
    rig.parent = above
    for frame, scale in ((1, 1.0), (5, 0.0), (7, 0.0), (8, 1.0)):
        above.scale = (scale,) * 3
        above.keyframe_insert("scale", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def a_million_away(jounce: Hand) -> None:
    """A character a thousand kilometres from the world's origin."""
    obj, rig = scenes.character()
    rig.location = (1e6, 1e6, 0.0)
    scenes.settle_scene()
    jounce.live(obj, targets=("MODAL_KEYS", "SKINNING_NODES"))


@works
def deltas(jounce: Hand) -> None:
    """Delta transforms on a mesh and its armature."""
    obj, rig = scenes.character()
    for thing in (obj, rig):
        thing.delta_location, thing.delta_scale = (0.3, 0.1, 0.0), (1.1, 0.9, 1.0)
        thing.delta_rotation_euler = (0.1, 0.2, 0.3)
    scenes.settle_scene()
    jounce.live(obj)


@works
def turned_many_times(jounce: Hand) -> None:
    """A rotation by some thousand turns in axis and angle."""
    obj, rig = scenes.character()
    rig.rotation_mode = "AXIS_ANGLE"
    rig.rotation_axis_angle = (12345.6, 0.3, 0.2, 0.9)
    scenes.settle_scene()
    jounce.live(obj)


@works
def quaternion_of_zero(jounce: Hand) -> None:
    """A quaternion of zeros, which is no rotation."""
    obj, rig = scenes.character()
    rig.rotation_mode = "QUATERNION"
    rig.rotation_quaternion = (0.0, 0.0, 0.0, 0.0)
    scenes.settle_scene()
    jounce.live(obj)


@works
def copies_transforms(jounce: Hand) -> None:
    """A mesh with the transforms of an empty copied by a constraint."""
    obj = scenes.column()
    obj.constraints.new("COPY_TRANSFORMS").target = circling(empty())
    scenes.settle_scene()
    jounce.live(obj)


@works
def child_of(jounce: Hand) -> None:
    """A character with a Child Of constraint, switched on in the middle."""
    obj, rig = scenes.character()
    constraint = rig.constraints.new("CHILD_OF")
    constraint.target, constraint.set_inverse_pending = circling(empty()), False
    for frame, influence in ((1, 0.0), (6, 0.0), (7, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def constraint_without_target(jounce: Hand) -> None:
    """Constraints without a target, or with the object itself as the target."""
    obj, rig = scenes.character()
    obj.constraints.new("COPY_LOCATION")
    rig.constraints.new("TRACK_TO")
    rig.constraints.new("LIMIT_ROTATION").use_limit_x = True
    obj.constraints.new("COPY_SCALE").target = obj
    scenes.settle_scene()
    jounce.live(obj)


@works
def follows_a_path(jounce: Hand) -> None:
    """A character on a curve."""
    obj, rig = scenes.character()
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.use_path, data.path_duration = "3D", True, 12
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((0, 0, 0, 1), (1, 0, 0, 1), (1, 1, 0, 1)), strict=True):
        point.co = place
    path = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(path)
    constraint = rig.constraints.new("FOLLOW_PATH")
    constraint.target, constraint.use_fixed_location = path, True
    for frame, offset in ((1, 0.0), (12, 1.0)):
        constraint.offset_factor = offset
        constraint.keyframe_insert("offset_factor", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def parented_to_vertices(jounce: Hand) -> None:
    """A mesh parented to three vertices of another one."""
    obj, _ = scenes.character()
    button = scenes.column("Button", height=0.2, radius=0.1, rings=3)
    button.parent, button.parent_type = obj, "VERTEX_3"
    button.parent_vertices = (150, 151, 152)
    scenes.settle_scene()
    jounce.live(button)


@works
def parented_to_a_body(jounce: Hand) -> None:
    """A mesh parented to a body, with its own Jounce."""
    obj, _ = scenes.character()
    child = scenes.column("Child", height=0.5)
    child.parent = obj
    scenes.settle_scene()
    jounce.live(obj)
    jounce.live(child)


@works
def parent_inverse(jounce: Hand) -> None:
    """A parent inverse with rotation and scale."""
    obj, _ = scenes.character()
    obj.matrix_parent_inverse = scenes.placed(Vector((0.2, 0.3, 0.1)), 0.7, (1.2, 0.8, 1.0))
    scenes.settle_scene()
    jounce.live(obj)


@works
def parented_to_a_camera(jounce: Hand) -> None:
    """A character below a circling camera."""
    obj, rig = scenes.character()
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    rig.parent = circling(camera)
    jounce.live(obj)


@works
def locked(jounce: Hand) -> None:
    """An object with all transforms locked."""
    obj, _ = scenes.character()
    obj.lock_location = obj.lock_rotation = obj.lock_scale = (True, True, True)
    jounce.live(obj)


@works
def moved_after_the_bake(jounce: Hand) -> None:
    """A baked character, scaled and moved elsewhere."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("SKINNING_NODES", obj)
    rig.scale, rig.location = (0.2, 0.2, 0.2), (5.0, 5.0, 5.0)
    scenes.settle_scene()
    jounce.scrub(obj)
    for target in EXACT:
        jounce.bake(target, obj)


@works
def scaled_to_nothing_while_previewed(jounce: Hand) -> None:
    """A previewed character with its armature scaled to 0 by hand, and back."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    for scale in (0.0, 1.0):
        rig.scale = (scale,) * 3
        bpy.context.view_layer.update()
        jounce.scrub(obj)
    jounce.fill(obj)


@works
def unparented_while_previewed(jounce: Hand) -> None:
    """A previewed mesh with its parent removed."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    obj.parent = None
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)
