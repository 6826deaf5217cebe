"""Small rigged scenes made by script, and common operations of tests on them."""

import math

import bpy
import numpy as np
from mathutils import Matrix, Vector

# Quality of coarse bodies. Most tests are about something else, and drafts are simulated in a moment.
QUALITY = "DRAFT"


def column(name: str = "Column", height: float = 2.0, radius: float = 0.3, rings: int = 12, sides: int = 12):
    """A closed column along z, from z = 0 to its height."""
    points, faces = [], []
    for ring in range(rings + 1):
        for side in range(sides):
            angle = 2.0 * math.pi * side / sides
            points.append((radius * math.cos(angle), radius * math.sin(angle), height * ring / rings))
    for ring in range(rings):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append((a, b, b + sides, a + sides))
    faces.append(tuple(reversed(range(sides))))
    faces.append(tuple(range(rings * sides, (rings + 1) * sides)))
    return mesh_object(name, points, faces)


def mesh_object(name: str, points: list, faces: list) -> bpy.types.Object:
    """A mesh object of the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def armature(bones: list[tuple[str, float, float]], name: str = "Rig") -> bpy.types.Object:
    """An armature of connected bones along z, each (name, from, to)."""
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for bone_name, start, end in bones:
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.parent = (0.0, 0.0, start), (0.0, 0.0, end), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def skin(obj: bpy.types.Object, rig: bpy.types.Object, length: float) -> bpy.types.ArmatureModifier:
    """Two vertex groups, Lower and Upper, blended along z in the object's space, and an armature modifier."""
    heights = np.array([vertex.co.z for vertex in obj.data.vertices]) / length
    upper = np.clip(2.0 * heights - 0.5, 0.0, 1.0)
    for name, weights in (("Lower", 1.0 - upper), ("Upper", upper)):
        group = obj.vertex_groups.new(name=name)
        for vertex, weight in enumerate(weights):
            if weight > 0.0:
                group.add([vertex], float(weight), "REPLACE")
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    return modifier


def character(scale: float = 1.0) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A column on two bones that swings and stops: mesh and armature, the mesh a child of the armature.

    scale: of the armature object; the data is scaled inversely, which keeps the world size.
    """
    length = 2.0 / scale
    obj = column(height=length, radius=0.3 / scale)
    rig = armature([("Lower", 0.0, length / 2.0), ("Upper", length / 2.0, length)])
    rig.scale = (scale,) * 3
    obj.parent = rig
    skin(obj, rig, length)
    swing(rig)
    settle_scene()
    return obj, rig


def hang(obj: bpy.types.Object, rig: bpy.types.Object, bone: str = "Upper") -> None:
    """Parents an object to a bone in its present place."""
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    obj.matrix_world = Matrix()


def swing(rig: bpy.types.Object, bone: str = "Upper") -> None:
    """Keys a bone: a fast swing over frames 1 to 8, then a held pose."""
    pose = rig.pose.bones[bone]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (5, 0.9), (8, -0.2), (9, -0.2)):
        pose.rotation_euler = (angle, 0.2 * angle, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)


def imported_action(name: str) -> bpy.types.Action:
    """The action of an armature with this name in a file; Blender before 4.4 appends the moved
    object's name.
    """
    named = [action for action in bpy.data.actions if action.name.split("|")[-1] == name]
    longer = [action for action in bpy.data.actions if action.name.rpartition("_")[0] == name]
    return next(iter(named), None) or next(action for action in longer if action.id_root == "OBJECT")


def settle_scene(end: int = 12) -> None:
    """A short frame range, at its first frame."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, end
    scene.frame_set(1)
    bpy.context.view_layer.update()


def activate(obj: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Selects objects, the first one active."""
    for other in bpy.context.selected_objects:
        other.select_set(False)
    for chosen in (obj, *others):
        chosen.select_set(True)
    bpy.context.view_layer.objects.active = obj


def select_bones(rig, *names):
    """Selects exactly these bones, with this Blender's property."""
    selects_pose = "select" in bpy.types.PoseBone.bl_rna.properties
    for bone in rig.pose.bones if selects_pose else rig.data.bones:
        bone.select = bone.name in names


def coarse(obj: bpy.types.Object) -> None:
    """Sets values that build and move in a moment."""
    obj.jounce.resolution, obj.jounce.modes, obj.jounce.clusters = 12, 6, 12
    obj.jounce.quality = QUALITY


def clothed() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Two meshes without a body: the column, its coat and their armature."""
    obj, rig = character()
    coat = column("Coat", radius=0.35)
    coat.parent = rig
    skin(coat, rig, 2.0)
    settle_scene()
    return obj, coat, rig


def dressed() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """A built body of two meshes: the column, its coat and their armature."""
    obj, coat, rig = clothed()
    add_and_build(obj, coat)
    return obj, coat, rig


def add_and_build(obj: bpy.types.Object, *others: bpy.types.Object) -> None:
    """A built body of these meshes."""
    activate(obj, *others)
    bpy.ops.jounce.add()
    coarse(obj)
    bpy.ops.jounce.build()


def evaluated(obj: bpy.types.Object) -> np.ndarray:
    """World positions (p, 3) of an object's vertices in the evaluated scene."""
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(result.data.vertices), np.float32)
    result.data.vertices.foreach_get("co", points)
    matrix = np.array(result.matrix_world)
    return points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def evaluated_frames(obj: bpy.types.Object, frames: range) -> np.ndarray:
    """World positions (f, p, 3) over frames; the current frame stays."""
    scene = bpy.context.scene
    current = scene.frame_current
    shapes = []
    for frame in frames:
        scene.frame_set(frame)
        shapes.append(evaluated(obj))
    scene.frame_set(current)
    return np.stack(shapes)


def placed(location: Vector, angle: float, scale: tuple[float, float, float]) -> Matrix:
    """A transform with rotation about a skew axis."""
    return Matrix.LocRotScale(
        location, Matrix.Rotation(angle, 4, Vector((1.0, 2.0, 0.5)).normalized()).to_quaternion(), scale
    )
