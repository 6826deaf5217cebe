"""Contact of skinning modes: rest, throws, energy, steps without contact, and bodies with bones."""

from __future__ import annotations

import itertools

import jounce
import numpy as np
import pytest

DT = 1 / 24
SIZE = 0.1


class Cube:
    """A free cube of 10 cm around the origin, in eight modes."""

    def __init__(self) -> None:
        points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
        mesh = jounce.TetMesh.lattice(SIZE * points, triangles, resolution=6)
        middle = (mesh.vertices.min(0) + mesh.vertices.max(0)) / 2
        self.mesh = jounce.TetMesh(mesh.vertices - middle, mesh.tets)
        material = jounce.Material(young=2e4, density=1000.0)
        modes = jounce.skinning_modes(self.mesh, material, count=8)
        labels = np.arange(len(mesh.tets), dtype=np.int32) // 8
        self.model = jounce.Model.skinning(self.mesh, material, modes, labels)
        self.weights = modes.weights
        self.mass = 1000.0 * self.mesh.volumes.sum()

    def among(self, *colliders: jounce.Collider, **settings: object) -> jounce.Simulation:
        return jounce.Simulation(self.model, colliders=list(colliders) or None, dt=DT, **settings)

    def places(self, sim: jounce.Simulation) -> np.ndarray:
        """Positions of all vertices."""
        rest = self.mesh.vertices
        points = np.column_stack([rest, np.ones(len(rest))])
        return rest + np.einsum("nm,mij,nj->ni", self.weights, sim.coefficients, points)

    def depth(self, sim: jounce.Simulation, collider: jounce.Collider) -> float:
        """Depth of the deepest vertex, as a share of the size."""
        return float(-collider.distances(self.places(sim)).min() / SIZE)


@pytest.fixture(scope="module")
def cube() -> Cube:
    return Cube()


def test_what_rests_on_a_plane_hardly_sinks_in(cube: Cube) -> None:
    ground = jounce.Collider.plane(point=(0, 0, -0.1), friction=0.5)
    sim = cube.among(ground, gravity=(0, 0, -9.81))
    for _ in range(60):
        sim.step()
        assert cube.depth(sim, ground) < 2e-3
    before = cube.places(sim)
    sim.step()
    assert np.abs(cube.places(sim) - before).max() < 1e-6 * SIZE


OBSTACLES = {
    "plane": lambda x: jounce.Collider.plane(point=(x, 0, 0), normal=(-1, 0, 0)),
    "ball": lambda x: jounce.Collider.sphere(0.04, center=(x, 0, 0)),
    "post": lambda x: jounce.Collider.capsule((x, 0, -1), (x, 0, 1), 0.01),
    "edge": lambda x: jounce.Collider.box((0.02, 1, 0.5), center=(x, 0, -0.25)),
}


@pytest.mark.parametrize("substeps", [1, 4])
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_is_thrown_ends_outside_without_more_energy(cube: Cube, obstacle: str, substeps: int) -> None:
    """Thrown at .05 to 3 lengths a substep, from two places each."""
    spread = np.random.default_rng(0).uniform(-0.02, 0.02, (2, 3))
    for lengths, (ahead, aside, up) in itertools.product((0.05, 0.3, 1.0, 3.0), spread):
        speed = lengths * SIZE * substeps / DT
        collider = OBSTACLES[obstacle](1.5 * SIZE + (2.2 + ahead) * speed * DT)
        kick = (speed / DT, (0.01 + aside) * speed / DT, up * speed / DT)
        sim = cube.among(collider, gravity=kick, substeps=substeps)
        sim.step()
        sim.vary(gravity=(0, 0, 0))
        energies = []
        for _ in range(30):
            last, report = cube.places(sim), sim.step()
            moving = (((cube.places(sim) - last) / DT) ** 2).sum(1).mean()
            energies.append((moving + 2 * report.energy / cube.mass) / speed**2)
        assert cube.depth(sim, collider) < 2e-3, lengths
        # The kick itself has the energy 1.0001. In the frame of an impact the mean velocity does not count.
        assert max(energies[-10:]) < 1.001, lengths


def test_a_step_without_contact_is_the_same_to_the_bit(cube: Cube) -> None:
    far = [jounce.Collider.plane(point=(0, 0, -30)), jounce.Collider.sphere(0.1, center=(0, 4, 0))]
    sims = [cube.among(*some, gravity=(0, 0, -9.81)) for some in ([], far)]
    for _ in range(30):
        reports = [sim.step() for sim in sims]
        assert reports[0].iterations == reports[1].iterations
        assert np.array_equal(*[sim.coefficients for sim in sims])


