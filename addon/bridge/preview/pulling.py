"""Grabbing of a previewed body's flesh at one vertex."""

import bpy
import numpy as np

from ...core.body.attached import AttachedBody
from ...core.body.grip import PATCH, DomainGrip, Grip, HandleGrip
from ...core.body.loose import LooseBody
from ...core.body.pinned import PinnedBody
from ...core.common.user_error import UserError
from ..common import units
from ..inputs import frame_inputs
from . import keying, previews
from .interactive import Interactive
from .picking import Hit


class Hand:
    """Takes hold, pulls and lets go; then the body comes to rest and shows its frame again."""

    def __init__(self, host: bpy.types.Object) -> None:
        known = previews.session(host)
        if known is None or known.filling is None:
            raise UserError(
                f"{host.name} is not previewed yet; switch its preview on and wait until it is ready."
            )
        self._session = known
        self._grip: Grip | HandleGrip | None = None
        self._interactive: Interactive | None = None
        self._compliance = 0.0
        self.target = np.zeros(3)

    @property
    def holds(self) -> bool:
        """True while flesh is held."""
        return self._grip is not None

    @property
    def is_there(self) -> bool:
        """True while the body is previewed with the same session."""
        return previews.is_shown(self._session)

    @property
    def rests(self) -> bool:
        """True once nothing is held and released flesh is at rest."""
        return self._interactive is None

    def take(self, hit: Hit, depsgraph: bpy.types.Depsgraph) -> None:
        """Takes hold of the flesh at a vertex; refused in a frame without a state to continue from."""
        known = self._session
        surface = known.motions.scene.surface
        drive = frame_inputs.read(known.motions.scene, depsgraph)
        frame, name = known.scene.frame_current, known.host.name
        if drive.held:
            raise UserError(f"In frame {frame} {drive.held}.")
        if not (known.filling.follows_hand or known.filling.agrees(frame - known.cache.first, drive)):
            raise UserError(f"{name} is not simulated up to frame {frame} yet; grab it once it is shown.")
        if known.interactive is None:
            known.begin_by_hand(drive)
        self._interactive = known.interactive
        shaper, simulation = self._interactive.shaper, self._interactive.simulation
        if isinstance(shaper, LooseBody | AttachedBody):
            radius = PATCH * surface.diagonal
            self._grip = HandleGrip(shaper, surface.triangles, hit.point, radius, simulation.coefficients)
        else:
            is_pinned = isinstance(shaper, PinnedBody)
            of_flesh = (shaper, surface.weights[hit.point], hit.point, surface.triangles)
            self._grip = DomainGrip(shaper, hit.point, simulation) if is_pinned else Grip(*of_flesh)
            self._compliance = self._grip.compliance(simulation, drive.pose, surface.diagonal, drive.drag)
        self.target = hit.place
        self.pull()
        previews.ensure_timer()

    def position(self) -> np.ndarray:
        """Position of the held vertex, (3,) in metres."""
        moved = self._interactive
        return self._grip.position(moved.drive.pose, moved.simulation.coefficients)

    def pull(self) -> None:
        """Applies the spring's present force; shows the frame again once at rest."""
        if self._interactive is None:
            return
        if self._session.interactive is not self._interactive or not self.is_there:
            self.drop()
            return
        moved = self._interactive
        if isinstance(self._grip, HandleGrip):
            moved.pull = self._grip.pull(self.target, moved.simulation.coefficients)
        elif self._grip is not None:
            moved.force = self._grip.spring(
                self.target, moved.drive.pose, moved.simulation.coefficients, self._compliance
            )

    def drop(self) -> None:
        """Holds nothing any more, as the frame has changed, everything has settled or the body is gone."""
        self._grip = self._interactive = None
        if self.is_there and self._session.interactive is None:
            self._session.enter_frame(self._session.scene.frame_current)
            previews.redraw(True)

    def let_go(self) -> None:
        """Lets the flesh swing on by itself."""
        if isinstance(self._grip, DomainGrip):
            self._grip.release()
        self._grip = None
        if self._interactive is not None:
            self._interactive.force = self._interactive.pull = None

    def keep(self) -> bool:
        """Keeps the displayed shape of flesh as the key of its frame; False while nothing moves by hand."""
        known = self._session
        if self._interactive is None or not known.motions.is_flesh:
            return False
        moved = known.display.offsets * np.float32(units.metres_per_unit(known.scene))
        self.close()
        keying.keep(known.host, known.scene.frame_current, moved)
        return True

    def close(self) -> None:
        """Lets go and shows the frame again at once."""
        self.let_go()
        if self._interactive is not None:
            self._session.interactive = None
            self.drop()

    def string(self) -> np.ndarray | None:
        """The held vertex and the target, (2, 3) in Blender units; None without a hold."""
        if self._grip is None:
            return None
        scale = units.metres_per_unit(self._session.scene)
        return np.stack([self.position(), self.target]) / scale
