"""The interface in other languages: one PO file for each, named after the language.

Blender looks texts up while it draws; code shows them in English and knows nothing of this.
"""

from collections.abc import Iterable
from inspect import get_annotations
from pathlib import Path

import bpy

from ..core.po import Messages, parse

FOLDER = Path(__file__).parent
PACKAGE = __package__.rpartition(".")[0]
# Names of ours are looked up in a context of their own: to Blender "Cut" and "Push" mean something else.
CONTEXT = "Jounce"


def in_own_context(classes: Iterable[type]) -> None:
    """Has the names of classes that are not registered yet, and of their properties, looked up in it."""
    for cls in classes:
        cls.bl_translation_context = CONTEXT
        for base in cls.__mro__:
            ours = base.__module__.startswith(PACKAGE)
            for setting in get_annotations(base).values() if ours else ():
                # Other annotations than those of properties are left alone.
                getattr(setting, "keywords", {}).setdefault("translation_context", CONTEXT)


def languages() -> dict[str, Messages]:
    """For each language its texts."""
    return {path.stem: parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.po"))}


def register() -> None:
    """Gives Blender the texts."""
    bpy.app.translations.register(__name__, languages())


def unregister() -> None:
    """Undoes `register`."""
    bpy.app.translations.unregister(__name__)
