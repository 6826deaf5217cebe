"""Hard parts of a mesh: the whole mesh, faces with a hard material, and marked faces.

The marks are an attribute of faces, 1 or 0, and survive editing, undo, copying and saving. The attribute is
called `jounce_rigid`, with a number if the artist uses this name; the mesh records the name.
"""

from collections.abc import Callable

import bmesh
import bpy
import jounce
import numpy as np

from ..common import nodes
from ..rig import meshes

ATTRIBUTE = "jounce_rigid"
# Custom property of a mesh: the name of the attribute.
NAME = "jounce_rigid"
# Domain and type of the attribute: Blender 4.2 cannot edit booleans.
PLACE, KIND = "FACE", "INT"


def hard_points(obj: bpy.types.Object) -> np.ndarray:
    """The hard vertices (p,) of a mesh."""
    mesh = obj.data
    if obj.jounce.is_rigid:
        return np.ones(len(mesh.vertices), bool)
    return corners_of(mesh, marked(mesh) | of_materials(obj, lambda material: material.jounce_rigid))


def hinted_points(obj: bpy.types.Object) -> np.ndarray:
    """The vertices (p,) of a mesh with all faces of a hard material, by the material's name."""
    faces = of_materials(obj, lambda material: jounce.SkeletonCore.is_hard_material(material.name))
    return corners_of(obj.data, faces) & ~corners_of(obj.data, ~faces)


def corners_of(mesh: bpy.types.Mesh, faces: np.ndarray) -> np.ndarray:
    """The vertices (p,) of some faces (f,)."""
    found = np.zeros(len(mesh.vertices), bool)
    if faces.any():
        lengths, corners = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.loops), np.int32)
        mesh.polygons.foreach_get("loop_total", lengths)
        mesh.loops.foreach_get("vertex_index", corners)
        found[corners[np.repeat(faces, lengths)]] = True
    return found


def of_materials(obj: bpy.types.Object, counts: Callable[[bpy.types.Material], bool]) -> np.ndarray:
    """The faces (f,) of a mesh with a material that counts."""
    slots = [slot.material is not None and counts(slot.material) for slot in obj.material_slots]
    if not any(slots):
        return np.zeros(len(obj.data.polygons), bool)
    slot_of = np.empty(len(obj.data.polygons), np.int32)
    obj.data.polygons.foreach_get("material_index", slot_of)
    # Blender shows indices beyond the last slot with the last material.
    return np.array(slots)[np.minimum(slot_of, len(slots) - 1)]


def marked(mesh: bpy.types.Mesh) -> np.ndarray:
    """The marked faces (f,) of a mesh outside of Edit Mode."""
    faces = np.zeros(len(mesh.polygons), np.int32)
    attribute = mesh.attributes.get(mesh.get(NAME, ""))
    if attribute is not None and (attribute.domain, attribute.data_type) == (PLACE, KIND):
        attribute.data.foreach_get("value", faces)
    return faces != 0


def mark(obj: bpy.types.Object, rigid: bool) -> int:
    """Marks or unmarks the selected faces of a mesh; returns their number."""
    meshes.bring_up_to_date(obj)
    mesh = obj.data
    chosen = np.empty(len(mesh.polygons), bool)
    mesh.polygons.foreach_get("select", chosen)
    if chosen.any() and (rigid or NAME in mesh):
        name = mesh[NAME] = mesh.get(NAME) or nodes.unused_name(mesh, ATTRIBUTE)
        if obj.mode == "EDIT":
            write_edited(mesh, name, chosen, rigid)
        else:
            put(mesh, name, np.where(chosen, rigid, marked(mesh)))
        mesh.update_tag()
    return int(chosen.sum())


def replace(obj: bpy.types.Object, faces: np.ndarray) -> None:
    """Marks exactly these faces (f,) of a mesh outside of Edit Mode."""
    mesh = obj.data
    if not faces.any():
        forget(obj)
    elif not np.array_equal(faces, marked(mesh)):
        name = mesh[NAME] = mesh.get(NAME) or nodes.unused_name(mesh, ATTRIBUTE)
        put(mesh, name, faces)
        mesh.update_tag()


def put(mesh: bpy.types.Mesh, name: str, faces: np.ndarray) -> None:
    """Writes the marks of all faces (f,) of a mesh outside of Edit Mode."""
    attribute = mesh.attributes.get(name) or mesh.attributes.new(name, KIND, PLACE)
    attribute.data.foreach_set("value", faces.astype(np.int32))


def write_edited(mesh: bpy.types.Mesh, name: str, chosen: np.ndarray, rigid: bool) -> None:
    """Gives faces of a mesh in Edit Mode a value of the attribute."""
    edited = bmesh.from_edit_mesh(mesh)
    layer = edited.faces.layers.int.get(name) or edited.faces.layers.int.new(name)
    edited.faces.ensure_lookup_table()
    for face in np.flatnonzero(chosen).tolist():
        edited.faces[face][layer] = rigid
    bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)


def forget(obj: bpy.types.Object) -> None:
    """Removes all marks from a local mesh without other users."""
    mesh = obj.data
    if mesh.library is not None or meshes.sharer(obj) is not None:
        return
    name = mesh.pop(NAME, "")
    if obj.mode == "EDIT":
        edited = bmesh.from_edit_mesh(mesh)
        layer = edited.faces.layers.int.get(name)
        if layer is not None:
            edited.faces.layers.int.remove(layer)
            bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)
    else:
        nodes.remove_attributes(mesh, [name])
