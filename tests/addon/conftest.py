"""Makes the part of the extension that knows no Blender importable as `jounce_core`."""

import importlib.util
import sys
from pathlib import Path

CORE = Path(__file__).resolve().parents[2] / "addon" / "core"

spec = importlib.util.spec_from_file_location(
    "jounce_core", CORE / "__init__.py", submodule_search_locations=[str(CORE)]
)
sys.modules["jounce_core"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["jounce_core"])
