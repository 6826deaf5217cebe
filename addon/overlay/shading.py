"""Draws coloured surfaces and lines, slightly in front of the covered ones."""

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

# Shift towards the eye, as a share of the distance from the eye.
NEARER = 2e-3

# Direction of the light in object space, and brightness of the dark side.
LIGHT = np.array([0.35, -0.6, 0.72], np.float32)
DARK = 0.35


def surface_batch(
    points: np.ndarray, normals: np.ndarray, colours: np.ndarray, opacity: float, triangles: np.ndarray
) -> gpu.types.GPUBatch:
    """A lit surface; points, normals, colours: (p, 3) f32, triangles: (q, 3) i32.

    The light is part of the colours, since only Blender's own shaders know the storage format of each
    version.
    """
    bright = 0.5 * (1.0 + DARK) + 0.5 * (1.0 - DARK) * (normals @ LIGHT)
    lit = np.empty((len(points), 4), np.float32)
    lit[:, :3], lit[:, 3] = colours * bright[:, np.newaxis], opacity
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    return batch_for_shader(shader, "TRIS", {"pos": points, "color": lit}, indices=triangles)


def line_batch(points: np.ndarray, pairs: np.ndarray | None = None) -> gpu.types.GPUBatch:
    """Lines for `draw_lines` between points (p, 3): pairs (e, 2), or one polyline."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    points = np.ascontiguousarray(points, np.float32)
    indices = None if pairs is None else np.ascontiguousarray(pairs, np.int32)
    return batch_for_shader(shader, "LINES", {"pos": points}, indices=indices)


def nearer(view: bpy.types.RegionView3D) -> Matrix:
    """A transform in view space that moves everything towards the eye and keeps the place on screen."""
    if view.is_perspective:
        return Matrix.Diagonal((1.0 - NEARER, 1.0 - NEARER, 1.0 - NEARER, 1.0))
    return Matrix.Translation((0.0, 0.0, NEARER * view.view_distance))


def draw_surface(batch: gpu.types.GPUBatch, view: bpy.types.RegionView3D, world: np.ndarray) -> None:
    """Draws a surface in the space of a world matrix, with hidden surfaces removed."""
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set("ALPHA")
    with gpu.matrix.push_pop():
        gpu.matrix.load_matrix(nearer(view) @ view.view_matrix @ Matrix(world.tolist()))
        batch.draw(shader)
    gpu.state.blend_set("NONE")
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("NONE")


def draw_lines(batch: gpu.types.GPUBatch, colour: tuple[float, float, float, float]) -> None:
    """Draws lines with points in world space, in Blender units, through any cover."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("color", colour)
    gpu.state.blend_set("ALPHA")
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def fill(corners: list[tuple[float, float]], colour: tuple[float, ...]) -> None:
    """Fills the strip of triangles between corners, in pixels."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.uniform_float("color", colour)
    gpu.state.blend_set("ALPHA")
    batch_for_shader(shader, "TRI_STRIP", {"pos": np.array(corners, np.float32)}).draw(shader)
    gpu.state.blend_set("NONE")
