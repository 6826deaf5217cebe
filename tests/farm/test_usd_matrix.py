"""Flesh comes to rest in the shapes that UsdSkel gives the meshes of a file, for all features of UsdSkel."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import usd_heroes as heroes
from jounce.usd import Bound, Settings, add_flesh
from jounce.usd_character import characters
from pxr import Sdf, Usd, UsdGeom, UsdSkel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pieces

SETTINGS = Settings(resolution=10, modes=8, frequency=10.0, damping=0.3)
# Share of the size.
SETTLED, MOVES = 1e-3, 1e-2
CASES = {
    "plain": None,
    "own joints": heroes.own_joints,
    "blend shapes": heroes.blend_shapes,
    "inbetweens": partial(heroes.blend_shapes, between=True),
    "sparse blend shapes": partial(heroes.blend_shapes, sparse=True),
    "dual quaternions": heroes.dual_quaternions,
    "weights below 1": heroes.half_weights,
    "points as samples": heroes.sampled_points,
    "points that move": heroes.moving_points,
    "bind transform": heroes.bound_elsewhere,
    "moving root": heroes.moving_root,
    "inherited binding": heroes.inherited,
    "animation of the skeleton": heroes.from_skeleton,
    "two skeletons": heroes.two_skeletons,
    "rod": heroes.rod_beside,
    "purposes": heroes.purposes,
    "hidden": heroes.hidden,
    "seen late": heroes.seen_late,
    "left handed": heroes.left_handed,
    "instances": heroes.instanced,
    "fractions": heroes.fractions,
    "normals": heroes.normals,
}


def skinned(path):
    """A stage over a file with all meshes deformed by UsdSkel itself."""
    layer = Sdf.Layer.CreateAnonymous()
    layer.subLayerPaths = [str(path)]
    stage = Usd.Stage.Open(layer)
    for name in ("timeCodesPerSecond", "framesPerSecond"):
        stage.SetMetadata(name, Usd.Stage.Open(str(path)).GetMetadata(name))
    while instances := [prim for prim in stage.Traverse() if prim.IsInstance()]:
        for prim in instances:
            prim.SetInstanceable(False)
    UsdSkel.BakeSkinning(stage.Traverse())
    return stage


def world(stage, path, time):
    """Points of a mesh in the world (p, 3)."""
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
    matrix = np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(mesh.GetPrim()))
    return np.array(mesh.GetPointsAttr().Get(time)) @ matrix[:3, :3] + matrix[3, :3]


class Fleshed:
    """A character beside itself with flesh."""

    def __init__(self, folder, edit=None, codes=24.0, settings=SETTINGS):
        self.source = heroes.hero(folder / "hero.usda", edit or (lambda _stage: None), codes)
        self.out = folder / "flesh.usdc"
        self.names = add_flesh(self.source, self.out, settings)
        self.stage = Usd.Stage.Open(str(self.out))
        self.times = UsdGeom.Mesh(self.stage.GetPrimAtPath(self.names[0])).GetPointsAttr().GetTimeSamples()
        self.bare = skinned(self.source)

    def moved(self, path, time):
        """Motion of the flesh beyond the skeleton, relative to the mesh's size."""
        bare = world(self.bare, path, time)
        size = np.linalg.norm(np.ptp(bare, axis=0))
        return np.linalg.norm(world(self.stage, path, time) - bare, axis=1).max() / size

    def most(self, path):
        return max(self.moved(path, time) for time in self.times)


@pytest.mark.parametrize("case", CASES)
def test_flesh_moves_and_settles_on_the_shape_of_usd(case, tmp_path):
    made = Fleshed(tmp_path, CASES[case])
    for name in made.names:
        is_hard = Path(name).name == "Rod"
        assert made.most(name) < 1e-6 if is_hard else made.most(name) > MOVES, name
        assert made.moved(name, made.times[-1]) < SETTLED, name
    shapes = {name: world(made.stage, name, 4) for name in made.names}
    UsdSkel.BakeSkinning(made.stage.Traverse())
    for name, shape in shapes.items():
        assert np.array_equal(world(made.stage, name, 4), shape), f"something still deforms {name}"


@pytest.mark.parametrize("edit", [heroes.constant, heroes.equal])
@pytest.mark.parametrize("core", [0.0, 0.5])
def test_what_its_joints_hold_as_a_whole_is_hard(edit, core, tmp_path):
    made = Fleshed(tmp_path, edit, settings=Settings(resolution=10, core=core))
    assert made.most(heroes.BODY) < 1e-6


@pytest.mark.parametrize("case", pieces.CASES)
def test_the_pieces_that_are_hard_in_blender_are_hard_in_usd(case, tmp_path):
    file = heroes.hero(tmp_path / "hero.usda", heroes.in_pieces(pieces.CASES[case]))
    (character,) = characters(Usd.Stage.Open(str(file)))
    hard = Bound(character, 1.0).hard
    found = {part.prim.GetName(): set(hard[part.rows].tolist()) for part in character.parts}
    assert found == {piece.name: {piece.is_hard} for piece in pieces.CASES[case]}


