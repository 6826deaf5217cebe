"""Which shape keys of a mesh are a bake's.

Blender lets nothing be written on a single key, so their names and digests of their shapes stand on the data
block of all keys of a mesh, and are copied and saved with it. A key that was renamed is known by its shape,
one that was sculpted by its name; whatever else there is, called as it may be, is the artist's.
"""

import json
import re

import bpy
import numpy as np

from ..core.cache import digest_of

# Custom property of the keys of a mesh: [name, digest] of each key of a bake.
RECORD = "jounce_keys"
NUMBER = re.compile(r"\.\d{3,}$")
VALUE = re.compile(r'key_blocks\["(.*)"\]\.value')


def record(keys: bpy.types.Key, blocks: list[bpy.types.ShapeKey]) -> None:
    """Remembers keys as those of a bake."""
    keys[RECORD] = json.dumps([(block.name, digest(block)) for block in blocks])


def take_record(keys: bpy.types.Key | None) -> str | None:
    """Takes the record off, and gives it; None without one."""
    return None if keys is None else keys.pop(RECORD, None)


def of(keys: bpy.types.Key | None) -> list[bpy.types.ShapeKey]:
    """The keys of a mesh that a bake made and that are still there, in order."""
    recorded = recorded_in(keys)
    if not recorded:
        return []
    digests = {block.name: digest(block) for block in keys.key_blocks if block != keys.reference_key}
    found = {name for name, shape in recorded if digests.get(name) == shape}
    lost = [(name, shape) for name, shape in recorded if name not in found]
    unnamed = []
    for name, shape in lost:
        renamed = next((n for n, other in digests.items() if other == shape and n not in found), None)
        found.add(renamed) if renamed is not None else unnamed.append(name)
    found |= {name for name in unnamed if name in digests}
    return [block for block in keys.key_blocks if block.name in found]


def shorten_names(keys: bpy.types.Key) -> None:
    """Takes the numbers off the names of a bake's keys that others do not need any more."""
    own = of(keys)
    for block in own:
        name = NUMBER.sub("", block.name)
        if name not in keys.key_blocks:
            block.name = name
    record(keys, own)


def paths(keys: bpy.types.Key) -> set[str]:
    """The paths by which a bake's animation moves its keys, of those that are not there any more too."""
    own = {block.name for block in of(keys)}
    gone = {name for name, _ in recorded_in(keys) if name not in keys.key_blocks}
    return {f'key_blocks["{bpy.utils.escape_identifier(name)}"].value' for name in own | gone}


def recorded_in(keys: bpy.types.Key | None) -> list[list[str]]:
    """Name and digest of each key that a bake made; none where the record cannot be read."""
    try:
        return json.loads(keys[RECORD]) if keys is not None and RECORD in keys else []
    except (TypeError, ValueError):
        return []


def digest(block: bpy.types.ShapeKey) -> str:
    """Hash of the shape of a key."""
    points = np.empty(3 * len(block.points), np.float32)
    block.points.foreach_get("co", points)
    return digest_of(points)
