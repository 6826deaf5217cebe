"""Makes the Blender-free part of the extension importable as `jounce_core`."""

import importlib.util
import sys
from pathlib import Path

import jounce
import numpy as np
import pytest

CORE = Path(__file__).resolve().parents[2] / "addon" / "core"

spec = importlib.util.spec_from_file_location(
    "jounce_core", CORE / "__init__.py", submodule_search_locations=[str(CORE)]
)
sys.modules["jounce_core"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["jounce_core"])


@pytest.fixture(scope="session")
def body():
    """A box on one bone."""
    corners = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
    return jounce.Body(corners, triangles, np.ones((8, 1)), resolution=4, modes=3, clusters=4)
