"""Force fields at given points, and the effect of a shot's start and of a cut on a simulation."""

import jounce
import numpy as np
import pytest
from jounce_core.flesh.settings import RestartMode
from jounce_core.stepping.forces import Field, Range
from jounce_core.stepping.motion import FrameInput, Schedule, advance, begin

UP = np.array([0.0, 0.0, 1.0])
POINTS = np.array([[3.0, 0.0, 4.0], [0.0, 2.0, -1.0], [0.0, 0.0, 0.5]])


def accelerations(kind, shape="POINT", points=POINTS, **settings):
    field = Field(kind, shape, np.zeros(3), UP, 2.0, **settings)
    return field.acceleration(points, lambda places: np.sin(places))


def test_wind_blows_along_its_axis():
    assert accelerations("WIND").tolist() == [[0.0, 0.0, 2.0]] * 3


def test_a_force_points_away_and_gravitation_falls_with_the_square():
    assert accelerations("FORCE")[0] == pytest.approx([1.2, 0.0, 1.6])
    assert accelerations("FORCE", gravitation=True)[0] == pytest.approx([1.2 / 25, 0.0, 1.6 / 25])
    assert accelerations("FORCE", points=np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]
    assert accelerations("FORCE", "PLANE")[0] == pytest.approx([0.0, 0.0, 2.0])
    assert accelerations("FORCE", "LINE")[0] == pytest.approx([2.0, 0.0, 0.0])


def test_a_vortex_turns_about_its_axis():
    expected = np.array([[0.0, 10.0, 0.0], [-2.0 * np.sqrt(5.0), 0.0, 0.0]])
    assert accelerations("VORTEX")[:2] == pytest.approx(expected)
    whirl = np.array([[-12.0, 6.0, 0.0], [-4.0, -8.0, 0.0]])
    assert accelerations("VORTEX", "PLANE")[:2] == pytest.approx(whirl)


def test_a_harmonic_field_pulls_to_its_rest_length():
    assert accelerations("HARMONIC", rest_length=4.0)[0] == pytest.approx([-1.2, 0.0, -1.6])


def test_turbulence_is_the_noise_at_its_size():
    assert accelerations("TURBULENCE", is_global=True, size=2.0) == pytest.approx(2.0 * np.sin(POINTS / 2.0))


def test_falloff_and_distances():
    share = Range(2.0, 1.0, 4.0).share(np.array([0.5, 1.0, 2.0, 4.0, 4.1]))
    assert share == pytest.approx([1.0, 1.0, 0.25, 1.0 / 16.0, 0.0])
    # At a distance of 5, then across the axis, then in degrees from it.
    assert accelerations("WIND", along=Range(1.0))[0] == pytest.approx([0, 0, 2.0 / 6.0])
    tube = accelerations("WIND", falloff="TUBE", along=Range(1.0), radial=Range(1.0))
    assert tube[0] == pytest.approx([0, 0, 2.0 / 5.0 / 4.0])
    cone = accelerations("WIND", falloff="CONE", radial=Range(0.0, None, 40.0))
    assert cone[:, 2].tolist() == [2.0, 0.0, 2.0]


def resistance(kind, chance=None, **settings):
    field = Field(
        kind, settings.pop("shape", "POINT"), np.zeros(3), UP, settings.pop("strength", 2.0), **settings
    )
    return field.resistance(POINTS, chance)


def test_flow_takes_velocity_as_far_as_the_field_reaches():
    near = Range(0.0, None, 2.5)
    assert resistance("WIND", flow=3.0, along=near).linear.tolist() == [0.0, 3.0, 3.0]
    assert resistance("VORTEX", shape="PLANE", flow=3.0).linear.tolist() == [4.0] * 3
    assert not resistance("VORTEX", flow=0.0).linear.any()
    assert not resistance("DRAG", flow=3.0).linear.any()


