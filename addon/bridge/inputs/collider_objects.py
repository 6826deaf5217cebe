"""Collider objects: adding objects to a body's collection, and making new ones."""

import bpy
import numpy as np

from ...core.body.colliders import Kind
from ...core.rig import bone_capsules
from ..body.bodies import BodyScene
from ..common import marks, registry
from ..loads import colliders
from ..loads.bone_capsules import RestRig
from ..rig import bone_transforms, meshes

# Width of a new ground relative to the body, and smallest width of an existing ground.
WIDE, WIDE_ENOUGH = 4.0, 2.0
# Largest share of a body's height below the ground, for sunken feet.
ABOVE = 0.1


def selected(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects that can be colliders of a body."""
    return [
        obj
        for obj in context.selected_objects
        if obj.type in colliders.TYPES and not registry.is_of_body(obj)
    ]


def put(host: bpy.types.Object, objects: list[bpy.types.Object], scene: bpy.types.Scene) -> None:
    """Adds objects to a body's colliders; they stay in their other collections."""
    state = host.jounce
    if state.collision_collection is None:
        made = bpy.data.collections.new(f"{host.name} Colliders")
        marks.put(made, marks.COLLIDER)
        scene.collection.children.link(made)
        state.collision_collection = made
    for obj in objects:
        if state.collision_collection.all_objects.get(obj.name) != obj:
            state.collision_collection.objects.link(obj)
    state.use_collisions = True


def level(objects: list[bpy.types.Object]) -> float:
    """Height of a ground below objects: 0, or the lowest point below 0."""
    places = [np.array(obj.matrix_world) for obj in objects]
    heights = [
        meshes.rest_points(obj) @ place[2, :3] + place[2, 3]
        for obj, place in zip(objects, places, strict=True)
    ]
    return min(0.0, *(float(height.min()) for height in heights))


def is_ground(obj: bpy.types.Object, shapes: list[np.ndarray], depsgraph: bpy.types.Depsgraph) -> bool:
    """True for a mesh below shapes (p, 3) in Blender units, and far wider."""
    points = colliders.shape(obj, depsgraph)[0]
    if obj.type != "MESH" or len(points) == 0:
        return False
    matrix = bone_transforms.world_matrix(obj, depsgraph)
    points, body = points @ matrix[:3, :3].T + matrix[:3, 3], np.concatenate(shapes)
    wide, needed = np.ptp(points[:, :2], axis=0).max(), WIDE_ENOUGH * np.ptp(body[:, :2], axis=0).max()
    return bool(wide >= needed and points[:, 2].min() <= body[:, 2].min() + ABOVE * np.ptp(body[:, 2]))


def ground(shapes: list[np.ndarray], level: float | None) -> bpy.types.Object:
    """A flat square below shapes (p, 3) in Blender units, in no collection and not rendered.

    level: height; None for the lowest point.
    """
    points = np.concatenate(shapes)
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.5 * WIDE * float(np.linalg.norm(high - low))
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(
        [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)]
    )
    obj = collider("Ground", mesh)
    obj.location = (*(0.5 * (low + high))[:2], low[2] if level is None else level)
    return obj


def fits(
    body: BodyScene, chosen: set[tuple[bpy.types.Object, str]] | None
) -> dict[int, bone_capsules.Capsule]:
    """Capsules of flesh around bones, (armature, name) each, or of all limbs; by their rows in the rig."""
    rig = RestRig(body.reader)
    heads, ends = rig.spans()
    # Tails from importers point elsewhere, and the children's centre is beside the flesh of some branching
    # bones.
    either = np.stack([ends, rig.ends()[1]])
    found = bone_capsules.fitted(body.surface.points, heads, either, body.surface.weights)
    if chosen is None:
        rows = bone_capsules.limbs(found, bone_transforms.bones_above(rig.movers))
    else:
        rows = [row for row, mover in enumerate(rig.movers) if (mover.armature, mover.bone) in chosen]
    return {row: found[row] for row in rows if found[row] is not None}


def of_bone(rig: RestRig, row: int, capsule: bone_capsules.Capsule) -> bpy.types.Object:
    """A capsule as a child of a bone."""
    mover = rig.movers[row]
    matrix = rig.matrix(mover.armature, mover.bone, mover.carrier)
    size = float(np.cbrt(abs(np.linalg.det(matrix[:3, :3])))) * rig.unit
    half = 0.5 * float(np.linalg.norm(capsule.end - capsule.start))
    points, faces = bone_capsules.mesh(half / size, capsule.radius / size)
    mesh = bpy.data.meshes.new(f"{mover.bone} Collider")
    mesh.from_pydata(points.tolist(), [], faces)
    obj = collider(mesh.name, mesh)
    obj.parent, obj.parent_type, obj.parent_bone = mover.armature, "BONE", mover.bone
    middle = np.append(0.5 * (capsule.start + capsule.end) / rig.unit, 1.0)
    obj.location = (np.linalg.inv(matrix) @ middle)[:3] - (
        0.0,
        mover.armature.data.bones[mover.bone].length,
        0.0,
    )
    obj.jounce_shape, obj.jounce_of_bone = Kind.CAPSULE.value, True
    return obj


def put_bones(body: BodyScene, capsules: dict[int, bone_capsules.Capsule], scene: bpy.types.Scene) -> None:
    """Adds capsules of bones to a body's colliders, in the place of earlier ones for the same bones."""
    put(body.host, [], scene)
    inside = body.host.jounce.collision_collection
    own = next((child for child in inside.children if marks.has(child, marks.COLLIDER)), None)
    if own is None:
        own = bpy.data.collections.new(f"{body.host.name} Capsules")
        marks.put(own, marks.COLLIDER)
        inside.children.link(own)
    bones = {(body.reader.movers[row].armature, body.reader.movers[row].bone) for row in capsules}
    remove([o for o in own.objects if marks.has(o, marks.COLLIDER) and (o.parent, o.parent_bone) in bones])
    for row, capsule in capsules.items():
        own.objects.link(of_bone(RestRig(body.reader), row, capsule))


def forget(host: bpy.types.Object) -> None:
    """Deletes the colliders made for a body, except those in use by other bodies."""
    own = host.jounce.collision_collection
    hosts = [other for other in registry.meshes() if registry.is_host(other) and other != host]
    others = {other.jounce.collision_collection for other in hosts} - {None}
    if own is None or own in others:
        return
    kept = {obj for other in others for obj in other.all_objects}
    remove([obj for obj in own.all_objects if marks.has(obj, marks.COLLIDER) and obj not in kept])
    for made in (*own.children, own):
        if marks.has(made, marks.COLLIDER) and made not in others and not made.all_objects:
            bpy.data.collections.remove(made)


def remove(objects: list[bpy.types.Object]) -> None:
    """Deletes made colliders, and their meshes unless used elsewhere."""
    meshes = {obj.data for obj in objects if marks.has(obj.data, marks.COLLIDER)}
    bpy.data.batch_remove(objects)
    bpy.data.batch_remove([mesh for mesh in meshes if mesh.users == 0])


def collider(name: str, mesh: bpy.types.Mesh) -> bpy.types.Object:
    """A collider object: drawn as lines, not rendered."""
    obj = bpy.data.objects.new(name, mesh)
    for block in (obj, mesh):
        marks.put(block, marks.COLLIDER)
    obj.display_type, obj.hide_render = "WIRE", True
    return obj
