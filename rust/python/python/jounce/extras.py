"""Packages that are no requirement: imported where they are used, with a sentence where they are missing."""

from __future__ import annotations

import importlib
from typing import Any


def wanted(package: str, function: str, extra: str) -> Any:
    """A package, or an ImportError that says which function needs it and how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        text = (
            f'{function} needs {name}; install it with: pip install "jounce[{extra}]" or pip install {name}'
        )
        raise ImportError(text) from error
