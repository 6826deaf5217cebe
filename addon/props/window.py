"""Drawings of the viewports over the active body, as `window_manager.jounce`; not saved in files."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..core.display.fields import Field
from ..overlay import view

FIELDS = (
    (Field.NONE.value, "None", "No colours"),
    (Field.WEIGHTS.value, "Mode", "How far the chosen mode moves each place, of its largest"),
    (Field.CLUSTERS.value, "Clusters", "The regions that turn as one"),
    (Field.CORE.value, "Bone Core", "What follows the bones, 1, and what is flesh, 0"),
    (Field.PART.value, "Part", "How much of each place belongs to the chosen part, 0 to 1"),
    (Field.LEAK.value, "Momentum Leak", "How much of the bones' momentum reaches the flesh, 0 to 1"),
    (Field.STIFFNESS.value, "Stiffness", "Young's modulus of the flesh, in kPa"),
    (Field.MUSCLE.value, "Muscle", "How much of the flesh is muscle, 0 to 1, while the preview is on"),
    (
        Field.DRAFT_ERROR.value,
        "Draft Error",
        "How far the draft, or what was learnt, is from the final motion, as a root mean square over time, "
        "in percent of the size",
    ),
    (
        Field.RESIDUAL.value,
        "Mode Error",
        "How far the modes may be off since stitches or stiffness were changed without a whole build, in "
        "percent of their largest weights",
    ),
    (Field.STRETCH.value, "Stretch", "By how much the skin is longer than at rest, in percent"),
    (Field.VELOCITY.value, "Velocity", "How fast the skin moves in the world, in m/s"),
)


def _changed(self: "JounceWindow", context: bpy.types.Context) -> None:
    view.sync(self.draws_something)
    view.redraw(context)


def _shows_core(self: "JounceWindow") -> bool:
    return self.field == Field.CORE.value


def _show_core(self: "JounceWindow", shown: bool) -> None:
    self.field = (Field.CORE if shown else Field.NONE).value


class JounceWindow(bpy.types.PropertyGroup):
    """Overlay settings, not saved in a file."""

    field: EnumProperty(
        name="Colours",
        description="What the body's meshes show in false colours; their materials stay as they are",
        items=FIELDS,
        update=_changed,
        options={"SKIP_SAVE"},
    )
    show_core: BoolProperty(
        name="Show Bone Core",
        description="Colour what follows the bones, bright, and what is flesh, dark",
        get=_shows_core,
        set=_show_core,
        options={"SKIP_SAVE"},
    )
    opacity: FloatProperty(
        name="Opacity",
        description="How much the colours cover what is below",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=_changed,
        options={"SKIP_SAVE"},
    )
    cage: BoolProperty(
        name="Tet Mesh",
        description="Draw the outside of the tet mesh that is simulated",
        update=_changed,
        options={"SKIP_SAVE"},
    )
    embedding: BoolProperty(
        name="Embedding",
        description="Draw a line from each vertex to the middle of the tet that carries it",
        update=_changed,
        options={"SKIP_SAVE"},
    )

    show_seams: BoolProperty(
        name="Show Stitches",
        description="Draw a line for each stitch",
        update=_changed,
        options={"SKIP_SAVE"},
    )

    show_colliders: BoolProperty(
        name="Show Colliders",
        description="Draw the shapes that the flesh stays outside of, as they act",
        update=_changed,
        options={"SKIP_SAVE"},
    )

    handle: BoolProperty(
        name="Handle on Part",
        description=(
            "Show a handle on the chosen part while its eye is on and during a preview. Drag it to the right "
            "for more of the part's amount, 100 pixels for 1"
        ),
        default=True,
        update=_changed,
        options={"SKIP_SAVE"},
    )

    @property
    def draws_something(self) -> bool:
        """True if any handler is needed."""
        lines = self.cage or self.embedding or self.show_seams or self.show_colliders
        return self.field != Field.NONE.value or lines
