"""A small photo studio: shows recorded shapes under three lights, framed once for the whole shot.

The studio is a separate scene with plain copies of the evaluated meshes. Rendering a character thus changes
nothing in its scene, and shows it as Blender evaluated it.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from mathutils import Color, Matrix, Vector
from view import View

BACKDROP = (0.97, 0.945, 0.89)
HEAT = np.array(
    [(0.80, 0.82, 0.86), (0.36, 0.62, 0.86), (0.29, 0.78, 0.55), (0.97, 0.84, 0.30), (0.94, 0.33, 0.22)]
)
HEAT_LAYER = "Displacement"
LENS = 110.0
MARGIN = 1.05


@dataclass
class Light:
    """A light on the character: direction (camera's right, up, towards the camera) and strength."""

    direction: tuple[float, float, float]
    colour: tuple[float, float, float]
    highlight: float
    softness: float


LIGHTS = [
    Light((-0.55, 0.60, 0.58), (0.98, 0.93, 0.86), 0.25, 0.35),
    Light((0.85, 0.10, 0.50), (0.28, 0.32, 0.42), 0.05, 0.80),
    Light((0.50, 0.65, -0.58), (0.55, 0.53, 0.60), 0.35, 0.15),
    Light((0.0, -1.0, 0.1), (0.16, 0.14, 0.13), 0.0, 1.0),
]
AMBIENT = (0.30, 0.29, 0.33)
FROM_THE_FRONT = View()


PROBE = """
import bpy, os
scene = bpy.context.scene
scene.render.engine = "BLENDER_WORKBENCH"
scene.camera = scene.camera or bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
scene.render.resolution_x = scene.render.resolution_y = 16
bpy.ops.render.render()
os._exit(0)
"""


def best_engine() -> str:
    """WORKBENCH, or CYCLES without OpenGL. Missing OpenGL ends a process; another process tests for this."""
    probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, timeout=120)
    return "WORKBENCH" if probe.returncode == 0 else "CYCLES"


def record(meshes: list[bpy.types.Object], frames: range) -> list[list[np.ndarray]]:
    """Evaluated world positions: one (p, 3) f32 array per mesh, for each frame."""
    scene, shapes = bpy.context.scene, []
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        shapes.append([world_points(mesh.evaluated_get(graph)) for mesh in meshes])
    return shapes


def world_points(evaluated: bpy.types.Object) -> np.ndarray:
    """World positions (p, 3) of an evaluated mesh object."""
    local = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.attributes["position"].data.foreach_get("vector", local)
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    return (local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)


