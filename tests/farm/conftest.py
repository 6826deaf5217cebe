"""Replacement for `blender -b`: Blender's Python module, with the extension or its sources."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLENDER = ROOT / "tests" / "blender"


@pytest.fixture(scope="session")
def blender(tmp_path_factory):
    """The words of the command, up to the file. `JOUNCE_BLENDER_PYTHON` names the Python with bpy."""
    os.environ["BLENDER_USER_RESOURCES"] = str(tmp_path_factory.mktemp("resources"))
    python = os.environ.get("JOUNCE_BLENDER_PYTHON", sys.executable)
    return (*shlex.split(python), str(BLENDER / "headless.py"))


@pytest.fixture(scope="session")
def shots(blender, tmp_path_factory):
    """A folder of shots, each of a character with a different swing."""
    folder = tmp_path_factory.mktemp("shots")
    subprocess.run([blender[0], Path(__file__).with_name("make_shots.py"), folder], check=True)
    return folder
