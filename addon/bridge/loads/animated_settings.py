"""Reads animated settings of the flesh in a frame."""

import bpy

from ...core.flesh.settings import PER_FRAME, FrameMaterial
from ...core.stepping.motion import load_scale, material_of
from ..common import units
from ..keys import animation

# The animatable settings: the fields of the motion, and those behind them.
ANIMATED = frozenset(PER_FRAME) - {"material"} | {
    "cloth_frequency",
    "density",
    "swing_frequency",
    "use_gravity",
    "young",
}
# Gravity properties of a scene.
GRAVITY = frozenset(["gravity", "use_gravity"])


def is_animated(host: bpy.types.Object, settings: frozenset[str] = ANIMATED) -> bool:
    """True if any of these settings has keys or a driver."""
    paths = animation.paths(host.animation_data)
    return any(path.removeprefix("jounce.") in settings for path in paths if path.startswith("jounce."))


def gravity_is_animated(scene: bpy.types.Scene) -> bool:
    """True if the gravity of a scene has keys or a driver."""
    return not GRAVITY.isdisjoint(animation.paths(scene.animation_data))


def gravity_is_moved(scene: bpy.types.Scene) -> bool:
    """True if drivers or strips influence the gravity of a scene, with or without keys."""
    data = scene.animation_data
    if data is None or not gravity_is_animated(scene):
        return False
    return bool(data.nla_tracks) or any(driver.data_path in GRAVITY for driver in data.drivers)


def varies(host: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """True if the settings may differ between frames."""
    hangs = host.jounce.motion_settings().gravity != 0.0
    return is_animated(host) or (hangs and gravity_is_animated(scene))


class FeelReader:
    """Reads the settings of a frame from the evaluated scene. Needs the built body, once there is one."""

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene, diagonal: float) -> None:
        self._host = host
        self._scene = scene
        self._diagonal = diagonal
        self._body: object | None = None

    def act_on(self, body: "object") -> None:
        """Sets the built body."""
        self._body = body

    def read(self, depsgraph: bpy.types.Depsgraph) -> FrameMaterial | None:
        """The settings of a frame; None for constant ones, or without a body."""
        if self._body is None or not varies(self._host, self._scene):
            return None
        settings = self._host.evaluated_get(depsgraph).jounce.motion_settings()
        scale = settings.gravity * load_scale(settings, self._diagonal)
        return material_of(self._body, settings, units.world_gravity(depsgraph.scene_eval) * scale)
