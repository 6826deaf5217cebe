"""Optional packages: imported on use, with a sentence if missing."""

from __future__ import annotations

import importlib
from typing import Any

# Name of the package with a module, where the two differ.
PACKAGES = {"pxr": "usd-core"}


def wanted(module: str, function: str, extra: str) -> Any:
    """A module, or an ImportError with the function and the command to install the module's package."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        name = PACKAGES.get(name, name)
        text = (
            f'{function} needs {name}; install it with: pip install "jounce[{extra}]" or pip install {name}'
        )
        raise ImportError(text) from error
