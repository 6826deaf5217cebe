"""Finds all translatable texts of the extension, and prints those missing in a language.

    python messages.py [LANGUAGE]

Without a language all messages; with one (such as de) those missing in its file in `addon/translations`, in
the file's format. Sentences composed at run time are excluded: Blender cannot translate them.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Iterator
from inspect import get_annotations
from pathlib import Path

import bpy

Message = tuple[str, str]
"""Context and text, as Blender looks them up."""

SOURCES = Path(__file__).resolve().parents[2] / "addon"
ANY, OWN = "*", "Jounce"
# Text arguments of layouts.
SHOWN = frozenset(["text", "heading"])
# Methods with a text in the context of the shown item.
NAMED = frozenset(["operator", "menu", "prop"])


def all_messages(package: str) -> dict[Message, None]:
    """The messages of classes, drawn panels, the diagnosis, presets, parts and fits, in order, each once."""
    classes = importlib.import_module(f"{package}.registration").CLASSES
    fixes = importlib.import_module(f"{package}.bridge.body.diagnosis").FIXES
    found = [message for cls in classes for message in of_class(cls)]
    found += [message for path in sorted(SOURCES.glob("panels/*.py")) for message in of_source(path)]
    composed = (
        ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCES.glob("bridge/**/*.py"))
    )
    found += [message for tree in composed for message in of_composed(tree)]
    found += [(OWN, button) for button, _ in fixes.values()]
    presets = importlib.import_module(f"{package}.bridge.common.preset_files")
    parts = importlib.import_module(f"{package}.core.rig.part_settings").LABELS.values()
    reasons = (reason.value for reason in importlib.import_module(f"{package}.core.shot.fitting").Reason)
    found += [(OWN, name) for name in (*presets.SHIPPED, presets.OWN, *parts, *reasons)]
    return dict.fromkeys(message for message in found if message[1])


def of_class(cls: type) -> Iterator[Message]:
    """Label, description and properties of a registered class."""
    known = cls.bl_rna
    if issubclass(cls, bpy.types.Operator):
        group, name = cls.bl_idname.split(".")
        known = getattr(getattr(bpy.ops, group), name).get_rna_type()
        yield (cls.bl_translation_context, cls.bl_label)
        yield (ANY, known.description)
    elif issubclass(cls, (bpy.types.Panel, bpy.types.Menu)):
        yield (cls.bl_translation_context, cls.bl_label)
    own = {name for base in cls.__mro__ for name in get_annotations(base)}
    for prop in known.properties:
        if prop.identifier in own and is_shown(prop):
            yield (prop.translation_context, prop.name)
            yield (ANY, prop.description)
            for item in getattr(prop, "enum_items", ()):
                yield (prop.translation_context, item.name)
                yield (ANY, item.description)


def is_shown(prop: bpy.types.Property) -> bool:
    """True for a displayed property with a separate name."""
    return not prop.is_hidden and prop.type != "COLLECTION" and prop.name != prop.identifier


def of_source(path: Path) -> Iterator[Message]:
    """The constant texts for layouts in a file; those of buttons and menus are names of Jounce."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from of_composed(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        context = OWN if node.func.attr in NAMED else ANY
        for keyword in node.keywords:
            if keyword.arg in SHOWN and isinstance(keyword.value, ast.Constant):
                yield (context, keyword.value.value)


def of_composed(tree: ast.Module) -> Iterator[Message]:
    """The constant texts that are translated before values are put in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "worded":
            for known in ast.walk(node.args[0]):
                if isinstance(known, ast.Constant):
                    yield (OWN, known.value)


def entry(context: str, text: str) -> str:
    """A message in the format of a PO file, without its translation."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'msgid "{quoted}"', 'msgstr ""', ""]
    return "\n".join(lines if context == ANY else [f'msgctxt "{context}"', *lines])


def main() -> None:
    """Print the messages."""
    import extension

    package = extension.enable().__name__
    known: dict[Message, str] = {}
    if len(sys.argv) > 1:
        known = importlib.import_module(f"{package}.translations").languages()[sys.argv[1]]
    for context, text in all_messages(package):
        if (context, text) not in known:
            print(entry(context, text))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
