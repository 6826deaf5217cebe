"""Clothes of a character, found from shape and rig: what hangs freely, and nothing else."""

import sys
from pathlib import Path

import numpy as np
import pytest
from jounce_core.mesh import clothes
from jounce_core.rig.limbs import Skeleton

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bipeds

SKELETON = Skeleton(bipeds.HEADS, bipeds.PARENTS)


def found(shapes, size=1.0, apart=True):
    """The names of the clothes among loose parts; apart: each is a mesh of its own."""
    points, triangles, weights, meshes, start = [], [], [], [], 0
    for shape in shapes.values():
        points.append(size * shape.points)
        triangles.append(shape.triangles + start)
        own = np.zeros((len(shape.points), len(bipeds.NAMES)))
        for bone, weight in shape.bones.items():
            own[:, bipeds.NAMES.index(bone)] = weight
        weights.append(own)
        meshes.append(slice(start, start + len(shape.points)))
        start += len(shape.points)
    slices = meshes if apart else [slice(0, start)]
    skeleton = Skeleton(size * bipeds.HEADS, bipeds.PARENTS)
    got = clothes.found(*map(np.concatenate, (points, triangles, weights)), slices, skeleton)
    names = {mesh.start: name for name, mesh in zip(shapes, meshes, strict=True)}
    return {names[int(each.rows[0])]: each for each in got}


def test_limbs_are_found_without_names():
    limbs = SKELETON.limbs
    [legs] = limbs.legs
    assert {bipeds.NAMES[limb.bones[0]] for limb in legs} == {"thigh.L", "thigh.R"}
    assert {bipeds.NAMES[bone] for bone in limbs.arms} == {
        f"{name}.{side}" for name in ("upper_arm", "fore_arm", "hand") for side in "LR"
    }
    assert [bipeds.NAMES[bone] for bone in limbs.heads] == ["head"]


@pytest.mark.parametrize("name", bipeds.CLOTHES)
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_what_hangs_freely_is_found(name, size):
    assert list(found(bipeds.body() | {name: bipeds.CLOTHES[name]}, size)) == [name]


@pytest.mark.parametrize("name", bipeds.CLOTHES)
def test_it_is_found_as_a_loose_part_of_the_body(name):
    assert list(found(bipeds.body() | {name: bipeds.CLOTHES[name]}, apart=False)) == [name]


@pytest.mark.parametrize("name", bipeds.OTHERS)
def test_what_does_not_stays_as_it_is(name):
    assert not found(bipeds.body() | {name: bipeds.OTHERS[name]})


def flaps(bones, sides=(1.0, -1.0), lift=0.0):
    """Number of clothes among flaps on the back, each on one of two bones below the chest, or on the chest.

    bones: of each flap, None for the chest. lift: of the last flap, metres.
    """
    chest, count = bipeds.NAMES.index("chest"), len(bipeds.NAMES)
    heads = np.concatenate([bipeds.HEADS, [(0.1, 0.1, 1.4), (-0.1, 0.1, 1.4)]])
    skeleton = Skeleton(heads, np.concatenate([bipeds.PARENTS, [chest, chest]]))
    flap = bipeds.CLOTHES["cape"]
    points, triangles, weights = bipeds.merged(list(bipeds.body().values()))
    weights = np.pad(weights, ((0, 0), (0, 2)))
    for bone, side in zip(bones, sides, strict=True):
        mine = np.zeros((len(flap.points), weights.shape[1]))
        mine[:, chest if bone is None else count + bone] = 1.0
        place = flap.points * (0.5 * side, 1.0, 0.6) + (0.3 * side, 0.0, 0.55)
        triangles = np.concatenate([triangles, flap.triangles + len(points)])
        points = np.concatenate([points, place + (0.0, 0.0, lift * (side == sides[-1]))])
        weights = np.concatenate([weights, mine])
    return len(clothes.found(points, triangles, weights, [slice(0, len(points))], skeleton))


def test_wings_stay_with_their_bones():
    assert flaps([0, 1]) == 0


def test_flaps_that_are_no_pair_of_wings_are_clothes():
    assert flaps([None, None]) == 2
    assert flaps([0, 0]) == 2
    assert flaps([0, None]) == 2
    assert flaps([0], sides=(1.0,)) == 1
    assert flaps([0, 1], lift=-0.1) == 2


def test_all_at_once_are_told_apart():
    worn = {name: bipeds.CLOTHES[name] for name in ("cape", "skirt", "hair card", "ear")}
    beside = {name: bipeds.OTHERS[name] for name in ("shirt", "sleeve", "flag in a hand")}
    assert set(found(bipeds.body() | worn | beside)) == set(worn)


def test_who_has_no_limbs_wears_nothing():
    fish = Skeleton(np.array([(0.0, y, 1.0) for y in (0.0, 0.5, 1.0)]), np.array([-1, 0, 1]))
    trunk, fin = bipeds.body()["trunk"], bipeds.CLOTHES["cape"]
    points = np.concatenate([trunk.points, fin.points])
    triangles = np.concatenate([trunk.triangles, fin.triangles + len(trunk.points)])
    weights = np.tile((1.0, 0.0, 0.0), (len(points), 1))
    meshes = [slice(0, len(trunk.points)), slice(len(trunk.points), len(points))]
    assert not clothes.found(points, triangles, weights, meshes, fish)


@pytest.mark.parametrize("name", ["cape", "skirt"])
def test_it_is_held_firmly_at_its_root_and_softly_at_its_hem(name):
    cloth = found(bipeds.body() | {name: bipeds.CLOTHES[name]})[name]
    height = bipeds.CLOTHES[name].points[:, 2]
    assert (cloth.hold[height > height.max() - 1e-6] == 1.0).all()
    soft = (clothes.SWINGS / clothes.HELD) ** 2
    assert np.allclose(cloth.hold[height < height.min() + 1e-6], soft)
    order = np.argsort(height)
    assert (np.diff(cloth.hold[order]) >= -1e-12).all()
