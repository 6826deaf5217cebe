"""Parts found in characters, beside what a hand painted."""

import sys
from pathlib import Path

import bpy
import mathutils
import numpy as np
import pytest
import scenes
from character_files import DATA, each, needs

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters

# Least overlaps of a character's parts, intersection over union of skin areas: their mean, and each. The
# lowest are the buttocks of two bodies with long thighs: they end higher than painted.
MEAN, LEAST = 0.6, 0.42
FAR = (9.0, 9.0, 9.0)
# Boxes painted by hand: low and high corners, in a character's bounding box with a longest side of 1.
PAINTED = {
    "mixamo/unops_boss.blend": {
        "belly": [((0.33, -1, 0.45), (0.62, 0.22, 0.62))],
        "buttocks": [((0.34, 0.2, 0.37), (0.60, 9, 0.50))],
        "thighs": [((0.34, -1, 0.26), (0.60, 0.2, 0.45)), ((0.34, 0.2, 0.26), (0.60, 9, 0.37))],
    },
    "mixamo/bigvegas_swing.blend": {
        "belly": [((0.32, -1, 0.29), (0.68, 0.24, 0.49))],
        "buttocks": [((0.34, 0.24, 0.27), (0.66, 9, 0.42))],
    },
    "mixamo/Michelle.glb": {
        "belly": [((0.35, -1, 0.56), (0.52, 0.13, 0.68))],
        "buttocks": [((0.32, 0.12, 0.48), (0.56, 9, 0.62))],
        "thighs": [((0.30, -1, 0.33), (0.58, 0.12, 0.55)), ((0.30, 0.12, 0.33), (0.58, 9, 0.49))],
    },
    "open_humanoid/Smooth_Male_Suit.fbx": {
        "belly": [((0.40, -1, 0.46), (0.60, 0.12, 0.58))],
        "buttocks": [((0.40, 0.12, 0.38), (0.60, 9, 0.53))],
        "thighs": [((0.40, -1, 0.26), (0.60, 0.12, 0.45)), ((0.40, 0.12, 0.26), (0.60, 9, 0.39))],
    },
    "mixamo/mannequin_ch36_mixamorig1.fbx": {
        "belly": [((0.42, -1, 0.50), (0.58, 0.10, 0.65))],
        "buttocks": [((0.39, 0.075, 0.45), (0.61, 9, 0.56))],
        "thighs": [((0.38, -1, 0.31), (0.62, 0.075, 0.48)), ((0.38, 0.075, 0.31), (0.62, 9, 0.45))],
    },
    "mixamo/xbot_samba.fbx": {
        "belly": [((0.39, -1, 0.53), (0.61, 0.09, 0.68))],
        "buttocks": [((0.37, 0.10, 0.47), (0.63, 9, 0.60))],
        "thighs": [((0.37, -1, 0.32), (0.63, 0.10, 0.52)), ((0.37, 0.10, 0.32), (0.63, 9, 0.47))],
    },
    "open_humanoid/Animated_Woman_smooth.fbx": {
        "belly": [((0.07, 0.37, 0.49), (9, 0.54, 0.64))],
        "buttocks": [((-1, 0.34, 0.42), (0.06, 0.58, 0.56))],
        "thighs": [((0.06, 0.34, 0.28), (9, 0.58, 0.48)), ((-1, 0.34, 0.28), (0.06, 0.58, 0.42))],
    },
    "open_humanoid/CesiumMan.gltf": {
        "belly": [((0.08, 0.30, 0.44), (9, 0.46, 0.58))],
        "buttocks": [((-1, 0.28, 0.38), (0.06, 0.48, 0.50))],
        "thighs": [((0.05, 0.28, 0.26), (9, 0.48, 0.43)), ((-1, 0.28, 0.26), (0.05, 0.48, 0.38))],
    },
    "open_humanoid/ozz_arnaud.fbx": {
        "belly": [((0.38, -1, 0.52), (0.57, 0.12, 0.69))],
        "buttocks": [((0.37, 0.09, 0.47), (0.58, 9, 0.58))],
        "thighs": [((0.36, -1, 0.32), (0.58, 0.09, 0.51)), ((0.36, 0.09, 0.32), (0.58, 9, 0.47))],
    },
    "open_creature/Cow.fbx": {
        "belly": [((-1, 0.45, -1), (9, 0.78, 0.38))],
        "tail": [((-1, 0.955, -1), FAR)],
        "thighs": [((-1, 0.76, 0.18), (9, 0.955, 0.45))],
    },
    "open_creature/Fox.glb": {
        "belly": [((-1, 0.38, 0.19), (9, 0.56, 0.33))],
        "ears": [((-1, -1, 0.43), (9, 0.17, 9))],
        "tail": [((-1, 0.68, -1), FAR)],
    },
}

