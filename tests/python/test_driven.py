"""Driven modes: small soft parts move in a draft as in the full space, and what modes are stays true."""

import os
import subprocess
import sys

import jounce
import motions
import numpy as np
import pytest

# Metres: a soft bar with a firmer, short end behind a wall of bone.
WALL, END = 2.8, 4.0
MODES = 9


class Limb:
    """A bar on bone: soft up to the wall, eight times as firm behind it, with a bone for each side."""

    def __init__(self):
        points, triangles = motions.box(END, 0.5, 0.5)
        self.mesh = jounce.TetMesh.lattice(points, triangles, 32, solid=True)
        x, _, z = self.mesh.vertices.T
        cell = END / 32
        self.pinned = (z < cell / 2) | (np.abs(x - WALL) < 0.7 * cell)
        behind = (x > WALL).astype(float)
        self.behind = (x > WALL) & ~self.pinned
        self.bones = jounce.Rig(self.mesh, np.stack([1 - behind, behind], 1))
        middles = x[self.mesh.tets].mean(axis=1)
        self.material = jounce.Material(np.where(middles > WALL, 8e4, 1e4))
        self.mass = 1000.0 * self.mesh.vertex_volumes

    def lowest(self, count=MODES):
        return jounce.skinning_modes(self.mesh, self.material, count, pinned=self.pinned)

    def driven(self, count=MODES, **more):
        return jounce.driven_modes(self.mesh, self.material, self.bones, count, pinned=self.pinned, **more)

    def draft(self, modes):
        labels = jounce.cluster_tets(self.mesh, modes, 40)
        cubature = jounce.Cubature.train(self.mesh, self.material, modes, 120, self.bones)
        return jounce.Model.skinning(self.mesh, self.material, modes, labels, self.bones, cubature=cubature)

    def full(self):
        return jounce.Model.full_space(
            self.mesh, self.material, self.bones, pinned=self.pinned, complementary=False
        )

    def size(self, model):
        """Root mean square motion behind the wall while all bones shake."""
        simulation = jounce.Simulation(model, dt=1 / 24, substeps=4, damping=0.1)
        poses = np.tile(np.eye(3, 4), (40, 2, 1, 1))
        poses[:, :, 1, 3] = 0.1 * np.sin(0.9 * np.arange(40))[:, None]
        simulation.reset(poses[0])
        squares = 0.0
        for pose in poses[1:]:
            simulation.step(pose)
            moved = np.array(simulation.displacement(), float)[self.behind]
            squares += (self.mass[self.behind, None] * moved**2).sum()
        return squares**0.5


@pytest.fixture(scope="module")
def limb():
    return Limb()


def test_a_part_that_eigenmodes_leave_out_moves_as_in_the_full_space(limb):
    truth = limb.size(limb.full())
    assert limb.size(limb.draft(limb.lowest())) < 0.05 * truth
    assert limb.size(limb.draft(limb.driven())) == pytest.approx(truth, rel=0.15)


def test_they_are_orthonormal_and_bound_the_eigenvalues_from_above(limb):
    driven, lowest = limb.driven(), limb.lowest()
    gram = driven.weights.T @ (limb.mass[:, None] * driven.weights)
    assert np.abs(gram - np.eye(MODES)).max() < 1e-12
    assert np.all(np.diff(driven.eigenvalues) >= 0)
    assert np.all(driven.eigenvalues >= lowest.eigenvalues * (1 - 1e-12))
    third = MODES // 3
    assert driven.eigenvalues[:third] == pytest.approx(lowest.eigenvalues[:third], rel=1e-9)
    assert driven.eigenvalues[-1] > 1.5 * lowest.eigenvalues[-1]
    assert np.all(driven.weights[limb.pinned] == 0)


def test_an_answer_is_the_static_one(limb):
    """The load of the bone behind the wall is balanced by a combination of modes, as in all modes there."""
    load = limb.mass * limb.bones.weights[:, 1]

    def compliance(modes):
        return ((modes.weights.T @ load) ** 2 / modes.eigenvalues).sum()

    exact = compliance(limb.lowest(600))
    assert compliance(limb.lowest()) < 0.01 * exact
    assert compliance(limb.driven()) == pytest.approx(exact, rel=0.02)


