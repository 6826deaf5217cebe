"""Session of one previewed body: model, cache, and display.

Sessions are not saved; they are made from the file whenever needed.
"""

import time
from collections.abc import Generator
from dataclasses import replace

import bpy
import numpy as np

from ...core.body import built_bodies
from ...core.common.task import Runner, Step, scaled
from ...core.passes.simulation_pass import SimulationPass
from ...core.stepping.motion import FrameInput
from ...core.storage.cache import MotionCache
from ..body import bodies, builds, companions
from ..common import units
from ..common.words import worded
from ..inputs import frame_inputs, surroundings
from ..motions import first_look, motions, quality_passes
from ..motions.background_pass import BackgroundPass
from ..motions.dented import Dented
from ..motions.direction import Direction
from ..motions.display import Display
from ..motions.drive_reader import DriveReader
from ..rig import preview_modifier
from .interactive import Interactive
from .watch import Watch

# Time in seconds for simulating a requested frame immediately.
PATIENCE_SECONDS = 0.2
# Share of reading drives in the work of filling a cache without a loop.
READING = 0.7
# The change that explains all others between two kinds of drafts.
QUALITY = ["Quality"]
# Seconds without further changes before the cache is checked.
QUIET_SECONDS = 0.3


class Session:
    """Shows a body, fills the cache, and reports progress."""

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self.host = host
        self.scene = scene
        self.trouble = ""
        self.motions: motions.Motions | None = None
        self.filling: SimulationPass | None = None
        self.final: BackgroundPass | None = None
        self.direction: Direction | None = None
        self.dented: Dented | None = None
        self.interactive: Interactive | None = None
        self.first_look: first_look.FirstLook | None = None
        self._changed: list[str] = []
        self._building: Runner | None = None
        self._reader: DriveReader | None = None
        self._watch = Watch(host, scene)
        self._current: FrameInput | None = None
        self.display: Display | None = None
        self._kept = False
        self._due = 0.0

    # State of the reading and of the passes.

    @property
    def cache(self) -> MotionCache:
        """The cached motion; only once there is a filling."""
        return self.filling.cache

    @property
    def wanted(self) -> int:
        """Number of frames to cache."""
        return max(self.scene.frame_end, self.scene.frame_current) - self.cache.first + 1

    @property
    def complete(self) -> bool:
        """True if all frames of the draft are cached and fresh."""
        return self.filling is not None and not self._watch.suspected and self.filling.checked >= self.wanted

    @property
    def busy(self) -> bool:
        """True if `work` has something to do."""
        waiting = (
            self._watch.suspected
            or self.filling is None
            or not (self.waits or (self.complete and self._kept))
        )
        staged = (self.complete or self.waits) and self.is_staged
        behind = self.final is not None and not self.final.is_done(self.wanted)
        # Frames that nobody reads ahead do not come by waiting.
        behind = behind and not (self.waits and self.final.checked >= len(self.filling.drives))
        return not self.trouble and (self.interactive is not None or bool(waiting) or staged or behind)

    @property
    def waits(self) -> str:
        """Reason why frames are read as displayed and none ahead; empty without one."""
        return "" if self._reader is None else self._reader.unsound

    @property
    def is_staged(self) -> bool:
        """True while a stage stands beside the artist's scene."""
        return self._reader is not None and self._reader.is_staged

    def cage(self) -> np.ndarray | None:
        """Displayed displacements (n, 3) of the cage, None for none."""
        return None if self.display is None else self.display.cage()

    def teleports(self) -> list[int]:
        """The frames with a detected teleport, as far as the pass has come."""
        return [] if self.filling is None else [self.cache.first + index for index in self.filling.teleports]

    @property
    def cached(self) -> tuple[range, range]:
        """The cached and verified frames, and the possibly stale ones."""
        if self.filling is None:
            return range(0), range(0)
        frames, checked = self.cache.frames, 0 if self._watch.suspected else self.filling.checked
        checked = checked if self.final is None else min(checked, self.final.checked)
        return frames[:checked], frames[checked:]

    @property
    def rough(self) -> list[int]:
        """The frames of the shown motion that have not converged."""
        if self.final is not None:
            return self.final.rough
        if self.filling is None:
            return []
        return sorted(self.cache.first + row for row in self.cache.rough)

    def status(self) -> str:
        """One line for the panel."""
        if self.trouble:
            return self.trouble
        if self._building is not None and self._building.step.stage:
            return worded("Building {share}", share=f"{self._building.step.fraction:.0%}")
        if self.filling is None:
            return worded("Getting ready")
        if self.interactive is not None:
            kept = "" if self.motions.is_linear or not self.waits else f", shape kept: {self.waits}"
            return worded("Moved by hand") + kept
        first, checked = self.cache.first, self.filling.checked
        if self.complete:
            told = quality_passes.status(self.final, self.host, self.cache.frames, self.wanted)
            rough = self.filling.rough() if self.final is None else ""
            return ". ".join(filter(None, (told, self.filling.held(), rough)))
        if self._watch.suspected:
            return worded("Changed; checking the cache")
        if self.waits:
            return (
                f"Cached {first} - {first + checked - 1}; {self.waits}, so play from the start, or "
                "press Calculate"
            )
        look = "" if self.first_look is None else self.first_look.status(self.display)
        why = f": {', '.join(self._changed)} changed" if self._changed else ""
        share = self.filling.progress / self.wanted
        return worded("Filling {share}", share=f"{share:.0%}") + why + look

    # Getting ready.

    def prepare(self, context: bpy.types.Context, seconds: float) -> None:
        """Reads the body and builds a changed or missing one, for about this time."""
        summary = self.host.jounce.built_summary
        if self._building is not None:
            if not self._building.run(seconds):
                return
            summary, self._building = self._building.message, None
        scene = bodies.read(self.host, context, lambda _: None)
        settings = self.host.jounce.build_settings()
        digest = scene.surface.digest(settings)
        body = built_bodies.CACHE.get(digest)
        if body is None:
            if self.display is not None and not scene.surface.stands_as(self.motions.scene.surface):
                self.display.hide()
            self._building = Runner(built_bodies.build(scene.surface, settings))
            return
        if digest != self.host.jounce.built_digest or not self.host.jounce.knows_build:
            builds.remember(scene, body, digest, summary, context)
        for obj in scene.objects:
            preview_modifier.add(obj)
        scene, lacking = companions.joined(scene, context)
        if lacking is not None:
            self._building = Runner(lacking)
            return
        self.motions = motions.Motions(body, scene)
        self._watch.has_read()
        self.leave_stage()
        self._reader = DriveReader(self.motions, self.scene)
        self.direction = Direction(self.motions, self.scene, lambda: (self.filling, self.final))
        self.dented = Dented(self.motions, self.direction, lambda: self.filling)
        self.display = Display(scene, self.scene)
        self.restart(motions.kept(self.host) if self.filling is None else self.cache)

    def get_ready(self, context: bpy.types.Context) -> None:
        """Completes `prepare` at once."""
        if self._watch.has_other_surroundings():
            self.look_around()
        if self.filling is not None:
            self._is_as_read()
        while not self.trouble and (self.filling is None or self._watch.reread or self._watch.rebuilds()):
            self.prepare(context, float("inf"))

    def restart(self, cache: MotionCache) -> None:
        """Starts a new pass over the frames; valid cached frames stay."""
        self.leave_stage()
        first = self.scene.frame_start
        self._watch.has_started(self.motions)
        origin = self.motions.origin(self.scene, first)
        if self.filling is not None:
            self.filling.close()
        self._changed = [] if cache is None else cache.changes(origin)
        self._changed = QUALITY if QUALITY[0] in self._changed else self._changed
        if cache is None or self._changed:
            cache = self.motions.begun(self.scene, first)
        self.filling = self.motions.filling(self.scene, cache)
        self.final = quality_passes.restarted(self.final, self.motions, self.scene)
        self.first_look = first_look.restarted(self.first_look, self.motions, self.scene, self.filling)
        self._watch.suspected, self._kept = 0.0, False

    def _differs(self) -> bool:
        """True if a setting has changed since the start of this pass."""
        return self._watch.differs(self.motions) or self.scene.frame_start != self.cache.first

    def _is_as_read(self) -> bool:
        """True if all inputs agree with the last reading; otherwise the body must be read again."""
        body = self.motions.scene
        is_whole = body.is_as_read() and surroundings.is_there(body) and not self._watch.rebuilds()
        if not is_whole:
            self.suspect(reread=True)
        return is_whole

    def suspect(self, reread: bool = False) -> None:
        """Notes a possible change of the motion; reread: also of the meshes."""
        self._watch.suspect(reread)
        self.trouble = ""

    def show_at_once(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Displays the scene's current frame if cached, outside of any change of the frame."""
        if self.filling is not None:
            self.settle_frame(self.scene.frame_current, depsgraph, patient=False)
            self._watch.wrote = True

    def taken_off(self) -> None:
        """Notes that the display was removed from the meshes, or added again."""
        self.leave_stage()
        self.interactive, self._current, self._watch.wrote = None, None, True
        self.forget_shown()

    def close(self) -> None:
        """Ends the session; the meshes stay as displayed."""
        self.leave_stage()
        if self._building is not None:
            self._building.cancel()
        for each in (self.filling, self.first_look):
            if each is not None:
                each.close()
        self.let_go_of_final()

    def let_go_of_final(self) -> None:
        """Stops the final simulation, whose file is then free for other writers until the next pass."""
        if self.final is not None:
            self.final.close()
            self.final = None
            self.suspect()

    # Showing.

    def enter_frame(self, frame: int) -> None:
        """Before a frame is evaluated: displays the cached frame, which saves a second evaluation."""
        self.interactive = None
        if self.filling is not None and frame in self.cache.frames:
            self.display.show(*self.dented.best(frame - self.cache.first))

    def is_settled(self, frame: int) -> bool:
        """True if a fresh frame is displayed, as long as no change was noticed."""
        if self.filling is None or self._watch.suspected:
            return False
        index = frame - self.cache.first
        if not 0 <= index < self.filling.checked or not self.display.shows(self.dented.best(index)[0]):
            return False
        self._current = self.filling.drives[index]
        return True

    def settle_frame(self, frame: int, depsgraph: bpy.types.Depsgraph, patient: bool) -> None:
        """After a frame was evaluated: makes the display agree with the drive.

        patient: True if the frame is simulated however long this takes.
        """
        if self.filling is None or not self._is_as_read():
            return
        self._current = drive = self._reader.shown(frame, depsgraph)
        if (self._watch.suspected and patient) or self._differs():
            self.restart(self.cache)
        index = frame - self.cache.first
        if index < 0:
            self.display.hide()
            return
        if self.filling.agrees(index, drive):
            self._reader.agreed()
        elif index < len(self.filling.drives):
            if not self._watch.suspected:
                self._reader.doubt(frame, drive)
            self.restart(self.cache)
        is_there = self._reach(index, drive, patient)
        last = self.direction.last(index, self.wanted) if is_there and patient and not self.waits else index
        if last > index and self.filling.checked <= last:
            self._reach(last, self._reader.ahead(self.cache.first + last), patient)
        if patient:
            self.leave_stage()
        if not is_there:
            self.display.hide()
            return
        if patient and self.final is not None:
            self.final.reach(self.filling.drives, last)
        self.display.show(*self.dented.best(index))

    def show_directed(self) -> bool:
        """Displays the current frame with the present direction; True for a new frame."""
        return self.filling is not None and self.interactive is None and self._show_current()

    def _reach(self, index: int, drive: FrameInput, patient: bool) -> bool:
        """Caches the draft of a frame with this drive; False if the frame has to wait."""
        filling, deadline = self.filling, time.perf_counter() + PATIENCE_SECONDS
        if filling.agrees(index, drive) and filling.checked > index:
            return True
        if not self.motions.is_linear and drive.offsets is None:
            if self.waits:
                return False
            # The artist's scene does not show the meshes' rigged shape.
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
        """Continues the open work for about this time; True if the meshes show something new."""
        if self.interactive is not None:
            return self._move_on()
        if self._watch.has_changed_within(QUIET_SECONDS):
            return False
        if self._watch.suspected:
            self.look_around()
        if self.filling is None or self._watch.reread or self._watch.rebuilds():
            self.prepare(context, seconds)
        elif self._watch.suspected:
            self.restart(self.cache)
        return self.filling is not None and not self._watch.suspected and self.fill(seconds)

    def fill(self, seconds: float) -> bool:
        """Reads and simulates frames for about this time; True if the current frame is new."""
        filling, deadline = self.filling, time.perf_counter() + seconds
        look = self.first_look
        ahead = None if self.waits else self._reader.ahead
        if look is not None and not look.work(self.scene, filling, ahead, deadline):
            self.first_look = None
        while len(filling.drives) < self.wanted and not self.waits and time.perf_counter() < deadline:
            filling.feed(self._reader.ahead(self.cache.first + len(filling.drives)))
        filling.collect()
        if self.final is not None:
            self.final.work(filling.drives, self.cache, self.wanted, max(0.0, deadline - time.perf_counter()))
        if self.complete or self.waits:
            self.leave_stage()
        if self.complete and not self._kept:
            self.motions.keep(self.cache)
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
        """Displays the current frame, or a first look, with the drive; False if already displayed."""
        index, look = self.scene.frame_current - self.cache.first, self.first_look
        if 0 <= index < self.filling.checked:
            (coefficients, shaper), drive = self.dented.best(index), self.filling.drives[index]
        elif look is not None and look.coefficients is not None:
            (coefficients, shaper), drive = (look.coefficients, look.owner), look.drive
        else:
            return False
        if self._current is None or self.display.shows(coefficients) or not drive.agrees(self._current):
            return False
        self.display.show(coefficients, shaper)
        self._watch.wrote = True
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
        """Notes possible changes of the motion by an evaluation; True if everything must be read again."""
        found = self._watch.reports(self.motions, depsgraph)
        if found:
            self.trouble = ""
        return any(found)

    def look_at_settings(self) -> None:
        """Notes settings, also of the scene, that differ from the start of this pass."""
        if (
            self.filling is not None
            and not self._watch.suspected
            and (self._watch.rebuilds() or self._differs())
        ):
            self.suspect()

    def look_around(self) -> None:
        """Requests a new reading for changed force fields or colliders."""
        self._watch.look_around(self.motions)

    def forget_shown(self) -> None:
        """The meshes may show something else than was written last."""
        if self.display is not None:
            self.display.forget()

    # By hand.

    def touch(self, depsgraph: bpy.types.Depsgraph) -> None:
        """After an evaluation within a frame: moves on if the pose has changed."""
        if self.filling is None or not self._is_as_read():
            return
        drive = frame_inputs.read(self.motions.scene, depsgraph)
        before, self._current = self._current, drive
        if before is None or drive.agrees(before):
            return
        self.suspect()
        if not self.filling.follows_hand or drive.held or before.held or drive.moves_as(before):
            # Holds and colliders do not move by hand; the frame is checked again.
            self.interactive = None
            return
        index = self.scene.frame_current - self.cache.first
        if 0 <= index < len(self.filling.drives):
            # The artist's scene does not show the meshes' rigged shape; `_move_on` asks a stage.
            shown = self.filling.drives[index]
            drive = replace(drive, offsets=shown.offsets, vertices=shown.vertices)
        if self.filling.agrees(index, drive):
            self.interactive = None
            self.display.forget()
        elif self.interactive is not None:
            self.interactive.drive = drive
        else:
            self.begin_by_hand(before).drive = drive

    def begin_by_hand(self, drive: FrameInput) -> Interactive:
        """Starts a simulation in real time from the displayed state; `work` steps it until at rest."""
        fine = None if self.final is None else self.final.by_hand
        filling, shaper = (self.filling, self.filling.owner) if fine is None else fine
        frame, diagonal = self.scene.frame_current, self.motions.diagonal
        self.interactive = Interactive.begun(filling, shaper, drive, diagonal, frame)
        self.interactive.beside = self.direction.change(frame - self.cache.first)
        return self.interactive

    def _move_on(self) -> bool:
        now = time.perf_counter()
        if now < self._due:
            return False
        self._due = now + units.frame_seconds(self.scene)
        if not self.motions.is_linear and not self.waits:
            drive = self._reader.by_hand(self.scene.frame_current)
            if not drive.held:
                shapes = {"offsets": drive.offsets, "vertices": drive.vertices}
                self.interactive.drive = replace(self.interactive.drive, **shapes)
        before = self.display.offsets.copy()
        self.display.move(self.interactive.step(), self.interactive.shaper, self.interactive.beside)
        self.interactive.watch(before, self.display.offsets)
        self._watch.wrote = True
        if self.interactive.settled:
            self.interactive = None
        return True
