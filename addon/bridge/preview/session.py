"""One body that is previewed: its model, its cache, and what its meshes show.

Nothing here is kept in the file; a session is made again from the file whenever it has to be.
"""

import time
from collections.abc import Generator
from dataclasses import replace

import bpy
import numpy as np

from ...core import bodies as built
from ...core.cache import MotionCache
from ...core.full_space import Shaper
from ...core.motion import FrameInput
from ...core.simulation_pass import SimulationPass
from ...core.task import Runner, Step, scaled
from ..body import bodies, builds, companions
from ..common import animation, registry, units
from ..inputs import frame_inputs, surroundings
from . import motions, preview_modifier, qualities
from .behind import Behind
from .changes import Watched
from .display import Display
from .drive_reader import DriveReader
from .interactive import Interactive

# A frame that is asked for and not cached is simulated on the spot if that takes no longer than a blink.
PATIENCE_SECONDS = 0.2
# Share of filling a cache that reading what drives the body takes, while all but a loop is simulated.
READING = 0.7
# After a change the cache is checked once this much time has passed without another one.
QUIET_SECONDS = 0.3


class Session:
    """Shows one body, fills its cache, and says how far it is."""

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self.host = host
        self.scene = scene
        self.trouble = ""
        self.motions: motions.Motions | None = None
        self.filling: SimulationPass | None = None
        self.final: Behind | None = None
        self.interactive: Interactive | None = None
        self._changed: list[str] = []
        self._building: Runner | None = None
        self._reader: DriveReader | None = None
        self._suspected = 0.0
        self._reread = False
        self._chosen: tuple[object, ...] = ()
        self._built_from: tuple[object, ...] = ()
        self._current: FrameInput | None = None
        self.display: Display | None = None
        self._wrote = False
        self._kept = False
        self._actions = animation.Actions()
        self._due = 0.0
        self._settings: tuple[object, ...] = ()

    # What is known.

    @property
    def cache(self) -> MotionCache:
        """The cached motion; only once there is a filling."""
        return self.filling.cache

    @property
    def wanted(self) -> int:
        """How many frames are to be cached."""
        return max(self.scene.frame_end, self.scene.frame_current) - self.cache.first + 1

    @property
    def complete(self) -> bool:
        """Whether all frames of the draft are cached and fresh."""
        return self.filling is not None and not self._suspected and self.filling.checked >= self.wanted

    @property
    def busy(self) -> bool:
        """Whether `work` has something to do."""
        waiting = (
            self._suspected or self.filling is None or not (self.waits or (self.complete and self._kept))
        )
        staged = (self.complete or self.waits) and self.is_staged
        behind = self.final is not None and not self.final.is_done(self.wanted)
        return not self.trouble and (self.interactive is not None or bool(waiting) or staged or behind)

    @property
    def waits(self) -> str:
        """The reason why frames are read as they are shown and none ahead; empty if they are."""
        return "" if self._reader is None else self._reader.unsound

    @property
    def is_staged(self) -> bool:
        """True while a stage stands beside the artist's scene."""
        return self._reader is not None and self._reader.is_staged

    def cage(self) -> np.ndarray | None:
        """Displacements (n, 3) of the cage that the meshes show, None for none."""
        return None if self.display is None else self.display.cage()

    def teleports(self) -> list[int]:
        """The frames at which the body was found to teleport, as far as the pass has come."""
        return [] if self.filling is None else [self.cache.first + index for index in self.filling.teleports]

    @property
    def cached(self) -> tuple[range, range]:
        """The frames that are cached and known to be right, and those that may be stale."""
        if self.filling is None:
            return range(0), range(0)
        frames, checked = self.cache.frames, 0 if self._suspected else self.filling.checked
        checked = checked if self.final is None else min(checked, self.final.checked)
        return frames[:checked], frames[checked:]

    def status(self) -> str:
        """One line for the panel."""
        if self.trouble:
            return self.trouble
        if self.filling is None:
            step = self._building.step if self._building is not None else None
            return "Getting ready" if step is None else f"{step.stage} {step.fraction:.0%}"
        if self.interactive is not None:
            kept = "" if self.motions.is_linear or not self.waits else f", shape kept: {self.waits}"
            return f"Moved by hand{kept}"
        first, checked = self.cache.first, self.filling.checked
        if self.complete:
            held = self.filling.held()
            if self.final is not None:
                return self.final.status(self.wanted) + (f". {held}" if held else "")
            return f"Cached {first} - {first + checked - 1}" + (f". {held}" if held else "")
        if self._suspected:
            return "Changed; checking the cache"
        if self.waits:
            return f"Cached {first} - {first + checked - 1}; {self.waits}, so play it from the start or fill"
        why = f": {', '.join(self._changed)} changed" if self._changed else ""
        return f"Filling {self.filling.progress / self.wanted:.0%}{why}"

    # Getting ready.

    def prepare(self, context: bpy.types.Context, seconds: float) -> None:
        """Reads the body, and builds it where it has changed or is not in memory, for about that long."""
        summary = self.host.jounce.built_summary
        if self._building is not None:
            if not self._building.run(seconds):
                return
            summary, self._building = self._building.message, None
        scene = bodies.read(self.host, context, lambda _: None)
        settings = self.host.jounce.build_settings()
        digest = scene.surface.digest(settings)
        body = built.CACHE.get(digest)
        if body is None:
            if digest != self.host.jounce.built_digest and self.display is not None:
                self.display.hide()
            self._building = Runner(built.build(scene.surface, settings))
            return
        if digest != self.host.jounce.built_digest or not self.host.jounce.knows_modes:
            builds.remember(self.host, body, digest, summary, context)
        for obj in scene.objects:
            preview_modifier.add(obj)
        scene, lacking = companions.joined(scene, context)
        if lacking is not None:
            self._building = Runner(lacking)
            return
        self.motions = motions.Motions(body, scene)
        self._reread, self._built_from = False, self._built_from_now()
        self.leave_stage()
        self._reader = DriveReader(self.motions, self.scene)
        self.display = Display(scene, self.scene)
        self.restart(motions.kept(self.host) if self.filling is None else self.cache)

    def _rebuilds(self) -> bool:
        """Whether a setting that the body is built from is not what it was."""
        return self._built_from_now() != self._built_from

    def _built_from_now(self) -> tuple[object, ...]:
        return tuple(each.jounce.built_from() for each in (self.host, *companions.of(self.host)))

    def get_ready(self, context: bpy.types.Context) -> None:
        """Does all of `prepare` at once, where it is not done yet."""
        if surroundings.chosen(self.host) != self._chosen:
            self.look_around()
        if self.filling is not None:
            self._is_as_read()
        while not self.trouble and (self.filling is None or self._reread or self._rebuilds()):
            self.prepare(context, float("inf"))

    def restart(self, cache: MotionCache) -> None:
        """Begins a new pass over the frames; what is cached stays as far as it is still right."""
        self.leave_stage()
        first = self.scene.frame_start
        self._settings = self._settings_now()
        origin = self.motions.origin(self.scene, first)
        if self.filling is not None:
            self.filling.close()
        self._changed = [] if cache is None else cache.changes(origin)
        if cache is None or self._changed:
            cache = MotionCache(origin, first)
        self.filling = self.motions.filling(self.scene, cache)
        self.final = qualities.restarted(self.final, self.motions, self.scene)
        self._suspected, self._kept = 0.0, False

    def _differs(self) -> bool:
        """Whether a setting is not what it was when this pass began."""
        return self._settings_now() != self._settings or self.scene.frame_start != self.cache.first

    def _settings_now(self) -> tuple[object, ...]:
        state = self.host.jounce
        fine = (state.quality, state.flesh().key, state.learnt_digest)
        others = (other.settings(self.scene) for other in self.motions.companions)
        return (*self.motions.settings(self.scene), *fine, surroundings.chosen(self.host), *others)

    def is_whole(self) -> bool:
        """Whether nothing of what is shown has been deleted."""
        blocks = [self.scene, self.host]
        if self.motions is not None:
            blocks += [*self.motions.scene.objects, *self.motions.scene.reader.armatures]
        return all(map(registry.is_there, blocks))

    def _is_as_read(self) -> bool:
        """Whether all that drives the body is what was read; where not, all is to be read again."""
        body = self.motions.scene
        is_whole = body.is_as_read() and surroundings.is_there(body) and not self._rebuilds()
        if not is_whole:
            self.suspect(reread=True)
        return is_whole

    def suspect(self, reread: bool = False) -> None:
        """Something that the motion may depend on has changed; reread: so may the meshes."""
        self._suspected = time.perf_counter()
        self._reread = self._reread or reread
        self.trouble = ""

    def show_at_once(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Shows the frame that the scene stands at, if it is cached, outside of any change of the frame."""
        if self.filling is not None:
            self.settle_frame(self.scene.frame_current, depsgraph, patient=False)
            self._wrote = True

    def taken_off(self) -> None:
        """Takes note that what shows it was taken off its meshes, or put on again."""
        self.leave_stage()
        self.interactive, self._current, self._wrote = None, None, True
        self.forget_shown()

    def close(self) -> None:
        """Lets go of everything; the meshes stay as they are."""
        self.leave_stage()
        if self._building is not None:
            self._building.cancel()
        if self.filling is not None:
            self.filling.close()
        self.let_go_of_final()

    def let_go_of_final(self) -> None:
        """Stops simulating the final motion, whose file may then be written by others until the next pass."""
        if self.final is not None:
            self.final.close()
            self.final = None
            self.suspect()

    # Showing.

    def enter_frame(self, frame: int) -> None:
        """Before a frame is evaluated: shows it if it is cached, so that it is evaluated only once."""
        self.interactive = None
        if self.filling is not None and frame in self.cache.frames:
            self.display.show(*self._best(frame - self.cache.first))

    def is_settled(self, frame: int) -> bool:
        """Whether a frame is shown that is fresh, as long as nothing has been noticed to change."""
        if self.filling is None or self._suspected:
            return False
        index = frame - self.cache.first
        if not 0 <= index < self.filling.checked or not self.display.shows(self._best(index)[0]):
            return False
        self._current = self.filling.drives[index]
        return True

    def settle_frame(self, frame: int, depsgraph: bpy.types.Depsgraph, patient: bool) -> None:
        """After a frame was evaluated: makes sure that it shows what its drive says.

        patient: whether the frame is simulated however long that takes.
        """
        if self.filling is None or not self._is_as_read():
            return
        self._current = drive = self._reader.shown(frame, depsgraph)
        if (self._suspected and patient) or self._differs():
            self.restart(self.cache)
        index = frame - self.cache.first
        if index < 0:
            self.display.hide()
            return
        if self.filling.agrees(index, drive):
            self._reader.agreed()
        elif index < len(self.filling.drives):
            if not self._suspected:
                self._reader.doubt(frame, drive)
            self.restart(self.cache)
        is_there = self._reach(index, drive, patient)
        if patient:
            self.leave_stage()
        if is_there and patient and self.final is not None:
            self.final.reach(self.filling.drives, index)
        if is_there:
            self.display.show(*self._best(index))
        else:
            self.display.hide()

    def _best(self, index: int) -> tuple[np.ndarray, Shaper]:
        """The coefficients of a cached frame, final ones where they are there, and what they are of."""
        final = None if self.final is None else self.final.frame(index)
        if final is None:
            return self.cache.coefficients[index], self.motions.body
        return final, self.final.fine

    def _reach(self, index: int, drive: FrameInput, patient: bool) -> bool:
        """Sees to the draft of a frame with this drive; whether it is cached now, or has to wait."""
        filling, deadline = self.filling, time.perf_counter() + PATIENCE_SECONDS
        if filling.agrees(index, drive) and filling.checked > index:
            return True
        if not self.motions.is_linear and drive.offsets is None:
            if self.waits:
                return False
            # The artist's scene does not show what the rig alone makes of the meshes.
            drive = self._reader.ahead(self.cache.first + index)
        known, needed = filling.remembers(index, drive), filling.needed(index)
        while (at := len(filling.drives)) < needed:
            late = not patient and (known or time.perf_counter() > deadline)
            if at != index and (self.waits or late):
                break
            filling.feed(drive if at == index else self._reader.ahead(self.cache.first + at))
        may_wait = patient or (needed == index + 1 and not filling.closing)
        if len(filling.drives) >= needed and filling.checked <= index and may_wait:
            filling.collect(wait=True)
        return filling.checked > index or known

    # Working in the background.

    def work(self, context: bpy.types.Context, seconds: float) -> bool:
        """Goes on with what is to be done for about that long; whether the meshes show something new."""
        if self.interactive is not None:
            return self._move_on()
        if self._suspected and time.perf_counter() - self._suspected < QUIET_SECONDS:
            return False
        if self._suspected:
            self.look_around()
        if self.filling is None or self._reread or self._rebuilds():
            self.prepare(context, seconds)
        elif self._suspected:
            self.restart(self.cache)
        return self.filling is not None and not self._suspected and self.fill(seconds)

    def fill(self, seconds: float) -> bool:
        """Reads and simulates frames for about that long; whether the current one is new."""
        filling, deadline = self.filling, time.perf_counter() + seconds
        while len(filling.drives) < self.wanted and not self.waits and time.perf_counter() < deadline:
            filling.feed(self._reader.ahead(self.cache.first + len(filling.drives)))
        filling.collect()
        if self.final is not None:
            self.final.work(filling.drives, self.cache, self.wanted, max(0.0, deadline - time.perf_counter()))
        if self.complete or self.waits:
            self.leave_stage()
        if self.complete and not self._kept:
            motions.keep(self.host, self.cache)
            self._kept, self._changed = True, []
        return self._show_current()

    def filled(self, context: bpy.types.Context) -> Generator[Step, None, None]:
        """Fills the cache to its end, with a step at every frame."""
        self.trouble = ""
        self.look_around()
        self.get_ready(context)
        self.restart(self.cache)
        for drive in self._reader.over(range(self.cache.first, self.cache.first + self.wanted), context):
            self.filling.feed(drive)
            yield Step(READING * len(self.filling.drives) / self.wanted, "Simulating")
        yield from scaled(self.filling.caught_up(), READING, 1.0)
        if self.final is not None:
            yield from self.final.filled(self.filling.drives, self.cache, self.wanted)
        self.fill(0.0)

    def _show_current(self) -> bool:
        """Shows the current frame if its drive is the cached one and it is not shown yet."""
        index = self.scene.frame_current - self.cache.first
        if self._current is None or not 0 <= index < self.filling.checked:
            return False
        coefficients, shaper = self._best(index)
        if self.display.shows(coefficients) or not self.filling.agrees(index, self._current):
            return False
        self.display.show(coefficients, shaper)
        self._wrote = True
        return True

    def lose_stage(self) -> None:
        """The stage is not in the file any more."""
        if self._reader is not None:
            self._reader.lose()

    def leave_stage(self) -> None:
        """Takes the stage out of the file."""
        if self._reader is not None:
            self._reader.leave()

    # Changes.

    def look_at_changes(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Notes whether what was evaluated may have changed the motion; whether all is to be read again."""
        own, self._wrote = self._wrote, False
        watched, rereads = Watched(self.host, None if self.motions is None else self.motions.scene), False
        for update in depsgraph.updates:
            block = update.id.original
            if isinstance(block, bpy.types.Action):
                # A stage makes doubles with shape keys, which touches their actions.
                if not self._actions.is_only_touched(block, watched.keys):
                    self.suspect(reread=self.motions is not None and self.motions.moves_otherwise())
            elif (reread := watched.asks_to_read(update, own, depsgraph)) is not None:
                self.suspect(reread=reread)
                rereads = rereads or reread
        return rereads

    def touches(self, hosts: set[bpy.types.Object]) -> bool:
        """Whether any of some bodies is one that this one touches."""
        others = () if self.motions is None else self.motions.scene.companions
        return any(other.scene.host in hosts for other in others)

    def look_at_settings(self) -> None:
        """Notes whether a setting, of the scene too, is another one than this pass was begun with."""
        if self.filling is not None and not self._suspected and self._differs():
            self.suspect()

    def look_around(self) -> None:
        """Has the body read again if other force fields or colliders act on it than did."""
        self._chosen = surroundings.chosen(self.host)
        if self.motions is not None:
            self._reread = self._reread or not surroundings.is_same(self.motions.scene, self.scene)

    def forget_shown(self) -> None:
        """The meshes may show something else than was written last."""
        if self.display is not None:
            self.display.forget()

    # By hand.

    def touch(self, depsgraph: bpy.types.Depsgraph) -> None:
        """After an evaluation that is not a new frame: moves on if the pose is another one."""
        if self.filling is None or not self._is_as_read():
            return
        drive = frame_inputs.read(self.motions.scene, depsgraph)
        before, self._current = self._current, drive
        if before is None or drive.agrees(before):
            return
        self.suspect()
        is_free = not self.filling.follows_hand
        if is_free or drive.held or before.held or drive.moves_as(before):
            # Neither what cannot be followed nor a collider is moved by hand; the frame is looked at again.
            self.interactive = None
            return
        index = self.scene.frame_current - self.cache.first
        if 0 <= index < len(self.filling.drives):
            # The artist's scene does not show what the rig makes of the meshes; `_move_on` asks a stage.
            drive = replace(drive, offsets=self.filling.drives[index].offsets)
        if self.filling.agrees(index, drive):
            self.interactive = None
            self.display.forget()
        elif self.interactive is not None:
            self.interactive.drive = drive
        else:
            self.begin_by_hand(before).drive = drive

    def begin_by_hand(self, drive: FrameInput) -> Interactive:
        """Starts to simulate in real time, from the state that is shown; `work` steps it until it settles."""
        fine = None if self.final is None else self.final.by_hand
        filling, shaper = (self.filling, self.motions.body) if fine is None else fine
        frame, diagonal = self.scene.frame_current, self.motions.diagonal
        self.interactive = Interactive.begun(filling, shaper, drive, diagonal, frame)
        return self.interactive

    def _move_on(self) -> bool:
        now = time.perf_counter()
        if now < self._due:
            return False
        self._due = now + units.frame_seconds(self.scene)
        if not self.motions.is_linear and not self.waits:
            drive = self._reader.by_hand(self.scene.frame_current)
            if not drive.held:
                self.interactive.drive = replace(self.interactive.drive, offsets=drive.offsets)
        before = self.display.offsets.copy()
        self.display.move(self.interactive.step(), self.interactive.shaper)
        self.interactive.watch(before, self.display.offsets)
        self._wrote = True
        if self.interactive.settled:
            self.interactive = None
        return True
