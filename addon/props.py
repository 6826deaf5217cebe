"""The settings and the state that Jounce keeps on objects, as `object.jounce`.

All of it is plain data that travels with the .blend. A host carries the settings of its body; the other
meshes of a body carry only the pointer to their host; every mesh of a body remembers where it was bound and
what a bake added to it, so that freeing the bake takes away exactly that.

The built model is *not* kept in the .blend: it follows from the meshes, the rig, `bind_matrix` and the
settings in seconds, bit for bit, while it can be tens of megabytes. `built_digest` says whether that is still
the same model.
"""

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .core.bones import Counting
from .core.settings import BakeSettings, BuildSettings, MotionSettings, Target

TARGETS = (
    (
        Target.MODAL_KEYS.value,
        "Modal Shape Keys",
        "A few shape keys with animated values, accurate to the tolerance",
    ),
    (
        Target.FRAME_KEYS.value,
        "One Shape Key a Frame",
        "Exact on every frame, one shape key for each of them",
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

INTEGRATORS = (
    ("backward_euler", "Calm", "Backward Euler: swings die away soon, whatever the damping ratio"),
    ("bdf2", "Lively", "BDF2: swings last as long as the damping ratio lets them"),
)


def _is_mesh(_self: "JounceObject", other: bpy.types.Object) -> bool:
    return other.type == "MESH"


class JounceObject(bpy.types.PropertyGroup):
    """Settings of a body (on its host) and the state of one of its meshes (on each of them)."""

    is_host: BoolProperty(
        name="Host", description="This object carries the settings of a Jounce body", default=False
    )
    host: PointerProperty(
        name="Host",
        description="The object that carries the settings of the body this mesh belongs to",
        type=bpy.types.Object,
        poll=_is_mesh,
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
    clusters: IntProperty(
        name="Clusters",
        description="Number of regions that turn as one when the flesh bends. More follow large bends better",
        default=100,
        min=1,
        max=5000,
        soft_max=500,
    )

    poisson: FloatProperty(
        name="Keep Volume",
        description=(
            "How much the flesh bulges aside where it is squeezed, as a Poisson ratio, without unit: 0 not "
            "at all, 0.45 like real flesh. Above 0 a step takes about a third longer"
        ),
        default=0.0,
        min=0.0,
        max=0.49,
    )
    bones_counting: EnumProperty(
        name="Bones That Count",
        description=(
            "Which bones the flesh must not imitate. The shape follows all bones in any case; "
            "fewer that count build faster"
        ),
        items=COUNTING,
    )
    bones_collection: StringProperty(
        name="Collection", description="Bone collection with the bones that count"
    )

    stiffness_group: StringProperty(
        name="Stiffness",
        description="Vertex group for stiffness: 0 is soft, 1 is stiff, in equal factors between",
    )
    stiffness_soft: FloatProperty(
        name="At 0",
        description="Factor on the stiffness (Young's modulus) where the group is 0, without unit",
        default=1.0,
        min=1e-4,
        max=1e4,
        soft_min=0.01,
        soft_max=1.0,
    )
    stiffness_stiff: FloatProperty(
        name="At 1",
        description="Factor on the stiffness (Young's modulus) where the group is 1, without unit",
        default=30.0,
        min=1e-4,
        max=1e4,
        soft_min=1.0,
        soft_max=1000.0,
    )
    leak_group: StringProperty(
        name="Momentum Leak",
        description=(
            "Vertex group that scales how much of the bones' momentum reaches the flesh, 0 to 1. Only "
            "differences within one bone's region matter; for more or less motion as a whole use Strength"
        ),
    )
    pin_group: StringProperty(
        name="Pin", description="Vertex group of what stays exactly where the rig puts it: weights above 0.5"
    )
    strength_group: StringProperty(
        name="Strength Map", description="Vertex group that scales Strength, 0 to 1, vertex by vertex"
    )

    # Chosen on dancing, running characters of all sizes. At 5 Hz the fastest hundredth of the vertices move
    # by 1 to 2 percent of the diagonal, which reads as flesh; at 2.5 Hz by 4 to 6, which reads as jelly.
    frequency: FloatProperty(
        name="Frequency (Hz)",
        description=(
            "How often the softest mode swings in a second, in Hz. Low is heavy and soft, high is firm; "
            "it means the same for a mouse and a whale"
        ),
        default=5.0,
        min=0.05,
        max=100.0,
        soft_min=0.5,
        soft_max=15.0,
        step=10,
    )
    damping: FloatProperty(
        name="Damping Ratio",
        description="Damping ratio of every mode, without unit. 0 swings on, 1 comes back and stops",
        default=0.12,
        min=0.0,
        max=10.0,
        soft_max=1.0,
        step=1,
    )
    strength: FloatProperty(
        name="Strength",
        description=(
            "How much of the rig's acceleration the flesh feels, without unit: 0 none, 1 all. May be animated"
        ),
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=2.0,
        step=5,
    )
    pose_rest: FloatProperty(
        name="Follow Pose",
        description=(
            "1: a held pose is kept exactly as the rig makes it. 0: the flesh relaxes to the bind shape. "
            "Blended between, without unit"
        ),
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    substeps: IntProperty(
        name="Substeps",
        description="Simulation steps in a frame. More steps lose less motion and cost more time",
        default=4,
        min=1,
        max=64,
        soft_max=16,
    )
    integrator: EnumProperty(
        name="Liveliness",
        description="How much of its swing the flesh keeps from step to step, beside the damping",
        items=INTEGRATORS,
    )
    use_gravity: BoolProperty(
        name="Gravity", description="Let the flesh hang along the scene's gravity", default=False
    )
    gravity: FloatProperty(
        name="Gravity Strength",
        description=(
            "How strongly the flesh hangs: 1 is what the scene's gravity does to a body of 1.8 m; "
            "scaled with the body, so that the look is the same at any size"
        ),
        default=1.0,
        soft_min=-2.0,
        soft_max=2.0,
        step=10,
    )

    target: EnumProperty(name="Bake To", description="What the motion is baked to", items=TARGETS)
    pre_roll: IntProperty(
        name="Pre-Roll",
        description="Frames for which the first pose is held before the bake, so that the flesh settles",
        default=12,
        min=0,
        max=1000,
        soft_max=100,
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
        name="Most Keys",
        description="Most modal shape keys a mesh may get, even if the tolerance needs more",
        default=100,
        min=1,
        max=1000,
    )

    bind_matrix: FloatVectorProperty(
        name="Bind Matrix",
        description="The object's world matrix at the last build, armatures at rest, row by row",
        size=16,
        options={"HIDDEN"},
    )
    built_digest: StringProperty(
        name="Built From", description="Hash of what the body was built from; empty before the first build"
    )
    built_summary: StringProperty(name="Built", description="What the last build made")
    bake_error: FloatProperty(
        name="Bake Error",
        description="Largest distance from the simulated shape, as a fraction of the rest diagonal",
        default=0.0,
        options={"HIDDEN"},
    )
    bake_keys: IntProperty(
        name="Baked Keys", description="Number of shape keys the bake added", options={"HIDDEN"}
    )
    bake_action: PointerProperty(
        name="Bake Action", description="The action that the bake made", type=bpy.types.Action
    )
    bake_made_basis: BoolProperty(
        name="Made Basis", description="The mesh had no shape keys before the bake", options={"HIDDEN"}
    )
    bake_made_animation: BoolProperty(
        name="Made Animation Data",
        description="The shape keys had no animation before the bake",
        options={"HIDDEN"},
    )

    def build_settings(self) -> BuildSettings:
        """What the model depends on."""
        return BuildSettings(
            resolution=self.resolution, modes=self.modes, clusters=self.clusters, poisson=self.poisson
        )

    def motion_settings(self) -> MotionSettings:
        """What the motion depends on, without rebuilding."""
        return MotionSettings(
            frequency=self.frequency,
            damping=self.damping,
            pose_rest=self.pose_rest,
            substeps=self.substeps,
            gravity=self.gravity if self.use_gravity else 0.0,
            integrator=self.integrator,
        )

    def bake_settings(self, target: str, frame_start: int, frame_end: int) -> BakeSettings:
        """What a bake over a frame range depends on."""
        return BakeSettings(
            target=Target(target),
            frame_start=frame_start,
            frame_end=frame_end,
            pre_roll=self.pre_roll,
            tolerance=self.tolerance / 100.0,
            max_keys=self.max_keys,
        )
