"""All contents of a file as plain data, for comparison with `snapshot.differences`.

While `snapshot` reads one mesh, this walks over all data-blocks of all kinds by Blender's own description of
them, with raw ID properties. Anything left by Jounce on a bystander shows up automatically.
"""

import contextlib
from typing import Any

import bpy
import numpy as np
import snapshot

# Data of Blender's windows and tools, not of an artist's scene.
IGNORED_KINDS = frozenset(
    [
        "all_ids",
        "brushes",
        "fonts",
        "linestyles",
        "paint_curves",
        "palettes",
        "screens",
        "window_managers",
        "workspaces",
    ]
)
# Arrays read in bulk by `snapshot.mesh_state`, results of the evaluation, and data equal in all files.
IGNORED = snapshot.IGNORED | {
    "attributes",
    "bl_idname",
    "children",
    "corner_normals",
    "data",
    "depsgraph",
    "edges",
    "eevee",
    "id_data",
    "info",
    "is_dirty",
    "is_outdated",
    "keyframe_points",
    "keying_sets_all",
    "linear_colorspace_settings",
    "loop_triangle_polygons",
    "loop_triangles",
    "loops",
    "original",
    "override_library",
    "points",
    "polygon_normals",
    "polygons",
    "sequence_editor",
    "sequencer_colorspace_settings",
    "session_uuid",
    "shading",
    "texspace_location",
    "texspace_size",
    "tool_settings",
    "uv_layers",
    "vertex_normals",
    "vertices",
}
DEEPEST = 8

_properties: dict[str, list[bpy.types.Property]] = {}


def whole_file(folder: str = "") -> dict[str, Any]:
    """Every data-block by kind and name, the selection of each view layer, and the modes.

    folder: folder of a trial's files; its paths compare as equal between trials.
    """
    kinds = {kind: getattr(bpy.data, kind) for kind in collections() if kind not in IGNORED_KINDS}
    state: dict[str, Any] = {
        kind: {block.name_full: Walk(folder).block(block) for block in blocks}
        for kind, blocks in kinds.items()
    }
    state["selection"] = {
        scene.name: [selection(layer) for layer in scene.view_layers] for scene in bpy.data.scenes
    }
    return state


def collections() -> list[str]:
    """The names of a file's collections of data-blocks."""
    return [prop.identifier for prop in bpy.data.bl_rna.properties if prop.type == "COLLECTION"]


def selection(layer: bpy.types.ViewLayer) -> dict[str, Any]:
    """Selected, hidden and active objects of a view layer."""
    objects = sorted(layer.objects, key=lambda obj: obj.name_full)
    return {
        "active": snapshot.name_of(layer.objects.active),
        "selected": [obj.name_full for obj in objects if obj.select_get(view_layer=layer)],
        "hidden": [obj.name_full for obj in objects if obj.hide_get(view_layer=layer)],
        "modes": {obj.name_full: obj.mode for obj in objects if obj.mode != "OBJECT"},
    }