# Largest mean difference of a part's weight, and of the flesh, between the two sides of a mirrored skin.
MIRRORED = 0.02
# Largest distance of a point from the mirror image of another, as a share of the size, and least share of the
# points with one, for a skin to count as mirrored.
TWIN, TWINS = 1e-3, 0.9
# Characters unlike people, and the least mean overlap of each, as reached: balls such as an avocado and a
# slime have ribs where bellies are painted.
UNLIKE = {
    "open_creature/Betta.glb": (
        0.6,
        {
            "fins": [
                ((-1, 0.72, -1), FAR),
                ((-1, 0.17, -1), (0.10, 0.29, 0.24)),
                ((0.45, 0.17, -1), (9, 0.29, 0.24)),
                ((0.25, 0.4, 0.5), (0.3, 0.75, 9)),
                ((0.25, 0.47, 0.455), (0.3, 0.75, 9)),
                ((0.25, 0.53, 0.42), (0.3, 0.75, 9)),
                ((0.25, 0.59, 0.39), (0.3, 0.75, 9)),
                ((0.25, 0.38, -1), (0.3, 0.83, 0.14)),
                ((0.25, 0.47, -1), (0.3, 0.83, 0.185)),
                ((0.25, 0.53, -1), (0.3, 0.83, 0.21)),
                ((0.25, 0.6, -1), (0.3, 0.83, 0.235)),
            ]
        },
    ),
    "mixamo/seagull_meshscale100.fbx": (
        0.65,
        {
            "belly": [((0.40, -1, 0.37), (0.60, 0.13, 0.53))],
            "buttocks": [((0.40, 0.13, 0.36), (0.60, 0.20, 0.50))],
            "tail": [((0.40, 0.20, 0.25), (0.60, 9, 0.42))],
            "thighs": [((0.42, -1, 0.22), (0.58, 0.16, 0.37))],
        },
    ),
    "open_humanoid/kaykit_Mage.glb": (
        0.6,
        {
            "belly": [((0.26, -1, 0.19), (0.57, 0.45, 0.33))],
            "buttocks": [((0.26, 0.48, 0.14), (0.57, 0.62, 0.27))],
        },
    ),
    "open_creature/Avocado.fbx": (
        0.3,
        {
            "belly": [((0.12, 0.22, 0.25), (9, 0.78, 0.60))],
            "buttocks": [((-1, 0.25, 0.25), (0.10, 0.75, 0.45))],
            "thighs": [((-1, 0.39, 0.13), (9, 0.61, 0.25))],
        },
    ),
    "open_creature/Dragon.fbx": (
        0.6,
        {
            "belly": [((0.36, -1, 0.31), (0.54, 0.42, 0.50))],
            "tail": [((0.30, 0.60, -1), (0.60, 9, 0.48))],
            "thighs": [((-1, 0.40, 0.20), (0.37, 0.60, 0.48)), ((0.52, 0.40, 0.20), (9, 0.60, 0.48))],
        },
    ),
    "open_creature/Frog.blend": (
        0.58,
        {
            "belly": [((0.33, 0.45, -1), (0.67, 0.82, 0.22))],
            "thighs": [((0.10, 0.55, 0.085), (0.40, 9, 0.21)), ((0.60, 0.55, 0.085), (0.90, 9, 0.21))],
        },
    ),
    "open_creature/Slime.blend": (
        0.35,
        {
            "belly": [((0.42, 0.10, 0.03), (9, 0.90, 0.40))],
            "buttocks": [((-1, 0.10, 0.03), (0.25, 0.90, 0.40))],
        },
    ),
    "open_creature/Snake.fbx": (0.8, {"tail": [((-1, 0.40, -1), (9, 9, 0.20))]}),
}


