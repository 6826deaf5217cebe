"""Reads render meshes at rest, and refuses meshes unfit for reading or baking."""

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from ...core.common.user_error import UserError
from ...core.mesh import hidden_faces, shares
from ..common import linked_mesh_proxy


def refuse_unusable(obj: bpy.types.Object) -> None:
    """Refuses an object that cannot be part of a body, with a sentence about the remedy."""
    refuse_foreign(obj)
    refuse_edited(obj)
    mesh = obj.data
    sharing = sharer(obj)
    if sharing is not None and not linked_mesh_proxy.is_foreign(mesh):
        raise UserError(
            f"{obj.name} shares its mesh with {sharing.name}, which would get the same shape keys; "
            "make it a single user (Object > Relations > Make Single User)."
        )
    if len(mesh.vertices) == 0:
        raise UserError(f"{obj.name} has no vertices.")
    keys = mesh.shape_keys
    if keys is not None and not keys.use_relative:
        raise UserError(
            f"{obj.name} has absolute shape keys, which allow no further keys; switch them to Relative."
        )
    finite = np.isfinite(rest_points(obj)).all(axis=1)
    if not finite.all():
        raise UserError(
            f"Vertex {int(np.argmin(finite))} of {obj.name} is at no finite place; remove or move it."
        )


