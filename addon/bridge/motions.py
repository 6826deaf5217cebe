"""The motion of a body in its scene: what it depends on, and the cache of it that travels with the file."""

from dataclasses import asdict

import bpy
import numpy as np

from ..core import bodies as built
from ..core.cache import MotionCache, Origin, surface_origin, unpack
from ..core.filling import Filling
from ..core.motion import scaled_gravity, simulation
from . import units
from .bodies import BodyScene

KEY = "motion"


class Motions:
    """Makes the simulations and caches of one body."""

    def __init__(self, body: "built.jounce.Body", body_scene: BodyScene) -> None:
        self.body = body
        self.scene = body_scene
        self._surface = surface_origin(body_scene.surface)

    def origin(self, scene: bpy.types.Scene, first: int) -> Origin:
        """All that the motion depends on beside the drives, under the names of the settings."""
        state = self.scene.host.jounce
        numbers = asdict(state.build_settings()) | asdict(state.motion_settings())
        known = state.bl_rna.properties
        named = {known[key].name if key in known else key: repr(value) for key, value in numbers.items()}
        gravity = self._gravity(scene)
        return (
            self._surface
            | named
            | {
                "Frame rate": repr(units.frame_seconds(scene)),
                "Unit scale": repr(units.metres_per_unit(scene)),
                "Gravity of the scene": repr((gravity + 0.0).tolist()),
                "Start frame": str(first),
                "Pre-roll": str(state.pre_roll),
            }
        )

    def cache(self, scene: bpy.types.Scene, first: int) -> MotionCache:
        """The stored cache if it has the same origin, otherwise an empty one."""
        origin, stored = self.origin(scene, first), kept(self.scene.host)
        return stored if stored is not None and stored.origin == origin else MotionCache(origin, first)

    def filling(self, scene: bpy.types.Scene, cache: MotionCache) -> Filling:
        """A pass that fills a cache with the settings as they are now."""
        state, gravity = self.scene.host.jounce, self._gravity(scene)
        settings, seconds = state.motion_settings(), units.frame_seconds(scene)
        return Filling(cache, lambda: simulation(self.body, settings, seconds, gravity), state.pre_roll)

    def _gravity(self, scene: bpy.types.Scene) -> np.ndarray:
        strength = self.scene.host.jounce.motion_settings().gravity
        return scaled_gravity(units.world_gravity(scene), strength, self.scene.surface.diagonal)


def kept(host: bpy.types.Object) -> MotionCache | None:
    """The cache that was stored with a host, if there is one."""
    data = host.jounce.get(KEY)
    return unpack(data) if isinstance(data, bytes) else None


def keep(host: bpy.types.Object, cache: MotionCache) -> None:
    """Stores a cache with its host."""
    host.jounce[KEY] = cache.pack()


def forget(host: bpy.types.Object) -> None:
    """Takes the stored cache away."""
    if KEY in host.jounce:
        del host.jounce[KEY]
