"""Pictures show a character in its own colours, and in colours of the motion."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import studio


@pytest.mark.parametrize("domain", ["POINT", "CORNER"])
def test_own_colours_come_back_after_those_of_the_motion(domain):
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.data.color_attributes.new("Skin", "BYTE_COLOR", domain)
    shapes = studio.record([cube], range(1, 2))
    room = studio.Studio([cube], shapes, "WORKBENCH")
    layers = room.stand_ins[0].data.color_attributes
    room.paint([np.ones(len(cube.data.vertices))])
    assert layers.active_color.name == studio.HEAT_LAYER
    room.paint(None)
    assert layers.active_color.name == "Skin"
