"""Every setting at the ends of its range, and nonsensical combinations."""

import bpy
import scenes
import snapshot

from .hand import EXACT, Hand
from .row import refuses, works


def body(jounce: Hand, **settings: object) -> bpy.types.Object:
    """A built body with these settings."""
    obj, _ = scenes.character()
    jounce.add(obj)
    if jounce.is_there:
        for name, value in settings.items():
            setattr(obj.jounce, name, value)
    jounce.build(obj)
    return obj


def shown_and_baked(jounce: Hand, obj: bpy.types.Object, targets: tuple[str, ...] = EXACT) -> None:
    """Previews a body and bakes it."""
    jounce.preview(obj)
    jounce.scrub(obj)
    jounce.fill(obj)
    jounce.preview(obj)
    for target in targets:
        jounce.bake(target, obj)


@works
def coarsest(jounce: Hand) -> None:
    """The coarsest lattice, one mode and one cluster."""
    shown_and_baked(jounce, body(jounce, resolution=4, modes=1, clusters=1))


@refuses
def more_modes_than_the_mesh_has(jounce: Hand) -> None:
    """Two hundred modes and five thousand clusters of a coarse lattice."""
    obj, _ = scenes.character()
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.resolution, obj.jounce.modes, obj.jounce.clusters = 6, 200, 5000
    jounce.refused("build", "of its 200 Modes; lower Modes or raise Resolution in the panel Body", obj)


@works
def incompressible(jounce: Hand) -> None:
    """The highest Poisson ratio."""
    shown_and_baked(jounce, body(jounce, poisson=0.49))


@works
def all_bones_count(jounce: Hand) -> None:
    """Every bone counts."""
    shown_and_baked(jounce, body(jounce, bones_counting="ALL"))


@refuses
def bones_of_no_collection(jounce: Hand) -> None:
    """Counted bones in a collection that no armature has."""
    obj, _ = scenes.character()
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.bones_counting, obj.jounce.bones_collection = "PICKED", "Gone"
    jounce.refused("build", "Gone", obj)


@works
def softest(jounce: Hand) -> None:
    """The lowest frequency, without damping or a limit."""
    shown_and_baked(jounce, body(jounce, frequency=0.05, damping=0.0, use_limit=False))


@works
def firmest(jounce: Hand) -> None:
    """The highest frequency and damping."""
    shown_and_baked(jounce, body(jounce, frequency=100.0, damping=10.0))


@works
def hundredfold_strength(jounce: Hand) -> None:
    """A hundred times the rig's acceleration, limited to a thousandth of the size."""
    shown_and_baked(jounce, body(jounce, strength=100.0, limit=0.1))


@works
def hundredfold_strength_without_limit(jounce: Hand) -> None:
    """A hundred times the rig's acceleration, without a limit."""
    shown_and_baked(jounce, body(jounce, strength=100.0, use_limit=False))


@works
def no_strength(jounce: Hand) -> None:
    """No acceleration at all."""
    shown_and_baked(jounce, body(jounce, strength=0.0), ("MODAL_KEYS", *EXACT))


@works
def relaxed_to_bind(jounce: Hand) -> None:
    """The flesh relaxes to the bind shape."""
    shown_and_baked(jounce, body(jounce, pose_rest=0.0))


@works
def most_substeps(jounce: Hand) -> None:
    """Sixty-four substeps of the lively integrator."""
    shown_and_baked(jounce, body(jounce, substeps=64, integrator="bdf2"))


@works
def gravity_upwards(jounce: Hand) -> None:
    """A hundred times gravity, upwards."""
    shown_and_baked(jounce, body(jounce, use_gravity=True, gravity=-100.0))


@works
def pushed_hard(jounce: Hand) -> None:
    """A push of a hundred thousand."""
    shown_and_baked(jounce, body(jounce, push=(1e5, 0.0, 0.0)))


@works
def made_of_air(jounce: Hand) -> None:
    """The softest and lightest material."""
    shown_and_baked(jounce, body(jounce, stiffness_by="PHYSICAL", young=1.0, density=1.0))


@works
def made_of_lead(jounce: Hand) -> None:
    """The stiffest and heaviest material."""
    shown_and_baked(jounce, body(jounce, stiffness_by="PHYSICAL", young=1e9, density=30000.0))


@refuses
def a_material_is_fitted(jounce: Hand) -> None:
    """A fit of a body with its stiffness from a material."""
    jounce.refused("fit", "material", body(jounce, stiffness_by="PHYSICAL"))


@works
def one_key(jounce: Hand) -> None:
    """A single modal key with the finest tolerance: the larger error is reported."""
    obj = body(jounce, max_keys=1, tolerance=0.0001)
    if jounce.is_there:
        jounce.call("bake", obj, target="MODAL_KEYS")
        assert 1e-6 < obj.jounce.bake_error < 0.2


@works
def finest_tolerance(jounce: Hand) -> None:
    """The finest tolerance."""
    shown_and_baked(jounce, body(jounce, tolerance=0.0001), ("MODAL_KEYS",))


@works
def coarsest_tolerance(jounce: Hand) -> None:
    """A tolerance of the whole size, which leaves nothing to bake."""
    obj = body(jounce, tolerance=100.0)
    jounce.call("bake", obj, target="MODAL_KEYS")


