"""Copies and pickles of models, bodies and simulations: equal settings and state, the same bits after."""

import copy
import multiprocessing
import pickle

import jounce
import numpy as np
import pytest

FRAMES = 20


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def poses(bones, frames=2 * FRAMES):
    """A motion of each bone."""
    made = np.tile(np.eye(3, 4), (frames, bones, 1, 1))
    time = np.arange(frames)[:, None]
    made[:, :, 2, 3] = 0.15 * np.sin(0.7 * time + np.arange(bones))
    made[:, :, 0, 1] = 0.2 * np.sin(0.4 * time)
    return made


def coefficients(simulation, frames):
    """All coefficients while a simulation follows poses."""
    found = []
    for pose in frames:
        simulation.step(pose)
        found.append(simulation.coefficients.copy())
    return np.array(found)


@pytest.fixture(scope="module")
def body(box):
    young = np.linspace(1e4, 3e4, 8)
    return jounce.Body(
        *box,
        resolution=10,
        modes=5,
        clusters=12,
        young=young,
        poisson=0.3,
        law="corotated",
        bone_parents=[-1, 0],
    )


@pytest.fixture(scope="module")
def learnt(body):
    full = jounce.Simulation(body.full_space(), damping=0.1)
    shot = poses(2, 12)
    full.reset(shot[0])
    return body.learn(coefficients(full, shot), shot, count=5, limit=0.3)


