"""Target of a bake, and the additions of a finished bake."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
    StringProperty,
)

from ..core.body.full_space import LARGEST_LIVE, why_draft
from ..core.flesh.settings import AUTOMATIC, BakeSettings, Quality, Target
from .animated import keyed_where_read
from .overrides import overridable
from .refresh import refresh

TARGETS = (
    (
        Target.MODAL_KEYS.value,
        "Modal Shape Keys",
        "A few shape keys with animated values, accurate to the tolerance",
    ),
    (
        Target.FRAME_KEYS.value,
        "One Shape Key a Frame",
        "Exact in every frame, with one shape key per frame",
    ),
    (
        Target.SKINNING_NODES.value,
        "Skinning Nodes",
        "Exact and small: a Geometry Nodes group with the modes' weights and their animated transforms",
    ),
    (
        Target.MESH_CACHE.value,
        "Mesh Cache (PC2)",
        "Whole shapes in a file beside the .blend, which many programs read",
    ),
    (
        Target.HELPER_BONES.value,
        "Helper Bones (Copy)",
        "For game engines: a copy of the character moved by bones alone, with additional bones for the flesh",
    ),
    (
        Target.OWN_BONES.value,
        "Own Bones (Copy)",
        "A copy of the character: its own bones play as much of the flesh as possible, on tails, ears, hair",
    ),
)


class BakeRecord:
    """A bake of a mesh, and on a host the report about it."""

    bake_target: StringProperty(
        name="Baked To", description="Kind of bake on this mesh; empty for none", options={"HIDDEN"}
    )
    bake_keys: IntProperty(
        name="Baked Keys", description="Number of shape keys the bake added", options={"HIDDEN"}
    )
    bake_action: PointerProperty(
        name="Bake Action", description="The action made by the bake", type=bpy.types.Action
    )
    bake_group: PointerProperty(
        name="Bake Group", description="The node group made by the bake", type=bpy.types.NodeTree
    )
    bake_parts: StringProperty(name="Baked", description="What the last bake made", options={"HIDDEN"})
    bake_range: IntVectorProperty(
        name="Baked Frames", description="First and last frame of the bake", size=2, options={"HIDDEN"}
    )
    bake_seam: FloatProperty(
        name="Seam",
        description="Gap between end and start of a looped bake, as a fraction of the size",
        options={"HIDDEN"},
    )
    bake_draft_error: FloatProperty(
        name="Draft Error",
        description="Distance of the draft from a final bake, as a fraction of the motion",
        options={"HIDDEN"},
    )
    bake_depth: FloatProperty(
        name="Bake Depth",
        description="Depth of the deepest visible place inside of a collider, as a fraction of the size",
        options={"HIDDEN"},
    )
    bake_error: FloatProperty(
        name="Bake Error",
        description="Largest distance from the simulated shape, as a fraction of the rest diagonal",
        default=0.0,
        options={"HIDDEN"},
    )
    bake_made_basis: BoolProperty(
        name="Made Basis", description="The mesh had no shape keys before the bake", options={"HIDDEN"}
    )
    bake_made_animation: BoolProperty(
        name="Made Animation Data",
        description="The shape keys had no animation before the bake",
        options={"HIDDEN"},
    )
    bake_played: PointerProperty(
        name="Baked Action", description="The action shown by the bake", type=bpy.types.Action
    )
    bake_played_name: StringProperty(
        name="Baked Action Name",
        description="Name of this action at the bake; empty for NLA strips",
        options={"HIDDEN"},
    )


@keyed_where_read
@overridable
class JounceKeptBake(BakeRecord, bpy.types.PropertyGroup):
    """A bake of an action that does not play."""

    keys: StringProperty(name="Keys", description="Shape keys recorded by the bake", options={"HIDDEN"})


class BakeProps(BakeRecord):
    """Settings of the host, and on every mesh the additions of the bake."""

    target: EnumProperty(
        name="Bake To", description="Storage of the baked motion", items=TARGETS, update=refresh
    )
    quality: EnumProperty(
        name="Quality",
        description="Quality of the preview and of bakes",
        items=(
            (
                AUTOMATIC,
                "Automatic",
                "Final. Until a frame is Final, it shows a first version, a few percent off. "
                "A very large body moves as Draft",
                "NONE",
                3,
            ),
            (
                Quality.DRAFT.value,
                "Draft",
                "The modes alone, for heavy scenes: half of the motion of soft flesh is missing",
                "NONE",
                0,
            ),
            (
                Quality.LEARNT.value,
                "Learnt",
                "Motion learnt from a shot: live like the draft, and closer to the final motion of this shot",
                "NONE",
                2,
            ),
            (
                Quality.FINAL.value,
                "Final",
                "Every vertex of the cage, of any size. Takes seconds to "
                "minutes for a shot, simulated behind the draft and kept in a file beside the .blend",
                "NONE",
                1,
            ),
        ),
        default=AUTOMATIC,
        update=refresh,
    )
    pre_roll: IntProperty(
        name="Pre-Roll",
        description="Frames for which the first pose is held before the shot, for a start at rest",
        default=12,
        min=0,
        max=1000,
        soft_max=100,
        update=refresh,
    )
    loop: BoolProperty(
        name="Loop",
        description=(
            "Let the flesh end as it began, in position and velocity. The last frame must show the pose "
            "of the first"
        ),
        default=False,
        update=refresh,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Largest error at any vertex and frame, in percent of the rest diagonal",
        default=0.2,
        min=0.0001,
        max=100.0,
        soft_min=0.01,
        soft_max=5.0,
        precision=3,
        subtype="PERCENTAGE",
    )
    max_keys: IntProperty(
        name="Maximum Keys",
        description=(
            "Largest number of modal shape keys of a mesh, even if the tolerance needs more; the constant "
            "key, used to keep values from 0 to 1, is not counted"
        ),
        default=100,
        min=1,
        max=1000,
    )

    cache_folder: StringProperty(
        name="Folder",
        description="Folder of mesh caches; // is the folder of the .blend",
        default="//",
        subtype="DIR_PATH",
    )

    helper_count: IntProperty(
        name="Helper Bones",
        description="Number of bones to reproduce the flesh. A larger number follows the flesh more closely",
        default=16,
        min=1,
        max=256,
        soft_max=64,
    )
    helper_influences: IntProperty(
        name="Bones a Vertex",
        description=(
            "Largest number of bones per vertex, bones of the rig included. Many game engines allow four"
        ),
        default=4,
        min=1,
        max=16,
        soft_min=2,
        soft_max=8,
    )

    own_collection: StringProperty(
        name="Bones",
        description="Bone collection with the bones that play the flesh; all bones if none is named",
    )
    own_turn_only: BoolProperty(
        name="Turn Only",
        description=(
            "Bones stay at their heads, as engines and bone tools expect; otherwise they move as well as turn"
        ),
        default=True,
    )

    bake_copy: PointerProperty(
        name="Bake Copy", description="The copy that the bake made for game engines", type=bpy.types.Object
    )
    bake_rig: PointerProperty(
        name="Bake Armature", description="The armature of that copy", type=bpy.types.Object
    )
    bake_collection: PointerProperty(
        name="Bake Collection", description="The collection of that copy", type=bpy.types.Collection
    )
    bake_modifier: IntProperty(
        name="Bake Modifier",
        description="The persistent_uid of the modifier that plays the bake, 0 for none",
        options={"HIDDEN"},
    )
    bake_modifier_name: StringProperty(
        name="Bake Modifier Name",
        description="Name of the bake's modifier for a library override",
        options={"HIDDEN"},
    )
    bake_cache: StringProperty(
        name="Bake Cache",
        description="File of the bake, as a path of its .blend",
        options={"HIDDEN"},
    )
    bake_blend: StringProperty(
        name="Bake File", description="The .blend that was open when the bake was made", options={"HIDDEN"}
    )
    bake_earlier: IntProperty(
        name="Earlier Bake Modifier",
        description="The persistent_uid of the modifier that plays the bake that is being replaced",
        options={"HIDDEN"},
    )

    bake_hid_preview: BoolProperty(
        name="Hid Preview",
        description="The bake switched a preview off; without the bake it is on again",
        options={"HIDDEN"},
    )

    kept_bakes: CollectionProperty(
        name="Kept Bakes", description="Bakes of inactive actions", type=JounceKeptBake
    )

    @property
    def simulated_quality(self) -> Quality:
        """The simulated quality of the body as last built, with the target of its bake."""
        return self.quality_of(Target(self.target), self.built_tets)

    @property
    def may_be_final(self) -> bool:
        """True if the present or the next build may have a final motion, whose inputs are then read."""
        return self.has_final and self.quality in (AUTOMATIC, Quality.FINAL.value)

    @property
    def is_draft_alone(self) -> bool:
        """True if no build of the body moves otherwise than as a draft."""
        return not self.has_final or self.quality == Quality.DRAFT.value

    def quality_of(self, target: Target, tets: int) -> Quality:
        """The simulated quality for a target and a number of tets. Attached bodies have but one, and loose
        ones learn nothing.
        """
        learns_not = self.is_loose and self.quality == Quality.LEARNT.value
        if not self.has_final or learns_not:
            return Quality.DRAFT
        if self.quality != AUTOMATIC:
            return Quality(self.quality)
        return Quality.DRAFT if why_draft(target, tets) else Quality.FINAL

    @property
    def loops(self) -> bool:
        """True for a looping motion, by the own setting or, for attached clothes, by that of the wearer."""
        wearer = self.wearer if self.is_attached and self.is_property_set("wearer") else None
        return self.loop or (wearer is not None and wearer.jounce.loop)

    def drafts_vertices(self, quality: Quality, tets: int) -> bool:
        """True if every vertex moves in the draft before a final motion, not only modes. Drafts of loops are
        of modes, which close sooner.
        """
        return self.is_flesh and quality is Quality.FINAL and not self.loops and tets <= LARGEST_LIVE

    def why_draft(self, target: Target, tets: int) -> str:
        """The reason why an automatic body stays a draft; empty for others."""
        return why_draft(target, tets) if self.has_final and self.quality == AUTOMATIC else ""

    def bake_settings(self, target: str, frame_start: int, frame_end: int) -> BakeSettings:
        """Inputs of a bake over a frame range."""
        return BakeSettings(
            target=Target(target),
            frame_start=frame_start,
            frame_end=frame_end,
            pre_roll=self.pre_roll,
            tolerance=self.tolerance / 100.0,
            max_keys=self.max_keys,
            quality=self.quality_of(Target(target), self.built_tets),
        )