class Walk:
    """Walks over a data-block and its owned data."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seen: set[tuple[int, str]] = set()

    def block(self, block: bpy.types.ID) -> dict[str, Any]:
        """The state of a data-block; for a mesh with its layers, for shape keys with their shapes."""
        state = self.struct(block, 0)
        if isinstance(block, bpy.types.Mesh):
            state["layers"] = layers(block)
        return state

    def struct(self, struct: bpy.types.bpy_struct, depth: int) -> dict[str, Any]:
        """The state of a struct."""
        identity = (struct.as_pointer(), struct.bl_rna.identifier)
        if identity in self._seen or depth > DEEPEST:
            return {"named": getattr(struct, "name", "")}
        self._seen.add(identity)
        state: dict[str, Any] = {"properties of add-ons": custom(struct)}
        if isinstance(struct, bpy.types.FCurve):
            state["keys"] = keys(struct)
        if isinstance(struct, bpy.types.ShapeKey):
            state["shape"] = snapshot.array(struct.points, "co", np.float32, 3)
        for prop in properties(struct):
            state[prop.identifier] = self.value(struct, prop, depth)
        if isinstance(struct, bpy.types.Object):
            state["data"] = snapshot.name_of(struct.data)
        return state

    def value(self, struct: bpy.types.bpy_struct, prop: bpy.types.Property, depth: int) -> Any:
        """The value of a property; for a pointer to another data-block its name."""
        value = getattr(struct, prop.identifier, None)
        if prop.type == "COLLECTION":
            items = [self.pointed(item, depth) for item in value]
            return items if not items or isinstance(items[0], dict) else sorted(items)
        if prop.type == "POINTER":
            return self.pointed(value, depth)
        if getattr(prop, "is_array", False):
            return np.array(value).tobytes()
        if isinstance(value, str) and self._folder:
            return value.replace(self._folder, "<folder>")
        return sorted(value) if isinstance(value, set) else repr(value)

    def pointed(self, value: bpy.types.bpy_struct | None, depth: int) -> Any:
        """A data-block by its name, other data unchanged."""
        if value is None:
            return ""
        is_own = not isinstance(value, bpy.types.ID) or value.is_embedded_data
        return self.struct(value, depth + 1) if is_own else value.name_full


def layers(mesh: bpy.types.Mesh) -> dict[str, Any]:
    """The arrays of a mesh: topology, attributes and the weights of its vertices."""
    return {
        "corners": snapshot.array(mesh.loops, "vertex_index", np.int32),
        "faces": snapshot.array(mesh.polygons, "loop_start", np.int32),
        "edges": snapshot.array(mesh.edges, "vertices", np.int32, 2),
        "attributes": {layer.name: attribute(layer) for layer in mesh.attributes},
        "weights": [(v.index, g.group, g.weight) for v in mesh.vertices for g in v.groups],
    }


def attribute(layer: bpy.types.Attribute) -> tuple[str, str, bytes]:
    """Place, type and values of an attribute."""
    return layer.domain, layer.data_type, snapshot.attribute_bytes(layer)


def properties(struct: bpy.types.bpy_struct) -> list[bpy.types.Property]:
    """The compared properties of a struct; equal for all of a type, and computed once."""
    kind = struct.bl_rna.identifier
    if kind not in _properties:
        known = struct.bl_rna.properties
        _properties[kind] = [
            prop
            for prop in known
            if prop.identifier not in IGNORED and is_blenders(prop) and not is_passing(struct, prop)
        ]
    return _properties[kind]


def is_blenders(prop: bpy.types.Property) -> bool:
    """True for a property of an add-on, which reading would create."""
    kind = getattr(prop, "fixed_type", None)
    is_group = kind is not None and kind.base is not None and kind.base.identifier == "PropertyGroup"
    return not is_group and not prop.is_runtime


def is_passing(struct: bpy.types.bpy_struct, prop: bpy.types.Property) -> bool:
    """True for a property without lasting meaning.

    Some arrays of a mesh are made by Blender on reading; relative shape keys have no frame.
    """
    if isinstance(struct, bpy.types.Mesh):
        return prop.type in ("COLLECTION", "POINTER")
    return isinstance(struct, bpy.types.ShapeKey) and prop.identifier == "frame"


def custom(struct: bpy.types.bpy_struct) -> dict[str, Any]:
    """The raw ID properties of a struct, those of add-ons included."""
    groups = {}
    if hasattr(struct, "bl_system_properties_get"):
        system = struct.bl_system_properties_get()
        # A created group stays even if a struct has none of its properties any more.
        groups["system"] = {} if system is None else {key: plain(system[key]) for key in system.keys()}  # noqa: SIM118
    with contextlib.suppress(TypeError):
        groups["custom"] = {key: plain(struct[key]) for key in struct.keys()}  # noqa: SIM118
    if isinstance(struct, bpy.types.Object) and (struct.library or struct.override_library):
        # To override an object, Blender itself reads all properties, which creates empty groups.
        groups = {name: without_blanks(group) for name, group in groups.items()}
    return {name: group for name, group in groups.items() if group}


def without_blanks(value: Any) -> Any:
    """Plain data without empty parts."""
    if not isinstance(value, dict):
        return value
    kept = {key: without_blanks(item) for key, item in value.items()}
    return {key: item for key, item in kept.items() if item not in ({}, [])}


def plain(value: Any) -> Any:
    """An ID property as plain data."""
    if hasattr(value, "to_dict"):
        return {key: plain(value[key]) for key in value.keys()}  # noqa: SIM118
    if hasattr(value, "to_list"):
        return value.to_list()
    if isinstance(value, bpy.types.ID):
        return value.name_full
    return [plain(item) for item in value] if isinstance(value, list) else repr(value)


def keys(curve: bpy.types.FCurve) -> list[bytes]:
    """The keys of an F-curve with their handles."""
    fields = ("co", "handle_left", "handle_right")
    return [snapshot.array(curve.keyframe_points, field, np.float32, 2) for field in fields]
