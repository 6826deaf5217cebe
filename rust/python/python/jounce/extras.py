"""Optional packages: imported on use, with a sentence if missing."""

from __future__ import annotations

import importlib
from typing import Any


def wanted(package: str, function: str, extra: str) -> Any:
    """A package, or an ImportError with the function and the command to install the package."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        text = (
            f'{function} needs {name}; install it with: pip install "jounce[{extra}]" or pip install {name}'
        )
        raise ImportError(text) from error
