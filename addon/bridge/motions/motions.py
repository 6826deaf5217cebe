"""The motion of a body in its scene: inputs, and the cache saved with the file."""

from dataclasses import asdict, replace
from functools import partial

import bpy
import jounce
import numpy as np

from ...core.bake.final_scene import scene_of
from ...core.body.attached import AttachedBody
from ...core.body.colliders import Colliders, soft
from ...core.body.full_space import Coordinates, FineBody, prepared
from ...core.body.loose import LooseBody
from ...core.body.pinned import PinnedBody
from ...core.body.tree_simulation import TreeSimulation
from ...core.common.task import at_once
from ...core.common.user_error import UserError
from ...core.flesh.settings import PER_FRAME, MotionSettings
from ...core.mesh.contact_points import NONE, between, cell, few, skin
from ...core.mesh.surface import hashed
from ...core.passes.attached_pass import AttachedLoopPass, AttachedPass
from ...core.passes.loop_pass import LoopPass
from ...core.passes.loose_pass import LoosePass, Throw
from ...core.passes.pinned_pass import PinnedPass
from ...core.passes.simulation_pass import SimulationPass, Start
from ...core.passes.touching_pass import TouchingPass, together
from ...core.stepping.motion import (
    DRAFT_TOLERANCE,
    LOOP_TOLERANCE,
    TOLERANCE,
    Reduce,
    Schedule,
    built_frequency,
    load_scale,
    material_of,
    simulation,
    stiffness_of,
)
from ...core.stepping.resets import Teleport
from ...core.storage.cache import MotionCache, Origin, surface_origin, unpack
from ...core.storage.final_cache import FinalCache
from ..body import companions
from ..body.bodies import BodyScene, are_linear
from ..common import units
from ..loads import animated_settings, colliders
from ..rig import bone_core
from . import final_files, host_storage

KEY = "motion"
# Settings of modes, without effect in the full space. Name of the colliders in the origin of a final motion.
AROUND = "Collisions"
TOUCHING = "What it touches"
SELF = "Self Collision"
DRAFT_ALONE = frozenset(("modes", "clusters", "locality", "cubature", "handles"))


