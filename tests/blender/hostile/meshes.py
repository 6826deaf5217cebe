"""Meshes that are open, torn, flat, tiny, far away, in several parts, or not meshes at all."""

import bmesh
import bpy
import numpy as np
import scenes

from .hand import EXACT, Hand
from .row import refuses, works


def edited(obj: bpy.types.Object) -> bmesh.types.BMesh:
    """The mesh of an object, for changes; `back` restores it."""
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    shape.verts.ensure_lookup_table()
    shape.faces.ensure_lookup_table()
    return shape


def back(shape: bmesh.types.BMesh, obj: bpy.types.Object) -> None:
    """Gives an object its changed mesh."""
    shape.to_mesh(obj.data)
    shape.free()
    obj.data.update()


def moving(obj: bpy.types.Object, step: float = 1.0) -> bpy.types.Object:
    """Keys an object to jerk to and fro."""
    for frame, place in ((1, 0.0), (4, step), (8, 0.0), (12, 0.0)):
        obj.location.x = place
        obj.keyframe_insert("location", frame=frame)
    scenes.settle_scene()
    return obj


def plane(name: str = "Plane") -> bpy.types.Object:
    """A square of four by four faces."""
    points = [(x, y, 0.0) for y in range(5) for x in range(5)]
    faces = [(r * 5 + c, r * 5 + c + 1, r * 5 + c + 6, r * 5 + c + 5) for r in range(4) for c in range(4)]
    return scenes.mesh_object(name, points, faces)


@refuses
def no_vertices(jounce: Hand) -> None:
    """A mesh without vertices."""
    jounce.refused("add", "no vertices", scenes.mesh_object("Nothing", [], []))


@refuses
def one_vertex(jounce: Hand) -> None:
    """A mesh of one vertex."""
    obj = scenes.mesh_object("Point", [(0.0, 0.0, 0.0)], [])
    jounce.add(obj)
    jounce.refused("build", "no faces", obj)


@refuses
def only_edges(jounce: Hand) -> None:
    """A mesh of edges without faces."""
    obj = scenes.mesh_object("Wire", [(0.0, 0.0, float(z)) for z in range(4)], [])
    obj.data.edges.add(3)
    obj.data.edges.foreach_set("vertices", [0, 1, 1, 2, 2, 3])
    obj.data.update()
    jounce.add(obj)
    jounce.refused("build", "no faces", obj)


@refuses
def all_in_one_place(jounce: Hand) -> None:
    """A mesh with all vertices in one place."""
    obj = scenes.mesh_object("Dot", [(1.0, 1.0, 1.0)] * 4, [(0, 1, 2), (0, 2, 3)])
    jounce.add(obj)
    jounce.refused("build", "one place", obj)


@refuses
def vertex_at_no_number(jounce: Hand) -> None:
    """A vertex at NaN."""
    obj, _ = scenes.character()
    obj.data.attributes["position"].data[5].vector = (0.0, float("nan"), 0.0)
    jounce.refused("add", "Vertex 5", obj)


