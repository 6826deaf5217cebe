"""Composed texts of the panel, in the language of the interface."""

import bpy

CONTEXT = "Jounce"


def worded(text: str, **values: object) -> str:
    """A translated text with values in the place of their names in braces."""
    return bpy.app.translations.pgettext_iface(text, CONTEXT).format(**values)
