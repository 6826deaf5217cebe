"""Blender's preset files, read as plain values."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

Value = float | bool | str


def found(folders: Iterable[str]) -> dict[str, Path]:
    """The presets of several folders by displayed name; for equal names the earlier folder wins.

    Blender lists the artist's own folder before those of extensions.
    """
    named: dict[str, Path] = {}
    for folder in folders:
        for path in Path(folder).glob("*.py"):
            named.setdefault(path.stem.replace("_", " ").title(), path)
    return dict(sorted(named.items()))


def values(text: str, kinds: Mapping[str, type]) -> dict[str, Value]:
    """The plain values in lines `op.name = value` of a preset, of the kind that each name has."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return {}
    given: dict[str, Value] = {}
    for statement in statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            name, value = statement.targets[0].attr, statement.value
            if name in kinds and isinstance(value, ast.Constant) and fits(value.value, kinds[name]):
                given[name] = kinds[name](value.value)
    return given


def fits(value: object, kind: type) -> bool:
    """True if a value is of a kind; whole numbers are numbers too."""
    return isinstance(value, kind) or (kind is float and isinstance(value, int))
