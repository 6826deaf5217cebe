"""Settings of scenes and view layers, several scenes, forces."""

import bpy
import scenes

from .hand import Hand
from .row import refuses, works


def collection_of(obj: bpy.types.Object) -> bpy.types.Collection:
    """A separate collection for an object and its armature."""
    made = bpy.data.collections.new("Own")
    bpy.context.scene.collection.children.link(made)
    for moved in (obj, obj.parent):
        bpy.context.scene.collection.objects.unlink(moved)
        made.objects.link(moved)
    return made


@works
def in_millimetres(jounce: Hand) -> None:
    """A unit scale of a thousandth."""
    obj, _ = scenes.character()
    bpy.context.scene.unit_settings.scale_length = 0.001
    jounce.live(obj)


@works
def in_kilometres(jounce: Hand) -> None:
    """A unit scale of a thousand."""
    obj, _ = scenes.character()
    bpy.context.scene.unit_settings.scale_length = 1000.0
    jounce.live(obj)


@works
def in_feet(jounce: Hand) -> None:
    """Imperial units, angles in radians."""
    obj, _ = scenes.character()
    units = bpy.context.scene.unit_settings
    units.system, units.system_rotation = "IMPERIAL", "RADIANS"
    jounce.live(obj)


@works
def units_changed_after_the_build(jounce: Hand) -> None:
    """A unit scale changed during a preview."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.context.scene.unit_settings.scale_length = 0.01
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def two_scenes(jounce: Hand) -> None:
    """A second scene at another frame and frame rate."""
    obj, _ = scenes.character()
    other = bpy.data.scenes.new("Other")
    other.render.fps = 60
    other.frame_set(7)
    jounce.live(obj)


@works
def linked_to_two_scenes(jounce: Hand) -> None:
    """A character in two scenes."""
    obj, rig = scenes.character()
    other = bpy.data.scenes.new("Other")
    for thing in (obj, rig):
        other.collection.objects.link(thing)
        thing.select_set(False, view_layer=other.view_layers[0])
    jounce.live(obj)


@works
def the_scene_is_deleted(jounce: Hand) -> None:
    """The scene of a preview is deleted; the body is in another one as well."""
    obj, rig = scenes.character()
    other = bpy.data.scenes.new("Other")
    rig.animation_data_clear()
    for thing in (obj, rig):
        other.collection.objects.link(thing)
        thing.select_set(False, view_layer=other.view_layers[0])
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.data.scenes.remove(bpy.context.scene)
    other.frame_set(3)
    jounce.scrub(obj)


@works
def a_full_copy_of_the_scene(jounce: Hand) -> None:
    """A previewed scene with a full copy."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    copy = bpy.context.scene.copy()
    copy.frame_set(5)
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def the_scene_is_renamed(jounce: Hand) -> None:
    """A previewed scene with a new name."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.context.scene.name = "Shot 010"
    jounce.scrub(obj)
    jounce.fill(obj)


@works
def two_view_layers(jounce: Hand) -> None:
    """A second view layer that excludes the character."""
    obj, _ = scenes.character()
    collection_of(obj)
    layer = bpy.context.scene.view_layers.new("Background")
    layer.layer_collection.children["Own"].exclude = True
    jounce.live(obj)


@works
def hidden_in_its_collection(jounce: Hand) -> None:
    """A character in a collection hidden in this view layer."""
    obj, _ = scenes.character()
    collection_of(obj)
    bpy.context.view_layer.layer_collection.children["Own"].hide_viewport = True
    bpy.context.view_layer.update()
    jounce.live(obj)


@works
def a_holdout_collection(jounce: Hand) -> None:
    """A character in a collection rendered as holdout and indirect only."""
    obj, _ = scenes.character()
    collection_of(obj)
    layer = bpy.context.view_layer.layer_collection.children["Own"]
    layer.holdout = layer.indirect_only = True
    jounce.live(obj)


@works
def instanced_collection(jounce: Hand) -> None:
    """A character in a collection with an additional instance on an empty."""
    obj, _ = scenes.character()
    empty = bpy.data.objects.new("Copy", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection_of(obj)
    bpy.context.scene.collection.objects.link(empty)
    jounce.live(obj)


@works
def simplified(jounce: Hand) -> None:
    """Simplify is on."""
    obj, _ = scenes.character()
    obj.modifiers.new("Smooth", "SUBSURF").levels = 2
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, 0
    jounce.live(obj)


@works
def gravity_off(jounce: Hand) -> None:
    """The scene has no gravity, the body wants some."""
    obj, _ = scenes.character()
    bpy.context.scene.use_gravity = False
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.use_gravity = True
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def gravity_keyed(jounce: Hand) -> None:
    """The scene's gravity is keyed to turn round."""
    obj, _ = scenes.character()
    scene = bpy.context.scene
    for frame, pull in ((1, -9.8), (8, 9.8)):
        scene.gravity.z = pull
        scene.keyframe_insert("gravity", frame=frame)
    scenes.settle_scene()
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.use_gravity = True
    jounce.build(obj)
    jounce.preview(obj)
    jounce.fill(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def gravity_beyond_measure(jounce: Hand) -> None:
    """A gravity of ten thousand metres a second squared."""
    obj, _ = scenes.character()
    bpy.context.scene.gravity = (1e4, 0.0, -1e4)
    jounce.add(obj)
    if jounce.is_there:
        obj.jounce.use_gravity = True
    jounce.build(obj)
    jounce.bake("FRAME_KEYS", obj)


def field(kind: str, strength: float) -> bpy.types.Object:
    """A force field of the scene, beside the character."""
    obj = bpy.data.objects.new("Field", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = (1.0, 0.0, 1.0)
    with bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.forcefield_toggle()
    obj.field.type, obj.field.strength = kind, strength
    # Otherwise Blender takes the seed from the clock, in seconds: two plays of a scene would sometimes
    # differ.
    obj.field.seed = 1
    bpy.context.view_layer.update()
    return obj


@works
def in_the_wind(jounce: Hand) -> None:
    """Wind and turbulence."""
    obj, _ = scenes.character()
    field("WIND", 5.0)
    field("TURBULENCE", 5.0)
    jounce.live(obj)


@works
def in_a_storm(jounce: Hand) -> None:
    """A force of a million."""
    obj, _ = scenes.character()
    field("FORCE", 1e6)
    jounce.live(obj, targets=("FRAME_KEYS", "MESH_CACHE"))


@works
def fields_that_are_not_known(jounce: Hand) -> None:
    """Force fields of kinds that Jounce does not support."""
    obj, _ = scenes.character()
    for kind in ("BOID", "GUIDE", "MAGNET", "CHARGE", "LENNARDJ", "TEXTURE", "FLUID_FLOW"):
        field(kind, 1.0)
    jounce.live(obj)


@works
def a_field_deleted_while_previewed(jounce: Hand) -> None:
    """A force field deleted during a preview of a body inside."""
    obj, _ = scenes.character()
    wind = field("WIND", 5.0)
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.fill(obj)
    bpy.data.objects.remove(wind)
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.fill(obj)


@works
def rigid_bodies(jounce: Hand) -> None:
    """A rigid body world, and a character parented to a rigid body."""
    obj, rig = scenes.character()
    crate = scenes.column("Crate", height=0.5)
    scenes.activate(crate)
    bpy.ops.rigidbody.object_add()
    rig.parent = crate
    scenes.settle_scene()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)


@refuses
def off_in_viewports(jounce: Hand) -> None:
    """A mesh disabled in viewports, where its motion cannot be read."""
    obj, _ = scenes.character()
    jounce.add(obj)
    obj.hide_viewport = True
    jounce.refused("build", "disabled in viewports", obj)


@refuses
def off_in_its_collection(jounce: Hand) -> None:
    """A built mesh in a collection disabled in viewports."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    collection_of(obj).hide_viewport = True
    bpy.context.view_layer.update()
    jounce.refused("bake", "disabled in viewports", obj, target="MODAL_KEYS")


@works
def render_settings(jounce: Hand) -> None:
    """Motion blur, borders, a film of one pixel."""
    obj, _ = scenes.character()
    render = bpy.context.scene.render
    render.use_motion_blur, render.use_border = True, True
    render.resolution_x = render.resolution_y = 4
    jounce.live(obj)
