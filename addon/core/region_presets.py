"""Blender's preset files of an operator, read as plain values."""

import ast
from collections.abc import Iterable
from pathlib import Path


def found(folders: Iterable[str]) -> dict[str, Path]:
    """The presets of several folders by displayed name; for equal names the earlier folder wins.

    Blender lists the artist's own folder before those of extensions.
    """
    named: dict[str, Path] = {}
    for folder in folders:
        for path in Path(folder).glob("*.py"):
            named.setdefault(path.stem.replace("_", " ").title(), path)
    return dict(sorted(named.items()))


def values(text: str, names: frozenset[str]) -> dict[str, float]:
    """The numbers in lines `op.name = number` of a preset."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return {}
    given = {}
    for statement in statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            name, value = statement.targets[0].attr, statement.value
            if name in names and isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
                given[name] = float(value.value)
    return given