def test_drag_and_the_damping_of_a_harmonic_field():
    assert resistance("HARMONIC", damping=0.5, flow=9.0).linear == pytest.approx([np.sqrt(2.0)] * 3)
    both = resistance("DRAG", damping=0.5, strength=9.0, along=Range(1.0))
    assert both.linear == pytest.approx([0.5 / 6.0, 0.5 / (1.0 + np.sqrt(5.0)), 0.5 / 1.5])
    assert both.quadratic == pytest.approx(4.0 * both.linear)
    below = resistance("DRAG", damping=-0.5, strength=-1.0)
    assert not below.linear.any()
    assert not below.quadratic.any()
    chance = np.array([[0.1, 0.2, 0.3], [-0.4, 0.0, 0.4]])
    noisy = resistance("DRAG", chance, damping=0.5, strength=1.0, noise=1.0)
    assert noisy.linear == pytest.approx([0.1, 0.5, 0.9])
    assert noisy.quadratic == pytest.approx([1.1, 1.2, 1.3])


def test_one_side_only():
    assert accelerations("WIND", side=1)[:, 2].tolist() == [2.0, 0.0, 2.0]
    assert accelerations("WIND", side=-1)[:, 2].tolist() == [0.0, 2.0, 0.0]


def started(body, course, gravity=(0.0, 0.0, -9.81)):
    simulation = jounce.Simulation(body.model, dt=1 / 24, damping=0.1, stiffness=0.05, gravity=gravity)
    begin(simulation, FrameInput(np.eye(3, 4)[None].copy(), 1.0), course)
    return simulation


def moved(simulation):
    return float(np.abs(simulation.displacement()).max())


def test_a_settled_start_hangs_and_a_start_at_rest_does_not(body):
    assert moved(started(body, Schedule(start=RestartMode.REST))) == 0.0
    settled = started(body, Schedule(start=RestartMode.SETTLED))
    before = moved(settled)
    assert before > 1e-4
    advance(settled, FrameInput(np.eye(3, 4)[None].copy(), 1.0), Schedule())
    assert moved(settled) == pytest.approx(before, rel=1e-3)


@pytest.mark.parametrize("crossing", [RestartMode.SETTLED, RestartMode.REST, RestartMode.KEPT])
def test_a_cut_leaves_no_jolt(body, crossing):
    course = Schedule(start=RestartMode.REST, cut=crossing)
    far = np.eye(3, 4)[None].copy()
    far[0, :, 3] = 7.0
    largest = {}
    for cut in (False, True):
        simulation = started(body, course, (0.0, 0.0, 0.0))
        largest[cut] = 0.0
        for frame in range(6):
            advance(simulation, FrameInput(far, 1.0, cut=cut and frame == 0), course)
            largest[cut] = max(largest[cut], moved(simulation))
    assert largest[False] > 1e-3
    assert largest[True] < 1e-9


def test_a_force_acts(body):
    force = body.model.force_samples(4)
    simulation = started(body, Schedule(), (0.0, 0.0, 0.0))
    push = force.reduce(np.tile([1.0, 0.0, 0.0], (len(force.masses), 1)) * force.masses[:, None])
    advance(simulation, FrameInput(np.eye(3, 4)[None].copy(), 1.0, force=push), Schedule())
    assert moved(simulation) > 1e-6


def test_drag_acts_and_is_part_of_the_drive(body):
    samples = body.model.force_samples(4)
    ends, poses = {}, [np.eye(3, 4)[None].copy() for _ in range(4)]
    for index, pose in enumerate(poses):
        pose[0, :, 3] = 0.05 * index**2
    for linear in (0.0, 5.0):
        drag = samples.drag(linear * samples.masses)
        simulation = started(body, Schedule(start=RestartMode.REST), (0.0, 0.0, 0.0))
        for pose in poses:
            advance(simulation, FrameInput(pose, 1.0, drag=drag), Schedule())
        ends[linear] = simulation.coefficients.tobytes()
    assert ends[0.0] != ends[5.0]
    drives = [FrameInput(poses[0], 1.0, drag=samples.drag(c * samples.masses)) for c in (1.0, 1.0, 2.0)]
    assert drives[0].agrees(drives[1])
    assert not drives[0].agrees(drives[2])
    assert not drives[0].agrees(FrameInput(poses[0], 1.0))
