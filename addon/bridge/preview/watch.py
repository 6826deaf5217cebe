"""Changes of the inputs of a previewed body since the last reading."""

import time

import bpy

from ..body import companions
from ..inputs import surroundings
from ..keys import animation
from ..motions.motions import Motions
from .changes import Watched


class Watch:
    """Notes possible changes of a body, its settings and its surroundings.

    suspected: time of the last possible change, 0 for none. reread: True if the meshes must be read again.
    wrote: True if the meshes have been written since the last evaluation.
    """

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self._host = host
        self._scene = scene
        self.suspected = 0.0
        self.reread = False
        self.wrote = False
        self._chosen: tuple[object, ...] = ()
        self._built_from: tuple[object, ...] = ()
        self._settings: tuple[object, ...] = ()
        self._actions = animation.Actions()

    def suspect(self, reread: bool) -> None:
        """Notes a possible change of the motion; reread: also of the meshes."""
        self.suspected = time.perf_counter()
        self.reread = self.reread or reread

    def has_changed_within(self, seconds: float) -> bool:
        """True if a possible change was noted in this time."""
        return bool(self.suspected) and time.perf_counter() - self.suspected < seconds

    def has_read(self) -> None:
        """Notes a reading of the body."""
        self.reread, self._built_from = False, self._built_from_now()

    def has_started(self, motions: Motions) -> None:
        """Notes the settings of a pass over the frames."""
        self._settings = self._settings_now(motions)

    def rebuilds(self) -> bool:
        """True if a setting of the build has changed."""
        return self._built_from_now() != self._built_from

    def _built_from_now(self) -> tuple[object, ...]:
        return tuple(each.jounce.built_from() for each in (self._host, *companions.of(self._host)))

    def differs(self, motions: Motions) -> bool:
        """True if a setting has changed since the start of the pass."""
        return self._settings_now(motions) != self._settings

    def _settings_now(self, motions: Motions) -> tuple[object, ...]:
        state = self._host.jounce
        fine = (state.simulated_quality, state.flesh().key, state.learnt_digest)
        others = (other.settings(self._scene) for other in motions.companions)
        return (*motions.settings(self._scene), *fine, surroundings.chosen(self._host), *others)

    def has_other_surroundings(self) -> bool:
        """True if other force fields or colliders are chosen than at the last look."""
        return surroundings.chosen(self._host) != self._chosen

    def look_around(self, motions: Motions | None) -> None:
        """Requests a new reading for changed force fields or colliders."""
        self._chosen = surroundings.chosen(self._host)
        if motions is not None:
            self.reread = self.reread or not surroundings.is_same(motions.scene, self._scene)

    def reports(self, motions: Motions | None, depsgraph: bpy.types.Depsgraph) -> list[bool]:
        """Possible changes of the motion by an evaluation; True if a new reading is needed."""
        own, self.wrote = self.wrote, False
        watched, found = Watched(self._host, None if motions is None else motions.scene), []
        for update in depsgraph.updates:
            block = update.id.original
            if isinstance(block, bpy.types.Action):
                # A stage makes doubles with shape keys, which touches their actions.
                if not self._actions.is_only_touched(block, watched.keys):
                    self.suspect(motions is not None and motions.moves_otherwise())
                    found.append(False)
            elif (reread := watched.asks_to_read(update, own, depsgraph)) is not None:
                self.suspect(reread)
                found.append(reread)
        return found
