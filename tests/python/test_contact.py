"""Colliders of the full space: made, moved by steps, restored, queued, and refused."""

from __future__ import annotations

import jounce
import numpy as np
import pytest

G = (0.0, 0.0, -9.81)
STILL = np.eye(4)[:3]


@pytest.fixture(scope="module")
def block(box) -> tuple[jounce.TetMesh, jounce.Model]:
    """A block of 20 x 5 x 5 cm, its lowest vertices at z = 0."""
    points, triangles, _ = box
    lattice = jounce.TetMesh.lattice(0.05 * points, triangles, resolution=8)
    mesh = jounce.TetMesh(lattice.vertices - lattice.vertices.min(0), lattice.tets)
    material = jounce.Material(young=2e4, poisson=0.3, density=1000.0, law="neo_hookean")
    return mesh, jounce.Model.full_space(mesh, material)


def lowest(mesh: jounce.TetMesh, sim: jounce.Simulation) -> float:
    return float((mesh.vertices + sim.coefficients)[:, 2].min())


def moved(x: float, y: float, z: float) -> np.ndarray:
    pose = STILL.copy()
    pose[:, 3] = x, y, z
    return pose


def test_flesh_falls_on_the_ground_and_stays_there(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    mesh, model = block
    ground = jounce.Collider.plane(point=(0, 0, -0.1), friction=0.5)
    sim = jounce.Simulation(model, gravity=G, colliders=[ground])
    for _ in range(60):
        sim.step()
    assert -0.1 - 1e-4 < lowest(mesh, sim) < -0.1 + 1e-6
    before = sim.coefficients
    sim.step()
    assert np.abs(sim.coefficients - before).max() < 1e-7


def test_poses_of_colliders_are_those_of_a_step_until_the_next_says_otherwise(
    block: tuple[jounce.TetMesh, jounce.Model],
) -> None:
    mesh, model = block
    sim = jounce.Simulation(model, gravity=G, colliders=[jounce.Collider.plane()])
    for frame in range(20):
        sim.step(colliders=[moved(0, 0, 0.01 * frame)])
    sim.step()
    assert lowest(mesh, sim) == pytest.approx(0.19, abs=2e-3)


def test_a_first_step_moves_colliders_from_where_they_were_made(box) -> None:
    """Pinned flesh yields to a collider arriving in the first step, and ignores a collider around it at the
    start.
    """
    points, triangles, _ = box
    mesh = jounce.TetMesh.lattice(0.05 * points, triangles, resolution=8)
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    material = jounce.Material(young=2e4, poisson=0.3, density=1000.0, law="neo_hookean")
    held = mesh.vertices[:, 0] < low[0] + 1e-6
    model = jounce.Model.full_space(mesh, material, pinned=held)
    middle = (0.5 * (low + high))[1]
    club = jounce.Collider.box((0.1, 0.4, 0.1), center=(high[0], middle, high[2] + 0.06))
    down = [moved(0.0, 0.0, -0.03)]
    ends = []
    for is_reset, places in ((False, None), (True, None), (True, down)):
        sim = jounce.Simulation(model, colliders=[club])
        if is_reset:
            sim.reset(colliders=places)
        sim.step(colliders=down)
        ends.append(sim.coefficients.copy())
    assert np.array_equal(ends[0], ends[1])
    assert ends[0][:, 2].min() < -0.01
    assert np.abs(ends[2]).max() < 0.5 * np.abs(ends[0]).max()


def test_the_points_of_an_embedding_touch(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    mesh, model = block
    skin = jounce.Embedding(mesh, mesh.vertices * 0.5 + mesh.vertices.mean(0) * 0.5)
    sim = jounce.Simulation(model, gravity=G, colliders=[jounce.Collider.plane()], contact_points=skin)
    for _ in range(40):
        sim.step()
    inside = skin.interpolate(mesh.vertices + sim.coefficients)[:, 2].min()
    assert abs(inside) < 1e-4
    assert lowest(mesh, sim) < -0.01


def test_the_triangles_between_the_points_touch(block: tuple[jounce.TetMesh, jounce.Model], box) -> None:
    mesh, model = block
    corners, triangles, _ = box
    shift = mesh.vertices.min(0) - 0.05 * corners.min(0)
    skin = jounce.Embedding(
        mesh, 0.999 * (0.05 * corners + shift - mesh.vertices.mean(0)) + mesh.vertices.mean(0)
    )
    needle = jounce.Collider.capsule((0.1, 0.025, -0.5), (0.1, 0.025, -0.06), 0.01)

    def height(frames: int, **touching: object) -> float:
        sim = jounce.Simulation(model, gravity=G, colliders=[needle], contact_points=skin, **touching)
        for _ in range(frames):
            sim.step()
        return float((mesh.vertices + sim.coefficients)[:, 2].mean())

    assert height(10) < -0.3
    assert height(10, contact_triangles=triangles) > -0.1
    with pytest.raises(ValueError, match="contact_triangles"):
        height(1, contact_triangles=[[0, 1, len(corners)]])


def test_a_queue_and_a_restored_state_have_the_same_bits(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    _, model = block
    club = jounce.Collider.box((0.1, 0.4, 0.4), center=(-0.1, 0, 0), friction=0.3)
    sim = jounce.Simulation(model, gravity=G, colliders=[jounce.Collider.plane(), club])
    job = jounce.MotionJob(sim)
    poses = [[STILL, moved(0.01 * frame, 0, 0)] for frame in range(12)]
    for frame in range(12):
        job.step(colliders=poses[frame])
        job.keep(state=frame == 5)
    job.wait()
    kept = job.coefficients()
    for frame in range(12):
        sim.step(colliders=poses[frame])
        assert np.array_equal(sim.coefficients, kept[frame])
    state = job.state(5)
    assert state is not None
    sim.restore_state(state)
    for frame in range(6, 12):
        jounce.step_together([sim], [None], colliders=[poses[frame]])
        assert np.array_equal(sim.coefficients, kept[frame])


def test_shapes_know_their_distances() -> None:
    for collider, expected in [
        (jounce.Collider.plane(normal=(0, 0, 2)), 2.0),
        (jounce.Collider.sphere(0.5), 1.5),
        (jounce.Collider.capsule((0, 0, 0), (0, 0, 1), 0.25), 0.75),
        (jounce.Collider.box((1, 1, 1)), 1.5),
    ]:
        distance, normal = collider.distance((0.0, 0.0, 2.0))
        assert distance == pytest.approx(expected)
        assert normal == [0.0, 0.0, 1.0]
    assert repr(jounce.Collider.box((1, 1, 1), friction=0.25)) == "Collider(box, friction=0.25)"


def test_a_collider_knows_many_distances_at_once() -> None:
    places = np.random.default_rng(3).uniform(-1.0, 1.0, (50, 3))
    box = jounce.Collider.box((1.0, 0.5, 0.25))
    assert box.distances(places).tolist() == [box.distance(place)[0] for place in places]


def test_points_that_a_collider_spares_pass_through_it(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    mesh, model = block
    skin = jounce.Embedding(mesh, mesh.vertices)
    left = np.flatnonzero(mesh.vertices[:, 0] < mesh.vertices[:, 0].mean())
    ground = jounce.Collider.plane(point=(0, 0, -0.02), friction=0.5)
    whole = jounce.Simulation(model, gravity=G, colliders=[ground], contact_points=skin)
    half = jounce.Simulation(model, gravity=G, colliders=[ground.sparing(left)], contact_points=skin)
    for _ in range(24):
        whole.step()
        half.step()
    assert lowest(mesh, whole) > -0.021
    heights = (mesh.vertices + half.coefficients)[:, 2]
    assert heights[left].min() < -0.04
    assert np.delete(heights, left).min() > -0.021
    none = np.empty(0, np.int64)
    same = jounce.Simulation(model, gravity=G, colliders=[ground.sparing(none)], contact_points=skin)
    for _ in range(24):
        same.step()
    assert np.array_equal(same.coefficients, whole.coefficients)
    with pytest.raises(ValueError, match="spared: element 0 refers to index"):
        jounce.Simulation(
            model, colliders=[ground.sparing(np.array([len(mesh.vertices)]))], contact_points=skin
        )


def test_points_touch_where_their_own_weights_have_them(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    mesh, _ = block
    share = np.clip(mesh.vertices[:, 0] / 0.2, 0.0, 1.0)
    rig = jounce.Rig(mesh, np.column_stack((1.0 - share, share)))
    material = jounce.Material(young=2e4, poisson=0.3, density=1000.0, law="neo_hookean")
    model = jounce.Model.full_space(mesh, material, rig)
    low = mesh.vertices[:, 2] == mesh.vertices[:, 2].min()
    places = mesh.vertices[low]
    skin = jounce.Embedding(mesh, places)
    # The mesh bends; the displayed part follows one of the two bones rigidly.
    weights = np.eye(2)[(places[:, 0] > 0.12).astype(int)]
    pose = np.tile(STILL, (2, 1, 1))
    ground = jounce.Collider.plane(point=(0, 0, -0.05))
    lowest_of = {}
    for name, own in (("mesh", None), ("skin", weights)):
        sim = jounce.Simulation(
            model, substeps=2, colliders=[ground], contact_points=skin, contact_weights=own
        )
        sim.reset(pose)
        depth = []
        for frame in range(24):
            pose[1, 2, 3] = -0.06 * min(frame / 8, 1.0)
            sim.step(pose)
            shown = places + weights @ pose[:, :, 3] + model.displacement(sim.coefficients, skin)
            depth.append(-0.05 - shown[:, 2].min())
        lowest_of[name] = max(depth)
        pose[1, 2, 3] = 0.0
    assert lowest_of["mesh"] > 5e-3
    assert lowest_of["skin"] < 5e-4
    with pytest.raises(ValueError, match="contact_weights: expected"):
        jounce.Simulation(
            model, colliders=[ground], contact_points=skin, contact_weights=np.ones((len(places), 1))
        )


def test_a_mesh_is_a_collider(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    mesh, _ = block
    collider = jounce.Collider.mesh(mesh.vertices, mesh.boundary, resolution=32, friction=0.2)
    assert collider.friction == 0.2
    top = mesh.vertices.max(0)
    distance, normal = collider.distance((top[0] / 2, top[1] / 2, top[2] + 0.01))
    assert distance == pytest.approx(0.01, abs=1e-3)
    assert normal[2] > 0.99


def test_what_makes_no_sense_is_refused_in_a_sentence(block: tuple[jounce.TetMesh, jounce.Model]) -> None:
    mesh, model = block
    ground = jounce.Collider.plane()
    with pytest.raises(ValueError, match="integrator: among colliders"):
        jounce.Simulation(model, colliders=[ground], integrator="bdf2")
    sim = jounce.Simulation(model, colliders=[ground])
    with pytest.raises(ValueError, match="colliders"):
        sim.step(colliders=np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match="colliders: expected a rotation and a translation each"):
        sim.step(colliders=[2.0 * STILL])
    alone = jounce.Simulation(model)
    with pytest.raises(ValueError, match="colliders"):
        alone.step(colliders=[STILL])
    with pytest.raises(ValueError, match="colliders: expected"):
        sim.settle_cycle(np.zeros((3, 0, 3, 4)), colliders=[[STILL], [STILL]])
    away = STILL + [[0.0, 0.0, 0.0, 1.0], [0.0] * 4, [0.0] * 4]
    with pytest.raises(ValueError, match="colliders: expected each at its first place at the end"):
        sim.settle_cycle(np.zeros((2, 0, 3, 4)), colliders=[[STILL], [away]])