def models(body, learnt):
    """A model of each kind, and the bones of its poses."""
    mesh, material = body.mesh, jounce.Material(2e4)
    held = mesh.vertices[:, 0] < 1.0
    modes = jounce.linear_modes(mesh, material, 6, pinned=held)
    rig = jounce.Rig(mesh, body.rig.weights)
    stitches = jounce.Stitches(mesh, [(0, len(mesh.vertices) - 1)], stiffness=50.0)
    muscle = jounce.Fibres(1e4, np.tile([1.0, 0.0, 0.0], (len(mesh.tets), 1)))
    cape = jounce.SurfaceMesh(*jounce.shapes.box((2.0, 1.0, 0.01)))
    neo_hookean = jounce.Material(2e4, 0.4, law="neo_hookean")
    reduced = jounce.Model.reduced(
        mesh, neo_hookean, modes.bent_basis(4), rig, strength=np.full(len(held), 0.5)
    )
    sampled = reduced.sampled(
        jounce.Cubature(np.arange(0, len(mesh.tets), 3), np.ones(-(-len(mesh.tets) // 3)))
    )
    return {
        "skinning": (body.model, 2),
        "full": (
            jounce.Model.full_space(mesh, material, rig, pinned=held, stitches=stitches, fibres=muscle),
            2,
        ),
        "of a body": (body.full_space(), 2),
        "reduced": (reduced, 2),
        "sampled": (sampled, 2),
        "learnt": (learnt, 2),
        "jelly": (jounce.Model.projective(mesh, material, handles=6, clusters=10), 0),
        "attached": (jounce.Model.projective(mesh, material, 6, 10, rig=rig, attached=held), 2),
        "covered": (
            jounce.Model.projective(
                mesh,
                material,
                6,
                10,
                thickness=0.01,
                skin=jounce.SurfaceMesh(mesh.vertices, mesh.boundary),
                springs=[[0, len(mesh.vertices) - 1]],
                spring_stiffness=20.0,
                spring_length=[0.5],
                strain_limit=(0.9, 1.1),
            ),
            0,
        ),
        "cape": (jounce.Model.projective(cape, material, handles=3, thickness=0.01), 0),
    }


KINDS = [
    "skinning",
    "full",
    "of a body",
    "reduced",
    "sampled",
    "learnt",
    "jelly",
    "attached",
    "covered",
    "cape",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", [again, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_a_simulation_goes_on_with_the_same_bits(body, learnt, kind, made):
    model, bones = models(body, learnt)[kind]
    settings = {"dt": 1 / 30, "substeps": 2, "damping": 0.07, "stiffness": 1.5, "gravity": (0.0, 0.0, -2.0)}
    settings |= {"limit": 0.2} if kind in ("skinning", "learnt") else {}
    settings |= {"contraction": 0.1, "stitching": 0.5} if kind == "full" else {}
    settings |= {"inflation": 0.9} if kind == "jelly" else {}
    simulation = jounce.Simulation(model, **settings)
    if bones or kind != "jelly":
        simulation.reset(poses(bones)[0] if bones else None)
    else:
        simulation.place(velocity=(0.3, 0.0, 1.0), spin=(0.0, 1.0, 0.0))
    motion = poses(bones) if bones else [None] * (2 * FRAMES)
    coefficients(simulation, motion[:FRAMES])
    other = made(simulation)
    assert other is not simulation
    assert other.settings == simulation.settings
    assert other.time == simulation.time == pytest.approx(FRAMES / 30)
    assert np.array_equal(other.coefficients, simulation.coefficients)
    assert np.array_equal(other.velocity(), simulation.velocity())
    expected = coefficients(simulation, motion[FRAMES:])
    assert np.ptp(expected, axis=0).max() > 0.0
    assert np.array_equal(coefficients(other, motion[FRAMES:]), expected)


def test_contact_goes_along(body):
    """Colliders of every kind, contact points, weights and triangles; the block lies where it lay."""
    points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
    colliders = [
        jounce.Collider.plane((0.0, 0.0, -0.4), friction=0.7),
        jounce.Collider.sphere(0.3, (2.0, 0.5, -0.5)).sparing([1, 2]),
        jounce.Collider.capsule((0.0, 3.0, 0.0), (4.0, 3.0, 0.0), 0.2),
        jounce.Collider.box((1.0, 1.0, 0.2), (1.0, 0.5, -0.3)),
        jounce.Collider.mesh(points - [0.0, 0.0, 1.3], triangles, resolution=12),
        *jounce.Collider.patches(points - [0.0, 0.0, 1.6], triangles, [range(6), range(6, 12)], 12),
    ]
    simulation = jounce.Simulation(
        body.full_space(),
        gravity=(0.0, 0.0, -5.0),
        colliders=colliders,
        contact_points=body.embedding,
        contact_weights=body.weights,
        contact_triangles=body.triangles,
    )
    motion = poses(2, 10)
    motion[:, :, 2, 3] -= 0.3
    simulation.reset(motion[0])
    coefficients(simulation, motion[:5])
    for other in (again(simulation), copy.deepcopy(simulation)):
        assert [repr(it) for it in other.surroundings["colliders"]] == [repr(it) for it in colliders]
        assert np.array_equal(other.surroundings["contact_triangles"], body.triangles)
        fresh = copy.copy(simulation)
        assert np.array_equal(coefficients(other, motion[5:]), coefficients(fresh, motion[5:]))


def test_a_body_comes_back_to_the_bit(box, body):
    other = again(body)
    assert other.settings.keys() == body.settings.keys()
    for name in ("points", "triangles", "weights", "leak", "labels", "pinned", "merged"):
        assert np.array_equal(getattr(other, name), getattr(body, name)), name
    assert np.array_equal(other.modes.weights, body.modes.weights)
    assert np.array_equal(other.material.young, body.material.young)
    assert np.ptp(body.material.young) > 0.0, "the stiffness is painted"
    mine, its = (jounce.Simulation(it.model, damping=0.05) for it in (body, other))
    assert np.array_equal(coefficients(mine, poses(2, FRAMES)), coefficients(its, poses(2, FRAMES)))
    assert copy.copy(body) is body and copy.deepcopy([body])[0] is body
    assert copy.deepcopy(body.model) is body.model


def test_settings_of_a_body_make_it_anew(box):
    """Each setting is readable, and all of them together are the body."""
    core = jounce.SkeletonCore(
        [[0, 0.5, 0.5], [2, 0.5, 0.5]], [-1, 0], names=["hips", "spine"], roles=["flesh", "free"], amount=0.3
    )
    given = {
        "resolution": 9,
        "solid": False,
        "modes": 4,
        "clusters": 9,
        "cubature": 11,
        "young": np.full(8, 2e4),
        "poisson": 0.2,
        "density": 900.0,
        "driven": True,
        "law": "corotated",
        "leak": np.full(8, 0.5),
        "strength": np.full(8, 0.7),
        "pinned": np.arange(8) == 1,
        "core": core,
        "merge_into": [0, 1],
        "shapes": np.full((1, 8, 3), 0.1) * np.arange(8)[:, None],
        "seed": 5,
        "stitches": [(0, 7)],
        "stitch_stiffness": 30.0,
        "stitch_gap": 0.5,
        "stitch_group": [0],
        "stitch_radius": 0.1,
        "stitch_known": 0.5,
        "editable": True,
    }
    body = jounce.Body(*box, **given)
    read = body.settings
    assert read.keys() >= given.keys()
    for name, value in given.items():
        if name != "core":
            assert np.all(np.asarray(read[name]) == np.asarray(value)), name
    for other in (jounce.Body(body.points, body.triangles, body.weights, **read), again(body)):
        assert np.array_equal(other.modes.weights, body.modes.weights)
        assert other.roles == body.roles
        mine, its = (jounce.Simulation(it.model, stitching=0.5) for it in (body, other))
        assert np.array_equal(coefficients(mine, poses(2, 5)), coefficients(its, poses(2, 5)))


def test_an_updated_body_says_that_it_cannot(box):
    base = jounce.Body(*box, resolution=10, modes=4, clusters=9, editable=True)
    firmer = np.linspace(1e4, 2e4, 8)
    updated = jounce.Body(*box, resolution=10, modes=4, clusters=9, editable=True, young=firmer, like=base)
    assert updated.residual > 0.0
    with pytest.raises(ValueError, match="build it without `like`"):
        pickle.dumps(updated)


@pytest.mark.parametrize("law", ["arap", "spline"])
def test_parts_come_back(mesh, rig, law):
    curves = [[(0.5, -0.5), (1.0, 0.0), (1.5, 0.5)], None, None] if law == "spline" else None
    material = again(
        jounce.Material(np.linspace(1e4, 2e4, len(mesh.tets)), density=900.0, law=law, curves=curves)
    )
    assert (material.law, material.density, material.poisson) == (law, 900.0, 0.0)
    assert material.young[-1] == 2e4
    assert (material.curves is None) == (law == "arap")
    shaped = again(rig.with_shapes(np.ones((1, len(mesh.vertices), 3))))
    assert np.array_equal(shaped.weights, rig.weights)
    solid = jounce.TetMesh.lattice(*jounce.shapes.box((1.0, 0.9, 0.8)), resolution=5, solid=True)
    for name in ("vertices", "tets", "solid", "cells", "flesh", "volumes"):
        assert np.array_equal(getattr(again(solid), name), getattr(solid, name)), name
    embedding = jounce.Embedding(mesh, mesh.vertices[:7].copy())
    assert np.array_equal(again(embedding).barycentric, embedding.barycentric)
    stitches = jounce.Stitches(mesh, [(0, 3), (2, 9)], group=[0, 1])
    assert len(again(stitches)) == 2
    assert repr(again(jounce.Fibres(1.0, np.ones((4, 3))))) == "Fibres(1 muscle)"
    basis = jounce.mass_pca(
        mesh, jounce.Material(), np.random.default_rng(0).standard_normal((4, len(mesh.vertices), 3))
    )
    assert np.array_equal(again(basis).shapes, basis.shapes)
    assert np.array_equal(again(basis).singular_values, basis.singular_values)


def test_damaged_pickles_are_refused(body):
    data = bytearray(pickle.dumps(body.model))
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        pickle.loads(bytes(data))


def step_there(simulation):
    simulation.step(poses(2)[FRAMES])
    return simulation.coefficients.copy()


def test_a_simulation_travels_to_another_process(body):
    simulation = jounce.Simulation(body.model, damping=0.05)
    coefficients(simulation, poses(2)[:FRAMES])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(step_there, (simulation,))
    simulation.step(poses(2)[FRAMES])
    assert np.array_equal(there, simulation.coefficients)
