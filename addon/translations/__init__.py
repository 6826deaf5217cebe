"""The interface in other languages: one PO file for each, named after the language.

Blender looks texts up while it draws; code shows them in English and knows nothing of this.
"""

from pathlib import Path

import bpy

from ..core.po import Messages, parse

FOLDER = Path(__file__).parent


def languages() -> dict[str, Messages]:
    """For each language its texts."""
    return {path.stem: parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.po"))}


def register() -> None:
    """Gives Blender the texts."""
    bpy.app.translations.register(__name__, languages())


def unregister() -> None:
    """Undoes `register`."""
    bpy.app.translations.unregister(__name__)