@works
def no_pre_roll(jounce: Hand) -> None:
    """No pre-roll, at rest at first."""
    shown_and_baked(jounce, body(jounce, pre_roll=0, start="REST"))


@works
def long_pre_roll(jounce: Hand) -> None:
    """A thousand frames of pre-roll."""
    shown_and_baked(jounce, body(jounce, pre_roll=1000))


@refuses
def a_loop_that_is_none(jounce: Hand) -> None:
    """A loop with different first and last poses."""
    obj = body(jounce, loop=True)
    jounce.preview(obj)
    jounce.scrub(obj)
    jounce.preview(obj)
    jounce.refused("bake", "cannot loop", obj, target="FRAME_KEYS")


@works
def cut_in_every_frame(jounce: Hand) -> None:
    """A cut in every frame."""
    shown_and_baked(jounce, body(jounce, cut=True))


@works
def everything_teleports(jounce: Hand) -> None:
    """Every step counts as a leap."""
    shown_and_baked(jounce, body(jounce, teleport=1.0, after_cut="KEPT"))


@works
def one_helper_bone(jounce: Hand) -> None:
    """One helper bone, one bone per vertex."""
    shown_and_baked(jounce, body(jounce, helper_count=1, helper_influences=1), ("HELPER_BONES",))


@works
def more_helper_bones_than_vertices(jounce: Hand) -> None:
    """Two hundred and fifty-six helper bones, sixteen a vertex."""
    shown_and_baked(jounce, body(jounce, helper_count=256, helper_influences=16), ("HELPER_BONES",))


def painted(jounce: Hand, setting: str, weight: float, count: int) -> bpy.types.Object:
    """A built body with a map of this weight at a number of vertices."""
    obj, _ = scenes.character()
    obj.vertex_groups.new(name="Painted").add(range(count), weight, "REPLACE")
    jounce.add(obj)
    if jounce.is_there:
        setattr(obj.jounce, setting, "Painted")
    jounce.build(obj)
    return obj


@works
def stiffness_of_nothing(jounce: Hand) -> None:
    """A stiffness map without any vertex, in the widest range."""
    obj = painted(jounce, "stiffness_group", 0.0, 0)
    if jounce.is_there:
        obj.jounce.stiffness_soft, obj.jounce.stiffness_stiff = 1e-4, 1e4
    shown_and_baked(jounce, obj)


@works
def stiffness_of_extremes(jounce: Hand) -> None:
    """A stiffness map that jumps by eight powers of ten from one ring to the next."""
    obj = painted(jounce, "stiffness_group", 1.0, 80)
    if jounce.is_there:
        obj.jounce.stiffness_soft, obj.jounce.stiffness_stiff = 1e-4, 1e4
    shown_and_baked(jounce, obj)


@works
def no_leak_anywhere(jounce: Hand) -> None:
    """A leak map of 0 everywhere."""
    shown_and_baked(jounce, painted(jounce, "leak_group", 0.0, 156))


@works
def strength_of_nothing(jounce: Hand) -> None:
    """A strength map of 0 everywhere."""
    shown_and_baked(jounce, painted(jounce, "strength_group", 0.0, 156))


@works
def half_pinned(jounce: Hand) -> None:
    """Half of the body is pinned."""
    shown_and_baked(jounce, painted(jounce, "pin_group", 1.0, 80))


@refuses
def all_pinned(jounce: Hand) -> None:
    """A completely pinned body."""
    obj, _ = scenes.character()
    obj.vertex_groups.new(name="Painted").add(range(156), 1.0, "REPLACE")
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.pin_group = "Painted"
    jounce.refused("build", "pinned", obj)


@works
def a_map_that_is_gone(jounce: Hand) -> None:
    """A map with its vertex group deleted."""
    obj = painted(jounce, "stiffness_group", 0.5, 80)
    obj.vertex_groups.remove(obj.vertex_groups["Painted"])
    jounce.build(obj)
    shown_and_baked(jounce, obj)


@works
def bones_without_leak(jounce: Hand) -> None:
    """Bones without momentum leak, set on each."""
    obj, rig = scenes.character()
    if jounce.is_there:
        for bone in rig.pose.bones:
            bone.jounce_leak = 0.0
    jounce.live(obj)
    if jounce.is_there:
        for bone in rig.pose.bones:
            bone.property_unset("jounce_leak")


@works
def all_settings_keyed(jounce: Hand) -> None:
    """Strength, frequency, damping, push and gravity are keyed to their ends."""
    obj = body(jounce, use_gravity=True)
    if jounce.is_there:
        for frame, end in ((1, 0.0), (6, 100.0)):
            for name in ("strength", "frequency", "damping", "gravity"):
                setattr(obj.jounce, name, end)
                obj.keyframe_insert(f"jounce.{name}", frame=frame)
        scenes.settle_scene()
    shown_and_baked(jounce, obj, ("FRAME_KEYS",))
    if jounce.is_there:
        action = obj.animation_data.action
        assert list(snapshot.fcurves(action))
        obj.animation_data_clear()
        bpy.data.actions.remove(action)