def found(module, path):
    """The body of a character as *Add Jounce* makes it, and its surface."""
    return made(module, characters.load(path))


def made(module, character):
    """The body of a loaded character, and its surface."""
    scenes.activate(character.armature)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    surface = module("bridge.body.bodies").read(host, bpy.context, print).surface
    return module("core.body.built_bodies").CACHE.get(surface.digest(host.jounce.build_settings())), surface


def overlap(body, surface, part, boxes):
    """Shared area of a part's free skin and of painted boxes, as a share of the area of either; 0 for a part
    that is not found.
    """
    if part not in body.parts:
        return 0.0
    corners = surface.points[surface.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middles = (corners.mean(axis=1) - surface.points.min(axis=0)) / np.ptp(surface.points, axis=0).max()
    painted = np.any([((middles >= low) & (middles <= high)).all(axis=1) for low, high in boxes], axis=0)
    known = np.stack([body.part_weights[body.parts.index(part)], ~body.pinned], axis=1, dtype=float)
    weight, free = body.embedding.interpolate(known)[surface.triangles].mean(axis=1).T
    own, area = (weight > 0.5) & (free > 0.25), np.linalg.norm(normals, axis=1)
    return area[own & painted].sum() / area[own | painted].sum()


@pytest.mark.parametrize("file", each(PAINTED))
def test_parts_lie_where_a_hand_painted_them(module, file):
    body, surface = found(module, DATA / file)
    overlaps = {part: overlap(body, surface, part, boxes) for part, boxes in PAINTED[file].items()}
    assert np.mean([*overlaps.values()]) > MEAN and min(overlaps.values()) > LEAST, overlaps


@pytest.mark.parametrize("file", each(UNLIKE))
def test_parts_of_characters_unlike_people_lie_as_far_as_they_did(module, file):
    body, surface = found(module, DATA / file)
    least, painted = UNLIKE[file]
    overlaps = {part: overlap(body, surface, part, boxes) for part, boxes in painted.items()}
    assert np.mean([*overlaps.values()]) >= least, overlaps


@pytest.mark.parametrize("file", each(PAINTED))
def test_parts_of_a_mirrored_skin_are_mirrored(module, file):
    body, surface = found(module, DATA / file)
    points, size = surface.points, np.ptp(surface.points, axis=0).max()
    tree = mathutils.kdtree.KDTree(len(points))
    for number, point in enumerate(points):
        tree.insert(point, number)
    tree.balance()

    def twins(axis):
        """Nearest point to each point's mirror image across an axis, and True for a close one."""
        image = points.copy()
        image[:, axis] = points[:, axis].min() + points[:, axis].max() - points[:, axis]
        nearest = [tree.find(place) for place in image]
        numbers, gaps = np.array([found[1:] for found in nearest]).T
        return numbers.astype(int), gaps < TWIN * size

    numbers, is_twin = max((twins(axis) for axis in (0, 1)), key=lambda pair: pair[1].sum())
    if is_twin.mean() < TWINS:
        pytest.skip("a skin that is not mirrored")
    weights = np.stack([*body.part_weights, ~body.pinned], axis=1, dtype=float)
    sides = body.embedding.interpolate(weights)
    unlike = np.abs(sides - sides[numbers])[is_twin].mean(axis=0)
    assert unlike.max() < MIRRORED, dict(zip((*body.parts, "flesh"), unlike, strict=True))


@needs("open_humanoid/RobotExpressive.glb")
def test_a_robot_of_plates_has_flesh_only_if_a_bone_asks_for_it(module):
    character = characters.load(DATA / "open_humanoid" / "RobotExpressive.glb")
    scenes.activate(character.armature)
    with pytest.raises(RuntimeError, match="like a prop or a machine"):
        bpy.ops.jounce.setup()
    assert not any(mesh.is_property_set("jounce") for mesh in character.body)
    character.armature.pose.bones["Body"].jounce_role = "FLESH"
    body, _ = made(module, character)
    assert "belly" in body.parts
    assert 0 < body.pinned.sum() < len(body.pinned)