def test_a_hard_mesh_beside_flesh_needs_no_core(tmp_path):
    made = Fleshed(tmp_path, heroes.rod_beside, settings=Settings(resolution=10, core=0.0))
    assert made.most("/Hero/Rod") < 1e-6
    assert made.most(heroes.BODY) > MOVES


def test_the_final_motion_knows_what_a_rig_adds(tmp_path):
    made = Fleshed(tmp_path, heroes.blend_shapes, settings=replace(SETTINGS, final=True))
    assert made.most(heroes.BODY) > MOVES
    assert made.moved(heroes.BODY, made.times[-1]) < SETTLED


@pytest.mark.parametrize("codes", [1.0, 1000.0, 6000.0])
def test_time_codes_of_any_length_give_the_same_motion(codes, tmp_path):
    frames = Fleshed(tmp_path, settings=Settings(resolution=8))
    (tmp_path / "other").mkdir()
    other = Fleshed(tmp_path / "other", codes=codes, settings=Settings(resolution=8))
    assert np.allclose(other.times, np.array(frames.times) * codes / 24.0)
    for here, there in zip(frames.times, other.times, strict=True):
        shapes = world(frames.stage, heroes.BODY, here), world(other.stage, heroes.BODY, there)
        assert np.allclose(*shapes, atol=1e-4)


def test_the_range_is_the_files_own(tmp_path):
    made = Fleshed(tmp_path, heroes.fractions)
    assert (made.stage.GetStartTimeCode(), made.stage.GetEndTimeCode()) == (0.6, 23.4)
    assert (made.times[0], made.times[-1]) == (0.0, 24.0)


def test_a_file_without_range_has_that_of_its_samples(tmp_path):
    made = Fleshed(tmp_path, heroes.no_range)
    keys = [frame for frame, _ in heroes.KEYS]
    assert (made.stage.GetStartTimeCode(), made.stage.GetEndTimeCode()) == (keys[0], keys[-1])
    assert made.times == list(range(keys[0], keys[-1] + 1))


def test_the_layer_keeps_what_the_file_says_of_its_stage(tmp_path):
    def edit(stage):
        stage.SetMetadata("customLayerData", {"studio": "here"})
        stage.SetFramesPerSecond(30)

    made = Fleshed(tmp_path, edit)
    assert made.stage.GetDefaultPrim().GetPath() == heroes.RIG
    assert made.stage.GetMetadata("customLayerData") == {"studio": "here"}
    assert (made.stage.GetFramesPerSecond(), made.stage.GetTimeCodesPerSecond()) == (30, 24)


def test_what_is_not_shown_is_no_flesh_and_stays_as_it_is(tmp_path):
    made = Fleshed(tmp_path, heroes.purposes)
    assert made.names == [heroes.BODY, "/Hero/Proxy"]
    cage = made.stage.GetPrimAtPath("/Hero/Cage")
    assert cage.HasAPI(UsdSkel.BindingAPI) and not UsdGeom.Mesh(cage).GetPointsAttr().GetTimeSamples()
    (tmp_path / "plain").mkdir()
    plain = Fleshed(tmp_path / "plain")
    for time in made.times:
        assert np.allclose(world(made.stage, heroes.BODY, time), world(plain.stage, heroes.BODY, time))


def test_the_extent_of_the_root_holds_the_flesh(tmp_path):
    def edit(stage):
        UsdGeom.Boundable(stage.GetPrimAtPath(heroes.RIG)).CreateExtentAttr([(-0.3, 0, -0.3), (0.3, 2, 0.3)])

    made = Fleshed(tmp_path, edit)
    extent = UsdGeom.Boundable(made.stage.GetPrimAtPath(heroes.RIG)).GetExtentAttr()
    for time in made.times:
        low, high = np.array(extent.Get(time))
        points = world(made.stage, heroes.BODY, time)
        assert (points >= low - 1e-5).all() and (points <= high + 1e-5).all()
        assert np.allclose(
            [low, high],
            [np.minimum(points.min(axis=0), (-0.3, 0, -0.3)), np.maximum(points.max(axis=0), (0.3, 2, 0.3))],
            atol=1e-5,
        )


