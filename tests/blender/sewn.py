"""A column and a leaf for sewing, and all of their data that could change."""

import bpy
import numpy as np
import scenes
import snapshot
from mathutils import Matrix
from test_members import everything

NEAR = {"distance": 20.0, "most": 20}


def leaf(rig, name="Leaf", side=1.0):
    """A small closed mesh beside the upper half of the column, on its upper bone."""
    obj = scenes.column(name, height=0.5, radius=0.12, rings=4, sides=8)
    obj.data.transform(Matrix.Translation((0.62 * side, 0.0, 1.5)))
    scenes.hang(obj, rig)
    scenes.settle_scene()
    return obj


def body(obj, *others, resolution=24):
    """Builds a body held by its rig and its stitches alone, with cells finer than the gap between
    the meshes.
    """
    scenes.activate(obj, *others)
    bpy.ops.jounce.add()
    obj.jounce.resolution, obj.jounce.modes, obj.jounce.clusters = resolution, 12, 40
    obj.jounce.bone_core, obj.jounce.use_stretch, obj.jounce.use_limit = 0.0, False, False
    obj.jounce.quality = scenes.QUALITY
    bpy.ops.jounce.build()


def both():
    """A swinging column and a leaf beside it, each a built body of its own, both selected."""
    branch, rig = scenes.character()
    other = leaf(rig)
    body(other, resolution=8)
    body(branch)
    scenes.activate(branch, other)
    return branch, other


def state():
    """All data that could change, including stitch groups and muscles."""
    bodies = [obj for obj in bpy.data.objects if obj.is_property_set("jounce")]
    lists = {
        obj.name: {
            "seams": [
                snapshot.properties(seam) | {"pairs": pairs(seam).tobytes()} for seam in obj.jounce.seams
            ],
            "muscles": [snapshot.properties(muscle) for muscle in obj.jounce.more_muscles],
            "set": dict.fromkeys(settings_of(obj), True),
        }
        for obj in bodies
    }
    return everything() | {"lists": lists}


def settings_of(obj):
    """The names of the set properties of a body; reading pointers and lists would set them."""
    kept = (prop for prop in obj.jounce.bl_rna.properties if not prop.is_skip_save)
    known = (prop for prop in kept if prop.type not in ("POINTER", "COLLECTION"))
    return {prop.identifier for prop in known if obj.jounce.is_property_set(prop.identifier)}


def pairs(seam):
    return np.array([(pair.a, pair.b) for pair in seam.pairs]).reshape(-1, 2)


def painted(obj, name):
    """A vertex group on half of a mesh."""
    obj.vertex_groups.new(name=name).add(range(len(obj.data.vertices) // 2), 1.0, "REPLACE")
    return name


def task(module, branch, other, said):
    """Task that sews on a body, stitched at the nearest places."""
    nearest = module("bridge.body.sewing").nearest([branch], [other], 0.2, 20, bpy.context.view_layer)
    return module("ops.sew").sew(branch, [other], [nearest], bpy.context, said)


def taken(module, branch, other):
    """Reports during sewing."""
    said = []
    for _ in task(module, branch, other, said.append):
        pass
    return said
