"""Shape keys of the artist's beside those of a bake: before, after, and mixed with them."""

import bpy
import scenes

from .hand import KEYS, Hand
from .row import refuses, works


def with_keys(*names: str) -> bpy.types.Object:
    """A character with a Basis and keys of these names, each with its own shape."""
    obj, _ = scenes.character()
    obj.shape_key_add(name="Basis")
    for index, name in enumerate(names):
        obj.shape_key_add(name=name, from_mix=False).points[index % 100].co.x += 0.2
    return obj


def baked(jounce: Hand, obj: bpy.types.Object, target: str = "MODAL_KEYS") -> bpy.types.Object:
    """Gives an object a bake."""
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake(target, obj)
    return obj


def blocks(obj: bpy.types.Object) -> bpy.types.bpy_prop_collection:
    """The shape keys of an object."""
    return obj.data.shape_keys.key_blocks


def theirs(obj: bpy.types.Object, name: str) -> bpy.types.ShapeKey:
    """The shape key of a name, made if missing."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis")
    return blocks(obj)[name] if name in blocks(obj) else obj.shape_key_add(name=name, from_mix=False)


def settle_keys(obj: bpy.types.Object) -> None:
    """Gives the action of the keys Blender's default name, whoever made it first."""
    data = obj.data.shape_keys.animation_data
    if data is not None and data.action is not None:
        data.action.name = "KeyAction"


@works
def keys_of_the_artists(jounce: Hand) -> None:
    """Keys muted, locked, relative to another key, and masked by a group."""
    obj = with_keys("Smile", "Frown", "Blink")
    smile, frown, blink = list(blocks(obj))[1:]
    smile.mute, frown.relative_key, frown.value = True, smile, 0.4
    blink.vertex_group, blink.slider_max, blink.value = "Lower", 3.0, 2.5
    if hasattr(blink, "lock_shape"):
        blink.lock_shape = True
    obj.active_shape_key_index = 2
    jounce.live(obj)


@refuses
def absolute_keys(jounce: Hand) -> None:
    """Shape keys over time instead of relative ones."""
    obj = with_keys("Smile")
    obj.data.shape_keys.use_relative = False
    jounce.refused("add", "Relative", obj)


@works
def only_a_basis(jounce: Hand) -> None:
    """A mesh with a Basis and no other key."""
    jounce.live(with_keys())


@works
def basis_unlike_the_mesh(jounce: Hand) -> None:
    """A Basis different from the mesh's own vertices."""
    obj = with_keys("Smile")
    for point in blocks(obj)["Basis"].points:
        point.co.x *= 1.2
    jounce.live(obj)


@works
def a_pinned_key(jounce: Hand) -> None:
    """Only the active key is shown."""
    obj = with_keys("Smile")
    obj.active_shape_key_index, obj.show_only_shape_key = 1, True
    jounce.live(obj)


@works
def two_hundred_keys(jounce: Hand) -> None:
    """Two hundred keys."""
    jounce.live(with_keys(*(f"Key {index}" for index in range(200))), targets=KEYS)


