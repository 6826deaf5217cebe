"""The learnt basis as bytes: complete round trips, and refusal of everything incomplete or invalid."""

import json
from dataclasses import replace

import jounce
import numpy as np
import pytest
from jounce_core.shot import learnt as kept
from jounce_core.shot.learning import Bounds, Shot, joined, learned, left_out, length, own_states, thinned
from jounce_core.shot.learnt import Clip, Facts, cage_of, of_model, unlike, unpack

FRAMES = 12
POSES = np.tile(np.eye(3, 4), (FRAMES, 1, 1, 1))
POSES[:, 0, 2, 3] = 0.3 * np.sin(np.arange(FRAMES))
FACTS = Facts((Clip("Shake", FRAMES),), "corotated", 0.0, 1.0, 2.0, "origin", False)


# Limits reached in this shot.
BOUNDS = Bounds(0.02, 0.02)


@pytest.fixture(scope="module")
def shot(body):
    """A shaken box in the full space."""
    simulation = jounce.Simulation(body.full_space(), dt=1 / 24, stiffness=0.01)
    displacements = []
    for pose in POSES:
        simulation.step(pose)
        displacements.append(np.array(simulation.coefficients))
    return Shot(POSES, np.array(displacements))


@pytest.fixture(scope="module")
def learnt(body, shot):
    """The learnt basis of the shot."""
    task = learned(body, shot, 4, body.material, 2.0, BOUNDS)
    while True:
        try:
            next(task)
        except StopIteration as stop:
            return of_model(body, stop.value, shot, FACTS)


def test_the_same_comes_back(learnt):
    again = unpack(learnt.pack())
    assert again.facts == learnt.facts and again.digest == learnt.digest
    for name in kept.ARRAYS:
        for of in (learnt, learnt.cage):
            if hasattr(of, name):
                back = getattr(again if of is learnt else again.cage, name)
                assert np.array_equal(back, getattr(of, name)), name
    assert replace(learnt, facts=replace(FACTS, held_out=0.5)).digest != learnt.digest


def test_limits_of_another_body_are_refused(body, learnt):
    assert learnt.difference(body) == ""
    for name, count in (("limit_tets", len(body.mesh.tets)), ("limit_vertices", len(body.mesh.vertices))):
        beyond = np.full_like(getattr(learnt, name), count)
        assert replace(learnt, **{name: beyond}).difference(body) == "mesh"


def test_what_the_displacements_leave_out_is_told(body, learnt, shot):
    mass = body.mesh.vertex_volumes
    apart = length(mass, shot.displacements - learnt.snapshots())
    assert learnt.facts.left_out == pytest.approx(apart / length(mass, shot.displacements))
    assert 0.0 < learnt.facts.left_out < 0.02


def test_what_fewer_displacements_leave_out_is_what_they_do(body, learnt, shot):
    whole = length(body.mesh.vertex_volumes, shot.displacements)
    for count in (1, 2, 4, len(learnt.shapes)):
        coefficients, shapes = (array.astype(float) for array in (learnt.coefficients, learnt.shapes))
        held = np.tensordot(coefficients[:, :count], shapes[:count], axes=1)
        left = length(body.mesh.vertex_volumes, shot.displacements - held) / whole
        assert learnt.left_out_by(count) == pytest.approx(left, abs=1e-4), count
    # A hundred-thousandth of the energy of the shot and the body's own displacements is left to noise.
    assert learnt.left_out_by(1) > 5.0 * 1e-5**0.5 > learnt.left_out_by(len(learnt.shapes)) > 0.0


def test_a_body_keeps_displacements_of_its_own(body, learnt, shot):
    own = own_states(body, shot)
    assert len(own) == 12 * min(3, body.modes.weights.shape[1])
    sizes = [length(body.mesh.vertex_volumes, each) for each in own.displacements[:, np.newaxis]]
    mean = length(body.mesh.vertex_volumes, shot.displacements) / np.sqrt(len(shot))
    assert np.allclose(sizes, 0.15 * mean)
    # A wave outside of the shot.
    wave = own.displacements[-1:]
    coefficients = kept.prepared(body, "own", learnt, kept.Flesh(kept.Law.COROTATED, 0.0)).model.nearest(wave)
    held = np.tensordot(coefficients[0], learnt.shapes.astype(float), axes=1)
    assert np.linalg.norm(held - wave[0]) < 0.5 * np.linalg.norm(wave)


def test_shots_come_back_as_far_as_they_were_kept(learnt, shot):
    ((name, again),) = learnt.shots()
    assert name == "Shake" and len(again) == FRAMES
    assert np.abs(again.displacements - shot.displacements).max() < 0.02 * np.abs(shot.displacements).max()
    assert np.abs(again.poses - shot.poses).max() < 1e-6


