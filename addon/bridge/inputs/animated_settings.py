"""Reads how the flesh feels in a frame, where the artist has animated that."""

import bpy

from ...core.motion import FrameMaterial, built_frequency, damping_of, load_scale, stiffness_of
from ..common import animation, units

# The settings that may be animated; the fields of `MotionSettings` that follow from them.
ANIMATED = frozenset(
    ["cloth_frequency", "damping", "density", "frequency", "gravity", "pose_rest", "use_gravity", "young"]
)
FIELDS = ("frequency", "damping", "pose_rest", "gravity", "material")
# What of a scene says how it pulls.
GRAVITY = frozenset(["gravity", "use_gravity"])


def is_animated(host: bpy.types.Object, settings: frozenset[str] = ANIMATED) -> bool:
    """Whether any of these settings has keys or a driver."""
    paths = animation.paths(host.animation_data)
    return any(path.removeprefix("jounce.") in settings for path in paths if path.startswith("jounce."))


def gravity_is_animated(scene: bpy.types.Scene) -> bool:
    """Whether the gravity of a scene has keys or a driver."""
    return not GRAVITY.isdisjoint(animation.paths(scene.animation_data))


def gravity_is_moved(scene: bpy.types.Scene) -> bool:
    """Whether drivers or strips have a part in the gravity of a scene, beside keys or alone."""
    data = scene.animation_data
    if data is None or not gravity_is_animated(scene):
        return False
    return bool(data.nla_tracks) or any(driver.data_path in GRAVITY for driver in data.drivers)


def varies(host: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether frames may feel otherwise than others."""
    hangs = host.jounce.motion_settings().gravity != 0.0
    return is_animated(host) or (hangs and gravity_is_animated(scene))


class FeelReader:
    """Reads the settings of a frame from the evaluated scene. It needs the built body, once there is one."""

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene, diagonal: float) -> None:
        self._host = host
        self._scene = scene
        self._diagonal = diagonal
        self._body: object | None = None

    def act_on(self, body: "object") -> None:
        """From now on it is this body that feels."""
        self._body = body

    def read(self, depsgraph: bpy.types.Depsgraph) -> FrameMaterial | None:
        """What a frame feels like; None where it is as in all others, or there is no body yet."""
        if self._body is None or not varies(self._host, self._scene):
            return None
        settings = self._host.evaluated_get(depsgraph).jounce.motion_settings()
        scale = settings.gravity * load_scale(settings, self._diagonal)
        built = built_frequency(self._body, settings.frequency_of)
        return FrameMaterial(
            stiffness_of(built, settings),
            damping_of(self._body, settings),
            settings.pose_rest,
            tuple(units.world_gravity(depsgraph.scene_eval) * scale),
        )