def test_a_restored_state_goes_on_with_the_same_bits(cube: Cube) -> None:
    ground = jounce.Collider.plane(point=(0, 0, -0.06), friction=0.5)
    sims = [cube.among(ground, gravity=(3, 0, -9.81)) for _ in range(2)]
    for _ in range(8):
        sims[0].step()
    sims[1].restore_state(sims[0].save_state())
    for _ in range(8):
        for sim in sims:
            sim.step()
        assert np.array_equal(*[sim.coefficients for sim in sims])


@pytest.fixture(scope="module")
def arm(box) -> jounce.Body:
    """A body on two bones."""
    return jounce.Body(*box, resolution=8, modes=6, clusters=20)


def test_flesh_on_bones_needs_weights_at_its_points(arm: jounce.Body) -> None:
    ground = jounce.Collider.plane()
    with pytest.raises(ValueError, match="contact_weights: the model knows no bones at the points"):
        jounce.Simulation(arm.model, colliders=[ground], contact_points=arm.embedding)
    with pytest.raises(ValueError, match="contact_weights: expected shape"):
        jounce.Simulation(
            arm.model,
            colliders=[ground],
            contact_points=arm.embedding,
            contact_weights=np.ones((len(arm.embedding.points), 1)),
        )


@pytest.mark.parametrize("stretch", [0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("height", [-0.06, -0.1, -0.13])
def test_flesh_pressed_to_its_stretch_limit_comes_to_a_solution(
    slab: jounce.Body, height: float, stretch: float
) -> None:
    ground = jounce.Collider.plane((0, 0, height))
    points = np.column_stack(
        [np.repeat(np.linspace(0, 4, 21), 4), np.tile([(0, 0), (0, 1), (1, 0), (1, 1)], (21, 1))]
    )
    sim = jounce.Simulation(
        slab.model,
        dt=1 / 60,
        substeps=2,
        damping=0.12,
        stretch=stretch,
        colliders=[ground],
        contact_points=jounce.Embedding(slab.mesh, points),
        contact_weights=along(points),
    )
    pose, lowest = np.tile(np.eye(3, 4), (2, 1, 1)), np.inf
    for frame in range(60):
        pose[:, 2, 3] = 0.2 * np.sin(7 * frame / 60)
        pose[1, 1, 3] = 0.2 * np.sin(5 * frame / 60)
        report = sim.step(pose)
        assert report.converged, (frame, report)
        lowest = min(lowest, pose[0, 2, 3])
    assert lowest < height - 0.05


@pytest.mark.parametrize("place", [0.0, 0.4, 0.8, 2.4, 3.2, 4.0])
@pytest.mark.parametrize("amount", [0.0, 0.8])
def test_modes_on_bone_that_would_throw_other_flesh_do_not_give_way(place: float, amount: float) -> None:
    """A bar in two modes, with a core or without: pressed beside a core, it would swing as a whole."""
    points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    core = jounce.SkeletonCore([(0.0, 0.5, 0.5), (2.0, 0.5, 0.5)], [-1, 0], amount=amount)
    few = jounce.Body(points, triangles, along(points), resolution=24, modes=2, clusters=80, core=core)
    rings = np.column_stack(
        [np.repeat(np.linspace(0, 4, 21), 4), np.tile([(0, 0), (0, 1), (1, 1), (1, 0)], (21, 1))]
    )
    rod = jounce.Collider.capsule((place, -1, -0.02), (place, 2, -0.02), 0.1)
    sim = jounce.Simulation(
        few.model,
        dt=1 / 60,
        substeps=2,
        damping=0.12,
        colliders=[rod],
        contact_points=jounce.Embedding(few.mesh, rings),
        contact_weights=along(rings),
    )
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    for _ in range(40):
        sim.step(pose)
    moved = np.linalg.norm(sim.displacement(), axis=1)
    near = np.abs(few.mesh.vertices[:, 0] - place) < 0.4
    gives = amount == 0.0 or place in (0.0, 4.0)
    assert (moved[near].max() > 0.07) == gives
    assert gives or moved.max() < 1e-6


def along(points: np.ndarray) -> np.ndarray:
    """Weights of two bones at the ends of a bar of 4 m."""
    return np.column_stack([1 - points[:, 0] / 4, points[:, 0] / 4])


@pytest.fixture(scope="module")
def slab() -> jounce.Body:
    """A bar on two bones."""
    points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    return jounce.Body(points, triangles, along(points), resolution=16, modes=12, clusters=80)