def test_whatever_is_cut_off_or_flipped_is_noticed(learnt):
    data = learnt.pack()
    assert all(unpack(data[:end]) is None for end in range(0, len(data), 97))
    for place in range(0, len(data), 31):
        broken = bytearray(data)
        broken[place] ^= 0x10
        assert unpack(bytes(broken)) is None, place


def changed(learnt, change):
    """The bytes of a learnt basis with another header and a matching hash."""
    data = learnt.pack()
    line, _, body = data[len(kept.FORMAT) + kept.DIGEST_BYTES :].partition(b"\n")
    header = json.loads(line)
    change(header)
    contents = json.dumps(header).encode() + b"\n" + body
    return kept.FORMAT + kept.hashed(contents) + contents


HOSTILE = {
    "no sizes": lambda header: header.pop("sizes"),
    "a negative size": lambda header: header["sizes"].update(n=-1),
    "a huge size": lambda header: header["sizes"].update(n=2**62),
    "a size that is a text": lambda header: header["sizes"].update(r="4"),
    "another size": lambda header: header["sizes"].update(c=1),
    "no facts": lambda header: header.update(facts=None),
    "an unknown law": lambda header: header["facts"].update(law="jelly"),
    "no stiffness": lambda header: header["facts"].update(stiffness=0.0),
    "an endless frequency": lambda header: header["facts"].update(frequency=float("inf")),
    "nothing left out": lambda header: header["facts"].update(left_out=-0.1),
    "an error that is no number": lambda header: header["facts"].update(error=float("nan")),
    "no clips": lambda header: header["facts"].update(clips=[]),
    "other frames": lambda header: header["facts"]["clips"][0].update(frames=3),
    "tets of limits that are not there": lambda header: header["sizes"].update(l=1000),
    "fewer than no vertices": lambda header: header["sizes"].update(v=-1),
    "a list": lambda header: header["facts"].update(clips=[[1, 2]]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_was_made_to_harm_is_refused(learnt, kind):
    assert unpack(changed(learnt, lambda header: None)) is not None
    assert unpack(changed(learnt, HOSTILE[kind])) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shapes", np.nan),
        ("weights", 0.0),
        ("tets", -1),
        ("poses", np.inf),
        ("limit_tets", -1),
        ("limit_tet_weights", 0.0),
        ("limit_vertex_weights", np.nan),
    ],
)
def test_numbers_that_cannot_be_are_refused(learnt, name, value):
    array = getattr(learnt, name).copy()
    array.reshape(-1)[-1] = value
    assert unpack(replace(learnt, **{name: array}).pack()) is None


def test_a_body_moves_in_what_comes_back(body, learnt, shot):
    fine = kept.prepared(body, "box", unpack(learnt.pack()), kept.Flesh(kept.Law.COROTATED, 0.0))
    assert fine.model.coefficient_shape == (len(learnt.shapes),)
    assert kept.prepared(body, "box", learnt, kept.Flesh(kept.Law.COROTATED, 0.0)) is fine
    other = kept.prepared(body, "box", learnt, kept.Flesh(kept.Law.NEO_HOOKEAN, 0.3))
    simulations = [jounce.Simulation(each.model, dt=1 / 24, stiffness=0.01) for each in (fine, other)]
    for pose in POSES:
        moved = [simulation.step(pose) and simulation.displacement() for simulation in simulations]
    assert np.abs(moved[0] - moved[1]).max() > 1e-6
    assert np.linalg.norm(moved[0] - shot.displacements[-1]) < 0.1 * np.linalg.norm(shot.displacements[-1])


def test_another_body_is_told(body, learnt):
    assert learnt.difference(body) == ""
    cage = cage_of(body)
    others = {
        "mesh or resolution": replace(cage, rest=cage.rest[:-1]),
        "mesh or place at rest": replace(cage, rest=cage.rest + np.float32(0.1)),
        "bones": replace(cage, moments=np.ones((2, 4))),
        "bone weights": replace(cage, moments=cage.moments + 1e-3),
        "bone core or pins": replace(cage, pinned=~cage.pinned),
    }
    for what, other in others.items():
        assert cage.difference(other) == what
    assert replace(learnt, tets=learnt.tets + 10_000).difference(body) == "mesh"


def test_poses_that_were_not_seen_are_told(body, learnt):
    turned = POSES[:2].copy()
    turned[1, 0, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    turned[0, 0, 0, 3] = 50.0
    assert unlike(body, learnt, turned).tolist() == [False, True]


def test_frames_are_left_out_and_thinned(shot):
    assert left_out(10) == range(4, 6)[:0] and left_out(20) == range(8, 12)
    long = Shot(np.zeros((1000, 1, 3, 4)), np.zeros((1000, 2, 3)))
    assert [len(each) for _, each in thinned([("a", long), ("b", shot)])] == [240, FRAMES]
    assert [len(each) for _, each in thinned([(str(n), long) for n in range(4)])] == [120] * 4
    assert len(joined([shot, shot])) == 2 * FRAMES
