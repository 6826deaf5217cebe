"""A procedural soft creature with a Mixamo-named skeleton and a 60-frame action.

    python creature.py creature.blend [--resolution 72]
    python creature.py addon/assets/creature.blend --resolution 48
    python creature.py creature.glb --resolution 48

It needs bpy and numpy, is the same on every run, and serves as the demo's character and as a fixture.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

sys.path.insert(0, str(Path(__file__).resolve().parent))

import creature_action
import creature_rig
import creature_shape

RESOLUTION = 72
COLOUR_LAYER = "Colour"
PREVIEW = Path(__file__).resolve().parents[2] / "docs/images/icon.png"
FLESH = {"damping": 0.16}
"""Settings of `object.jounce` that suit the creature."""


@dataclass
class Creature:
    """The objects built: `body` is the soft skin; `parts` are rigid meshes attached to the head bone."""

    armature: bpy.types.Object
    body: bpy.types.Object
    parts: list[bpy.types.Object]
    action: bpy.types.Action


def build(resolution: int = RESOLUTION, rounds: int = 1) -> Creature:
    """Build the creature into the scene's collection, standing on z = 0 and facing -y, about 1.2 m tall.

    `resolution` is the number of cells across the skin's longest side: 72 gives 12,000 vertices, 28 the
    1,700 that tests need; below 28 the surface pinches. `rounds` is how often the action plays.
    """
    collection = bpy.context.scene.collection
    skeleton = creature_rig.bones()
    armature = creature_rig.build_armature(skeleton, collection)
    body = _build_body(resolution, skeleton, armature, collection)
    parts = [_build_face_part(part, armature, collection) for part in creature_shape.face()]
    action = creature_action.animate(armature, rounds)
    bpy.context.scene.frame_set(creature_action.FIRST_FRAME)
    return Creature(armature, body, parts, action)


def _build_body(
    resolution: int,
    skeleton: list[creature_rig.Bone],
    armature: bpy.types.Object,
    collection: bpy.types.Collection,
) -> bpy.types.Object:
    part = creature_shape.skin(resolution)
    body = _build_mesh(part, collection, "Fur", roughness=0.75)
    names = [bone.name for bone in skeleton if bone.reach > 0.0]
    for name, weights in zip(
        names, creature_rig.skin_weights(part.points, part.quads, skeleton).T, strict=True
    ):
        group = body.vertex_groups.new(name=creature_rig.PREFIX + name)
        for vertex in np.flatnonzero(weights):
            group.add([int(vertex)], float(weights[vertex]), "REPLACE")
    body.parent = armature
    body.modifiers.new("Armature", "ARMATURE").object = armature
    return body


def _build_face_part(
    part: creature_shape.Part, armature: bpy.types.Object, collection: bpy.types.Collection
) -> bpy.types.Object:
    piece = _build_mesh(part, collection, "Gloss", roughness=0.15)
    head = creature_rig.PREFIX + "Head"
    piece.parent, piece.parent_type, piece.parent_bone = armature, "BONE", head
    bpy.context.view_layer.update()
    piece.matrix_parent_inverse = (armature.matrix_world @ _bone_end(armature, head)).inverted()
    return piece


def _bone_end(armature: bpy.types.Object, name: str) -> Matrix:
    """Frame of a bone's children, placed by Blender at the bone's tail."""
    bone = armature.data.bones[name]
    frame = bone.matrix_local.copy()
    frame.translation = bone.tail_local
    return frame


def _build_mesh(
    part: creature_shape.Part, collection: bpy.types.Collection, material: str, roughness: float
) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(part.name)
    mesh.from_pydata(part.points.tolist(), [], part.quads.tolist())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(part.quads), dtype=bool))
    colour(mesh, part.colours)
    mesh.materials.append(coloured_material(material, roughness))
    built = bpy.data.objects.new(part.name, mesh)
    collection.objects.link(built)
    return built


def colour(mesh: bpy.types.Mesh, colours: np.ndarray) -> None:
    """Assign colours (p, 3), in sRGB, to the vertices."""
    layer = mesh.color_attributes.new(COLOUR_LAYER, "BYTE_COLOR", "POINT")
    opaque = np.concatenate([colours, np.ones((len(colours), 1))], axis=1).astype(np.float32)
    layer.data.foreach_set("color_srgb", opaque.ravel())
    mesh.color_attributes.active_color = layer


def coloured_material(name: str, roughness: float) -> bpy.types.Material:
    """Material that shows the colour layer; made once."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = roughness
    colour = nodes.new("ShaderNodeVertexColor")
    colour.layer_name = COLOUR_LAYER
    links.new(colour.outputs["Color"], shader.inputs["Base Color"])
    return material


def offer() -> None:
    """Puts the scene's objects into a collection that the Asset Browser offers."""
    scene = bpy.context.scene
    offered = bpy.data.collections.new("Creature")
    for member in list(scene.collection.objects):
        scene.collection.objects.unlink(member)
        offered.objects.link(member)
    scene.collection.children.link(offered)
    offered.asset_mark()
    offered.asset_data.description = "A soft creature that hops and twists, rigged and animated"
    offered.asset_data.author = "The Jounce authors"
    offered.asset_data.license = "CC0-1.0"
    with bpy.context.temp_override(id=offered):
        bpy.ops.ed.lib_id_load_custom_preview(filepath=str(PREVIEW))


def main() -> None:
    """Writes the creature to a .blend or .glb file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--resolution", type=int, default=RESOLUTION)
    options = parser.parse_args()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    creature = build(options.resolution)
    path = str(options.file.resolve())
    if options.file.suffix == ".glb":
        bpy.ops.export_scene.gltf(filepath=path, export_def_bones=True, export_vertex_color="ACTIVE")
    else:
        offer()
        bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)
    vertices, bones = len(creature.body.data.vertices), len(creature.armature.data.bones)
    print(f"{options.file}: {vertices} vertices, {bones} bones")


if __name__ == "__main__":
    main()