class Motions:
    """Makes the simulations and caches of one body."""

    def __init__(self, body: "jounce.Body", body_scene: BodyScene, *, of_modes: bool = False) -> None:
        """of_modes: True for drafts of modes in every quality."""
        self.body = body
        self._of_modes = of_modes
        self.is_linear = are_linear(body_scene.objects)
        self.scene = body_scene
        self.diagonal = body_scene.surface.diagonal
        self._surface = surface_origin(body_scene.surface)
        self.is_flesh = not isinstance(body, LooseBody | AttachedBody | PinnedBody)
        # Motions of the other loose bodies in contact.
        self.companions = [Motions(other.body, other.scene) for other in body_scene.companions]
        body_scene.forces.act_on(body)
        body_scene.feel.act_on(body)

    def moves_otherwise(self) -> bool:
        """True if another set of bones is moved than at the last reading."""
        return bone_core.is_moved_otherwise(self.scene.surface.core, self.scene.reader.armatures)

    def settings(self, scene: bpy.types.Scene) -> tuple[object, ...]:
        """Parts of `origin` that may change without the meshes; cheap to make and compare."""
        state = self.scene.host.jounce
        motion, gravity = asdict(state.motion_settings()), self._gravity(scene)
        if motion["softness"] == 1.0:
            # Caches from before there was one stay right.
            del motion["softness"]
        if animated_settings.varies(self.scene.host, scene):
            # Animated values are part of every drive.
            motion |= dict.fromkeys(PER_FRAME, "animated")
            gravity = (
                np.zeros(3) if animated_settings.gravity_is_animated(scene) else units.world_gravity(scene)
            )
        return (
            asdict(state.build_settings()) | motion,
            units.frame_seconds(scene),
            units.metres_per_unit(scene),
            tuple(gravity + 0.0),
            state.pre_roll,
            scene.frame_end if state.loops else None,
        )

    def origin(self, scene: bpy.types.Scene, first: int) -> Origin:
        """All inputs of the motion except the drives, under the names of the settings."""
        if isinstance(self.drafted(), FineBody):
            # A draft before a final motion does not collide.
            return {"Quality": "every vertex"} | self._flesh() | self._origin(scene, first, DRAFT_ALONE)
        # Updated modes differ from those of a build, and their coefficients are not interchangeable.
        updated = {"Modes of the stitches": repr(self.body.residual)}
        around = self._around() if not self.is_flesh or colliders.acts_on_draft(self.scene.host) else {}
        return updated | around | self._among(scene, first) | self._origin(scene, first, frozenset())

    def final_origin(self, scene: bpy.types.Scene, first: int) -> Origin:
        """The same for the final motion, which depends on modes through their frequencies only."""
        return self._flesh() | self._around() | self._itself() | self._origin(scene, first, DRAFT_ALONE)

    def _itself(self) -> Origin:
        return {SELF: "on"} if colliders.collides_with_itself(self.scene.host) else {}

    def _flesh(self) -> Origin:
        settings = self.scene.host.jounce.motion_settings()
        stiffness = stiffness_of(built_frequency(self.body, settings.frequency_of), settings)
        flesh = {"Law": self.scene.host.jounce.flesh().key, "Stiffness": repr(stiffness)}
        muscles = self.scene.muscles
        return flesh if muscles is None else flesh | {"Muscles": muscles.digest}

    def _around(self) -> Origin:
        touched = self.scene.colliders.colliders
        return {} if touched is None else {AROUND: touched.digest()}

    def _among(self, scene: bpy.types.Scene, first: int) -> Origin:
        """The companions' inputs, which the motion depends on too."""
        if not self.companions:
            return {}
        others = [other.digest(scene, first) for other in self.companions]
        return {TOUCHING: hashed((), (companions.place(self.scene), self._softness(), *others))}

    def digest(self, scene: bpy.types.Scene, first: int) -> str:
        """Hash of all inputs of the motion except the drives and the other loose bodies."""
        alone = self._around() | self._origin(scene, first, frozenset())
        return hashed((), (self._softness(), *sorted(alone.items())))

    def _softness(self) -> tuple[int, float]:
        """Resolution and friction of the body as a soft collider."""
        host = self.scene.host
        return host.jounce_resolution, host.jounce.collision_friction

    def _origin(self, scene: bpy.types.Scene, first: int, without: frozenset[str]) -> Origin:
        known = self.scene.host.jounce.bl_rna.properties
        numbers, *others = self.settings(scene)
        numbers = {key: value for key, value in numbers.items() if key not in without}
        named = {known[key].name if key in known else key: repr(value) for key, value in numbers.items()}
        names = ("Frame rate", "Unit scale", "Gravity of the scene", "Pre-roll", "Loop")
        of_the_scene = {name: repr(value) for name, value in zip(names, others, strict=True)}
        return self._surface | named | of_the_scene | {"Start frame": str(first)}

    def cache(self, scene: bpy.types.Scene, first: int) -> MotionCache:
        """The stored cache if its origin is the same, otherwise an empty one. A draft of every vertex is not
        stored: the frames of its final motion are, and are its best drafts unless something collides.
        """
        origin, stored = self.origin(scene, first), kept(self.scene.host)
        if isinstance(self.drafted(), FineBody):
            made = FinalCache(origin, first)
            if not self._around() and not self._itself():
                made = self.final_cache(scene, first).moved(None)
                made.origin = origin
            return made
        return stored if stored is not None and stored.origin == origin else MotionCache(origin, first)

    def begun(self, scene: bpy.types.Scene, first: int) -> MotionCache:
        """A cache without stored frames of modes."""
        is_full = isinstance(self.drafted(), FineBody)
        return self.cache(scene, first) if is_full else MotionCache(self.origin(scene, first), first)

    def drafted(self) -> Coordinates:
        """Owner of a draft's coefficients. A body in the full space is prepared if missing."""
        state = self.scene.host.jounce
        if self._of_modes or not self.is_flesh:
            return self.body
        if not state.drafts_vertices(state.simulated_quality, len(self.body.mesh.tets)):
            return self.body
        preparing = prepared(self.body, state.built_digest, state.flesh(), self.scene.muscles)
        try:
            return at_once(preparing)
        except UserError:
            # The final motion says why.
            return self.body

    def keep(self, cache: MotionCache) -> None:
        """Stores a draft with its host, unless every vertex moves in it."""
        if isinstance(cache, FinalCache):
            forget(self.scene.host)
        else:
            host_storage.keep(self.scene.host, KEY, cache.pack())

    def filling(self, scene: bpy.types.Scene, cache: MotionCache) -> SimulationPass:
        """A pass with the present settings that fills a cache; of flesh, its draft."""
        made = self._filled(scene, cache)
        made.owner = self.drafted()
        return made

    def _filled(self, scene: bpy.types.Scene, cache: MotionCache) -> SimulationPass:
        settings = self.scene.host.jounce.motion_settings()
        start, is_full = self._draft_start(scene, settings)
        if is_full:
            return self._filling(scene, cache, settings, start, is_final=True)
        if isinstance(self.body, LooseBody):
            return self._touching(scene, cache) if self.companions else self._loose(scene, cache)
        if isinstance(self.body, AttachedBody):
            return self._attached(scene, cache, settings, start)
        if isinstance(self.body, PinnedBody):
            return self._pinned(scene, cache, settings)
        touched = self._touched_by_few() if colliders.acts_on_draft(self.scene.host) else None
        return self._filling(scene, cache, settings, start, touched)

    def _draft_start(self, scene: bpy.types.Scene, settings: MotionSettings) -> tuple[Start, bool]:
        """Maker of a draft's simulations, and true if every vertex moves."""
        start, drafted = self._start(scene, settings), self.drafted()
        if isinstance(drafted, FineBody):
            return partial(start, model=drafted.model, tolerance=DRAFT_TOLERANCE), True
        return start, False

    def _loose(
        self,
        scene: bpy.types.Scene,
        cache: MotionCache,
        substeps: int = 0,
        model: "jounce.Model | None" = None,
    ) -> LoosePass:
        """A pass of a single loose body; the number of substeps may come from touching bodies.

        model: of a final motion.
        """
        is_final = model is not None
        start, *others = self._thrown(scene, substeps, is_final=is_final)
        return LoosePass(cache, partial(start, model=model), *others, is_final=is_final)

    def _touching(self, scene: bpy.types.Scene, cache: MotionCache) -> TouchingPass:
        """A pass of a loose body and its companions, with the largest of their numbers of substeps."""
        place, first = companions.place(self.scene), cache.first
        members = [*self.companions[:place], self, *self.companions[place:]]
        substeps = companions.substeps([member.scene.host for member in members])
        others = [other._loose(scene, MotionCache({}, first), substeps) for other in self.companions]
        common = together(hashed((), tuple(member.digest(scene, first) for member in members)))
        return TouchingPass(cache, *self._thrown(scene, substeps), others, place, common)

    def _thrown(
        self, scene: bpy.types.Scene, substeps: int, *, is_final: bool = False
    ) -> tuple[Start, Throw, LooseBody, Colliders | None]:
        host, settings = self.scene.host, self.scene.host.jounce.motion_settings()
        colliders.refuse_hindered(host)
        if host.jounce.loops:
            raise UserError(
                f"{host.name} is loose and goes where it is thrown, so it cannot loop; turn Loop off."
            )
        self._refuse_reshaped()
        throw = Throw(settings, units.frame_seconds(scene), host.name)
        if not substeps:
            return self._start(scene, settings), throw, self.body, self._touched(None, is_dense=is_final)
        companions.refuse_lively(host)
        surface, touched = self.scene.surface, self.scene.colliders.colliders
        fine = skin(self.body, None, surface.triangles, between(surface.points, surface.triangles))
        shape = soft(host.name, surface, *self._softness())
        start = self._start(scene, replace(settings, substeps=substeps))
        touched = None if touched is None else replace(touched, skin=fine)
        return partial(start, shape=shape, skin=fine), throw, self.body, touched

    def _attached(
        self, scene: bpy.types.Scene, cache: MotionCache, settings: MotionSettings, start: Start
    ) -> AttachedPass:
        colliders.refuse_hindered(self.scene.host)
        self._refuse_reshaped()
        # An attached body has contact at all its points, also inside a collider at rest.
        course, touched = self._course(settings), self.scene.colliders.colliders
        if not self.scene.host.jounce.loops:
            return AttachedPass(cache, start, course, touched)
        frames, start = scene.frame_end - cache.first + 1, partial(start, tolerance=LOOP_TOLERANCE)
        return AttachedLoopPass(cache, start, course, frames, self.scene.surface, touched)

    def _pinned(self, scene: bpy.types.Scene, cache: MotionCache, settings: MotionSettings) -> PinnedPass:
        host = self.scene.host
        colliders.refuse_hindered(host)
        if host.jounce.loops:
            raise UserError(f"{host.name} is pinned, of which no loop can be found; turn Loop off.")
        self._refuse_reshaped()
        feel = material_of(self.body, settings, self._gravity(scene))
        start = partial(TreeSimulation, self.body, settings, units.frame_seconds(scene), feel)
        course, touched = self._course(settings), self.scene.colliders.colliders
        return PinnedPass(cache, start, course, touched, self.body.model)

    def _refuse_reshaped(self) -> None:
        if not self.is_linear:
            name, kind = self.scene.host.name, self.scene.host.jounce.kind.lower()
            raise UserError(
                f"{name} is {kind}, so modifiers and shape keys that move its vertices have no effect on "
                "it; apply or remove them."
            )

    def _touched(self, weights: np.ndarray | None, *, is_dense: bool = False) -> Colliders | None:
        """Colliders of the body, and its contact points.

        weights: (p, b), None for loose bodies. is_dense: a point in each cell, for faces that bend between
        their corners.
        """
        touched, surface = self.scene.colliders.colliders, self.scene.surface
        if touched is None:
            return None
        more = between(surface.points, surface.triangles, cell(self.body)) if is_dense else NONE
        return replace(touched, skin=skin(self.body, weights, surface.triangles, more))

    def _touched_by_few(self) -> Colliders | None:
        """Colliders of the body, and the few contact points of reduced coordinates."""
        touched, surface = self.scene.colliders.colliders, self.scene.surface
        if touched is None:
            return None
        return replace(touched, skin=few(self.body, surface.weights, surface.triangles))

    def final_cache(self, scene: bpy.types.Scene, first: int) -> FinalCache:
        """The stored frames of the final motion."""
        origin = self.final_origin(scene, first)
        # Bakes of other frame ranges are not kept.
        is_kept = first == scene.frame_start
        return final_files.cache(self.scene.host, origin, first) if is_kept else FinalCache(origin, first)

    def final(self, scene: bpy.types.Scene, cache: MotionCache, model: "jounce.Model") -> SimulationPass:
        """A pass in the full space."""
        if isinstance(self.body, LooseBody):
            return self._loose(scene, cache, model=model)
        colliders.refuse_hindered(self.scene.host)
        settings = self.scene.host.jounce.motion_settings()
        start, touched = self._final_start(scene, settings, model)
        return self._filling(scene, cache, settings, start, touched, is_final=True)

    def _final_start(
        self, scene: bpy.types.Scene, settings: MotionSettings, model: "jounce.Model"
    ) -> tuple[Start, Colliders | None]:
        """Maker of the simulations of a final motion, and its colliders."""
        start = partial(self._start(scene, settings), model=model)
        surface, touched = self.scene.surface, self.scene.colliders.colliders
        itself = colliders.collides_with_itself(self.scene.host)
        if touched is None and not itself:
            return start, None
        own = replace(skin(self.body, surface.weights, surface.triangles), self_collision=itself)
        return partial(start, skin=own), None if touched is None else replace(touched, skin=own)

    def show(self, scene: bpy.types.Scene, filling: SimulationPass, own: range) -> None:
        """Adds to a complete final motion the data for display without Blender. own: displayed frames."""
        cache, drives = filling.cache, filling.drives
        is_whole = self.is_flesh and isinstance(cache, FinalCache) and len(cache) == len(drives)
        if is_whole and not all(drive.held for drive in drives):
            name, seconds, first = self.scene.host.name, units.frame_seconds(scene), cache.first
            shown = scene_of(self.scene.surface, self.body, drives, name, first, own, seconds)
            cache.show(shown.pack())

    def lesson_origin(self, scene: bpy.types.Scene, first: int) -> str:
        """Hash of the inputs of a final motion except the drives."""
        return hashed((), tuple(sorted(self.final_origin(scene, first).items())))

    def learnt_cache(self, scene: bpy.types.Scene, first: int) -> MotionCache:
        """An empty cache of the learnt motion, which is faster to simulate again than to store."""
        settings = self.scene.host.jounce.motion_settings()
        known = {"Learnt": self.scene.host.jounce.learnt_digest, "Law": self.scene.host.jounce.flesh().key}
        stiffness = repr(stiffness_of(built_frequency(self.body, settings.frequency_of), settings))
        known |= {"Stiffness": stiffness} | self._around()
        return MotionCache(known | self._origin(scene, first, DRAFT_ALONE), first)

    def learnt(self, scene: bpy.types.Scene, cache: MotionCache, model: "jounce.Model") -> SimulationPass:
        """A pass in the learnt basis."""
        colliders.refuse_hindered(self.scene.host)
        settings = self.scene.host.jounce.motion_settings()
        start = partial(self._start(scene, settings), model=model)
        touched = self._touched_by_few()
        return self._filling(scene, cache, settings, start, touched, reduce=model.reduce_forces)

    def _filling(
        self,
        scene: bpy.types.Scene,
        cache: MotionCache,
        settings: MotionSettings,
        start: Start,
        touched: Colliders | None = None,
        *,
        is_final: bool = False,
        reduce: Reduce | None = None,
    ) -> SimulationPass:
        course = self._course(settings)
        if not self.scene.host.jounce.loops:
            return SimulationPass(cache, start, course, touched, is_final=is_final, reduce=reduce)
        frames = scene.frame_end - cache.first + 1
        surface = self.scene.surface
        return LoopPass(cache, start, course, frames, surface, touched, is_final=is_final, reduce=reduce)

    def draft_from(self, scene: bpy.types.Scene, settings: MotionSettings, first: int) -> SimulationPass:
        """A draft of flesh with other settings, without a stored cache and without a loop."""
        start, is_full = self._draft_start(scene, settings)
        made = SimulationPass(MotionCache({}, first), start, self._course(settings), is_final=is_full)
        made.owner = self.drafted()
        return made

    def rehearsal(
        self,
        scene: bpy.types.Scene,
        settings: MotionSettings,
        first: int = 0,
        model: "jounce.Model | None" = None,
        tolerance: float = TOLERANCE,
    ) -> SimulationPass:
        """A pass with other settings, without a stored cache and without a loop. model: of a final motion."""
        course, cache = self._course(settings), MotionCache({}, first)
        if model is None:
            start = partial(self._start(scene, settings), tolerance=tolerance)
            return SimulationPass(cache, start, course)
        start, touched = self._final_start(scene, settings, model)
        return SimulationPass(cache, partial(start, tolerance=tolerance), course, touched, is_final=True)

    def _start(self, scene: bpy.types.Scene, settings: MotionSettings) -> Start:
        return partial(simulation, self.body, settings, units.frame_seconds(scene), self._gravity(scene))

    def _course(self, settings: MotionSettings) -> Schedule:
        teleport = None
        if settings.teleport is not None:
            is_attached = isinstance(self.body, AttachedBody)
            places = self.body.posed if is_attached else self.scene.forces.places
            teleport = Teleport(places, settings.teleport * self.diagonal)
        pre_roll = self.scene.host.jounce.pre_roll
        return Schedule(pre_roll, settings.start, settings.after_cut, teleport)

    def _gravity(self, scene: bpy.types.Scene) -> np.ndarray:
        settings = self.scene.host.jounce.motion_settings()
        return units.world_gravity(scene) * settings.gravity * load_scale(settings, self.diagonal)


def kept(host: bpy.types.Object) -> MotionCache | None:
    """The stored cache of a host, if there is one."""
    data = host_storage.of(host, KEY)
    return None if data is None else unpack(data)


def forget(host: bpy.types.Object) -> None:
    """Takes the stored cache away."""
    host_storage.forget(host, KEY)
