"""Loose bodies of handles from Python: thrown, squeezed, stored as a state, and their refusals."""

import jounce
import numpy as np
import pytest

YOUNG, DENSITY = 3e3, 1000.0
DT = 1.0 / 60.0


def jelly(law="arap", young=YOUNG):
    return jounce.Material(young=young, poisson=0.3 if law != "arap" else 0.0, density=DENSITY, law=law)


@pytest.fixture(scope="module")
def model(mesh):
    return jounce.Model.projective(mesh, jelly(), handles=12, clusters=20)


def turned(angle, shift):
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([[[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], shift])


def test_it_has_handles_and_clusters_and_no_rig(model):
    assert model.coefficient_shape == (12, 3, 4)
    assert 1 <= model.cluster_count <= 20
    assert model.bone_count == model.mode_count == 0
    assert repr(model) == f"Model(12 handles, 0 bones, {model.material!r})"


def test_it_is_thrown_and_spins_as_a_stone_does_at_first(mesh, model):
    simulation = jounce.Simulation(model, dt=DT, gravity=(0.0, 0.0, -9.81))
    place = turned(0.7, [1.0, 2.0, 3.0])
    simulation.place(place, velocity=(4.0, 0.0, 0.0))
    rest = np.asarray(mesh.vertices)
    start = rest @ place[:, :3].T + place[:, 3]
    assert np.allclose(rest + simulation.displacement(), start, atol=1e-5)
    simulation.step()
    fall = DT * np.array([4.0, 0.0, -9.81 * DT])
    assert np.allclose(rest + simulation.displacement(), start + fall, atol=1e-5)
    simulation.place(spin=(0.0, 0.0, 1.0))
    simulation.step()
    center = rest.mean(axis=0)
    moved = np.asarray(simulation.displacement())
    far = np.argmax(np.linalg.norm((rest - center)[:, :2], axis=1))
    assert np.dot(moved[far], np.cross([0.0, 0.0, 1.0], rest[far] - center)) > 0.0


def test_it_wobbles_and_a_state_plays_again(mesh, model):
    simulation = jounce.Simulation(model, dt=DT, damping=0.05)
    rest = np.asarray(mesh.vertices)
    squeeze = np.zeros_like(rest)
    squeeze[:, 0] = -0.5 * np.sign(rest[:, 0] - rest[:, 0].mean())
    force = model.reduce_forces(squeeze)
    simulation.settle(force=force)
    squeezed = np.asarray(simulation.displacement()).copy()
    assert np.abs(squeezed).max() > 1e-4
    state = simulation.save_state()

    def played():
        frames = []
        for _ in range(20):
            simulation.step()
            frames.append(np.array(simulation.displacement()))
        return np.array(frames)

    first = played()
    assert not np.allclose(first[-1], squeezed)
    simulation.restore_state(state)
    assert np.array_equal(played(), first)


def test_the_same_seed_gives_the_same_model(mesh, model):
    again = jounce.Model.projective(mesh, jelly(), handles=12, clusters=20)
    force = np.linspace(-1.0, 1.0, mesh.vertices.size).reshape(-1, 3)
    assert np.array_equal(again.reduce_forces(force), model.reduce_forces(force))


def ground(height=0.0):
    return jounce.Collider.plane((0.0, 0.0, height), (0.0, 0.0, 1.0), friction=0.5)


def test_it_falls_on_the_ground_and_comes_to_rest(mesh):
    model = jounce.Model.projective(mesh, jelly(young=2e4), handles=12, clusters=20)
    low = mesh.vertices[:, 2].min() - 0.3
    simulation = jounce.Simulation(model, gravity=(0, 0, -9.81), damping=0.1, colliders=[ground(low)])
    for _ in range(200):
        simulation.step()
    rest = mesh.vertices + simulation.displacement()
    size = np.linalg.norm(np.ptp(mesh.vertices, axis=0))
    assert -0.01 * size < rest[:, 2].min() - low < 0.01 * size
    simulation.step()
    assert np.abs(mesh.vertices + simulation.displacement() - rest).max() < 1e-5 * size


def pinned(mesh):
    """The body in the full space, held at a vertex."""
    return jounce.Model.full_space(mesh, jelly(), pinned=np.arange(len(mesh.vertices)) == 0)


def test_what_it_has_no_part_for_is_refused(mesh, rig, model, tmp_path):
    for law in ("corotated", "neo_hookean"):
        with pytest.raises(ValueError, match="take arap"):
            jounce.Model.projective(mesh, jelly(law))
    for counts in ({"handles": 0}, {"clusters": 0}, {"handles": -1}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(counts))):
            jounce.Model.projective(mesh, jelly(), **counts)
    with pytest.raises(ValueError, match="limit"):
        jounce.Simulation(model, limit=0.1)
    points = jounce.Embedding(mesh, mesh.vertices[:1])
    with pytest.raises(ValueError, match="contact_weights"):
        jounce.Simulation(model, colliders=[ground()], contact_points=points, contact_weights=np.ones((1, 1)))
    with pytest.raises(ValueError, match="backward Euler"):
        jounce.Simulation(model, colliders=[ground()], integrator="bdf2")
    with pytest.raises(ValueError, match="file"):
        model.save(tmp_path / "jelly.jounce")
    simulation = jounce.Simulation(model)
    with pytest.raises(ValueError, match="place"):
        simulation.place(2.0 * turned(0.0, [0.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="pose"):
        simulation.step(np.tile(np.eye(3, 4), (2, 1, 1)))
    full = pinned(mesh)
    with pytest.raises(ValueError, match="only a loose body"):
        jounce.Simulation(full).place()


def test_it_is_inflated_from_one_step_to_the_next(mesh, model):
    simulation = jounce.Simulation(model, dt=DT, damping=0.5)
    tets, rest = np.asarray(mesh.tets), np.asarray(mesh.vertices)

    def volume(points):
        a, b, c, d = (points[tets[:, corner]] for corner in range(4))
        return np.einsum("ti,ti->", np.cross(b - a, c - a), d - a) / 6.0

    for inflation in (1.3, 0.8):
        simulation.vary(inflation=inflation)
        for _ in range(400):
            simulation.step()
        grown = volume(rest + simulation.displacement()) / volume(rest)
        assert np.isclose(grown, inflation**3, rtol=1e-4)
    for fatal in (0.0, -1.0, np.nan, np.inf, 1e6):
        with pytest.raises(ValueError, match="inflation"):
            simulation.vary(inflation=fatal)
        with pytest.raises(ValueError, match="inflation"):
            jounce.Simulation(model, inflation=fatal)
    with pytest.raises(ValueError, match="only a loose body"):
        jounce.Simulation(pinned(mesh), inflation=1.1)


def test_a_hand_holds_it_lets_it_go_and_catches_it(mesh, model):
    simulation, rest = jounce.Simulation(model, dt=DT, hold=1e5), np.asarray(mesh.vertices)
    hands = [turned(0.1 * frame, [0.05 * frame, 0.0, 0.01 * frame]) for frame in range(60)]
    simulation.place(hands[0])

    def apart(frame):
        hand = hands[frame]
        return np.abs(rest @ hand[:, :3].T + hand[:, 3] - rest - simulation.displacement()).max()

    size = np.linalg.norm(np.ptp(rest, axis=0))
    for frame in range(1, 60):
        if frame == 10:
            simulation.vary(hold=0.0)
        if frame >= 20:
            simulation.vary(hold=min(1e5, 0.1 * 1.5 ** (frame - 20)))
        simulation.step(hands[frame][None])
        if frame < 10 or frame > 50:
            assert apart(frame) < 1e-3 * size
        if frame == 19:
            assert apart(frame) > 0.01 * size
    for fatal in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="hold"):
            simulation.vary(hold=fatal)
    with pytest.raises(ValueError, match="only a loose body"):
        jounce.Simulation(pinned(mesh), hold=1.0)


def test_a_job_throws_it_as_a_simulation_does(model):
    simulation = jounce.Simulation(model, dt=DT, gravity=(0.0, 0.0, -9.81))
    start = {"place": turned(0.4, [1.0, 0.0, 2.0]), "velocity": (1.0, 2.0, 3.0), "spin": (0.0, 4.0, 0.0)}
    job = jounce.MotionJob(simulation)
    for target in (job, simulation):
        target.place(**start)
        target.vary(inflation=1.1, hold=2.0)
        target.step(turned(0.0, [0.0, 0.0, 0.0])[None])
    job.keep()
    job.wait()
    assert np.array_equal(job.coefficients()[0], simulation.coefficients)
    with pytest.raises(ValueError, match="place"):
        job.place(np.eye(3))


def test_an_affine_motion_is_the_same_at_all_handles(mesh, model):
    linear, shift = np.array([[0.1, 0.2, 0.0], [0.0, -0.3, 0.1], [0.4, 0.0, 0.2]]), np.array([1.0, 2.0, 3.0])
    shifts = model.handle_centers @ linear.T + shift
    coefficients = np.concatenate([np.tile(linear, (len(shifts), 1, 1)), shifts[:, :, None]], axis=2)
    expected = np.asarray(mesh.vertices) @ linear.T + shift
    assert np.abs(model.displacement(coefficients) - expected).max() < 1e-6
    assert jounce.Model.full_space(mesh, jelly()).handle_centers is None


@pytest.fixture(scope="module")
def sheet():
    """A square metre in the plane x z, facing y."""
    side = np.linspace(0.0, 1.0, 9)
    points = np.stack(np.meshgrid(side, [0.0], side, indexing="ij"), -1).reshape(-1, 3)
    corners = np.add.outer(9 * np.arange(8), np.arange(8)).reshape(-1, 1)
    triangles = np.concatenate([corners + [0, 9, 10], corners + [0, 10, 1]])
    return jounce.SurfaceMesh(points, triangles)


CLOTH = jounce.Material(young=2e5, poisson=0.0, density=300.0)


def test_a_sheet_falls_as_a_stone_does(sheet):
    model = jounce.Model.projective(sheet, CLOTH, handles=12, thickness=1e-3)
    assert (model.cluster_count, model.skipped_count, model.bone_count) == (len(sheet.triangles), 0, 0)
    simulation = jounce.Simulation(model, dt=DT, gravity=(0.0, 0.0, -9.81))
    simulation.place(turned(0.3, [0.0, 0.0, 1.0]), velocity=(1.0, 0.0, 0.0))
    start = np.array(simulation.displacement())
    simulation.step()
    assert np.allclose(simulation.displacement() - start, DT * np.array([1.0, 0.0, -9.81 * DT]), atol=1e-6)


def test_a_sheet_hangs_from_a_rig(sheet):
    held = sheet.points[:, 2] > 0.9
    rig = jounce.Rig(sheet, np.ones((len(held), 1)))
    make = {"handles": 30, "thickness": 1e-3, "rig": rig}
    models = [jounce.Model.projective(sheet, CLOTH, attached=a, **make) for a in (held, held.astype(float))]
    job = jounce.ProjectiveJob(sheet, CLOTH, attached=held, **make)
    moved = []
    for model in [*models, job.result()]:
        assert model.bone_count == 1
        simulation = jounce.Simulation(model, dt=DT, gravity=(0.0, 0.0, -9.81), colliders=[ground(-5.0)])
        for frame in range(30):
            simulation.step(turned(0.0, [0.02 * frame, 0.0, 0.0])[None])
        moved.append(np.array(simulation.displacement()))
    assert np.array_equal(moved[0], moved[1])
    assert np.array_equal(moved[0], moved[2])
    assert np.abs(moved[0][held] - [0.58, 0.0, 0.0]).max() < 0.03
    with pytest.raises(ValueError, match="a rig says where others are"):
        simulation.place()


def test_settings_of_bodies_of_handles_have_the_documented_defaults(sheet):
    make = {"handles": 12, "thickness": 1e-3, "rig": jounce.Rig(sheet, np.ones((len(sheet.points), 1)))}
    make |= {"attached": sheet.points[:, 2] > 0.9, "strain_limit": (0.99, 1.01)}
    moved = []
    for settings in ({}, {"bending": 1.0, "limit_firmness": 10.0, "attachment": 30.0, "springs": None}):
        simulation = jounce.Simulation(jounce.Model.projective(sheet, CLOTH, **make, **settings), dt=DT)
        simulation.step(np.eye(3, 4)[None])
        simulation.step(turned(0.0, [0.0, 0.05, 0.0])[None])
        moved.append(np.array(simulation.displacement()))
    assert np.array_equal(*moved) and np.abs(moved[0]).max() > 1e-3
    for make_it in (jounce.Model.projective, jounce.ProjectiveJob):
        with pytest.raises(TypeError, match="^bend is no setting; the settings are thickness, bending, "):
            make_it(sheet, CLOTH, thickness=1e-3, bend=1.0)
        with pytest.raises(TypeError, match="argument 'bending'"):
            make_it(sheet, CLOTH, thickness=1e-3, bending="much")


def test_what_a_surface_has_no_part_for_is_refused(mesh, sheet):
    def made(shape=sheet, **arguments):
        return jounce.Model.projective(shape, CLOTH, handles=8, **arguments)

    n = len(sheet.points)
    rig = jounce.Rig(sheet, np.ones((n, 1)))
    with pytest.raises(ValueError, match="give it in metres"):
        made()
    with pytest.raises(ValueError, match="tets have a volume"):
        made(mesh, thickness=1e-3)
    for attached in (np.full(n, 2.0), np.full(n, np.nan), np.zeros(n), np.ones(3)):
        with pytest.raises(ValueError, match="attached"):
            made(thickness=1e-3, rig=rig, attached=attached)
    for arguments in ({"rig": rig}, {"attached": np.ones(n)}):
        with pytest.raises(ValueError, match="attached"):
            made(thickness=1e-3, **arguments)
    for bad in ({"thickness": 0.0}, {"thickness": 1e-3, "bending": -1.0}):
        with pytest.raises(ValueError, match="expected a"):
            made(**bad)
    with pytest.raises(ValueError, match="attachment"):
        made(thickness=1e-3, rig=rig, attached=np.ones(n), attachment=0.0)
    model = made(thickness=1e-3)
    points = jounce.Embedding(mesh, mesh.vertices[:1])
    with pytest.raises(ValueError, match="contact_points"):
        jounce.Simulation(model, colliders=[ground()], contact_points=points)
    with pytest.raises(ValueError, match="embedding"):
        model.displacement(np.zeros(model.coefficient_shape), points)
    with pytest.raises(ValueError, match="index"):
        jounce.SurfaceMesh(np.zeros((3, 3)), [[0, 1, 3]])


def test_a_held_point_carries_the_body_and_lets_go_without_a_force(mesh):
    model = jounce.Model.projective(mesh, jelly(young=2e4), handles=12, clusters=20)
    simulation = jounce.Simulation(model, gravity=(0, 0, -9.81), damping=0.1, substeps=2)
    point = int(mesh.vertices[:, 2].argmax())
    grip, target = jounce.Grip(model, [point]), mesh.vertices[point] + [0.1, 0.0, 0.4]
    pull = grip.pull(target[None], frequency=8.0, calm=6.0)
    assert np.array_equal(pull.targets, target[None])
    for _ in range(240):
        simulation.step(pull=pull)
    sag = target - (mesh.vertices + simulation.displacement())[point]
    assert np.allclose(sag, [0.0, 0.0, 9.81 / (2.0 * np.pi * 8.0) ** 2], atol=1e-3)

    def center():
        return np.average(simulation.displacement(), axis=0, weights=model.vertex_mass)

    before = center()
    simulation.step()
    assert np.allclose(center() - before, [0.0, 0.0, -9.81 * 3.0 / 48.0**2], atol=1e-4)


def test_what_cannot_be_held_is_refused(mesh, model):
    with pytest.raises(ValueError, match="points"):
        jounce.Grip(model, [len(mesh.vertices)])
    with pytest.raises(ValueError, match="points"):
        jounce.Grip(model, [-1])
    with pytest.raises(ValueError, match="points"):
        jounce.Grip(model, np.empty(0, np.int32))
    with pytest.raises(TypeError, match="points"):
        jounce.Grip(model, np.array([0.5]))
    grip = jounce.Grip(model, [0, 1])
    with pytest.raises(ValueError, match="targets"):
        grip.pull(np.zeros((1, 3)))
    for name, wrong in (("frequency", 0.0), ("calm", -1.0)):
        with pytest.raises(ValueError, match=name):
            grip.pull(np.zeros((2, 3)), **{name: wrong})
    other = jounce.Model.projective(mesh, jelly(), handles=5, clusters=8)
    with pytest.raises(ValueError, match="another body"):
        jounce.Simulation(other).step(pull=grip.pull(np.zeros((2, 3))))


def test_drag_brings_it_to_rest(mesh, model):
    simulation = jounce.Simulation(model)
    simulation.place(velocity=(2.0, 0.0, 0.0))
    drag = jounce.Drag(3.0 * model.vertex_mass)
    for _ in range(100):
        simulation.step(drag=drag)
    # v / c for ever.
    assert np.allclose(
        np.average(simulation.displacement(), axis=0, weights=model.vertex_mass)[0], 2.0 / 3.0, 1e-3
    )


def thrown_at_each_other(mesh, model):
    """Two bodies with shapes, one thrown at the other."""
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    shape = jounce.Collider.box(high - low, center=(low + high) / 2, friction=0.5)
    pair = [jounce.Simulation(model, dt=1 / 96, shape=shape) for _ in range(2)]
    away = 2.0 * (high - low)[0]
    pair[1].place(turned(0.2, (away, 0.0, 0.0)), velocity=(-10.0 * away, 0.0, 0.0))
    return pair


def test_bodies_with_shapes_touch_each_other_and_replay(mesh, model):
    pair = thrown_at_each_other(mesh, model)

    def center(simulation):
        return model.vertex_mass @ (mesh.vertices + simulation.displacement()) / model.vertex_mass.sum()

    def steps(pair, count):
        for _ in range(count):
            jounce.step_together(pair, [None, None])
        return [simulation.coefficients.copy() for simulation in pair]

    steps(pair, 3)
    assert abs(center(pair[0]) - center(jounce.Simulation(model))).max() < 1e-9
    middle = sum(map(center, pair))
    steps(pair, 3)
    gone = sum(map(center, pair)) - middle
    states = [simulation.save_state() for simulation in pair]
    expected = steps(pair, 9)
    # The momentum lost by one is gained by the other.
    pushed = center(pair[0]) - center(jounce.Simulation(model))
    assert pushed[0] < -0.05 * np.ptp(mesh.vertices[:, 0])
    assert np.allclose(sum(map(center, pair)) - middle, 4 * gone, atol=1e-5 * abs(gone).max())
    again = thrown_at_each_other(mesh, model)
    for simulation, state in zip(again, states, strict=True):
        simulation.restore_state(state)
    assert all(map(np.array_equal, steps(again, 9), expected))


def test_shapes_of_what_cannot_touch_and_of_other_substeps_are_refused(mesh, model):
    shape = jounce.Collider.sphere(1.0)
    flesh = jounce.Model.full_space(mesh, jelly("neo_hookean"))
    with pytest.raises(ValueError, match="shape: only bodies of handles touch each other"):
        jounce.Simulation(flesh, shape=shape)
    pair = [jounce.Simulation(model, substeps=substeps, shape=shape) for substeps in (1, 2)]
    with pytest.raises(ValueError, match="the same dt and the same substeps"):
        jounce.step_together(pair, [None, None])
