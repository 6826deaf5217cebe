"""The bone core from Python."""

import jounce
import numpy as np
import pytest


@pytest.fixture
def core(box):
    """Makes a core for the bar on two bones; changes are arguments of `SkeletonCore`."""
    heads = np.array([box[0].min(axis=0), box[0].mean(axis=0)])
    return lambda **changes: jounce.SkeletonCore(heads, [-1, 0], **changes)


def built(box, **settings):
    return jounce.Body(*box, resolution=12, modes=4, clusters=8, **settings)


def test_roles_are_found_and_given(box, core):
    assert built(box).roles == []
    assert built(box, core=core()).roles == ["flesh", "flesh"]
    # With anatomy, cells with skin of a rigid bone are pinned whole, a little beyond it.
    body = built(box, core=core(roles=["rigid", "free"], anatomy=False))
    assert body.roles == ["rigid", "free"]
    weights = body.rig.weights
    assert body.pinned[weights[:, 0] > 0.5].all()
    assert not body.pinned[weights[:, 1] > 0.5].any()
    moving = np.abs(body.modes.weights).max(axis=1) > 0.0
    assert not moving[body.pinned].any() and moving[~body.pinned].any()


def test_names_are_hints(box, core):
    assert built(box, core=core(names=["Arm", "Hand"])).roles[0] == "flesh"


def test_which_names_are_hard_is_told():
    names = {"rig:LeftHand_2": True, "Head": True, "Ear.L": False, "Spine": False}
    assert {name: jounce.SkeletonCore.is_hard_name(name) for name in names} == names


def test_what_is_still_swings_where_it_is_an_appendage(box, core):
    names = ["Body", "Tail"]
    assert built(box, core=core(names=names, still=[False, True])).roles == ["flesh", "flesh"]
    with pytest.raises(ValueError, match=r"still: expected shape \(2,\), got \(1,\)"):
        core(still=[True])
    points, triangles, weights = box
    thirds = np.stack([weights[:, 0], weights[:, 1] / 2, weights[:, 1] / 2], axis=1)
    heads = np.array([points.min(axis=0), points.mean(axis=0), points.max(axis=0)])
    for still, role in (([False, True, True], "free"), ([True, True, True], "flesh"), ([False] * 3, "flesh")):
        tail = jounce.SkeletonCore(heads, [-1, 0, 1], names=[*names, "Bone.012"], still=still)
        assert built((points, triangles, thirds), core=tail).roles == ["flesh", role, role]


def test_there_are_as_many_modes_as_the_flesh_allows(box, core):
    body = jounce.Body(*box, resolution=4, modes=60, clusters=8, core=core(amount=0.5))
    assert 0 < body.model.mode_count < 60


def test_hard_points_do_not_move(box, core):
    hard = box[0][:, 2] > box[0][:, 2].mean()
    body = built(box, core=core(rigid=hard))
    corners = body.mesh.tets[body.embedding.tets[hard]]
    assert body.pinned[corners].all()
    assert body.pinned.sum() > built(box, core=core()).pinned.sum()


def test_what_does_not_fit_is_named(box, core):
    with pytest.raises(ValueError, match='roles: expected one of automatic, flesh, rigid, free, got "bone"'):
        core(roles=["bone", "flesh"])
    with pytest.raises(ValueError, match=r"names: expected shape \(2,\), got \(1,\)"):
        core(names=["Arm"])
    with pytest.raises(ValueError, match="core parents: element 1 refers to index 7"):
        built(box, core=jounce.SkeletonCore(np.zeros((2, 3)), [-1, 7]))
    with pytest.raises(ValueError, match=r"core amount: expected a number in \[0, 1\], got 2"):
        built(box, core=core(amount=2.0))
    with pytest.raises(ValueError, match=r"core rigid: expected shape \(8,\), got \(3,\)"):
        built(box, core=core(rigid=[True, False, True]))
    with pytest.raises(ValueError, match="core bones: expected shape"):
        built(box, core=jounce.SkeletonCore(np.zeros((1, 3)), [-1]))
    with pytest.raises(ValueError, match="core amount: expected one that leaves flesh to move"):
        built(box, core=core(roles=["rigid", "rigid"]))


def test_hard_points_are_those_of_pieces_that_follow_their_bones(box):
    points, triangles, weights = box
    rod = points * [0.1, 0.1, 1.0] + [1.5 * np.ptp(points), 0.0, 0.0]
    both, faces = np.concatenate([points, rod]), np.concatenate([triangles, triangles + len(points)])
    held = np.concatenate([weights, np.tile([0.0, 1.0], (len(points), 1))])
    hard = jounce.SkeletonCore.hard_points(both, faces, held)
    assert hard.dtype == bool
    assert hard.tolist() == [False] * len(points) + [True] * len(points)
    alone = held[len(points) :]
    assert not jounce.SkeletonCore.hard_points(points, triangles, alone).any()
    assert jounce.SkeletonCore.hard_points(points, triangles, alone, joints=2).all()
    with pytest.raises(ValueError, match="weights of vertex 0 sum to 0.5"):
        jounce.SkeletonCore.hard_points(points, triangles, alone / 2)


def test_parts_come_with_anatomy_alone(box, core):
    plain, regional = built(box, core=core(anatomy=False)), built(box, core=core(anatomy=True))
    n = len(plain.mesh.vertices)
    assert plain.parts == [] and plain.part_weights.shape == (0, n) and plain.core_share.shape == (0,)
    # The bar has neither legs nor head: all of its flesh is the rest, on the plain core.
    assert regional.parts == ["rest"]
    assert (regional.part_weights == 1.0).all()
    assert (regional.core_share == plain.pinned).all() and (regional.pinned == plain.pinned).all()


def test_settings_of_a_part_change_stiffness_and_strength(box, core):
    parts = {"rest": (4.0, 2.0), "belly": (1.0, 1.0)}
    body = built(box, core=core(anatomy=True))
    soft = built(box, core=core(anatomy=True, parts=parts), like=body)
    assert np.allclose(soft.material.young, np.broadcast_to(body.material.young, len(body.mesh.tets)) / 4.0)
    loud = built(box, core=core(anatomy=True, parts={"rest": (1.0, 2.0)}), like=body)
    assert (loud.modes.weights == body.modes.weights).all()


def test_parts_out_of_range_are_named(box, core):
    with pytest.raises(ValueError, match='parts: expected one of belly, chest, .*, rest, got "nose"'):
        core(parts={"nose": (1.0, 1.0)})
    with pytest.raises(ValueError, match="core softness: expected a number > 0, got 0"):
        built(box, core=core(parts={"belly": (0.0, 1.0)}))
    with pytest.raises(ValueError, match=r"core part amount: expected a number in \[0, 3\], got 4"):
        built(box, core=core(parts={"belly": (1.0, 4.0)}))
