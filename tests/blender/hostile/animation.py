"""Frame rates, frame ranges, actions, strips and drivers."""

import bpy
import scenes

from .hand import EXACT, Hand
from .row import refuses, works


def strip_of(data: bpy.types.AnimData) -> bpy.types.NlaStrip:
    """Pushes the action of animation data down to a strip."""
    action, data.action = data.action, None
    return data.nla_tracks.new().strips.new("Theirs", 1, action)


@works
def one_frame_a_second(jounce: Hand) -> None:
    """A frame rate of 1."""
    obj, _ = scenes.character()
    bpy.context.scene.render.fps = 1
    jounce.live(obj)


@works
def many_frames_a_second(jounce: Hand) -> None:
    """A frame rate of 240 by a base of 1.001."""
    obj, _ = scenes.character()
    render = bpy.context.scene.render
    render.fps, render.fps_base = 240, 1.001
    jounce.live(obj)


@works
def rate_changed_while_previewed(jounce: Hand) -> None:
    """A frame rate changed from 30 to 60 during a preview, and its base."""
    obj, _ = scenes.character()
    render = bpy.context.scene.render
    render.fps = 30
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.fill(obj)
    render.fps = 60
    jounce.scrub(obj)
    render.fps_base = 2.0
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def a_single_frame(jounce: Hand) -> None:
    """A scene of one frame."""
    obj, _ = scenes.character()
    bpy.context.scene.frame_start = bpy.context.scene.frame_end = 5
    jounce.add(obj)
    jounce.build(obj)
    for target in EXACT:
        jounce.bake(target, obj)


@works
def negative_frames(jounce: Hand) -> None:
    """A shot that begins at frame -50."""
    obj, _ = scenes.character()
    bpy.context.preferences.edit.use_negative_frames = True
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 12
    scene.frame_set(-3)
    jounce.live(obj)


@works
def late_frames(jounce: Hand) -> None:
    """A shot that begins at frame 1,000,000."""
    obj, rig = scenes.character()
    scene = bpy.context.scene
    for curve in scenes_curves(rig):
        for point in curve.keyframe_points:
            point.co.x += 999_999
    scene.frame_end, scene.frame_start = 1_000_011, 1_000_000
    scene.frame_set(1_000_000)
    jounce.live(obj)


