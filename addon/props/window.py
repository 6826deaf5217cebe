"""Drawings of the viewports over the active body, as `window_manager.jounce`; not saved in files."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..bridge.preview import displayed_modes
from ..core.display.fields import Field
from ..core.display.modes import Family
from ..overlay import view

FIELDS = (
    (Field.NONE.value, "None", "No colours"),
    (Field.WEIGHTS.value, "Mode", "Motion of each place in the chosen mode, relative to the largest"),
    (Field.CLUSTERS.value, "Clusters", "The regions with a common rotation"),
    (Field.CORE.value, "Bone Core", "1 on bone, 0 on flesh"),
    (Field.PART.value, "Part", "Share of the chosen part in each place, 0 to 1"),
    (Field.LEAK.value, "Momentum Leak", "Share of the bones' momentum felt by the flesh, 0 to 1"),
    (Field.STIFFNESS.value, "Stiffness", "Young's modulus of the flesh, in kPa"),
    (Field.MUSCLE.value, "Muscle", "Share of muscle in the flesh, 0 to 1, during a preview"),
    (
        Field.DRAFT_ERROR.value,
        "Draft Error",
        "Distance of the draft, or of the learnt motion, from the final motion, as a root mean square "
        "over time, in percent of the size",
    ),
    (
        Field.RESIDUAL.value,
        "Mode Error",
        "Possible error of the modes after a change of stitches or stiffness without a whole build, in "
        "percent of their largest weights",
    ),
    (Field.STRETCH.value, "Stretch", "By how much the skin is longer than at rest, in percent"),
    (Field.VELOCITY.value, "Velocity", "Velocity of the skin in the world, in m/s"),
    (
        Field.PENETRATION.value,
        "Penetration",
        "Depth of the skin in the colliders during a preview, in percent of the size",
    ),
)

FAMILIES = (
    (Family.SKINNING.value, "Skinning Modes", "The modes of the draft, which move along any direction"),
    (Family.LINEAR.value, "Linear Modes", "Small vibrations of the flesh on its rig"),
    (Family.DERIVATIVES.value, "Derivatives", "Second-order deflections: each bends a mode along another"),
)


def _scrubbed(_self: "JounceWindow", context: bpy.types.Context) -> None:
    displayed_modes.scrub(context)


def _changed(self: "JounceWindow", context: bpy.types.Context) -> None:
    view.sync(self.draws_something)
    view.redraw(context)


def _switch(field: Field, name: str, description: str) -> object:
    """A switch for the colours of one field."""

    def is_shown(self: "JounceWindow") -> bool:
        return self.field == field.value

    def show(self: "JounceWindow", shown: bool) -> None:
        self.field = (field if shown else Field.NONE).value

    return BoolProperty(name=name, description=description, get=is_shown, set=show, options={"SKIP_SAVE"})


class JounceWindow(bpy.types.PropertyGroup):
    """Overlay settings, not saved in a file."""

    field: EnumProperty(
        name="Colours",
        description="False colours of the body's meshes; their materials stay unchanged",
        items=FIELDS,
        update=_changed,
        options={"SKIP_SAVE"},
    )
    show_core: _switch(Field.CORE, "Show Bone Core", "Colour the bone core bright and the flesh dark")
    show_penetration: _switch(
        Field.PENETRATION,
        "Show Penetration",
        "Colour the skin by its depth in the colliders during a preview",
    )
    opacity: FloatProperty(
        name="Opacity",
        description="Opacity of the colours",
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
        description="Draw a line from each vertex to the centre of its tet",
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
        description="Draw the effective shapes of the colliders",
        update=_changed,
        options={"SKIP_SAVE"},
    )

    handle: BoolProperty(
        name="Handle on Part",
        description=(
            "Show a handle on the chosen part while its eye is on and during a preview. Drag to the right "
            "for a larger amount of the part, 100 pixels for 1"
        ),
        default=True,
        update=_changed,
        options={"SKIP_SAVE"},
    )

    family: EnumProperty(
        name="Shapes",
        description="Displacements that can be shown on the mesh",
        items=FAMILIES,
        update=_scrubbed,
        options={"SKIP_SAVE"},
    )

    number: IntProperty(
        name="Number",
        description="Number of the linear mode or derivative on the mesh, from 1",
        default=1,
        min=1,
        soft_max=8,
        update=_scrubbed,
        options={"SKIP_SAVE"},
    )

    scrub: FloatProperty(
        name="Show",
        description=(
            "Displace the mesh by the chosen shape, as a share of the displayed amplitude. At 0, after a "
            "change of the frame, and once the panel is closed, the mesh is as before"
        ),
        min=-1.0,
        max=1.0,
        subtype="FACTOR",
        update=_scrubbed,
        options={"SKIP_SAVE"},
    )

    parts_of_bones: BoolProperty(
        name="Parts of Bones",
        description="The field Part shows all parts of the bones that are selected in Pose Mode",
        update=_changed,
        options={"HIDDEN", "SKIP_SAVE"},
    )

    samples: BoolProperty(
        name="Samples",
        description="Draw the tets that represent the learnt motion, brighter for a larger share",
        update=_changed,
        options={"SKIP_SAVE"},
    )

    spectrum: BoolProperty(
        name="Spectrum",
        description="Plot the motion of each mode in the shown frame over its frequency",
        update=_changed,
        options={"SKIP_SAVE"},
    )

    @property
    def draws_something(self) -> bool:
        """True if any handler is needed."""
        lines = self.cage or self.embedding or self.show_seams or self.show_colliders or self.samples
        return self.field != Field.NONE.value or lines or self.spectrum
