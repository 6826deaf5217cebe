"""The demo creature's skeleton, skin weights and leg controls."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import creature_shape as shape
import implicit
import numpy as np

PREFIX = "mixamorig:"
FOOT_CONTROL = "FootControl"
FACE = np.array([[-0.09, -0.10, 0.885], [0.0, -0.12, 0.85], [0.09, -0.10, 0.885]])
EAR_ROOT = np.array([0.06, 0.02, 0.95])
TAIL_ROOT = np.array([0.0, 0.05, 0.28])
WEIGHT_BLUR = 0.035
MAX_INFLUENCES = 4
SIDES = {"Left": 1.0, "Right": -1.0}


@dataclass
class Bone:
    """A rest bone: `reach` is the thickness of its flesh around `claim`, or around the bone itself.

    Bones without reach deform nothing.
    """

    name: str
    parent: str | None
    head: np.ndarray
    tail: np.ndarray
    reach: float = 0.0
    claim: np.ndarray | None = None

    def claims(self, points: np.ndarray) -> np.ndarray:
        """Distances (p,) of points from the bone's claim, in units of its reach."""
        path = np.stack([self.head, self.tail]) if self.claim is None else self.claim
        pieces = zip(path[:-1], path[1:], strict=True)
        return np.min([implicit.closest_on_segment(points, a, b)[1] for a, b in pieces], axis=0) / self.reach


def bones() -> list[Bone]:
    """The skeleton, parents before children, in metres."""
    column = [
        ("Hips", None, (0.0, 0.03, 0.22), (0.0, 0.03, 0.33), 0.26),
        ("Spine", "Hips", (0.0, 0.03, 0.33), (0.0, 0.03, 0.44), 0.26),
        ("Spine1", "Spine", (0.0, 0.03, 0.44), (0.0, 0.025, 0.54), 0.22),
        ("Spine2", "Spine1", (0.0, 0.025, 0.54), (0.0, 0.02, 0.64), 0.17),
        ("Neck", "Spine2", (0.0, 0.02, 0.64), (0.0, 0.01, 0.75), 0.14),
        ("Head", "Neck", (0.0, 0.01, 0.75), (0.0, 0.0, 1.06), 0.21),
    ]
    skeleton = [Bone(n, p, np.array(head), np.array(tail), reach) for n, p, head, tail, reach in column]
    skeleton.append(Bone("Face", "Head", FACE[1], FACE[1] + [0.0, -0.08, 0.0], 0.15, FACE))
    skeleton.append(_appendage("Tail1", "Hips", TAIL_ROOT, shape.TAIL, 6, 0.12))
    for side, sign in SIDES.items():
        skeleton += _limbs(side, np.array([sign, 1.0, 1.0]))
    return skeleton


def _limbs(side: str, mirror: np.ndarray) -> list[Bone]:
    shoulder = np.array([[0.04, 0.01, 0.62], shape.ARM[0]])
    hand = shape.ARM[2] + (shape.ARM[2] - shape.ARM[1]) * [0.55, 0.55, 0.55]
    ankle, toes = shape.LEG[2], shape.FOOT[0] + [0.0, -0.04, -0.02]
    parts = _chain([f"{side}Shoulder"], "Spine2", shoulder * mirror, [0.08])
    arm = np.vstack([shape.ARM, hand]) * mirror
    parts += _chain(
        [f"{side}Arm", f"{side}ForeArm", f"{side}Hand"], f"{side}Shoulder", arm, [0.07, 0.065, 0.065]
    )
    leg = np.vstack([shape.LEG, toes]) * mirror
    parts += _chain([f"{side}UpLeg", f"{side}Leg", f"{side}Foot"], "Hips", leg, [0.10, 0.085, 0.14])
    toe_end = toes + [0.0, -0.09, 0.0]
    parts += _chain([f"{side}ToeBase"], f"{side}Foot", np.vstack([toes, toe_end]) * mirror, [0.11])
    parts.append(_appendage(f"{side}Ear", "Head", EAR_ROOT * mirror, shape.EAR * mirror, 8, 0.10))
    parts.append(Bone(f"{side}{FOOT_CONTROL}", None, ankle * mirror, toes * mirror))
    return parts


def _appendage(name: str, parent: str, root: np.ndarray, path: np.ndarray, end: int, reach: float) -> Bone:
    """A bone for a whole ear or tail, rooted deep in the body to let momentum leak along it."""
    return Bone(name, parent, root, path[end], reach, np.vstack([root, path]))


def _chain(names: list[str], parent: str, knots: np.ndarray, reaches: list[float]) -> list[Bone]:
    parents = [parent, *names[:-1]]
    return [
        Bone(n, p, head, tail, reach)
        for n, p, head, tail, reach in zip(names, parents, knots[:-1], knots[1:], reaches, strict=True)
    ]


def skin_weights(points: np.ndarray, quads: np.ndarray, skeleton: list[Bone]) -> np.ndarray:
    """Weights (p, number of deforming bones): rows sum to 1, at most four influences.

    Each point starts with the bone in whose flesh it lies, by distance over reach; the weights then diffuse
    along the surface until they are blurred over `WEIGHT_BLUR` metres.
    """
    deforming = [bone for bone in skeleton if bone.reach > 0.0]
    nearest = np.argmin([bone.claims(points) for bone in deforming], axis=0)
    weights = np.eye(len(deforming))[nearest]
    edges = np.unique(np.sort(np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)]), axis=1), axis=0)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).mean()
    for _ in range(int(np.ceil(2.0 * (WEIGHT_BLUR / length) ** 2))):
        weights = 0.5 * (weights + implicit.neighbour_mean(weights, edges))
    floor = np.sort(weights, axis=1)[:, -MAX_INFLUENCES, None]
    weights = np.where((weights >= floor) & (weights > 1e-3), weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def build_armature(skeleton: list[Bone], collection: bpy.types.Collection) -> bpy.types.Object:
    """Armature object with the skeleton at rest and legs that follow their foot controls."""
    data = bpy.data.armatures.new("Armature")
    data.display_type = "STICK"
    armature = bpy.data.objects.new("Armature", data)
    collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in skeleton:
        edit = data.edit_bones.new(PREFIX + bone.name)
        edit.head, edit.tail = bone.head, bone.tail
        edit.use_deform = bone.reach > 0.0
        if bone.parent:
            edit.parent = data.edit_bones[PREFIX + bone.parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in SIDES:
        _reach_for_control(armature, side)
    for bone in armature.pose.bones:
        bone.rotation_mode = "XYZ"
    return armature


def _reach_for_control(armature: bpy.types.Object, side: str) -> None:
    """Two-bone inverse kinematics for a leg; the foot keeps the control's direction."""
    control = f"{PREFIX}{side}{FOOT_CONTROL}"
    reach = armature.pose.bones[f"{PREFIX}{side}Leg"].constraints.new("IK")
    reach.target, reach.subtarget, reach.chain_count = armature, control, 2
    turn = armature.pose.bones[f"{PREFIX}{side}Foot"].constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget = armature, control
