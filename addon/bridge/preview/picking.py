"""Finds the flesh under the mouse, and the mouse's position in space."""

from dataclasses import dataclass

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ..body import bodies
from ..common import units
from . import evaluated_meshes


@dataclass(frozen=True)
class Hit:
    """A place on a body: the nearest render vertex, and the place itself, (3,) in metres."""

    point: int
    place: np.ndarray


def viewport_region(context: bpy.types.Context) -> bpy.types.Region | None:
    """The main region of the context's viewport, otherwise of the screen's largest one."""
    areas = [area for area in context.screen.areas if area.type == "VIEW_3D"]
    if context.area in areas:
        areas = [context.area]
    largest = max(areas, key=lambda area: area.width * area.height, default=None)
    regions = [] if largest is None else largest.regions
    return next((region for region in regions if region.type == "WINDOW"), None)


def mouse_in(region: bpy.types.Region, event: bpy.types.Event) -> tuple[int, int]:
    """Mouse position in the region's pixels."""
    return event.mouse_x - region.x, event.mouse_y - region.y


def is_over(region: bpy.types.Region, context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """True if the mouse is over a region, outside of its sidebars and headers."""
    for area in context.screen.areas:
        if region in area.regions.values():
            under = [other for other in area.regions if covers(other, event)]
            return region in under and len(under) == 1
    return False


def covers(region: bpy.types.Region, event: bpy.types.Event) -> bool:
    """True if a region is open under the mouse."""
    x, y = mouse_in(region, event)
    return 0 <= x < region.width and 0 <= y < region.height and min(region.width, region.height) > 1


def under_mouse(
    host: bpy.types.Object, context: bpy.types.Context, region: bpy.types.Region, mouse: tuple[int, int]
) -> Hit | None:
    """The flesh under the mouse, in the region's pixels; None if hidden or missing."""
    view = region.data
    depsgraph = context.evaluated_depsgraph_get()
    origin = view3d_utils.region_2d_to_origin_3d(region, view, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, mouse)
    found, place, _, _, obj, _ = context.scene.ray_cast(depsgraph, origin, direction)
    scale = units.metres_per_unit(context.scene)
    start = 0
    for part in bodies.fleshed(host):
        count = len(part.data.vertices)
        if found and obj.original == part:
            place = np.array(place) * scale
            own = evaluated_meshes.shape(part, depsgraph).in_metres(scale)[:count]
            nearest = int(np.argmin(np.linalg.norm(own - place, axis=1)))
            return Hit(start + nearest, own[nearest])
        start += count
    return None


def mouse_in_space(
    scene: bpy.types.Scene, region: bpy.types.Region, mouse: tuple[int, int], beside: np.ndarray
) -> np.ndarray:
    """Mouse position, (3,) in metres, in the plane through a place (3,) parallel to the view."""
    scale = units.metres_per_unit(scene)
    place = view3d_utils.region_2d_to_location_3d(region, region.data, mouse, Vector(beside / scale))
    return np.array(place) * scale
