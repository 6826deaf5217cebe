"""Props in the wind, each pinned and built by one click: grass, a leaf, a lamp, a rope, a potted plant."""

from __future__ import annotations

import bpy
import flesh
import numpy as np
import prop_shapes as shapes
import studio
import thrown_jelly
from subjects import Shape

FRAMES = range(1, 73)
# Strength of the wind and of its swirls, m/s^2, and its direction about the vertical, radians.
WIND, SWIRLS, TURN = 14.0, 35.0, 0.9
# Pieces of the rope, which bends all along.
ROPE = 12


class WindyProps:
    """The props, each with the objects on which it stands or hangs."""

    def __init__(self) -> None:
        """Build them in an empty file, one after the other, and add a wind."""
        thrown_jelly.empty_shot(FRAMES)
        self.meshes = {
            "grass": [shapes.added("Grass", shapes.grass(), shapes.GREEN, (0.0, 0.0, 0.0))],
            "palm leaf": [
                shapes.added("Palm Leaf", shapes.palm_leaf(), shapes.LEAF, (3.04, 0.0, 0.85)),
                shapes.added("Trunk", trunk(), shapes.BROWN, (3.0, 0.0, 0.0)),
            ],
            "lamp": [shapes.added("Lamp", shapes.lamp(), shapes.BRASS, (6.0, 0.0, 1.2))],
            "rope": [
                shapes.added("Rope", shapes.rope(), shapes.HEMP, (9.0, 0.0, 0.0)),
                *(
                    shapes.added("Post", shapes.post(at), shapes.BROWN, (9.0, 0.0, 0.0))
                    for at in (-1.02, 1.02)
                ),
            ],
            "plant": [shapes.added("Plant", shapes.potted_plant(), shapes.LEAF, (12.0, 0.0, 0.0))],
        }
        ground = bpy.data.meshes.new("Ground")
        ground.from_pydata([(-9, -9, 0), (30, -9, 0), (30, 9, 0), (-9, 9, 0)], [], [(0, 1, 2, 3)])
        bpy.context.scene.collection.objects.link(bpy.data.objects.new("Ground", ground))
        bpy.context.view_layer.update()
        for prop, *_ in self.meshes.values():
            flesh.select([prop])
            bpy.ops.jounce.setup()
        self.meshes["rope"][0].jounce.pieces = ROPE
        self._blow()

    def take(self, name: str) -> list[Shape]:
        """The motion of a prop, baked, and what it is on."""
        flesh.select(self.meshes[name][:1])
        bpy.ops.jounce.bake()
        return studio.record(self.meshes[name], FRAMES)

    def _blow(self) -> None:
        flesh.select(self.meshes["plant"][:1])
        bpy.ops.jounce.wind()
        wind = bpy.data.objects["Wind"]
        [swirls] = wind.children
        wind.rotation_euler.z, swirls.field.strength = TURN, SWIRLS
        [gusts] = [c for c in curves_of(wind.animation_data) if c.data_path == "field.strength"]
        gusts.keyframe_points[0].co.y = WIND
        bpy.context.view_layer.update()


def curves_of(data: bpy.types.AnimData) -> list[bpy.types.FCurve]:
    """The F-curves of an object's action."""
    action = data.action
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    bags = [strip.channelbag(data.action_slot) for layer in action.layers for strip in layer.strips]
    return [curve for bag in bags for curve in bag.fcurves]


def trunk() -> shapes.Mesh:
    """The trunk that bears the palm leaf."""
    return shapes.tube(np.array([[0.0, 0.0, z] for z in (0.0, 0.45, 0.9)]), np.array([0.06, 0.05, 0.045]))
