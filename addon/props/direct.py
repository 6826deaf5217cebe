"""Direction of the flesh: curves of the body and of its parts, and keyed shapes."""

import bpy
import numpy as np
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, StringProperty

from ..bridge.preview import previews
from ..core.direct.curves import LEAST_FOLLOW, MOST_EXAGGERATED, MOST_FOLLOW, MOST_LAG, Curves
from .animated import keyed_where_read
from .overrides import overridable

# Longest span of a key to one side, in frames.
LONGEST_SPAN = 240


def _show(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    previews.direct(state.id_data)


class OfDirection:
    """Curves of the body or of one part, for the display, never the simulation."""

    exaggerate: FloatProperty(
        name="Exaggerate",
        description=(
            "Factor on the simulated swing, without unit: 0 none, 1 as simulated, 3 three times as far. "
            "May be animated"
        ),
        default=1.0,
        min=0.0,
        max=MOST_EXAGGERATED,
        step=5,
        update=_show,
    )
    lag: FloatProperty(
        name="Lead / Lag",
        description=("Delay of the flesh, in frames; below 0 the flesh leads. May be animated"),
        default=0.0,
        min=-MOST_LAG,
        max=MOST_LAG,
        step=50,
        update=_show,
    )
    follow_through: FloatProperty(
        name="Follow Through",
        description=(
            "Factor on the decay time of swings, without unit: 1 by the damping, 2 twice as long, 0.5 "
            "half as long. May be animated"
        ),
        default=1.0,
        min=LEAST_FOLLOW,
        max=MOST_FOLLOW,
        step=5,
        update=_show,
    )

    def curves(self) -> Curves:
        """The values as plain ones."""
        return Curves(self.exaggerate, self.lag, self.follow_through)


@keyed_where_read
@overridable
class JounceDirection(OfDirection, bpy.types.PropertyGroup):
    """Curves of one part, by its name."""

    def take(self, other: "JounceDirection") -> None:
        """Takes over name and values."""
        for name in ("name", "exaggerate", "lag", "follow_through"):
            setattr(self, name, getattr(other, name))


@keyed_where_read
@overridable
class JounceFleshKey(bpy.types.PropertyGroup):
    """A keyed shape. Its offsets are bytes beside these properties, as shares of the body's size."""

    frame: IntProperty(name="Frame", description="Frame of this shape", update=_show)
    before: IntProperty(
        name="Frames Before",
        description="Number of changed frames before the key; earlier frames stay as they are",
        default=12,
        min=1,
        max=LONGEST_SPAN,
        soft_max=48,
        update=_show,
    )
    after: IntProperty(
        name="Frames After",
        description="Number of changed frames after the key; later frames stay as they are",
        default=12,
        min=1,
        max=LONGEST_SPAN,
        soft_max=48,
        update=_show,
    )
    scale: FloatProperty(
        name="Scale",
        description=(
            "Strength of the key, without unit: 0 none, 1 the kept shape, 2 twice as far from the motion"
        ),
        default=1.0,
        min=0.0,
        max=3.0,
        step=5,
        update=_show,
    )
    swing: FloatProperty(
        name="Swing",
        description=(
            "Swing into and out of the shape, without unit: 1 natural, with the least force; 0 eases "
            "there and back over the whole span"
        ),
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=_show,
    )
    mute: BoolProperty(name="Mute", description="The motion does not pass this key for now", update=_show)
    shape_digest: StringProperty(name="Shape", description="Hash of the kept shape", options={"HIDDEN"})

    shape_points: IntProperty(
        name="Points", description="Number of vertices of the kept shape", options={"HIDDEN"}
    )

    def shape(self) -> np.ndarray | None:
        """Offsets (p, 3) f32 as shares of the size, None for unreadable ones."""
        data = self.get("shape")
        if not isinstance(data, bytes) or len(data) % 12:
            return None
        found = np.frombuffer(data, "<f4").reshape(-1, 3)
        return found if np.isfinite(found).all() else None


class DirectProps(OfDirection):
    """Settings of the host; changes need neither a build nor a simulation."""

    directions: CollectionProperty(
        name="Directed Parts", description="Parts with curves of their own", type=JounceDirection
    )
    flesh_keys: CollectionProperty(
        name="Flesh Keys", description="Shapes that the flesh passes", type=JounceFleshKey
    )
    flesh_key_index: IntProperty(name="Flesh Key", description="The chosen key in the list")

    @property
    def flesh_key(self) -> JounceFleshKey | None:
        """The chosen key."""
        known = self.flesh_keys
        return known[self.flesh_key_index] if 0 <= self.flesh_key_index < len(known) else None
