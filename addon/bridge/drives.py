"""Reads from the evaluated scene what drives a body in one frame."""

import bpy

from ..core.motion import Drive
from .bodies import BodyScene


def read(scene: BodyScene, depsgraph: bpy.types.Depsgraph) -> Drive:
    """The drive of the frame that is evaluated. It depends on nothing that was simulated."""
    host = scene.host.evaluated_get(depsgraph)
    return Drive(scene.reader.read(depsgraph), host.jounce.strength)
