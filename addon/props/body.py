"""Inputs of a body's model, and the facts about the last build."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..core.flesh.settings import AttachedSettings, BodyKind, BuildSettings, LooseSettings, PinnedSettings
from ..core.rig.bones import Counting
from .refresh import refreshing

FORCES = (
    ("CUBATURE", "Cubature", "At single cells, chosen and weighted for the bending of the whole body"),
    ("CLUSTERS", "Clusters", "As means over regions, too stiff in bending"),
)
KINDS = (
    (BodyKind.RIGGED.value, "Rigged", "Flesh on a rig or on the object"),
    (
        BodyKind.LOOSE.value,
        "Loose",
        "Free jelly: starts in the place of its object, falls, bounces and rolls",
    ),
    (
        BodyKind.ATTACHED.value,
        "Attached",
        "A surface without volume, such as a cape, hung on the rig by the map Pin",
    ),
    (
        BodyKind.PINNED.value,
        "Pinned",
        "A prop swinging about its root, fixed to its object by the map Pin: grass, a plant, a lamp",
    ),
)
COUNTING = (
    (
        Counting.AUTOMATIC.value,
        "Automatic",
        "Bones with hardly any flesh (fingers, toes, a jaw) count as the bone above",
    ),
    (Counting.ALL.value, "All", "Every bone counts. Slower to build, and small parts stay stiffer"),
    (
        Counting.PICKED.value,
        "Bone Collection",
        "Bones in the collection count; the others count as the nearest of them above",
    ),
)


@refreshing
class BodyProps:
    """Settings of the host; a change needs a build, which is automatic in a preview."""

    kind: EnumProperty(name="Kind", description="Kind of motion of the body", items=KINDS)
    handles: IntProperty(
        name="Handles",
        description=(
            "Number of handles of a loose or an attached body. More handles let smaller parts move "
            "separately, and cloth fold finer; each takes time"
        ),
        default=40,
        min=1,
        max=1000,
        soft_max=200,
    )
    thickness: FloatProperty(
        name="Thickness",
        description=(
            "Thickness of an attached surface, in percent of its size: for a cape of a metre and a half, "
            "0.2 is 3 mm. Twice as thick resists bending four times as much relative to the weight"
        ),
        default=0.2,
        min=0.0001,
        max=10.0,
        soft_min=0.01,
        soft_max=2.0,
        precision=3,
        subtype="PERCENTAGE",
    )
    bending: FloatProperty(
        name="Bending Stiffness",
        description=(
            "Bending stiffness of an attached surface, without unit: 1 as a plate of this thickness, 0 none"
        ),
        default=1.0,
        min=0.0,
        max=10000.0,
        soft_max=50.0,
    )
    hold_frequency: FloatProperty(
        name="Hold Frequency (Hz)",
        description=(
            "Firmness of the hold of an attached surface by its bones, in Hz: a vertex with a weight of 1 in "
            "the map Pin swings this many times per second about its posed place, one with a hundredth a "
            "tenth as often"
        ),
        default=30.0,
        min=1.0,
        max=500.0,
        soft_max=100.0,
        step=100,
    )
    pieces: IntProperty(
        name="Pieces",
        description=(
            "Number of pieces of a pinned body on the longest way from its root, each with a separate "
            "bend. More pieces bend farther and take longer; a rope needs twelve"
        ),
        default=6,
        min=1,
        max=100,
        soft_max=24,
    )
    bone_core: FloatProperty(
        name="Bone Core",
        description=(
            "Rigid share of the body: hands, feet, heads and thin parts follow their bones, and around "
            "the bones this share of the flesh. 0 is no core, only flesh. Without unit"
        ),
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    anatomy: BoolProperty(
        name="Anatomy",
        description=(
            "Find ribs, loins, belly, limbs, ears and tail, each with a separate share of bone and "
            "frequency. Off, all flesh has the same"
        ),
        default=False,
    )
    resolution: IntProperty(
        name="Resolution",
        description=(
            "Cells along the longest side of the body. More cells separate thinner parts, and take "
            "longer to build"
        ),
        default=32,
        min=4,
        max=256,
        soft_max=96,
    )
    modes: IntProperty(
        name="Modes",
        description=(
            "Number of independent motions. With more modes, smaller parts move separately; each takes time"
        ),
        default=16,
        min=1,
        max=200,
        soft_max=64,
    )
    locality: FloatProperty(
        name="Locality",
        description=(
            "Confinement of each mode to a part of the body, without unit: 0 none, 10 to about a forearm, "
            "100 to a finger. Confined modes take seconds to build, and a body needs more"
        ),
        default=0.0,
        min=0.0,
        max=1000.0,
        soft_max=100.0,
    )
    forces: EnumProperty(
        name="Forces",
        description="Evaluation of the elastic forces",
        items=FORCES,
        default="CLUSTERS",
    )
    clusters: IntProperty(
        name="Clusters",
        description=(
            "Number of cells or regions for the elastic forces. A larger number follows large bends better"
        ),
        default=100,
        min=1,
        max=5000,
        soft_max=500,
    )

    poisson: FloatProperty(
        name="Volume Preservation",
        description=(
            "Sideways bulge of squeezed flesh, as a Poisson ratio, without unit: 0 none, 0.45 like real "
            "flesh. Above 0 a step takes about a third longer"
        ),
        default=0.0,
        min=0.0,
        max=0.49,
    )
    bones_counting: EnumProperty(
        name="Constraint Bones",
        description=(
            "Bones not to be imitated by the flesh. The shape follows all bones in any case; fewer "
            "constraint bones build faster"
        ),
        items=COUNTING,
    )
    bones_collection: StringProperty(name="Collection", description="Bone collection of the constraint bones")

    shape_keys_count: BoolProperty(
        name="Shape Keys Count",
        description="The flesh does not imitate animated shape keys; the eight that move the body most count",
        default=True,
    )

    built_digest: StringProperty(
        name="Built From", description="Hash of what the body was built from; empty before the first build"
    )
    built_summary: StringProperty(name="Built", description="Summary of the last build")
    built_tets: IntProperty(
        name="Built Tets", description="Number of tets of the last build", options={"HIDDEN"}
    )

    @property
    def is_loose(self) -> bool:
        """True for a body moved by forces and contact alone."""
        return BodyKind(self.kind) is BodyKind.LOOSE

    @property
    def is_attached(self) -> bool:
        """True for a surface that hangs on its rig."""
        return BodyKind(self.kind) is BodyKind.ATTACHED

    @property
    def is_pinned(self) -> bool:
        """True for a prop that swings about its root."""
        return BodyKind(self.kind) is BodyKind.PINNED

    @property
    def is_flesh(self) -> bool:
        """True for flesh that follows its rig, with modes."""
        return BodyKind(self.kind) is BodyKind.RIGGED

    @property
    def has_final(self) -> bool:
        """True for a body with a final motion: flesh, and loose bodies."""
        return self.is_flesh or self.is_loose

    def build_settings(self) -> BuildSettings | LooseSettings | AttachedSettings | PinnedSettings:
        """Inputs of the model."""
        if self.is_loose:
            return LooseSettings(self.resolution, self.handles, self.clusters)
        if self.is_attached:
            return AttachedSettings(self.handles, self.thickness / 100.0, self.bending, self.hold_frequency)
        if self.is_pinned:
            return PinnedSettings(self.resolution, self.pieces)
        return BuildSettings(
            resolution=self.resolution,
            modes=self.modes,
            locality=self.locality,
            clusters=self.clusters,
            cubature=self.clusters if self.forces == "CUBATURE" else 0,
            poisson=self.poisson,
        )
