"""The interface in other languages: one PO file per language, with its name.

Blender translates texts while drawing; the code contains English alone and needs nothing from here.
"""

from collections.abc import Iterable
from inspect import get_annotations
from pathlib import Path

import bpy

from ..core.common.po import Messages, parse

FOLDER = Path(__file__).parent
PACKAGE = __package__.rpartition(".")[0]
# Names of ours are looked up in a context of their own: to Blender "Cut" and "Push" mean something else.
CONTEXT = "Jounce"


def in_own_context(classes: Iterable[type]) -> None:
    """Sets the translation context of classes before their registration, and of their properties."""
    for cls in classes:
        cls.bl_translation_context = CONTEXT
        for base in cls.__mro__:
            ours = base.__module__.startswith(PACKAGE)
            for setting in get_annotations(base).values() if ours else ():
                # Annotations other than properties stay unchanged.
                getattr(setting, "keywords", {}).setdefault("translation_context", CONTEXT)


def languages() -> dict[str, Messages]:
    """The texts of each language."""
    return {path.stem: parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.po"))}


def register() -> None:
    """Gives Blender the texts."""
    bpy.app.translations.register(__name__, languages())


def unregister() -> None:
    """Undoes `register`."""
    bpy.app.translations.unregister(__name__)
