"""Reads accelerations and force fields of the scene as forces on a body, and resistance to its motion.

Blender has no call for sampling force fields. Supported fields are evaluated here, at the rigged places of
the body's parts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import bpy
import jounce
import numpy as np
from mathutils import Vector, noise

from ...core.body.attached import AttachedBody
from ...core.body.handle_samples import DomainSamples, HandleSamples
from ...core.body.loose import LooseBody
from ...core.body.pinned import PinnedBody
from ...core.stepping.forces import KINDS, SHAPES, Field, Range
from ...core.stepping.motion import load_scale
from ...core.stepping.vertex_places import VertexPlaces
from ..common import units
from ..rig.armature_modifier import Warn

# Number of parts of the body for sampling fields.
SAMPLES = 40
# Octaves of gradient noise in Blender's turbulence, and the factor that keeps the sum within 1.
OCTAVES, OCTAVE_SUM = 3, 4.0 / 7.0


@dataclass(frozen=True)
class Load:
    """Load on a body in a frame: a generalised force (m, 3, 4) or (n, 3), and drag; None for none."""

    force: np.ndarray | None = None
    drag: jounce.Drag | None = None


class ForceReader:
    """Loads on a body in a frame. Needs the built body, once there is one."""

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene, diagonal: float, warn: Warn) -> None:
        self._host = host
        self._unit = units.metres_per_unit(scene)
        self._diagonal = diagonal
        self._samples = None
        self._body: jounce.Body | None = None
        self._vertices: VertexPlaces | None = None
        self.fields = tuple(followed(host, scene, warn))

    def act_on(self, body: "object") -> None:
        """From now on forces act on this body."""
        if isinstance(body, PinnedBody):
            self._samples = DomainSamples(body)
        elif isinstance(body, LooseBody | AttachedBody):
            self._samples = HandleSamples(body, SAMPLES)
        else:
            self._samples = body.model.force_samples(SAMPLES)
        self._body, self._vertices = body, None

    def places(self, pose: np.ndarray) -> np.ndarray:
        """Rigged places of parts all over the built body, (k, 3) in metres."""
        return self._samples.posed(pose)

    def read(self, pose: np.ndarray, depsgraph: bpy.types.Depsgraph) -> Load:
        """Loads in a pose of the body; none without a body."""
        return Load() if self._samples is None else self._on_parts(pose, depsgraph, self._samples.reduce)

    def _on_parts(
        self, pose: np.ndarray, depsgraph: bpy.types.Depsgraph, spread: Callable[[np.ndarray], np.ndarray]
    ) -> Load:
        """Loads on the parts in a pose. spread: from forces (k, 3) on them to the load's force."""
        acting = self._acting(depsgraph, self._samples.masses, lambda: self._samples.posed(pose), slice(None))
        if acting is None:
            return Load()
        force, linear, quadratic = acting
        drag = self._samples.drag(linear, quadratic) if linear.any() or quadratic.any() else None
        return Load(spread(force), drag)

    def read_at_vertices(
        self, pose: np.ndarray, depsgraph: bpy.types.Depsgraph, offsets: np.ndarray | None
    ) -> Load:
        """The same for a final motion: at the vertices, in the rigged places with offsets (n, 3)."""
        if self._body is None:
            return Load()
        if isinstance(self._samples, HandleSamples):
            return self._on_parts(pose, depsgraph, self._samples.at_vertices)
        if self._vertices is None:
            self._vertices = VertexPlaces(self._body, self._samples.points)
        vertices = self._vertices
        acting = self._acting(
            depsgraph, vertices.masses, lambda: vertices.posed(pose, offsets), vertices.part_of
        )
        if acting is None:
            return Load()
        force, linear, quadratic = acting
        drag = jounce.Drag(linear, quadratic) if linear.any() or quadratic.any() else None
        return Load(force, drag)

    def _acting(
        self,
        depsgraph: bpy.types.Depsgraph,
        masses: np.ndarray,
        places: Callable[[], np.ndarray],
        part_of: np.ndarray | slice,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Forces (k, 3), linear and quadratic drag (k,) of masses (k,) at places (k, 3), metres; or None.

        part_of: part of each place, since random noise is per part.
        """
        state = self._host.evaluated_get(depsgraph).jounce
        push = np.array(state.push)
        if not (push.any() or (self.fields and state.field_weight != 0.0)):
            return None
        acceleration = np.tile(push, (len(masses), 1))
        linear, quadratic = np.zeros((2, len(masses)))
        if state.field_weight != 0.0:
            points = places() / self._unit
            for obj in self.fields:
                seen = read_field(obj.evaluated_get(depsgraph))
                parts = (2, len(self._samples.masses))
                chance = drawn(obj.field.seed, depsgraph.scene.frame_current, parts)[:, part_of]
                acceleration += state.field_weight * seen.acceleration(points, turbulence, chance[0])
                resistance = seen.resistance(points, chance)
                linear += state.field_weight * resistance.linear
                quadratic += state.field_weight * resistance.quadratic
        scale = load_scale(self._host.jounce.motion_settings(), self._diagonal)
        # Similar bodies of different size have velocities in proportion to the size.
        braking = np.maximum([linear, quadratic / scale], 0.0) * masses
        return acceleration * (scale * masses[:, None]), braking[0], braking[1]


def followed(host: bpy.types.Object, scene: bpy.types.Scene, warn: Warn) -> list[bpy.types.Object]:
    """The force fields that act on a body; warns about the others."""
    fields = acting(host, scene)
    for obj in fields:
        if not is_felt(host, obj):
            warn(left_out_of(host, obj))
    return [obj for obj in fields if is_felt(host, obj)]


def acting(host: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The force fields selected for a body, supported or not."""
    if host.jounce.field_weight == 0.0:
        return []
    collection = host.jounce.field_collection
    objects = scene.objects if collection is None else collection.all_objects
    return [obj for obj in objects if obj.field is not None and obj.field.type != "NONE"]


def chosen(host: bpy.types.Object) -> tuple[bool, int]:
    """Settings of a body for choosing force fields, for comparison: use of fields, and collection."""
    collection = host.jounce.field_collection
    return host.jounce.field_weight == 0.0, 0 if collection is None else collection.session_uid


def left_out_of(host: bpy.types.Object, obj: bpy.types.Object) -> str:
    """Unsupported part of a force field for a body, in one sentence; empty for full support."""
    if is_followed(obj) and not is_felt(host, obj):
        return (
            f"The force field of {obj.name} is left out: {host.name} is loose and goes anywhere, so it feels "
            "only wind and drag that are the same everywhere, with Power 0, without Min and Max Distance and "
            "along Both Z."
        )
    return left_out(obj)


def left_out(obj: bpy.types.Object) -> str:
    """Unsupported part of a force field in general, in one sentence; empty for full support."""
    field = obj.field
    if not is_followed(obj):
        return (
            f"The force field of {obj.name} is left out; followed are wind, force, vortex, turbulence, "
            "harmonic and drag, from a point, plane or line."
        )
    if field.type == "DRAG" and min(field.linear_drag, field.quadratic_drag) < 0.0:
        return f"Drag below 0 of the force field of {obj.name} is left out, as it would speed the flesh up."
    return ""


def is_followed(obj: bpy.types.Object) -> bool:
    """True if a force field can be evaluated here."""
    return obj.field.type in KINDS and obj.field.shape in SHAPES and obj.field.apply_to_location


def is_felt(host: bpy.types.Object, obj: bpy.types.Object) -> bool:
    """True if a force field acts on a body: on a loose one, only a uniform field."""
    return is_followed(obj) and (not host.jounce.is_loose or is_even(obj))


def is_even(obj: bpy.types.Object) -> bool:
    """True for a uniform force field."""
    field = obj.field
    powers, ends = [field.falloff_power], [field.use_min_distance, field.use_max_distance]
    if field.falloff_type != "SPHERE":
        powers, ends = [*powers, field.radial_falloff], [*ends, field.use_radial_min, field.use_radial_max]
    is_endless = not any(powers) and not any(ends) and field.z_direction == "BOTH"
    return field.type in ("WIND", "DRAG") and is_endless


def read_field(obj: bpy.types.Object) -> Field:
    """A force field as numbers, in Blender units."""
    field = obj.field
    matrix = np.array(obj.matrix_world)
    length = float(np.linalg.norm(matrix[:3, 2]))
    return Field(
        kind=field.type,
        shape=field.shape,
        center=matrix[:3, 3],
        axis=matrix[:3, 2] / length if length > 0.0 else np.array([0.0, 0.0, 1.0]),
        strength=field.strength,
        falloff=field.falloff_type,
        along=Range(
            field.falloff_power,
            field.distance_min if field.use_min_distance else None,
            field.distance_max if field.use_max_distance else None,
        ),
        radial=Range(
            field.radial_falloff,
            field.radial_min if field.use_radial_min else None,
            field.radial_max if field.use_radial_max else None,
        ),
        side={"POSITIVE": 1, "NEGATIVE": -1}.get(field.z_direction, 0),
        gravitation=field.use_gravity_falloff,
        size=field.size,
        is_global=field.use_global_coords,
        rest_length=field.rest_length,
        noise=field.noise,
        flow=field.flow,
        # For drag fields Blender stores "Quadratic Drag" here and "Linear Drag" as the strength, and
        # multiplies the strength with the square of the velocity: the two names are exchanged.
        damping=field.harmonic_damping,
    )


def drawn(seed: int, frame: int, shape: int | tuple[int, ...]) -> np.ndarray:
    """Random factors for the noise of a field, in this shape, equal whenever a frame is shown.

    Distributed as in Blender: from -0.5 to 1, mean 0.17.
    """
    generator = np.random.default_rng((seed, frame % 2**32))
    share = generator.uniform(size=shape)
    return np.where(share > 0.5, share, -share) / generator.uniform(1.0, 2.0, shape)


def turbulence(places: np.ndarray) -> np.ndarray:
    """Noise in [-1, 1] at places (k, 3), a component for each order of the coordinates, (k, 3)."""
    values = np.empty_like(places)
    for row, (x, y, z) in enumerate(places.tolist()):
        for component, turned in enumerate(((x, y, z), (y, z, x), (z, x, y))):
            values[row, component] = OCTAVE_SUM * noise.turbulence(
                Vector(turned), OCTAVES, False, noise_basis="PERLIN_NEW"
            )
    return values
