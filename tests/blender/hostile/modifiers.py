"""Modifier stacks, and an artist's changes to Jounce's modifiers."""

import bpy
import scenes

from .hand import Hand
from .row import refuses, works


def stacked(kind: str, **settings: object) -> bpy.types.Object:
    """A character with a modifier after its armature."""
    obj, _ = scenes.character()
    modifier = obj.modifiers.new("Theirs", kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    return obj


def ours(obj: bpy.types.Object) -> bpy.types.Modifier:
    """The modifier added by Jounce."""
    return next(modifier for modifier in obj.modifiers if modifier.name.startswith("Jounce"))


def shown(jounce: Hand, how: str, obj: bpy.types.Object) -> bpy.types.Object:
    """Gives an object a preview or a bake."""
    jounce.add(obj)
    jounce.build(obj)
    if how == "PREVIEW":
        jounce.preview(obj)
    else:
        jounce.bake(how, obj)
    return obj


@works
def subdivided(jounce: Hand) -> None:
    """A subdivision after the armature."""
    jounce.live(stacked("SUBSURF", levels=1))


@refuses
def subdivided_before_the_armature(jounce: Hand) -> None:
    """A subdivision before the armature."""
    obj = stacked("SUBSURF")
    obj.modifiers.move(1, 0)
    jounce.refused("add", "Theirs", obj)


@refuses
def mirrored_later(jounce: Hand) -> None:
    """A Mirror modifier moved before the armature of a built body."""
    obj = stacked("MIRROR")
    jounce.add(obj)
    jounce.build(obj)
    obj.modifiers.move(1, 0)
    jounce.refused("bake", "Theirs", obj, target="MODAL_KEYS")


@works
def mirrored(jounce: Hand) -> None:
    """A Mirror modifier after the armature."""
    jounce.live(stacked("MIRROR"))


@works
def masked(jounce: Hand) -> None:
    """A Mask modifier that hides most of the mesh."""
    jounce.live(stacked("MASK", vertex_group="Upper"))


@works
def masked_by_an_animated_group(jounce: Hand) -> None:
    """A Mask modifier on one half of the mesh, in some frames on the other half, and finally on nothing."""
    obj = stacked("MASK", vertex_group="Upper")
    modifier = obj.modifiers["Theirs"]
    for frame, inverted, shown in ((1, False, True), (5, True, True), (9, True, False)):
        modifier.invert_vertex_group, modifier.show_viewport = inverted, shown
        for name in ("invert_vertex_group", "show_viewport"):
            modifier.keyframe_insert(name, frame=frame)
    bpy.context.scene.frame_set(1)
    jounce.live(obj, targets=("MODAL_KEYS", "FRAME_KEYS", "SKINNING_NODES"))
    if jounce.is_there:
        assert not obj.jounce.hidden_faces


@works
def decimated(jounce: Hand) -> None:
    """A Decimate modifier."""
    jounce.live(stacked("DECIMATE", ratio=0.3))


@works
def with_cloth(jounce: Hand) -> None:
    """Cloth after the armature."""
    jounce.live(stacked("CLOTH"), targets=("MODAL_KEYS", "SKINNING_NODES"))


@refuses
def with_soft_body(jounce: Hand) -> None:
    """A soft body after the armature, which allows no node group before it."""
    obj = stacked("SOFT_BODY")
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("preview", "Theirs", obj)
    jounce.refused("bake", "Theirs", obj, target="SKINNING_NODES")
    for target in ("MODAL_KEYS", "MESH_CACHE"):
        jounce.bake(target, obj)


@works
def added_with_multires(jounce: Hand) -> None:
    """A sculpt after the armature with the one-click setup: a body without a preview."""
    obj = stacked("MULTIRES")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.multires_subdivide(modifier="Theirs")
    jounce.call("setup", obj)
    jounce.call("bake", obj)
    jounce.scrub(obj)


@works
def with_particles(jounce: Hand) -> None:
    """Hair particles."""
    obj = stacked("PARTICLE_SYSTEM")
    settings = obj.particle_systems[0].settings
    settings.type = "HAIR"
    # Otherwise Blender takes them from the clock.
    settings.force_field_1.seed = settings.force_field_2.seed = 1
    jounce.live(obj)


@works
def with_corrective_smooth(jounce: Hand) -> None:
    """Corrective smoothing after the rig."""
    jounce.live(stacked("CORRECTIVE_SMOOTH"))


@works
def with_a_lattice(jounce: Hand) -> None:
    """A lattice between the armature and nothing."""
    obj = stacked("LATTICE")
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    cage.scale = (2.0, 2.0, 4.0)
    bpy.context.scene.collection.objects.link(cage)
    obj.modifiers["Theirs"].object = cage
    scenes.settle_scene()
    jounce.live(obj, targets=("SKINNING_NODES", "MESH_CACHE"))


@works
def empty_nodes(jounce: Hand) -> None:
    """A Geometry Nodes modifier without a group, and a hook without an object."""
    obj = stacked("NODES")
    obj.modifiers.new("Hook", "HOOK")
    jounce.live(obj, targets=("SKINNING_NODES", "MESH_CACHE"))


@works
def a_cache_without_its_file(jounce: Hand) -> None:
    """A mesh cache modifier of the artist's with a missing file."""
    obj = stacked("MESH_CACHE", cache_format="PC2", filepath="//gone.pc2", show_viewport=False)
    jounce.live(obj)


@works
def thirty_modifiers(jounce: Hand) -> None:
    """Thirty modifiers, every second one switched off."""
    obj = stacked("SMOOTH", factor=0.1)
    for index in range(29):
        obj.modifiers.new(f"Cast {index}", "CAST").show_viewport = index % 2 == 0
    jounce.live(obj)


@works
def their_active_modifier(jounce: Hand) -> None:
    """The artist's active modifier stays active."""
    obj = stacked("SMOOTH")
    obj.modifiers.active = obj.modifiers["Armature"]
    jounce.live(obj)


@works
def no_modifier_is_active(jounce: Hand) -> None:
    """A mesh without modifiers, and therefore without an active one."""
    obj = scenes.column()
    scenes.settle_scene()
    jounce.live(obj)


def ours_active(jounce: Hand, how: str) -> None:
    """The artist clicks on our modifier, then does all again."""
    obj = shown(jounce, how, stacked("SMOOTH"))
    if jounce.is_there:
        obj.modifiers.active = ours(obj)
    if how == "PREVIEW":
        jounce.preview(obj)
        jounce.preview(obj)
    else:
        jounce.bake(how, obj)
        jounce.free(obj)
        jounce.bake(how, obj)
    if jounce.is_there:
        obj.modifiers.active = ours(obj)
    jounce.remove(obj)
    obj.modifiers.active = obj.modifiers["Armature"]


@works
def our_preview_is_active(jounce: Hand) -> None:
    """The modifier of a preview as the active one."""
    ours_active(jounce, "PREVIEW")


@works
def our_nodes_are_active(jounce: Hand) -> None:
    """The modifier of baked skinning nodes as the active one."""
    ours_active(jounce, "SKINNING_NODES")


@works
def our_cache_is_active(jounce: Hand) -> None:
    """The modifier of a mesh cache as the active one."""
    ours_active(jounce, "MESH_CACHE")


def ours_changed(jounce: Hand, how: str) -> None:
    """The artist moves, renames and switches our modifier off."""
    obj = shown(jounce, how, stacked("SMOOTH"))
    if jounce.is_there:
        modifier = ours(obj)
        obj.modifiers.move(obj.modifiers.find(modifier.name), 0)
        modifier.name, modifier.show_viewport = "Theirs now", False
    jounce.scrub(obj)
    obj.modifiers.active = obj.modifiers["Smooth" if "Smooth" in obj.modifiers else "Theirs"]


@works
def our_preview_is_renamed(jounce: Hand) -> None:
    """The modifier of a preview is moved, renamed and switched off."""
    ours_changed(jounce, "PREVIEW")


@works
def our_nodes_are_renamed(jounce: Hand) -> None:
    """The modifier of baked skinning nodes is moved, renamed and switched off."""
    ours_changed(jounce, "SKINNING_NODES")


@works
def our_cache_is_renamed(jounce: Hand) -> None:
    """The modifier of a mesh cache is moved, renamed and switched off."""
    ours_changed(jounce, "MESH_CACHE")


def ours_deleted(jounce: Hand, how: str) -> None:
    """Jounce's modifier deleted by the artist, who then owns the cache and deletes it too."""
    obj = shown(jounce, how, stacked("SMOOTH"))
    if jounce.is_there:
        obj.modifiers.remove(ours(obj))
        obj.modifiers.active = obj.modifiers["Theirs"]
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    for path in jounce.folder.glob("*.pc2"):
        path.unlink()


@works
def our_preview_is_deleted(jounce: Hand) -> None:
    """The modifier of a preview is deleted by hand."""
    ours_deleted(jounce, "PREVIEW")


@works
def our_nodes_are_deleted(jounce: Hand) -> None:
    """The modifier of baked skinning nodes is deleted by hand."""
    ours_deleted(jounce, "SKINNING_NODES")


@works
def our_cache_is_deleted(jounce: Hand) -> None:
    """The modifier of a mesh cache is deleted by hand."""
    ours_deleted(jounce, "MESH_CACHE")


@works
def our_node_group_is_deleted(jounce: Hand) -> None:
    """The node group of a preview deleted from the file, and then the modifier without a group."""
    obj = shown(jounce, "PREVIEW", stacked("SMOOTH"))
    if jounce.is_there:
        bpy.data.node_groups.remove(ours(obj).node_group)
        jounce.scrub(obj)
        obj.modifiers.remove(ours(obj))
        obj.modifiers.active = obj.modifiers["Theirs"]
    bpy.context.view_layer.update()
    jounce.scrub(obj)


@works
def our_attribute_is_deleted(jounce: Hand) -> None:
    """The attribute of a preview is deleted from the mesh."""
    obj = shown(jounce, "PREVIEW", stacked("SMOOTH"))
    if jounce.is_there:
        obj.data.attributes.remove(obj.data.attributes["jounce"])
    obj.data.update()
    bpy.context.view_layer.update()
    jounce.scrub(obj)


@works
def all_modifiers_cleared(jounce: Hand) -> None:
    """All modifiers of a baked mesh are deleted at once."""
    obj = shown(jounce, "MESH_CACHE", stacked("SMOOTH"))
    obj.modifiers.clear()
    jounce.scrub(obj)
    for path in jounce.folder.glob("*.pc2"):
        path.unlink()


@works
def a_modifier_is_pinned_last(jounce: Hand) -> None:
    """A modifier pinned to the end of the stack."""
    jounce.live(stacked("SMOOTH", use_pin_to_last=True))


@works
def modifiers_added_to_a_preview(jounce: Hand) -> None:
    """A previewed mesh with a new subdivision, and its armature modifier moved down."""
    obj = shown(jounce, "PREVIEW", scenes.character()[0])
    obj.modifiers.new("Theirs", "SUBSURF").levels = 1
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.bake("SKINNING_NODES", obj)


@works
def armature_modifier_deleted_while_previewed(jounce: Hand) -> None:
    """A previewed mesh with its armature modifier deleted."""
    obj = shown(jounce, "PREVIEW", scenes.character()[0])
    obj.modifiers.remove(obj.modifiers["Armature"])
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)
