"""Reads PO files of translators' tools: entries of `msgctxt`, `msgid` and `msgstr`."""

import ast

ANY = "*"
Messages = dict[tuple[str, str], str]
"""For each context and English text its translation, as Blender looks it up."""


def parse(text: str) -> Messages:
    """The translated entries; a text without context applies in any. Comments are ignored."""
    found: Messages = {}
    entry: dict[str, str] = {}
    field = ""
    for line in [*text.splitlines(), ""]:
        line = line.strip()
        if line.startswith("msg"):
            field, _, line = line.partition(" ")
            entry[field] = ""
        if line.startswith('"'):
            entry[field] += ast.literal_eval(line)
        elif not line and entry:
            if entry.get("msgid") and entry.get("msgstr"):
                found[entry.get("msgctxt", ANY), entry["msgid"]] = entry["msgstr"]
            entry = {}
    return found