@pytest.mark.parametrize(
    "edit",
    [
        heroes.normals,
        partial(heroes.normals, kind="faceVarying"),
        partial(heroes.normals, kind="faceVarying", primvar=True),
    ],
)
def test_normals_turn_with_the_flesh(edit, tmp_path):
    made = Fleshed(tmp_path, edit)
    mesh = UsdGeom.Mesh(made.stage.GetPrimAtPath(heroes.BODY))
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    for time in made.times[::4]:
        points = np.array(mesh.GetPointsAttr().Get(time))
        found = np.array(
            primvar.ComputeFlattened(time) if primvar.HasAuthoredValue() else mesh.GetNormalsAttr().Get(time)
        )
        # Across the column at half its height, in the part with circular rings.
        where = corners if len(found) == len(corners) else np.arange(len(points))
        ring = (where >= 6 * 12) & (where < 7 * 12)
        middle = points[6 * 12 : 7 * 12].mean(axis=0)
        out = points[where[ring]] - middle
        along = (found[ring] * out).sum(axis=1) / np.linalg.norm(out, axis=1)
        assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
        assert (along > 0.9).all(), (time, along.min())


def normals_of(stage, time):
    """Normals of the mesh (k, 3), of length 1."""
    found = np.array(UsdGeom.Mesh(stage.GetPrimAtPath(heroes.BODY)).GetNormalsAttr().Get(time))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def shaped_normals(stage):
    """Normals rotated by a blend shape."""
    heroes.normals(stage)
    heroes.blend_shapes(stage, between=True, sparse=True)
    shape = UsdSkel.BlendShape(stage.GetPrimAtPath(heroes.BODY + "/Lean"))
    offsets = [(0.0, 0.5, 0.0)] * len(shape.GetOffsetsAttr().Get())
    shape.CreateNormalOffsetsAttr(offsets)
    shape.GetInbetween("half").CreateNormalOffsetsAttr(offsets)


@pytest.mark.parametrize(
    "edit",
    [
        heroes.normals,
        partial(heroes.normals, kind="faceVarying"),
        shaped_normals,
        lambda stage: (heroes.normals(stage), heroes.dual_quaternions(stage)),
        lambda stage: (heroes.bound_elsewhere(stage), heroes.normals(stage)),
        lambda stage: (heroes.own_joints(stage), heroes.normals(stage)),
    ],
)
def test_normals_settle_on_those_of_usd(edit, tmp_path):
    made = Fleshed(tmp_path, edit)
    apart = [
        np.linalg.norm(normals_of(made.stage, time) - normals_of(made.bare, time), axis=1).max()
        for time in made.times
    ]
    assert max(apart) > 0.05 and apart[-1] < 1e-2


def test_a_mesh_that_is_scaled_to_nothing_has_finite_points(tmp_path):
    made = Fleshed(tmp_path, heroes.vanishing)
    mesh = UsdGeom.Mesh(made.stage.GetPrimAtPath(heroes.BODY))
    assert all(np.isfinite(np.array(mesh.GetPointsAttr().Get(time))).all() for time in made.times)


def broken(name, value):
    """An edit with an invalid value for an attribute of the mesh."""

    def edit(stage):
        stage.GetPrimAtPath(heroes.BODY).GetAttribute(name).Set(value)

    return edit


def without(path, *names):
    """An edit that removes attributes from a prim."""

    def edit(stage):
        for name in names:
            stage.GetPrimAtPath(path).RemoveProperty(name)

    return edit


def other_number_of_points(stage):
    heroes.sampled_points(stage)
    points = heroes.body(stage).GetPointsAttr()
    points.Set(list(points.Get(1))[:-1], 9)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (broken("primvars:skel:jointIndices", [0, 9] * 156), "beyond its 2 joints"),
        (broken("primvars:skel:jointIndices", [0, 1] * 20), "do not fit its 156 points"),
        (broken("primvars:skel:jointWeights", [0.0, 0.0] * 156), "point 0 has no joint"),
        (broken("primvars:skel:jointWeights", [float("nan"), 1.0] * 156), "point 0 has no joint"),
        (broken("faceVertexIndices", [0, 1, 999]), "faces do not fit"),
        (broken("points", [(float("nan"), 0.0, 0.0)] * 156), "no finite place"),
        (
            lambda stage: heroes.binding(stage).CreateJointsAttr(["Lower", "Tail"]),
            "Tail is none of its skeleton",
        ),
        (without(heroes.SKELETON, "bindTransforms"), "no bind transform"),
        (heroes.unposed, "its 2 joints"),
        (other_number_of_points, "155 points"),
        (lambda stage: stage.SetEndTimeCode(0.5), "before it"),
        (
            lambda stage: heroes.body(stage).CreateVisibilityAttr("invisible"),
            "no mesh that a skeleton deforms",
        ),
    ],
)
def test_what_is_not_carried_is_refused_in_a_sentence(edit, words, tmp_path):
    source = heroes.hero(tmp_path / "hero.usda", edit)
    with pytest.raises(ValueError, match=words) as refusal:
        add_flesh(source, tmp_path / "flesh.usda", Settings(resolution=8))
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "flesh.usda").exists()
