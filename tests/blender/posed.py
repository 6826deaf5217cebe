"""Characters posed by more than stored weights: caches, nodes, switches, keyed vertices."""

import struct

import bpy
import scenes


def before_the_armature(obj, kind, **settings):
    """A modifier before all others."""
    modifier = obj.modifiers.new("Before", kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    return modifier


def live_weights(obj):
    """Replaces the weights of a mesh by weights transferred from another mesh."""
    source = obj.copy()
    source.data, source.name, source.parent = obj.data.copy(), "Weights", None
    source.modifiers.clear()
    bpy.context.scene.collection.objects.link(source)
    obj.vertex_groups.clear()
    for name in ("Lower", "Upper"):
        obj.vertex_groups.new(name=name)
    transfer = before_the_armature(obj, "DATA_TRANSFER", object=source, use_vert_data=True)
    transfer.data_types_verts, transfer.vert_mapping = {"VGROUP_WEIGHTS"}, "TOPOLOGY"
    transfer.layers_vgroup_select_src, transfer.layers_vgroup_select_dst = "ALL", "NAME"


def cached(obj, folder, frames=range(1, 13)):
    """Plays the shapes of a mesh from a PC2 file, without its armature."""
    shapes = scenes.evaluated_frames(obj, frames).astype("<f4")
    path = folder / "artist.pc2"
    header = struct.pack("<12siiffi", b"POINTCACHE2", 1, shapes.shape[1], frames.start, 1.0, len(frames))
    path.write_bytes(header + shapes.tobytes())
    obj.modifiers.clear()
    obj.parent = None
    cache = obj.modifiers.new("Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(path), frames.start


def waving():
    """Geometry nodes that bend a mesh by the time alone."""
    tree = bpy.data.node_groups.new("Waving", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    nodes = {kind: tree.nodes.new(kind) for kind in ("NodeGroupInput", "NodeGroupOutput")}
    time, place = tree.nodes.new("GeometryNodeInputSceneTime"), tree.nodes.new("GeometryNodeInputPosition")
    split, swing = tree.nodes.new("ShaderNodeSeparateXYZ"), tree.nodes.new("ShaderNodeMath")
    wide, offset = tree.nodes.new("ShaderNodeMath"), tree.nodes.new("ShaderNodeCombineXYZ")
    moved = tree.nodes.new("GeometryNodeSetPosition")
    swing.operation, wide.operation = "SINE", "MULTIPLY"
    for source, target in (
        (nodes["NodeGroupInput"].outputs[0], moved.inputs["Geometry"]),
        (time.outputs["Frame"], swing.inputs[0]),
        (place.outputs[0], split.inputs[0]),
        (split.outputs["Z"], wide.inputs[0]),
        (swing.outputs[0], wide.inputs[1]),
        (wide.outputs[0], offset.inputs["X"]),
        (offset.outputs[0], moved.inputs["Offset"]),
        (moved.outputs[0], nodes["NodeGroupOutput"].inputs[0]),
    ):
        tree.links.new(source, target)
    return tree


def key_vertices(obj):
    """Keys vertices on the mesh itself: the middle swells and shrinks."""
    mesh, action = obj.data, bpy.data.actions.new("Breath")
    data = mesh.animation_data_create()
    data.action = action
    curves = action.fcurves if hasattr(action, "fcurves") else None
    if hasattr(action, "slots"):
        data.action_slot = action.slots.new("MESH", "Mesh")
        strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
        curves = strip.channelbag(data.action_slot, ensure=True).fcurves
    for vertex in [v for v in mesh.vertices if 0.6 < v.co.z < 1.4]:
        for axis in (0, 1):
            curve = curves.new(f"vertices[{vertex.index}].co", index=axis)
            for frame, size in ((1, 1.0), (6, 1.5), (12, 1.0)):
                curve.keyframe_points.insert(frame, vertex.co[axis] * size)


def painted_weights(obj):
    """Weights of the upper bone, painted by a ball that passes the mesh."""
    canvas = before_the_armature(obj, "DYNAMIC_PAINT")
    canvas.ui_type = "CANVAS"
    scenes.activate(obj)
    bpy.ops.dpaint.type_toggle(type="CANVAS")
    surface = canvas.canvas_settings.canvas_surfaces[0]
    surface.surface_type, surface.use_dissolve = "WEIGHT", False
    surface.frame_start, surface.frame_end = 1, 12
    surface.output_name_a = "Upper"
    ball = scenes.column("Ball", radius=0.6, height=0.8)
    for frame, height in ((1, -2.0), (3, -2.0), (7, 1.4), (8, 3.0)):
        ball.location.z = height
        ball.keyframe_insert("location", frame=frame)
    ball.modifiers.new("Brush", "DYNAMIC_PAINT").ui_type = "BRUSH"
    scenes.activate(ball)
    bpy.ops.dpaint.type_toggle(type="BRUSH")
    return canvas


def bulge(obj):
    """A key at full value, muted in the current frame."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Bulge", from_mix=False)
    for point in key.points:
        point.co.x *= 1.5
    key.value, key.mute = 1.0, True
    return key


def key_mute(obj):
    key = bulge(obj)
    for frame, muted in ((1, True), (5, False), (8, True)):
        key.mute = muted
        key.keyframe_insert("mute", frame=frame)


def drive_mute(obj):
    driver = bulge(obj).driver_add("mute").driver
    driver.type, driver.expression = "SCRIPTED", "frame < 5"


def swapped():
    """A character posed by a second armature from frame 6 on, in place of the first."""
    obj, rig = scenes.character()
    other = scenes.armature([("Lower", 0.0, 1.0), ("Upper", 1.0, 2.0)], "Other")
    bone = other.pose.bones["Upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((6, -0.8), (7, -0.8), (10, 0.3), (11, 0.3)):
        bone.rotation_euler.y = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    pair = obj.modifiers["Armature"], obj.modifiers.new("Second", "ARMATURE")
    pair[1].object = other
    for frame, first in ((1, True), (6, False)):
        for modifier, shown in zip(pair, (first, not first), strict=True):
            modifier.show_viewport = shown
            modifier.keyframe_insert("show_viewport", frame=frame)
    scenes.settle_scene()
    return obj
