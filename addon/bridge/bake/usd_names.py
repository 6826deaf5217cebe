"""Names in Blender's USD files, where different names may become equal."""

import unicodedata
from collections.abc import Iterable, Iterator

import bpy

from ...core.common.user_error import UserError
from ..common import compat

# Character classes, beside letters, allowed at the start of a name, and later in the name.
FIRST = frozenset(["Nl"])
INSIDE = frozenset(["Nl", "Nd", "Mn", "Mc", "Pc"])
DIGITS = frozenset("0123456789")


def refuse_alike(objects: list[bpy.types.Object], is_rigged: bool) -> None:
    """Refuses two names that become equal in USD: of objects, in a rigged file also of bones and keys."""
    for owner, kind, names in groups(objects, is_rigged):
        known: dict[str, str] = {}
        for name in names:
            other = known.setdefault(written(name), name)
            if other != name:
                raise UserError(
                    f"USD has one name, {written(name)}, for the {kind} {other} and {name}{owner}; "
                    "rename one of them."
                )


def groups(objects: list[bpy.types.Object], is_rigged: bool) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Names at the same level of a file: the owner, the kind of the named items, and the names."""
    if not compat.USD_NUMBERS_OBJECTS:
        for parent in dict.fromkeys(obj.parent for obj in objects):
            yield "", "objects", [obj.name for obj in objects if obj.parent == parent]
    for obj in objects if is_rigged else ():
        if obj.type == "ARMATURE":
            yield f" of {obj.name}", "bones", obj.data.bones.keys()
        elif obj.data.shape_keys is not None:
            yield f" of {obj.name}", "shape keys", obj.data.shape_keys.key_blocks.keys()


def written(name: str) -> str:
    """A name in a file: letters and digits of any script, and a line for each other character."""
    if compat.USD_KEEPS_FIRST_DIGITS and name[:1] in DIGITS:
        name = f"_{name}"
    kinds = [unicodedata.category(char) for char in name]
    kept = [kind[0] == "L" or kind in (INSIDE if index else FIRST) for index, kind in enumerate(kinds)]
    return "".join(char if keeps else "_" for char, keeps in zip(name, kept, strict=True))
