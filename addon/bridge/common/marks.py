"""Marks on the data-blocks made by Jounce; names never decide about ownership.

A mark is a custom property, which survives renaming, copying, undo and reopening.
"""

import bpy

KEY = "jounce_made"

STAGE = "stage"
PREVIEW = "preview"
BAKE = "bake"
HOLDER = "holder"
COLLIDER = "collider"
SOUND = "sound"
LAW = "law"
SCULPT = "sculpt"
CLOTH = "cloth"


def put(block: bpy.types.ID, kind: str) -> None:
    """Marks a data-block as made by Jounce for one purpose."""
    block[KEY] = kind


def has(block: bpy.types.ID, kind: str) -> bool:
    """True if a data-block was made by Jounce for this purpose."""
    return block.get(KEY) == kind


def remove(block: bpy.types.ID) -> None:
    """From now on a data-block is the artist's."""
    if KEY in block:
        del block[KEY]
