"""Reads the drives of a body: from a separate stage, or from the artist's scene itself."""

from collections.abc import Iterator

import bpy
import numpy as np

from ...core.stepping.motion import FrameInput
from ..common import frames, handlers
from ..inputs import frame_inputs
from ..inputs.posed_meshes import PosedShapes
from ..rig import bone_transforms
from . import scratch_scene
from .motions import Motions


class DriveReader:
    """The drives of one body, frame by frame. Leave the stage in pauses of the reading."""

    def __init__(self, of: Motions, scene: bpy.types.Scene) -> None:
        self._of = of
        self._scene = scene
        self._stage: scratch_scene.Stage | None = None
        self._why = scratch_scene.unsound(of.scene, scene)
        self._moved = False
        # Number of consecutive frames that differ from the stage although no change was noticed.
        self._doubts = 0
        body = of.scene
        posed = (*body.reader.armatures, *scratch_scene.followed(body))
        above = (ancestor for obj in posed for ancestor in bone_transforms.ancestors(obj))
        self._posed = list(dict.fromkeys((*posed, *above)))

    @property
    def unsound(self) -> str:
        """Reason why a stage differs from the scene, empty without one."""
        movers = handlers.foreign() if self._moved and not self._why else []
        return f"handlers of {' and '.join(movers)} move its rig" if movers else self._why

    @property
    def is_staged(self) -> bool:
        """True while there is a stage."""
        return self._stage is not None

    def ahead(self, frame: int) -> FrameInput:
        """The drive of any frame, from a stage."""
        return self._staged().drive(frame)

    def by_hand(self, frame: int) -> FrameInput:
        """The drive of a frame with all later changes by hand, from a stage."""
        return self._staged().drive_by_hand(frame)

    def shown(self, frame: int, depsgraph: bpy.types.Depsgraph) -> FrameInput:
        """The drive of the evaluated frame, with changes made by handlers afterwards.

        Blender evaluates these changes after the last handler, and calls no more handlers.
        """
        if handlers.foreign() and self._is_moved_since(depsgraph):
            self._moved = True
            return self.by_hand(frame)
        return frame_inputs.read(self._of.scene, depsgraph)

    def _is_moved_since(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """True if an object followed by the body has moved since its evaluation."""
        pairs = ((obj, obj.evaluated_get(depsgraph)) for obj in self._posed)
        return any(not np.array_equal(stored(obj), stored(seen)) for obj, seen in pairs)

    def agreed(self) -> None:
        """Notes a frame in agreement with the stage."""
        self._doubts = 0

    def doubt(self, frame: int, drive: FrameInput) -> None:
        """Notes a frame that differs from the stage although no change was noticed."""
        self._doubts += 1
        if self.unsound:
            return
        if handlers.foreign() and self._doubts > 1:
            self._moved = True
        elif not self.ahead(frame).agrees(drive):
            self._why = "its rig depends on the scene"

    def over(self, steps: range, context: bpy.types.Context) -> Iterator[FrameInput]:
        """The drives of frames in order; from the scene itself if other add-ons move objects."""
        if not self.unsound and not handlers.foreign():
            yield from map(self.ahead, steps)
            return
        read = []
        shapes = PosedShapes(self._of.body, self._of.scene, self._scene, context.view_layer)
        with shapes, frames.kept(self._scene):
            for frame in steps:
                self._scene.frame_set(frame)
                read.append(frame_inputs.read(self._of.scene, context.evaluated_depsgraph_get(), shapes))
                yield read[-1]
        if not self.unsound:
            pairs = zip(steps, read, strict=True)
            self._moved = not all(self.ahead(frame).agrees(drive) for frame, drive in pairs)

    def _staged(self) -> scratch_scene.Stage:
        if self._stage is not None and not self._stage.is_there:
            self.leave()
        if self._stage is None:
            self._stage = scratch_scene.Stage(self._of, self._scene)
        return self._stage

    def lose(self) -> None:
        """The stage is not in the file any more."""
        self._stage = None

    def leave(self) -> None:
        """Takes the stage out of the file."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None


def stored(obj: bpy.types.Object) -> np.ndarray:
    """Stored transforms of an object and its bones, as a row of numbers."""
    own = np.array(obj.matrix_basis, np.float32).ravel()
    if obj.pose is None:
        return own
    bones = np.empty(16 * len(obj.pose.bones), np.float32)
    obj.pose.bones.foreach_get("matrix_basis", bones)
    return np.concatenate([own, bones])
