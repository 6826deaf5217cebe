"""Shape keys of a mesh that belong to a bake.

Blender allows no custom property on a single key. Names and digests of the shapes are recorded on the
data-block of all keys, and are copied and saved with the keys. A renamed key is recognised by its shape, a
sculpted key by its name; all other keys belong to the artist, whatever their names.
"""

import json
import re

import bpy
import numpy as np

from ...core.storage.cache import digest_of

# Custom property of the keys of a mesh: [name, digest] of each key of a bake.
RECORD = "jounce_keys"
NUMBER = re.compile(r"\.\d{3,}$")


def record(keys: bpy.types.Key, blocks: list[bpy.types.ShapeKey]) -> None:
    """Records keys as those of a bake."""
    keys[RECORD] = json.dumps([(block.name, digest(block)) for block in blocks])


def take_record(keys: bpy.types.Key | None) -> str | None:
    """Removes and returns the record; None without one."""
    return None if keys is None else keys.pop(RECORD, None)


def of(keys: bpy.types.Key | None) -> list[bpy.types.ShapeKey]:
    """The remaining keys of a mesh's bake, in order."""
    found = shapes(keys)
    return [block for block in keys.key_blocks if block.name in found] if found else []


def shapes(keys: bpy.types.Key | None) -> dict[str, str]:
    """The digests of a bake's remaining keys, by present name."""
    recorded = recorded_in(keys)
    there = {name: digest(keys.key_blocks[name]) for name, _ in recorded if name in keys.key_blocks}
    found = {name: shape for name, shape in recorded if there.get(name) == shape}
    lost = [(name, shape) for name, shape in recorded if name not in found]
    if not lost:
        return found
    others = {b.name: digest(b) for b in keys.key_blocks if b.name not in found and b != keys.reference_key}
    for name, shape in list(lost):
        renamed = next((other for other, now in others.items() if now == shape), None)
        if renamed is not None:
            found[renamed] = others.pop(renamed)
            lost.remove((name, shape))
    return found | {name: others[name] for name, _ in lost if name in others}


def refresh(keys: bpy.types.Key | None) -> None:
    """Records a bake's keys anew, with their present names and shapes."""
    if recorded_in(keys):
        keys[RECORD] = json.dumps(list(shapes(keys).items()))


def shorten_names(keys: bpy.types.Key) -> None:
    """Removes numbers from the names of a bake's keys, just recorded, once other keys no longer use the
    names.
    """
    kept = []
    for recorded, shape in recorded_in(keys):
        block, name = keys.key_blocks[recorded], NUMBER.sub("", recorded)
        if name not in keys.key_blocks:
            block.name = name
        kept.append((block.name, shape))
    keys[RECORD] = json.dumps(kept)


def paths(keys: bpy.types.Key) -> set[str]:
    """The animation paths of a bake's keys, including those of deleted keys."""
    gone = {name for name, _ in recorded_in(keys) if name not in keys.key_blocks}
    return {f'key_blocks["{bpy.utils.escape_identifier(name)}"].value' for name in gone.union(shapes(keys))}


def recorded_in(keys: bpy.types.Key | None) -> list[tuple[str, str]]:
    """Name and digest of each key of a bake; none for an unreadable record."""
    try:
        return [] if keys is None else [(name, shape) for name, shape in json.loads(keys.get(RECORD, "[]"))]
    except (TypeError, ValueError):
        return []


def digest(block: bpy.types.ShapeKey) -> str:
    """Hash of the shape of a key."""
    points = np.empty(3 * len(block.points), np.float32)
    block.points.foreach_get("co", points)
    return digest_of(points)
