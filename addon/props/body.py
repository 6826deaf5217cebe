"""Inputs of a body's model, and the facts about the last build."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..core.flesh.settings import AttachedSettings, BodyKind, BuildSettings, LooseSettings, PinnedSettings
from ..core.rig.bones import Counting
from .refresh import refreshing

FORCES = (
    ("CUBATURE", "Cubature", "At single cells, chosen and weighted so that they bend as the whole body does"),
    ("CLUSTERS", "Clusters", "As means over regions, as first published. They hold against bending"),
)
KINDS = (
    (BodyKind.RIGGED.value, "Rigged", "Flesh that follows a rig, or the object"),
    (
        BodyKind.LOOSE.value,
        "Loose",
        "Jelly that nothing holds: it starts where the object stands, falls, bounces and rolls",
    ),
    (
        BodyKind.ATTACHED.value,
        "Attached",
        "A surface without volume, such as a cape: it hangs on the rig by what the map Pin holds",
    ),
    (
        BodyKind.PINNED.value,
        "Pinned",
        "A prop that swings about the place where the map Pin fixes it to its object: grass, a plant, a lamp",
    ),
)
COUNTING = (
    (
        Counting.AUTOMATIC.value,
        "Automatic",
        "Bones that move almost nothing of the body (fingers, toes, a jaw) count as the bone above them",
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

    kind: EnumProperty(name="Kind", description="What moves the body", items=KINDS)
    handles: IntProperty(
        name="Handles",
        description=(
            "How many handles move a loose or an attached body. More let smaller parts move alone, and cloth "
            "fold finer; each costs time"
        ),
        default=40,
        min=1,
        max=1000,
        soft_max=200,
    )
    thickness: FloatProperty(
        name="Thickness",
        description=(
            "How thick an attached surface is, in percent of its size: 0.2 of a cape of a metre and a half "
            "is 3 mm. Twice as thick resists bending four times as much beside its weight"
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
            "How firmly an attached surface keeps its bends, without unit: 1 as a plate of its thickness, 0 "
            "not at all"
        ),
        default=1.0,
        min=0.0,
        max=10000.0,
        soft_max=50.0,
    )
    pieces: IntProperty(
        name="Pieces",
        description=(
            "Into how many pieces a pinned body is cut on the longest way from its root, each with a bend of "
            "its own. More bend farther and take longer; a rope needs twelve"
        ),
        default=6,
        min=1,
        max=100,
        soft_max=24,
    )
    bone_core: FloatProperty(
        name="Bone Core",
        description=(
            "How much of the body follows its bones: hands, feet, heads and thin parts, and around the bones "
            "this share of the flesh. 0 is no core: all is flesh. Without unit"
        ),
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    anatomy: BoolProperty(
        name="Anatomy",
        description=(
            "Find ribs, loins, belly, limbs, ears and tail, and give each its own share of bone and its own "
            "frequency. Off, all flesh has the same"
        ),
        default=False,
    )
    resolution: IntProperty(
        name="Resolution",
        description="Cells along the longest side of the body. More separate thinner parts and build slower",
        default=32,
        min=4,
        max=256,
        soft_max=96,
    )
    modes: IntProperty(
        name="Modes",
        description="Number of skinning modes. More let smaller parts move on their own; each costs time",
        default=16,
        min=1,
        max=200,
        soft_max=64,
    )
    locality: FloatProperty(
        name="Locality",
        description=(
            "How strongly each mode is confined to a part of the body of its own, without unit: 0 not at "
            "all, 10 to about a forearm, 100 to a finger. Confined modes take seconds to build, and a body "
            "needs more"
        ),
        default=0.0,
        min=0.0,
        max=1000.0,
        soft_max=100.0,
    )
    forces: EnumProperty(
        name="Forces",
        description="Where the elastic forces of the flesh are found",
        items=FORCES,
        default="CLUSTERS",
    )
    clusters: IntProperty(
        name="Clusters",
        description=(
            "Number of cells or regions at which elastic forces are found. More follow large bends better"
        ),
        default=100,
        min=1,
        max=5000,
        soft_max=500,
    )

    poisson: FloatProperty(
        name="Volume Preservation",
        description=(
            "How much the flesh bulges aside where it is squeezed, as a Poisson ratio, without unit: 0 not "
            "at all, 0.45 like real flesh. Above 0 a step takes about a third longer"
        ),
        default=0.0,
        min=0.0,
        max=0.49,
    )
    bones_counting: EnumProperty(
        name="Constraint Bones",
        description=(
            "Which bones the flesh must not imitate. The shape follows all bones in any case; "
            "fewer that count build faster"
        ),
        items=COUNTING,
    )
    bones_collection: StringProperty(
        name="Collection", description="Bone collection with the bones that count"
    )

    shape_keys_count: BoolProperty(
        name="Shape Keys Count",
        description="The flesh does not imitate animated shape keys; the eight that move the body most count",
        default=True,
    )

    built_digest: StringProperty(
        name="Built From", description="Hash of what the body was built from; empty before the first build"
    )
    built_summary: StringProperty(name="Built", description="What the last build made")
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
        """True for flesh that follows its rig, with modes and a final motion."""
        return BodyKind(self.kind) is BodyKind.RIGGED

    def build_settings(self) -> BuildSettings | LooseSettings | AttachedSettings | PinnedSettings:
        """Inputs of the model."""
        if self.is_loose:
            return LooseSettings(self.resolution, self.handles, self.clusters)
        if self.is_attached:
            return AttachedSettings(self.handles, self.thickness / 100.0, self.bending)
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
