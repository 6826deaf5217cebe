"""How a deformer that is not linear skinning moves offsets of the rest shape, asked of Blender itself."""

import bpy
import numpy as np


def offset_matrices(obj: bpy.types.Object, context: bpy.types.Context, unbind: np.ndarray) -> np.ndarray:
    """The 3x3 by which the evaluated deformers and the object move an offset of each vertex, A (p, 3, 3) f32.

    In world space, for offsets in the rest pose's world space. unbind: inverse (3, 3) of the bind matrix.
    Blender gives the inverse in the object's own space, one displacement of one vertex a call.
    """
    depsgraph = context.evaluated_depsgraph_get()
    obj.crazyspace_eval(depsgraph, context.scene)
    try:
        inverse = np.array(
            [
                [
                    obj.crazyspace_displacement_to_original(vertex_index=vertex, displacement=axis)
                    for axis in np.eye(3)
                ]
                for vertex in range(len(obj.data.vertices))
            ]
        )
    finally:
        obj.crazyspace_eval_clear()
    to_world = np.array(obj.evaluated_get(depsgraph).matrix_world)[:3, :3]
    # Row k of `inverse` is the image of axis k, so its transpose is the matrix.
    return (to_world @ np.linalg.inv(inverse.transpose(0, 2, 1)) @ unbind).astype(np.float32)