def sharer(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Another object with the same mesh, None without one."""
    if obj.data.users < 2:
        return None
    return next((other for other in bpy.data.objects if other.data == obj.data and other != obj), None)


def refuse_flat(obj: bpy.types.Object) -> None:
    """Refuses an object scaled to zero in the current frame, in which no binding is possible."""
    matrix = np.array(obj.matrix_world)
    if not np.isfinite(matrix).all() or np.linalg.matrix_rank(matrix[:3, :3]) < 3:
        raise UserError(
            f"{obj.name} is scaled to nothing; give all three scales a value other than zero, or go to a "
            "frame where they have one."
        )


def refuse_edited(obj: bpy.types.Object) -> None:
    """Refuses a mesh in Edit Mode, with edits not yet in its vertices."""
    if obj.mode == "EDIT":
        raise UserError(f"{obj.name} is in Edit Mode; leave it first, to bring its vertices up to date.")


def bring_up_to_date(obj: bpy.types.Object) -> None:
    """Updates a mesh in Edit Mode with its edits and selection; the mesh stays in Edit Mode."""
    if obj.mode == "EDIT":
        obj.update_from_editmode()


def refuse_hidden(obj: bpy.types.Object) -> None:
    """Refuses a hidden mesh, which Blender supports in Object Mode only."""
    if not obj.visible_get():
        raise UserError(f"{obj.name} is hidden, so it can be neither edited nor painted; show it first.")


def refuse_foreign(obj: bpy.types.Object) -> None:
    """Refuses objects other than meshes, and objects that this file cannot change."""
    if obj.type != "MESH":
        raise UserError(f"{obj.name} is not a mesh.")
    if obj.library is not None:
        raise UserError(
            f"{obj.name} is linked from {bpy.path.basename(obj.library.filepath)}; make a library override "
            "of it first (Make Library Override in the panel Jounce), or make it local."
        )


def refuse_unpaintable(obj: bpy.types.Object) -> None:
    """Refuses a mesh whose vertex groups would not be saved in this file."""
    if linked_mesh_proxy.is_foreign(obj.data):
        raise UserError(
            f"The mesh of {obj.name} is linked from another file, so it cannot be painted here; paint it "
            "there, or make the mesh local (Diagnosis has a button)."
        )


def vertex_count(obj: bpy.types.Object) -> int:
    """Number of the mesh's own vertices."""
    return len(obj.data.vertices)


def rest_points(obj: bpy.types.Object) -> np.ndarray:
    """Base coordinates (p, 3) f64 in object space: of the reference shape key if there is one."""
    mesh = obj.data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    if mesh.shape_keys is not None:
        mesh.shape_keys.reference_key.points.foreach_get("co", flat)
    elif mesh.is_editmode:
        # Attributes then belong to the edited mesh, which has no position attribute.
        mesh.vertices.foreach_get("co", flat)
    else:
        mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def evaluated_points(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """Coordinates (p, 3) f64 of the evaluated mesh in object space."""
    mesh = obj.evaluated_get(depsgraph).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def triangles(obj: bpy.types.Object, flipped: bool) -> np.ndarray:
    """Vertex indices (q, 3) i64 of the triangles; flipped for mirrored objects, which keeps the outside."""
    mesh = obj.data
    mesh.calc_loop_triangles()
    flat = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", flat)
    corners = flat.reshape(-1, 3).astype(np.int64)
    return corners[:, ::-1].copy() if flipped else corners


def hidden_faces_of(obj: bpy.types.Object) -> np.ndarray:
    """The faces (f,) bool of a mesh never shown according to the last build; none if this holds for all."""
    count = len(obj.data.polygons)
    hidden = hidden_faces.unpacked(obj.jounce.hidden_faces, count)
    return np.zeros(count, bool) if hidden.all() else hidden


def hidden_faces_sentence(obj: bpy.types.Object) -> str:
    """The number of a mesh's faces never shown according to the last build; empty for none."""
    hidden = hidden_faces_of(obj)
    if not hidden.any():
        return ""
    faces = f"{np.count_nonzero(hidden)} of {len(hidden)} faces of {obj.name}"
    return f"{faces} are never shown, so they are no flesh."


def following(obj: bpy.types.Object) -> np.ndarray | None:
    """The shares (p,) of the vertices that follow another mesh according to the last build; None without."""
    found = shares.unpacked(obj.jounce.following, vertex_count(obj))
    return found if found.any() else None


def flesh_triangles(obj: bpy.types.Object, flipped: bool) -> np.ndarray:
    """The triangles (q, 3) i64 of the visible faces without a vertex that follows another mesh."""
    corners, hidden, follows = triangles(obj, flipped), hidden_faces_of(obj), following(obj)
    kept = np.ones(len(corners), bool)
    if hidden.any():
        faces = np.empty(len(corners), np.int32)
        obj.data.loop_triangles.foreach_get("polygon_index", faces)
        kept &= ~hidden[faces]
    if follows is not None:
        kept &= (follows[corners] == 0.0).all(axis=1)
    return corners[kept]


def stands(obj: bpy.types.Object) -> np.ndarray | None:
    """Representative (p,) of each vertex: itself, or for hidden vertices the nearest visible one; None for no
    hidden vertex.
    """
    hidden = hidden_faces_of(obj)
    if not hidden.any():
        return None
    lengths, corners = np.empty(len(hidden), np.int32), np.empty(len(obj.data.loops), np.int32)
    obj.data.polygons.foreach_get("loop_total", lengths)
    obj.data.loops.foreach_get("vertex_index", corners)
    of_hidden, points = np.repeat(hidden, lengths), rest_points(obj)
    shown = np.unique(corners[~of_hidden])
    found = np.arange(len(points))
    unseen = np.setdiff1d(corners[of_hidden], shown)
    found[unseen] = shown[nearest(points[shown], points[unseen])]
    return found


def nearest(points: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The index (k,) of the point (p, 3) nearest to each place (k, 3)."""
    tree = KDTree(len(points))
    for index, point in enumerate(points):
        tree.insert(point, index)
    tree.balance()
    return np.array([tree.find(place)[1] for place in places], np.int64)


def group_weights(obj: bpy.types.Object, mesh: bpy.types.Mesh | None = None) -> np.ndarray:
    """Weights (p, g) f64 of all vertex groups of an object, zero for vertices outside of a group.

    mesh: an evaluated mesh of the object, by default its own.
    """
    vertices = obj.data.vertices if mesh is None else mesh.vertices
    weights = np.zeros((len(vertices), len(obj.vertex_groups)))
    # Blender has no faster way than a loop over all vertices; the result is kept.
    entries = [(v.index, g.group, g.weight) for v in vertices for g in v.groups]
    if entries:
        vertex, group, weight = (np.array(column) for column in zip(*entries, strict=True))
        known = group < weights.shape[1]
        weights[vertex[known], group[known]] = weight[known]
    return weights