def test_they_are_complementary_where_eigenmodes_are(box):
    body = jounce.Body(*box, resolution=16, modes=8, driven=True)
    lowest = jounce.Body(*box, resolution=16, modes=8)
    points, mass = body.mesh.vertices, body.mesh.vertex_volumes
    affine = np.column_stack([points, np.ones(len(points))])

    def leaks(modes):
        held = (mass * (1 - body.leak))[:, None] * modes.weights
        return np.abs(np.einsum("ij,ip,iq,ik->jpqk", body.rig.weights, affine, affine, held)).max()

    assert leaks(body.modes) < 10 * leaks(lowest.modes) + 1e-9
    assert not np.allclose(body.modes.weights, lowest.modes.weights)
    assert body.model.frequency == pytest.approx(lowest.model.frequency)


def test_few_bones_leave_room_for_further_eigenmodes(limb):
    one = jounce.Rig(limb.mesh, np.ones((len(limb.mesh.vertices), 1)))
    modes = jounce.driven_modes(limb.mesh, limb.material, one, 12, pinned=limb.pinned)
    assert modes.weights.shape == (len(limb.mesh.vertices), 12)
    lowest = limb.lowest(8)
    along = lowest.weights.T @ (limb.mass[:, None] * modes.weights)
    assert (along**2).sum() > 7.5


def test_changes_of_a_body_in_memory_reach_its_driven_modes():
    points, triangles = motions.box(1.0, 0.4, 0.3)
    box = points, triangles, motions.hinged(points)
    settings = {"resolution": 12, "modes": 9, "editable": True}
    sewn = {"stitches": [[0, 7]], "stitch_stiffness": np.full(1, 1e3)}
    plain = jounce.Body(*box, **settings, driven=True)
    for new in ({"young": 1e4 * (1 + points[:, 0])}, sewn):
        quick = jounce.Body(*box, **settings, **new, driven=True, like=plain)
        anew = jounce.Body(*box, **settings, **new, driven=True)
        assert 0 < quick.residual < 0.01
        assert anew.residual == 0
        off, change = (np.abs(m.modes.eigenvalues / anew.modes.eigenvalues - 1).max() for m in (quick, plain))
        assert off < 0.01 and off < 0.2 * change
        mass = 1000.0 * anew.mesh.vertex_volumes
        gram, along = (quick.modes.weights.T @ (mass[:, None] * m.modes.weights) for m in (quick, anew))
        assert np.abs(gram - np.eye(9)).max() < 1e-9
        assert (along**2).sum() > 0.98 * 9
    strong = jounce.Body(*box, **settings, driven=True, strength=0.5 + points[:, 0], like=plain)
    assert np.array_equal(strong.modes.weights, plain.modes.weights)
    lowest = jounce.Body(*box, **settings, like=plain)
    assert np.array_equal(lowest.modes.weights, jounce.Body(*box, **settings).modes.weights)


@pytest.mark.parametrize("count", [5, 6, 7, 8, 9])
def test_rounding_does_not_choose_among_mirrored_bones(count):
    mesh = jounce.TetMesh.lattice(*motions.box(4.0, 0.5, 0.5), 32, solid=True)
    x, _, z = mesh.vertices.T
    pinned = z < 0.06
    place = np.clip((x - x.min()) / np.ptp(x) * 8 - 0.5, 0, 7)
    bones = jounce.Rig(mesh, np.maximum(0, 1 - np.abs(place[:, None] - np.arange(8))))

    def modes(noise):
        rounded = 1 + noise * np.random.default_rng(0).uniform(-1, 1, len(mesh.tets))
        return jounce.driven_modes(mesh, jounce.Material(1e4 * rounded), bones, count, pinned=pinned).weights

    exact = modes(0.0)
    assert np.abs(modes(1e-14) - exact).max() < 1e-6 * np.abs(exact).max()


def test_threads_change_no_bit():
    program = (
        "import test_driven, hashlib; modes = test_driven.Limb().driven(); "
        "print(hashlib.sha256(modes.weights.tobytes() + modes.eigenvalues.tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=os.path.dirname(__file__),
            env={**os.environ, "RAYON_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "3")
    }
    assert len(found) == 1


def test_bones_of_another_mesh_are_refused(limb):
    other = jounce.TetMesh.lattice(*motions.box(1, 1, 1), 4)
    rig = jounce.Rig(other, np.ones((len(other.vertices), 1)))
    with pytest.raises(ValueError, match="rig: expected shape weights of"):
        jounce.driven_modes(limb.mesh, limb.material, rig, 4, pinned=limb.pinned)