def scenes_curves(rig: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-curves of an armature."""
    import snapshot

    return list(snapshot.fcurves(rig.animation_data.action))


@refuses
def a_range_backwards(jounce: Hand) -> None:
    """A bake with the end before the start."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.refused("bake", "before it starts", obj, frame_start=9, frame_end=3)


@works
def current_frame_outside(jounce: Hand) -> None:
    """The current frame is far behind the shot, and between two frames."""
    obj, _ = scenes.character()
    bpy.context.scene.frame_set(300, subframe=0.5)
    jounce.add(obj)
    jounce.build(obj)
    for target in EXACT:
        jounce.bake(target, obj)


@works
def current_frame_between(jounce: Hand) -> None:
    """The current frame is a fraction."""
    obj, _ = scenes.character()
    bpy.context.scene.frame_set(4, subframe=0.25)
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def every_third_frame(jounce: Hand) -> None:
    """A frame step of three, and a preview range."""
    obj, _ = scenes.character()
    scene = bpy.context.scene
    scene.frame_step, scene.use_preview_range = 3, True
    scene.frame_preview_start, scene.frame_preview_end = 4, 6
    jounce.live(obj)


@works
def stretched_time(jounce: Hand) -> None:
    """Time is remapped from 100 to 250."""
    obj, _ = scenes.character()
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 250
    jounce.live(obj)


@works
def no_slot(jounce: Hand) -> None:
    """An action without a slot, in versions with slots."""
    obj, rig = scenes.character()
    data = rig.animation_data
    if hasattr(data, "action_slot"):
        data.action_slot = None
    jounce.live(obj)


@works
def keys_muted(jounce: Hand) -> None:
    """F-curves that are muted, locked and hidden."""
    obj, rig = scenes.character()
    for curve in scenes_curves(rig):
        curve.mute = curve.lock = curve.hide = True
    jounce.live(obj)


@works
def animation_in_strips(jounce: Hand) -> None:
    """The armature plays a strip at half speed, blended with another."""
    obj, rig = scenes.character()
    strip = strip_of(rig.animation_data)
    strip.scale, strip.repeat = 2.0, 1.5
    second = rig.animation_data.nla_tracks.new().strips.new("Second", 5, strip.action)
    second.blend_type, second.influence, second.use_animated_influence = "ADD", 0.5, True
    scenes.settle_scene()
    jounce.live(obj)


@works
def endless_motion(jounce: Hand) -> None:
    """F-curves with cycles and noise."""
    obj, rig = scenes.character()
    for curve in scenes_curves(rig):
        curve.modifiers.new("CYCLES")
        curve.modifiers.new("NOISE").strength = 0.1
    scenes.settle_scene()
    jounce.live(obj)


@works
def driven_by_the_frame(jounce: Hand) -> None:
    """A bone driven by the frame number."""
    obj, rig = scenes.character()
    rig.pose.bones["Lower"].rotation_mode = "XYZ"
    rig.pose.bones["Lower"].driver_add("rotation_euler", 1).driver.expression = "sin(frame) / 5"
    scenes.settle_scene()
    jounce.live(obj)


@works
def driver_that_fails(jounce: Hand) -> None:
    """A driver with a wrong expression, and one with a deleted target."""
    obj, rig = scenes.character()
    rig.driver_add("location", 0).driver.expression = "nothing / 0"
    driver = rig.driver_add("location", 1).driver
    driver.variables.new().targets[0].id = obj
    driver.variables[0].targets[0].data_path = "gone[3]"
    scenes.settle_scene()
    jounce.live(obj)


@works
def driver_reads_the_scene(jounce: Hand) -> None:
    """A driver that reads the scene's frame as a property."""
    obj, rig = scenes.character()
    driver = rig.driver_add("location", 0).driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id_type, target.id, target.data_path = "SCENE", bpy.context.scene, "frame_current"
    scenes.settle_scene()
    jounce.live(obj)


@works
def keyed_visibility(jounce: Hand) -> None:
    """A mesh keyed to be hidden in renders and viewports for some frames."""
    obj, _ = scenes.character()
    for frame, hidden in ((1, False), (20, True)):
        obj.hide_render = obj.hide_viewport = hidden
        obj.keyframe_insert("hide_render", frame=frame)
        obj.keyframe_insert("hide_viewport", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def keyed_modifier(jounce: Hand) -> None:
    """A subdivision after the rig with keyed visibility."""
    obj, _ = scenes.character()
    modifier = obj.modifiers.new("Smooth", "SMOOTH")
    for frame, factor in ((1, 0.0), (6, 0.5)):
        modifier.factor = factor
        modifier.keyframe_insert("factor", frame=frame)
    scenes.settle_scene()
    jounce.live(obj)


@works
def action_deleted_while_previewed(jounce: Hand) -> None:
    """A previewed character with its action deleted from the file."""
    obj, rig = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    bpy.data.actions.remove(rig.animation_data.action)
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def keying_on(jounce: Hand) -> None:
    """Automatic keying is switched on while Jounce works."""
    obj, _ = scenes.character()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    jounce.live(obj)


@works
def settings_keyed(jounce: Hand) -> None:
    """A body with keyed strength and cut; removing Jounce removes these keys."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    if jounce.is_there:
        for frame, strength in ((1, 0.0), (6, 1.0)):
            obj.jounce.strength = strength
            obj.keyframe_insert("jounce.strength", frame=frame)
        scenes.settle_scene()
    jounce.preview(obj)
    jounce.fill(obj)
    jounce.bake("MODAL_KEYS", obj)
    if jounce.is_there:
        action = obj.animation_data.action
        obj.animation_data_clear()
        bpy.data.actions.remove(action)


@works
def a_marker_switches_cameras(jounce: Hand) -> None:
    """Markers that bind cameras."""
    obj, _ = scenes.character()
    scene = bpy.context.scene
    for index in range(2):
        camera = bpy.data.objects.new(f"Camera {index}", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        scene.timeline_markers.new(f"M{index}", frame=1 + 5 * index).camera = camera
    scenes.settle_scene()
    jounce.live(obj)
