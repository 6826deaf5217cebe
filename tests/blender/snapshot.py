"""Everything in Blender's API about an object, as plain data, for comparing two states with `==`.

Arrays become bytes: equal snapshots are equal to the last bit.
"""

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

# Caches and results of the evaluation, which change without a change for the artist.
IGNORED = frozenset(
    [
        "rna_type",
        "bl_rna",
        "is_evaluated",
        "session_uid",
        "users",
        "tag",
        "is_runtime_data",
        "last_slot_identifier",
        "execution_time",
        "bound_box",
        "dimensions",
    ]
)
COLLECTIONS = (
    "objects",
    "meshes",
    "shape_keys",
    "actions",
    "armatures",
    "materials",
    "node_groups",
    "images",
    "texts",
)


def snapshot(obj: bpy.types.Object) -> dict[str, Any]:
    """The state of an object: itself, mesh, keys, modifiers, groups, materials, constraints, animation."""
    return {
        "object": properties(obj),
        "custom": custom_properties(obj),
        "mesh": mesh_state(obj.data),
        "keys": keys_state(obj.data.shape_keys),
        "modifiers": [properties(modifier) for modifier in obj.modifiers],
        "constraints": [properties(constraint) for constraint in obj.constraints],
        "groups": [properties(group) for group in obj.vertex_groups],
        "materials": [name_of(slot.material) for slot in obj.material_slots],
        "animation": animation_state(obj.animation_data),
    }


def file_state() -> dict[str, list[str]]:
    """The names of all data-blocks of kinds that a bake could leave behind."""
    names = {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in COLLECTIONS}
    return names | {"frame": [str(scene.frame_current_final) for scene in bpy.data.scenes]}


def differences(before: Any, after: Any, path: str = "") -> list[str]:
    """Differences of two snapshots, as readable lines; none for equal ones."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = sorted(set(before) | set(after), key=str)
        return [
            line for key in keys for line in differences(before.get(key), after.get(key), f"{path}/{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [line for index, (a, b) in pairs for line in differences(a, b, f"{path}/{index}")]
    return [] if before == after else [f"{path}: {str(before)[:80]} became {str(after)[:80]}"]


def properties(struct: bpy.types.bpy_struct) -> dict[str, Any]:
    """The values of all plain properties of a struct; pointers to data-blocks by name."""
    state = {}
    for prop in struct.bl_rna.properties:
        name = prop.identifier
        if name in IGNORED or prop.type == "COLLECTION" or name == "jounce":
            continue
        value = getattr(struct, name, None)
        if prop.type == "POINTER":
            state[name] = name_of(value) if isinstance(value, bpy.types.ID) else None
        elif getattr(prop, "is_array", False):
            state[name] = np.array(value).tobytes()
        else:
            state[name] = value if not isinstance(value, set) else sorted(value)
    return state


def custom_properties(block: bpy.types.ID) -> dict[str, str]:
    """Custom properties, those of add-ons included."""
    found = {key: repr(block[key]) for key in block.keys()}  # noqa: SIM118
    # Reading `block.jounce` would create data.
    if "jounce" in block.bl_rna.properties and block.is_property_set("jounce"):
        found["jounce is set"] = "True"
    return found


def mesh_state(mesh: bpy.types.Mesh) -> dict[str, Any]:
    """Every attribute layer of a mesh, its weights, materials and plain properties."""
    weights = [(v.index, g.group, g.weight) for v in mesh.vertices for g in v.groups]
    return {
        "properties": properties(mesh),
        "custom": custom_properties(mesh),
        "attributes": {a.name: (a.domain, a.data_type, attribute_bytes(a)) for a in mesh.attributes},
        "loops": array(mesh.loops, "vertex_index", np.int32),
        "polygons": array(mesh.polygons, "loop_start", np.int32),
        "edges": array(mesh.edges, "vertices", np.int32, 2),
        "coordinates": array(mesh.vertices, "co", np.float32, 3),
        "weights": weights,
        "materials": [name_of(material) for material in mesh.materials],
        "animation": animation_state(mesh.animation_data),
    }


def attribute_bytes(attribute: bpy.types.Attribute) -> bytes:
    """The values of an attribute layer."""
    if attribute.name == ".select_edge" and attribute.data_type != "BOOLEAN":
        # Blender 5.0 gives new edges undefined pairs of numbers there.
        return b""
    field, kind, width = {
        "FLOAT": ("value", np.float32, 1),
        "INT": ("value", np.int32, 1),
        "BOOLEAN": ("value", bool, 1),
        "INT8": ("value", np.int32, 1),
        "FLOAT_VECTOR": ("vector", np.float32, 3),
        "FLOAT2": ("vector", np.float32, 2),
        "FLOAT_COLOR": ("color", np.float32, 4),
        "BYTE_COLOR": ("color", np.float32, 4),
        "INT32_2D": ("value", np.int32, 2),
        "INT16_2D": ("value", np.int32, 2),
    }.get(attribute.data_type, (None, None, 0))
    return b"" if field is None else array(attribute.data, field, kind, width)


def array(items: Any, field: str, kind: type, width: int = 1) -> bytes:
    """One property of all items of a collection."""
    values = np.empty(len(items) * width, kind)
    items.foreach_get(field, values)
    return values.tobytes()


def keys_state(keys: bpy.types.Key | None) -> dict[str, Any] | None:
    """Shape keys: their order, settings, shapes and animation."""
    if keys is None:
        return None
    return {
        "properties": properties(keys),
        "blocks": [
            properties(block)
            | {"relative": block.relative_key.name, "shape": array(block.points, "co", np.float32, 3)}
            for block in keys.key_blocks
        ],
        "animation": animation_state(keys.animation_data),
    }


def animation_state(data: bpy.types.AnimData | None) -> dict[str, Any] | None:
    """The action of a data-block with all its keys, its drivers and its NLA tracks."""
    if data is None:
        return None
    return {
        "properties": properties(data),
        "action": action_state(data.action),
        "drivers": [(d.data_path, d.array_index, d.driver.expression) for d in data.drivers],
        "tracks": [
            properties(track) | {"strips": [properties(strip) for strip in track.strips]}
            for track in data.nla_tracks
        ],
    }


def action_state(action: bpy.types.Action | None) -> dict[str, Any] | None:
    """All F-curves of an action with their keys."""
    if action is None:
        return None
    return {"name": action.name, "curves": [curve_state(curve) for curve in fcurves(action)]}


def fcurves(action: bpy.types.Action) -> Iterable[bpy.types.FCurve]:
    """The F-curves of an action, in all slots in versions with slots."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    strips = [strip for layer in action.layers for strip in layer.strips]
    return [curve for strip in strips for bag in strip.channelbags for curve in bag.fcurves]


def curve_state(curve: bpy.types.FCurve) -> tuple[Any, ...]:
    """Path and keys of an F-curve."""
    return curve.data_path, curve.array_index, array(curve.keyframe_points, "co", np.float32, 2)


def name_of(block: bpy.types.ID | None) -> str | None:
    """The name of a data-block."""
    return None if block is None else block.name_full
