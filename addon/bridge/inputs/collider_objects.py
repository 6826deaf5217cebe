"""Collider objects: adding objects to a body's collection, and making new ones."""

import bmesh
import bpy
import numpy as np

from ...core.body.colliders import Kind
from ...core.mesh import parts
from ...core.rig import bone_capsules, bone_hulls
from ..body.bodies import BodyScene
from ..common import marks, registry
from ..loads import colliders
from ..loads.bone_capsules import RestRig
from ..rig import bone_transforms, meshes

# Width of a new ground relative to the body, and smallest width of an existing ground.
WIDE, WIDE_ENOUGH = 4.0, 2.0
# Cells along the longest side of a hull.
HULL_CELLS = 20
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


def under(body: BodyScene, cloth: np.ndarray) -> list[tuple[int, bone_hulls.Hull]]:
    """Hulls of a body's flesh under clothes (k, 3), metres, at the binding; with their rows in the rig."""
    surface, found = body.surface, []
    part_of = parts.labels(surface.points, surface.triangles)
    used = np.unique(surface.triangles)
    pieces = [used[part_of[used] == number] for number in np.unique(part_of[used])]
    for row, points in bone_hulls.flesh(surface.points, surface.weights, pieces):
        made = None if body.reader.movers[row].armature is None else hull(points)
        kept = None if made is None else made.beside(cloth, surface.diagonal)
        if kept is not None:
            found.append((row, kept))
    return found


def hull(points: np.ndarray) -> bone_hulls.Hull | None:
    """The convex hull of points (p, 3), None for flat ones."""
    edited = bmesh.new()
    for point in points.tolist():
        edited.verts.new(point)
    result = bmesh.ops.convex_hull(edited, input=edited.verts, use_existing_faces=False)
    bmesh.ops.delete(edited, geom=list({*result["geom_interior"], *result["geom_unused"]}), context="VERTS")
    bmesh.ops.triangulate(edited, faces=edited.faces)
    bmesh.ops.recalc_face_normals(edited, faces=edited.faces)
    edited.verts.index_update()
    corners = np.array([[vertex.index for vertex in face.verts] for face in edited.faces]).reshape(-1, 3)
    places = np.array([vertex.co for vertex in edited.verts], float).reshape(-1, 3)
    is_flat = not len(corners) or not all(edge.is_manifold for edge in edited.edges)
    edited.free()
    return None if is_flat else bone_hulls.Hull(places, corners)


def of_hull(rig: RestRig, row: int, hull: bone_hulls.Hull) -> bpy.types.Object:
    """A hull as a child of a bone."""
    mover = rig.movers[row]
    matrix = rig.matrix(mover.armature, mover.bone, mover.carrier)
    length = mover.armature.data.bones[mover.bone].length
    inside = np.linalg.inv(matrix)
    points = hull.points / rig.unit @ inside[:3, :3].T + inside[:3, 3] - (0.0, length, 0.0)
    mesh = bpy.data.meshes.new(f"{mover.bone} Collider")
    mesh.from_pydata(points.tolist(), [], hull.faces.tolist())
    obj = collider(mesh.name, mesh)
    obj.parent, obj.parent_type, obj.parent_bone = mover.armature, "BONE", mover.bone
    obj.jounce_shape, obj.jounce_of_bone, obj.jounce_resolution = Kind.MESH.value, True, HULL_CELLS
    return obj


def put_hulls(
    body: BodyScene, hosts: list[bpy.types.Object], cloth: np.ndarray, context: bpy.types.Context
) -> None:
    """Lets clothes (k, 3) of a body, hosts, collide with hulls of its flesh, not shown in the viewport."""
    hulls = under(body, cloth)
    if not hulls:
        return
    first = hosts[0].jounce
    put(hosts[0], [], context.scene)
    for host in hosts:
        host.jounce.collision_collection = first.collision_collection
        host.jounce.use_collisions = True
    for row, each in hulls:
        obj = of_hull(RestRig(body.reader), row, each)
        first.collision_collection.objects.link(obj)
        obj.hide_set(True, view_layer=context.view_layer)


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
