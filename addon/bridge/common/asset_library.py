"""The extension's asset library, an example character, in Blender's preferences."""

from pathlib import Path

import bpy

NAME = "Jounce"
FOLDER = Path(__file__).resolve().parents[2] / "assets"


def is_listed() -> bool:
    """True if the Asset Browser lists the folder, under any name."""
    libraries = bpy.context.preferences.filepaths.asset_libraries
    return any(Path(bpy.path.abspath(library.path)).resolve() == FOLDER for library in libraries)


def add() -> None:
    """Lists the folder in the preferences."""
    bpy.context.preferences.filepaths.asset_libraries.new(name=NAME, directory=str(FOLDER))