@refuses
def vertex_at_infinity(jounce: Hand) -> None:
    """A vertex at infinity after the build, stored by Blender as the largest number."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    obj.data.attributes["position"].data[7].vector = (float("inf"), 0.0, 0.0)
    jounce.refused("bake", "longest side", obj, target="MODAL_KEYS")


@works
def vertex_far_off(jounce: Hand) -> None:
    """A stray vertex ten kilometres away."""
    obj, _ = scenes.character()
    shape = edited(obj)
    shape.verts.new((10000.0, 0.0, 0.0))
    back(shape, obj)
    jounce.live(obj, targets=EXACT)


@works
def flat(jounce: Hand) -> None:
    """A plane without thickness."""
    jounce.live(moving(plane()))


@works
def a_triangle(jounce: Hand) -> None:
    """A single triangle."""
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    jounce.live(moving(scenes.mesh_object("Triangle", corners, [(0, 1, 2)])))


@works
def open_at_both_ends(jounce: Hand) -> None:
    """A column without its ends."""
    obj, _ = scenes.character()
    shape = edited(obj)
    bmesh.ops.delete(shape, geom=[face for face in shape.faces if len(face.verts) > 4], context="FACES")
    back(shape, obj)
    jounce.live(obj)


@works
def torn_to_single_faces(jounce: Hand) -> None:
    """Every face separate, without shared edges."""
    obj, _ = scenes.character()
    shape = edited(obj)
    bmesh.ops.split_edges(shape, edges=shape.edges[:])
    back(shape, obj)
    jounce.live(obj)


@works
def normals_inside_out(jounce: Hand) -> None:
    """A mesh with inward normals."""
    obj, _ = scenes.character()
    obj.data.flip_normals()
    jounce.live(obj)


@works
def normals_at_random(jounce: Hand) -> None:
    """Every third face is turned over."""
    obj, _ = scenes.character()
    shape = edited(obj)
    bmesh.ops.reverse_faces(shape, faces=shape.faces[:][::3])
    back(shape, obj)
    jounce.live(obj)


@works
def not_manifold(jounce: Hand) -> None:
    """Three faces at one edge, and faces with all vertices shared."""
    obj, _ = scenes.character()
    shape = edited(obj)
    verts = shape.verts
    shape.faces.new((verts[0], verts[1], verts[80]))
    shape.faces.new((verts[0], verts[13], verts[80]))
    shape.faces.new((verts[80], verts[1], verts[13]))
    back(shape, obj)
    jounce.live(obj)


@works
def through_itself(jounce: Hand) -> None:
    """A self-intersecting mesh."""
    obj, _ = scenes.character()
    for vertex in obj.data.vertices:
        vertex.co.x *= 1.0 - vertex.co.z
    obj.data.update()
    jounce.live(obj)


@works
def faces_without_area(jounce: Hand) -> None:
    """A ring of collapsed faces."""
    obj, _ = scenes.character()
    for vertex in list(obj.data.vertices)[24:36]:
        vertex.co = (0.1, 0.1, 0.3)
    obj.data.update()
    jounce.live(obj)


@works
def loose_vertices_and_edges(jounce: Hand) -> None:
    """Vertices and edges without a face."""
    obj, _ = scenes.character()
    shape = edited(obj)
    a, b, _ = (shape.verts.new((0.0, 0.5, 0.2 * index)) for index in range(3))
    shape.edges.new((a, b))
    back(shape, obj)
    jounce.live(obj)


@works
def ninety_parts(jounce: Hand) -> None:
    """Ninety loose triangles around the column."""
    obj, _ = scenes.character()
    shape = edited(obj)
    for index in range(90):
        turn, height = 0.7 * index, 0.02 * index
        corner = np.array([0.5 * np.cos(turn), 0.5 * np.sin(turn), height])
        shape.faces.new([shape.verts.new(corner + 0.05 * np.eye(3)[axis]) for axis in range(3)])
    back(shape, obj)
    jounce.live(obj, targets=EXACT)


@works
def large_ngons(jounce: Hand) -> None:
    """A prism of two faces with sixty corners each."""
    jounce.live(moving(scenes.column("Prism", height=0.5, rings=1, sides=60)))


@works
def a_tenth_of_a_millimetre(jounce: Hand) -> None:
    """A body a tenth of a millimetre high."""
    jounce.live(moving(scenes.column("Mite", height=1e-4, radius=2e-5), step=1e-4))


@works
def a_hundred_kilometres(jounce: Hand) -> None:
    """A body a hundred kilometres high."""
    jounce.live(moving(scenes.column("Mountain", height=1e5, radius=2e4), step=1e5))


@works
def far_from_the_origin(jounce: Hand) -> None:
    """A mesh with vertices ten kilometres from its origin, in coarse single precision."""
    obj = scenes.column()
    for vertex in obj.data.vertices:
        vertex.co.x += 10000.0
    obj.data.update()
    jounce.live(moving(obj), targets=("MODAL_KEYS", "SKINNING_NODES"))


@works
def thin_as_paper(jounce: Hand) -> None:
    """A body a thousand times as long as it is thick."""
    jounce.live(moving(scenes.column("Sheet", height=2.0, radius=0.002)))


@refuses
def shared_mesh(jounce: Hand) -> None:
    """A mesh with another user."""
    obj, _ = scenes.character()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", obj.data))
    jounce.refused("add", "shares its mesh with Twin", obj)


@works
def with_a_fake_user(jounce: Hand) -> None:
    """A mesh, an armature and an action with fake users."""
    obj, rig = scenes.character()
    for block in (obj.data, rig.data, rig.animation_data.action):
        block.use_fake_user = True
    jounce.live(obj)


@works
def decorated(jounce: Hand) -> None:
    """A mesh with colours, UVs, creases, materials, custom normals and attributes of all kinds."""
    obj, _ = scenes.character()
    mesh = obj.data
    for kind in ("FLOAT", "INT", "BOOLEAN", "FLOAT_VECTOR", "FLOAT_COLOR", "FLOAT2", "INT8"):
        mesh.attributes.new(f"their {kind}", kind, "POINT")
    mesh.uv_layers.new(name="UVMap")
    mesh.attributes.new("crease_edge", "FLOAT", "EDGE").data[3].value = 0.5
    mesh.materials.append(bpy.data.materials.new("Skin"))
    mesh.normals_split_custom_set_from_vertices([(0.0, 0.0, 1.0)] * len(mesh.vertices))
    mesh["year"], obj["mood"] = 1999, "calm"
    jounce.live(obj)


@works
def changed_while_previewed(jounce: Hand) -> None:
    """A previewed mesh with another row of vertices added."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    shape = edited(obj)
    bmesh.ops.subdivide_edges(shape, edges=shape.edges[:20], cuts=1)
    back(shape, obj)
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.fill(obj)
    jounce.preview(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def changed_after_the_bake(jounce: Hand) -> None:
    """A mesh with vertices deleted after a bake to a cache of whole shapes."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("MESH_CACHE", obj)
    shape = edited(obj)
    bmesh.ops.delete(shape, geom=shape.verts[140:], context="VERTS")
    back(shape, obj)
    jounce.scrub(obj)
    jounce.free(obj)
    jounce.bake("MODAL_KEYS", obj)


@works
def swapped_while_previewed(jounce: Hand) -> None:
    """A previewed object with another mesh assigned."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.preview(obj)
    before = obj.data
    other = scenes.column("Other", radius=0.2, rings=8)
    obj.data = other.data
    bpy.data.objects.remove(other)
    bpy.context.view_layer.update()
    jounce.scrub(obj)
    jounce.preview(obj)
    obj.data = before


@works
def swapped_after_the_bake(jounce: Hand) -> None:
    """An object with another mesh assigned while its own has shape keys of a bake."""
    obj, _ = scenes.character()
    jounce.add(obj)
    jounce.build(obj)
    jounce.bake("MODAL_KEYS", obj)
    other = scenes.column("Other")
    before, obj.data = obj.data, other.data
    bpy.data.objects.remove(other)
    jounce.scrub(obj)
    obj.data = before


@refuses
def a_curve(jounce: Hand) -> None:
    """A curve."""
    data = bpy.data.curves.new("Curve", "CURVE")
    obj = bpy.data.objects.new("Curve", data)
    bpy.context.scene.collection.objects.link(obj)
    jounce.refused("add", "mesh", obj)


@refuses
def an_empty(jounce: Hand) -> None:
    """An empty, and the one-click setup."""
    obj = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(obj)
    jounce.refused("setup", "select the character", obj)


@works
def beside_what_is_no_mesh(jounce: Hand) -> None:
    """A mesh added together with a light, a camera and a text, which stay outside."""
    obj, _ = scenes.character()
    made = [("Light", bpy.data.lights.new("Light", "SUN")), ("Camera", bpy.data.cameras.new("Camera"))]
    made += [("Text", bpy.data.curves.new("Text", "FONT"))]
    others = [bpy.data.objects.new(name, data) for name, data in made]
    for other in others:
        bpy.context.scene.collection.objects.link(other)
    jounce.live(obj, *others[:0])
    jounce.call("add", obj, *others)
