"""Groups of settings, and positions, velocities and time of a simulation."""

import ast
import inspect
import re

import jounce
import numpy as np
import pytest

GROUPS = (jounce.FleshSettings, jounce.SubspaceSettings, jounce.RigSettings, jounce.StitchSettings)


def test_groups_have_every_setting_of_a_body_once():
    names = [name for group in GROUPS for name in group.__annotations__]
    assert len(set(names)) == len(names)
    given = inspect.signature(jounce.Body).parameters
    assert {*names, "editable", "like"} == set(jounce.BodySettings.__annotations__)
    assert set(jounce.BodySettings.__annotations__) | {"points", "triangles", "weights"} == set(given)


@pytest.mark.parametrize("group", [*GROUPS, jounce.BodySettings], ids=lambda group: group.__name__)
def test_groups_say_the_defaults(group):
    """Each attribute is described, with the default that the constructor has."""
    described = dict(re.findall(r"^(\w+) : (.*)$", inspect.getdoc(group), re.M))
    own = set(group.__annotations__)
    if group is jounce.BodySettings:
        own -= {name for part in GROUPS for name in part.__annotations__}
    assert set(described) == own
    given = inspect.signature(jounce.Body).parameters
    for name, text in described.items():
        default = given[name].default
        assert text.endswith(", optional" if default is None else f", default {default!r}"), name


def test_settings_of_a_simulation_say_its_defaults(box):
    """A simulation without settings has those that the two groups describe."""
    body = jounce.Body(*box, resolution=9, modes=3, clusters=7)
    full = jounce.Simulation(body.full_space()).settings
    text = "\n".join(map(inspect.getdoc, (jounce.TreeSettings, jounce.Settings)))
    described = dict(re.findall(r"^(\w+) : (.*)$", text, re.M))
    assert described.keys() == full.keys() == jounce.Settings.__annotations__.keys()
    for name, words in described.items():
        default = words.partition("default ")[2]
        if name == "max_iterations":
            assert jounce.Simulation(body.model).settings[name] == 30 and full[name] == 200
            assert default == "30, 200 in the full space"
        elif default:
            value = 1 / 24 if default == "1 / 24" else ast.literal_eval(default)
            assert np.array_equal(full[name], value), name
        else:
            assert full[name] is None and words.endswith(", optional"), name


def test_groups_make_what_arguments_make(box):
    space: jounce.SubspaceSettings = {"resolution": 9, "modes": 3, "clusters": 7}
    firm: jounce.FleshSettings = {"young": 2e4}
    body = jounce.Body(*box, **space, **firm)
    plain = jounce.Body(*box, resolution=9, modes=3, clusters=7, young=2e4)
    assert np.array_equal(body.modes.weights, plain.modes.weights)
    assert {name: body.settings[name] for name in space | firm} == space | firm


def test_a_jerk_of_the_rig_is_seen_in_position_velocity_and_time(box):
    """The displacement of a step is the velocity of backward Euler times its length."""
    body = jounce.Body(*box, resolution=10, modes=4, clusters=10)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    for model in (body.model, body.full_space()):
        simulation = jounce.Simulation(model, dt=0.02)
        simulation.reset(pose)
        assert simulation.time == 0.0
        assert not simulation.velocity().any()
        moved = pose.copy()
        moved[:, 1, 3] = 0.1
        simulation.step(moved)
        u = simulation.displacement()
        assert np.abs(u).max() > 0.01
        assert np.allclose(simulation.velocity(), u / 0.02, atol=1e-4)
        shown = model.displacement(simulation.coefficients, body.embedding)
        assert np.allclose(simulation.velocity(body.embedding), shown / 0.02, atol=1e-4)
        assert np.allclose(body.deformed(simulation, moved), body.posed(moved) + shown, atol=1e-6)
        assert np.allclose(body.posed(moved), body.points + [0.0, 0.1, 0.0])
        simulation.step(moved)
        assert simulation.time == pytest.approx(0.04)
        assert "time=0.040" in repr(simulation)
        simulation.cut(pose)
        assert simulation.time == pytest.approx(0.04)
        simulation.settle(pose)
        assert simulation.time == 0.0


def test_velocity_of_bdf2_is_of_second_order(box):
    """The velocity of a swinging body agrees with the central difference to the square of the step."""
    body = jounce.Body(*box, resolution=10, modes=4, clusters=10)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    worst = []
    for dt in (0.004, 0.002):
        simulation = jounce.Simulation(
            body.model, dt=dt, integrator="bdf2", tolerance=1e-12, max_iterations=500
        )
        simulation.reset(pose)
        force = np.zeros(body.model.coefficient_shape)
        force[0, 2, 3] = 50.0
        places, rates = [], []
        for _ in range(round(0.2 / dt)):
            simulation.step(pose, force=force)
            places.append(simulation.coefficients.copy())
            rates.append(simulation.velocity())
        middle = len(places) // 2
        central = (places[middle + 1] - places[middle - 1]) / (2 * dt)
        expected = body.model.displacement(central)
        worst.append(np.abs(rates[middle] - expected).max() / np.abs(expected).max())
    assert worst[0] < 0.05
    assert worst[1] < 0.35 * worst[0]