@works
def keyed_keys(jounce: Hand) -> None:
    """Keys moved by an action."""
    obj = with_keys("Smile", "Frown")
    for name in ("Smile", "Frown"):
        for frame, value in ((1, 0.0), (6, 1.0)):
            blocks(obj)[name].value = value
            blocks(obj)[name].keyframe_insert("value", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def driven_keys(jounce: Hand) -> None:
    """Keys moved by drivers, one of them broken."""
    obj = with_keys("Smile", "Frown")
    blocks(obj)["Smile"].driver_add("value").driver.expression = "frame / 20"
    blocks(obj)["Frown"].driver_add("value").driver.expression = "nothing"
    scenes.settle_scene()
    jounce.live(obj)


@works
def keys_in_a_strip(jounce: Hand) -> None:
    """Keys moved by a strip of the artist's."""
    obj = with_keys("Smile")
    blocks(obj)["Smile"].keyframe_insert("value", frame=1)
    data = obj.data.shape_keys.animation_data
    action, data.action = data.action, None
    data.nla_tracks.new().strips.new("Theirs", 1, action)
    jounce.live(obj)


@refuses
def keys_without_their_strips(jounce: Hand) -> None:
    """Keys with their NLA switched off, in which a bake would not play."""
    obj = with_keys("Smile")
    blocks(obj)["Smile"].keyframe_insert("value", frame=1)
    obj.data.shape_keys.animation_data.use_nla = False
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("bake", "switched off", obj, target="MODAL_KEYS")


@refuses
def keys_of_a_solo_track(jounce: Hand) -> None:
    """Keys with a solo track."""
    obj = with_keys("Smile")
    blocks(obj)["Smile"].keyframe_insert("value", frame=1)
    data = obj.data.shape_keys.animation_data
    action, data.action = data.action, None
    track = data.nla_tracks.new()
    track.strips.new("Theirs", 1, action)
    track.is_solo = True
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("bake", "solo", obj, target="FRAME_KEYS")


@works
def a_key_keyed_after_the_bake(jounce: Hand) -> None:
    """A key of the artist's, added to a bake and keyed in the active action."""
    obj = baked(jounce, scenes.character()[0])
    smile = theirs(obj, "Smile")
    for frame, value in ((1, 0.0), (9, 1.0)):
        smile.value = value
        smile.keyframe_insert("value", frame=frame)
    settle_keys(obj)
    jounce.bake("MODAL_KEYS", obj)
    jounce.free(obj)
    settle_keys(obj)


@works
def a_driver_after_the_bake(jounce: Hand) -> None:
    """A key of the artist's, added to a bake and driven."""
    obj = baked(jounce, scenes.character()[0], "FRAME_KEYS")
    theirs(obj, "Smile").driver_add("value").driver.expression = "frame / 20"


@works
def a_key_between_bakes(jounce: Hand) -> None:
    """A key of the artist's, added to a bake before the next one."""
    obj = baked(jounce, scenes.character()[0])
    theirs(obj, "Smile").points[3].co.x += 0.3
    jounce.bake("FRAME_KEYS", obj)
    theirs(obj, "Frown").relative_key = blocks(obj)["Smile"]
    jounce.bake("SKINNING_NODES", obj)


@works
def a_basis_that_is_sculpted(jounce: Hand) -> None:
    """A mesh with a bake and a changed Basis; the change stays."""
    obj = with_keys("Smile")
    baked(jounce, obj)
    blocks(obj)["Basis"].points[5].co.x += 0.1
    jounce.bake("MODAL_KEYS", obj)


@works
def keys_of_the_bake_deleted(jounce: Hand) -> None:
    """Some keys of a bake are deleted by hand, others renamed, muted and moved."""
    obj = baked(jounce, with_keys("Smile"))
    if jounce.is_there:
        ours = list(blocks(obj))[2:]
        obj.shape_key_remove(ours[0])
        ours[1].name, ours[2].mute, ours[3].value = "Renamed", True, 0.2
        obj.active_shape_key_index = 4
        with bpy.context.temp_override(object=obj, active_object=obj):
            bpy.ops.object.shape_key_move(type="TOP")
        obj.active_shape_key_index = 0


@works
def all_keys_deleted(jounce: Hand) -> None:
    """All shape keys of a baked mesh are deleted by hand."""
    obj = baked(jounce, scenes.character()[0])
    if jounce.is_there:
        obj.shape_key_clear()
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def action_of_the_bake_unlinked(jounce: Hand) -> None:
    """The action of a bake removed from the keys by hand, and replaced by another one."""
    obj = baked(jounce, with_keys("Smile"))
    data = obj.data.shape_keys.animation_data or obj.data.shape_keys.animation_data_create()
    data.action = None
    blocks(obj)["Smile"].keyframe_insert("value", frame=3)
    jounce.scrub(obj)


@works
def action_of_the_bake_deleted(jounce: Hand) -> None:
    """The action of a bake is deleted from the file."""
    obj = baked(jounce, scenes.character()[0])
    if jounce.is_there:
        bpy.data.actions.remove(obj.data.shape_keys.animation_data.action)
    jounce.scrub(obj)


@works
def action_of_the_bake_pushed_down(jounce: Hand) -> None:
    """The action of a bake is pushed down to a strip in a track of the artist's."""
    obj = baked(jounce, scenes.character()[0])
    if jounce.is_there:
        data = obj.data.shape_keys.animation_data
        action, data.action = data.action, None
        data.nla_tracks.new().strips.new("Bake", 1, action)
    jounce.scrub(obj)


@works
def action_of_the_bake_kept(jounce: Hand) -> None:
    """The action of a bake with a fake user; it is Jounce's nevertheless."""
    obj = baked(jounce, scenes.character()[0])
    if jounce.is_there:
        obj.data.shape_keys.animation_data.action.use_fake_user = True
    jounce.free(obj)
    jounce.bake("FRAME_KEYS", obj)
    if jounce.is_there:
        for action in [action for action in bpy.data.actions if action.use_fake_user]:
            bpy.data.actions.remove(action)


@works
def keys_that_bones_drive(jounce: Hand) -> None:
    """Corrective keys driven by the rotation of a bone."""
    obj = with_keys("Corrective")
    driver = blocks(obj)["Corrective"].driver_add("value").driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = obj.parent, 'pose.bones["Upper"].rotation_euler[0]'
    scenes.settle_scene()
    jounce.live(obj)