class Studio:
    """Camera, lights, ground and stand-ins for `meshes`, with all given `shapes` in the frame."""

    def __init__(
        self,
        meshes: list[bpy.types.Object],
        shapes: list[list[np.ndarray]],
        engine: str,
        view: View = FROM_THE_FRONT,
    ) -> None:
        """Build the scene; `engine` is WORKBENCH or CYCLES."""
        self.scene = bpy.data.scenes.new("Studio")
        self.colour_type = _colour_type(meshes)
        self.stand_ins = [self._stand_in(mesh) for mesh in meshes]
        cloud = np.concatenate([np.concatenate(shape) for shape in shapes])
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        self.size = float(np.linalg.norm(high - low))
        self.ground = self._ground(low, high)
        self.camera = self._camera(view.framed(shapes), view)
        self.engine = engine
        # Rendered pixels per shown pixel along a side, because Workbench is fast but smooths edges little.
        self.oversampling = 1 if engine == "CYCLES" else 2
        (_light_cycles if engine == "CYCLES" else _light_workbench)(self)

    def pose(self, shape: list[np.ndarray]) -> None:
        """Move the stand-ins to the recorded positions of one frame."""
        for stand_in, points in zip(self.stand_ins, shape, strict=True):
            stand_in.data.attributes["position"].data.foreach_set("vector", points.ravel())
            stand_in.data.update()

    def paint(self, amounts: list[np.ndarray] | None) -> None:
        """Colour the stand-ins by amounts in [0, 1] per vertex, or restore their own colours."""
        shading = self.scene.display.shading
        shading.color_type = self.colour_type if amounts is None else "VERTEX"
        if self.engine == "CYCLES":
            self.scene.view_layers[0].material_override = None if amounts is None else _heat_material()
        for stand_in, amount in zip(self.stand_ins, amounts or [None] * len(self.stand_ins), strict=True):
            layers = stand_in.data.color_attributes
            if amount is not None:
                colours = np.ones((len(amount), 4), dtype=np.float32)
                colours[:, :3] = heat(amount)
                layers[HEAT_LAYER].data.foreach_set("color_srgb", colours.ravel())
            # New layers of vertices stand before those of face corners, so the first may be ours.
            own = next(layer for layer in layers if layer.name != HEAT_LAYER)
            layers.active_color = own if amount is None else layers[HEAT_LAYER]

    def render(self, path: Path, width: int, height: int, bare: bool = False) -> None:
        """Render a PNG; `bare` leaves out the ground and the backdrop and keeps the transparency."""
        render = self.scene.render
        render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
        render.film_transparent = bare
        self.ground.hide_render = bare
        self.scene.display.shading.show_shadows = not bare
        render.image_settings.file_format = "PNG"
        render.image_settings.color_mode = "RGBA" if bare else "RGB"
        render.filepath = str(path)
        with hushed():
            bpy.ops.render.render(write_still=True, scene=self.scene.name)

    def _stand_in(self, mesh: bpy.types.Object) -> bpy.types.Object:
        graph = bpy.context.evaluated_depsgraph_get()
        copy = bpy.data.meshes.new_from_object(
            mesh.evaluated_get(graph), preserve_all_data_layers=True, depsgraph=graph
        )
        layers = copy.color_attributes
        if not len(layers):
            layers.new("Plain", "BYTE_COLOR", "POINT")
        layers.new(HEAT_LAYER, "BYTE_COLOR", "POINT")
        stand_in = bpy.data.objects.new(mesh.name + " stand-in", copy)
        self.scene.collection.objects.link(stand_in)
        return stand_in

    def _ground(self, low: np.ndarray, high: np.ndarray) -> bpy.types.Object:
        middle, reach = 0.5 * (low + high), 60.0 * self.size
        corners = [
            (middle[0] + x * reach, middle[1] + y * reach, low[2])
            for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        mesh = bpy.data.meshes.new("Ground")
        mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
        mesh.materials.append(bpy.data.materials.new("Ground"))
        mesh.materials[0].diffuse_color = (*Color(BACKDROP).from_srgb_to_scene_linear(), 1.0)
        for name in ("Plain", HEAT_LAYER):
            layer = mesh.color_attributes.new(name, "BYTE_COLOR", "POINT")
            layer.data.foreach_set("color_srgb", np.tile((*BACKDROP, 1.0), 4))
        ground = bpy.data.objects.new("Ground", mesh)
        self.scene.collection.objects.link(ground)
        return ground

    def _camera(self, cloud: np.ndarray, view: View) -> bpy.types.Object:
        """A camera that frames every point of the cloud."""
        azimuth = math.radians(view.azimuth)
        towards = Vector((math.sin(azimuth), -math.cos(azimuth), view.rise)).normalized()
        turn = (-towards).to_track_quat("-Z", "Y").to_matrix()
        data = bpy.data.cameras.new("Camera")
        data.lens, data.sensor_fit = LENS, "AUTO"
        slope = 0.5 * data.sensor_width / LENS / MARGIN
        view = cloud @ np.array(turn)
        spans = [_fit(view[:, axis], view[:, 2], slope) for axis in (0, 1)]
        distance = max(apex for _, apex in spans)
        # Shares of the picture's width and height that the cloud fills.
        self.filled = [apex / distance for _, apex in spans]
        centre = turn @ Vector((spans[0][0], spans[1][0], distance))
        data.clip_start, data.clip_end = 1e-3 * self.size, 200.0 * self.size
        camera = bpy.data.objects.new("Camera", data)
        camera.matrix_world = Matrix.Translation(centre) @ turn.to_4x4()
        self.scene.collection.objects.link(camera)
        self.scene.camera = camera
        return camera


@contextmanager
def hushed() -> Iterator[None]:
    """Suppress Blender's terminal output."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            for number, stream in enumerate(kept, start=1):
                os.dup2(stream, number)
                os.close(stream)


def heat(amounts: np.ndarray) -> np.ndarray:
    """sRGB colours (p, 3) for amounts in [0, 1]: grey, blue, green, yellow, red."""
    steps = np.linspace(0.0, 1.0, len(HEAT))
    return np.stack([np.interp(amounts, steps, HEAT[:, k]) for k in range(3)], axis=1)


def _heat_material() -> bpy.types.Material:
    """Material that shows the heat colours in Cycles; made once."""
    if HEAT_LAYER in bpy.data.materials:
        return bpy.data.materials[HEAT_LAYER]
    material = bpy.data.materials.new(HEAT_LAYER)
    material.use_nodes = True
    nodes = material.node_tree.nodes
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    colour = nodes.new("ShaderNodeVertexColor")
    colour.layer_name = HEAT_LAYER
    material.node_tree.links.new(colour.outputs["Color"], shader.inputs["Base Color"])
    return material


def _fit(across: np.ndarray, depth: np.ndarray, slope: float) -> tuple[float, float]:
    """Centre and depth of the tip of the narrowest wedge of the given slope that contains all points."""
    right, left = float(np.max(across + slope * depth)), float(np.min(across - slope * depth))
    return 0.5 * (right + left), 0.5 * (right - left) / slope


def _colour_type(meshes: list[bpy.types.Object]) -> str:
    """Workbench colour type for the character's own colours."""
    materials = {slot.material for mesh in meshes for slot in mesh.material_slots if slot.material}
    trees = [material.node_tree for material in materials if material.use_nodes and material.node_tree]
    nodes = [node for tree in trees for node in tree.nodes]
    if any(node.type == "TEX_IMAGE" and node.image for node in nodes):
        return "TEXTURE"
    return "VERTEX" if any(node.type in ("VERTEX_COLOR", "ATTRIBUTE") for node in nodes) else "MATERIAL"


def _light_workbench(studio: Studio) -> None:
    """Three lights and a weak one from below, attached to the camera; a drop shadow with a soft edge."""
    scene = studio.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.display.render_aa = "FXAA"
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", studio.colour_type
    shading.show_cavity, shading.cavity_type = True, "WORLD"
    shading.cavity_valley_factor, shading.cavity_ridge_factor = 0.8, 0.0
    shading.show_specular_highlight = True
    shading.show_shadows, shading.shadow_intensity = True, 0.22
    scene.display.light_direction = (-0.45, -0.40, 0.80)
    scene.display.shadow_focus = 0.6
    system = bpy.context.preferences.system
    system.use_studio_light_edit = True
    system.light_ambient = AMBIENT
    for slot, light in zip(system.solid_lights, LIGHTS, strict=True):
        slot.use = True
        slot.direction, slot.diffuse_color, slot.smooth = light.direction, light.colour, light.softness
        slot.specular_color = (light.highlight,) * 3
    world = bpy.data.worlds.new("Backdrop")
    world.color = BACKDROP
    scene.world = world
    scene.view_settings.view_transform = "Standard"


def _light_cycles(studio: Studio) -> None:
    """The same three lights as soft panels, few samples and a denoiser."""
    scene = studio.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 12, True
    scene.view_settings.view_transform = "Standard"
    world = bpy.data.worlds.new("Backdrop")
    world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (*BACKDROP, 1.0)
    background.inputs["Strength"].default_value = 0.65
    scene.world = world
    middle = studio.camera.matrix_world @ Vector((0.0, 0.0, -2.2 * studio.size))
    turn = studio.camera.matrix_world.to_3x3()
    for number, light in enumerate(LIGHTS[:3]):
        data = bpy.data.lights.new(f"Light {number}", "AREA")
        data.size, data.color = studio.size, light.colour
        data.energy = 14.0 * studio.size**2
        panel = bpy.data.objects.new(data.name, data)
        towards = (turn @ Vector(light.direction)).normalized()
        panel.matrix_world = Matrix.Translation(middle + 1.6 * studio.size * towards) @ (
            (-towards).to_track_quat("-Z", "Y").to_matrix().to_4x4()
        )
        scene.collection.objects.link(panel)
