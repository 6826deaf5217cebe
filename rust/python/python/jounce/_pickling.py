"""Pickling of the compiled module's objects: each as the call for an equal object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def called(owner: Any, method: str, arguments: tuple[Any, ...], settings: Mapping[str, Any]) -> Any:
    """Result of a method of a class or object, or of a class itself for an empty name."""
    return (getattr(owner, method) if method else owner)(*arguments, **settings)
