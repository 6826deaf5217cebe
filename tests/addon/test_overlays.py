"""False colours and their values."""

import numpy as np
import pytest
from jounce_core.body import built_bodies
from jounce_core.body.full_space import DraftError
from jounce_core.common.task import Runner
from jounce_core.display import cage, fields
from jounce_core.display.colours import DIVERGING, SEQUENTIAL, Look, Scale, hues
from jounce_core.display.fields import Field
from test_built_bodies import SETTINGS, tetrahedron


@pytest.fixture(scope="module")
def body():
    surface = tetrahedron()
    Runner(built_bodies.build(surface, SETTINGS)).run(float("inf"))
    return built_bodies.CACHE.get(surface.digest(SETTINGS))


def test_colours_run_from_end_to_end():
    scale = Scale("", "", Look.SEQUENTIAL, 2.0, 4.0)
    colours = scale.colours(np.array([1.0, 2.0, 3.0, 4.0, 9.0]))
    assert np.allclose(colours, SEQUENTIAL[[0, 0, 2, 4, 4]], atol=1e-6)
    assert [text for _, text in scale.ticks()] == ["2", "3", "4"]


def test_zero_is_the_middle_of_a_diverging_scale():
    assert np.allclose(Scale("", "", Look.DIVERGING, -1.0, 1.0).colours(np.zeros(1)), DIVERGING[2], atol=1e-6)


def test_equal_factors_are_equal_steps_of_a_logarithmic_scale():
    scale = Scale("", "kPa", Look.LOGARITHMIC, 1.0, 100.0)
    assert np.allclose(scale.colours(np.array([1.0, 10.0, 100.0])), SEQUENTIAL[[0, 2, 4]], atol=1e-6)
    assert [text for _, text in scale.ticks()] == ["1", "10", "100"]


def test_one_value_alone_has_a_colour_and_a_number():
    for look in (Look.SEQUENTIAL, Look.LOGARITHMIC):
        scale = Scale("", "", look, 5.0, 5.0)
        assert np.allclose(scale.colours(np.full(2, 5.0)), SEQUENTIAL[2], atol=1e-6)
        assert scale.ticks() == [(0.5, "5")]
    nothing = Scale("", "", Look.SEQUENTIAL, 0.0, 0.0)
    assert np.allclose(nothing.colours(np.zeros(1)), SEQUENTIAL[0], atol=1e-6)


def test_neighbouring_categories_differ():
    colours = hues(np.arange(40))
    assert np.abs(np.diff(colours, axis=0)).max(axis=1).min() > 0.2
    assert colours.min() >= 0.0 and colours.max() <= 1.0


def test_fields_at_rest_are_those_of_the_body(body):
    weights, scale = fields.at_rest(Field.WEIGHTS, body, 1, 1.0)
    raw = body.embedding.interpolate(body.modes.weights[:, 1:2].copy())[:, 0]
    assert np.allclose(weights * np.abs(raw).max(), raw) and np.abs(weights).max() == 1.0
    assert scale.title == "Mode 2"
    labels, _ = fields.at_rest(Field.CLUSTERS, body, 0, 1.0)
    assert set(labels) <= set(body.labels)
    leak, _ = fields.at_rest(Field.LEAK, body, 0, 1.0)
    assert len(leak) == 4 and leak.min() >= 0.0 and leak.max() <= 1.0
    young, scale = fields.at_rest(Field.STIFFNESS, body, 0, 2.0)
    assert np.allclose(young, 2.0 * built_bodies.YOUNG * 1e-3) and scale.unit == "kPa"
    off, scale = fields.at_rest(Field.RESIDUAL, body, 0, 1.0)
    assert len(off) == 4 and not off.any() and scale.title == "The modes are as built"


def test_stretch_is_that_of_the_longest_direction():
    rest, triangles = tetrahedron().points, tetrahedron().triangles
    flat = rest[[0, 1, 2]]
    turn = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    posed = (flat * [1.5, 0.8, 1.0]) @ turn.T + 3.0
    assert np.allclose(fields.stretch(flat, posed, np.array([[0, 1, 2]])), 50.0)
    assert np.allclose(fields.stretch(rest, rest @ turn.T, triangles), 0.0, atol=1e-9)
    assert np.isfinite(fields.stretch(np.zeros((3, 3)), flat, np.array([[0, 1, 2]]))).all()


def test_speed_is_distance_over_the_time_between_frames():
    trail, points = fields.Trail(), np.zeros((2, 3))
    assert trail.speed(1.0, points, 0.04).tolist() == [0.0, 0.0]
    assert np.allclose(trail.speed(2.0, points + [0.0, 3.0, 4.0], 0.04), 5.0 / 0.04)
    assert np.allclose(trail.speed(2.0, points, 0.04), 5.0 / 0.04), "drawn again, nothing has passed"
    assert np.allclose(trail.speed(0.0, points + [0.0, 3.0, 4.0], 0.04), 0.0)


def test_the_scale_of_a_moving_field_only_grows():
    peak = fields.Peak()
    assert peak.scale(Field.VELOCITY, np.array([1.0, 3.0])).high == 3.0
    assert peak.scale(Field.VELOCITY, np.array([2.0])).high == 3.0
    assert fields.Peak().scale(Field.STRETCH, np.array([1e-7])).high == fields.LEAST_STRETCH


def test_a_few_creases_do_not_darken_all_else():
    values = np.concatenate((np.linspace(0.0, 10.0, 1000), [400.0, 900.0]))
    scale = fields.Peak().scale(Field.STRETCH, values)
    assert 9.8 < scale.high < 10.0 and scale.beyond
    assert [text for _, text in scale.ticks()] == ["0", "4.96", "9.92 and more"]
    assert np.median(scale.colours(values)[:, 1]) > SEQUENTIAL[1, 1]


def test_the_legend_marks_only_what_is_beyond():
    peak = fields.Peak()
    assert not peak.scale(Field.STRETCH, np.linspace(0.0, 10.0, 20)).beyond
    assert peak.scale(Field.STRETCH, np.append(np.zeros(1000), 11.0)).beyond
    assert not peak.scale(Field.STRETCH, np.full(1000, 12.0)).beyond


def test_the_cage_is_where_the_rig_and_the_flesh_have_it(body):
    pose = np.eye(3, 4)[np.newaxis].copy()
    pose[0, :, 3] = (1.0, 2.0, 3.0)
    rest = np.asarray(body.mesh.vertices)
    assert np.allclose(cage.positions(body, pose, None), rest + [1.0, 2.0, 3.0])
    coefficients = np.zeros((body.model.mode_count, 3, 4))
    coefficients[0, 2, 3] = 0.1
    displacement = body.model.displacement(coefficients)
    moved = cage.positions(body, pose, displacement) - rest - [1.0, 2.0, 3.0]
    assert np.allclose(moved[:, 2], 0.1 * np.asarray(body.modes.weights)[:, 0], atol=1e-6)


def test_edges_of_the_cage_are_listed_once(body):
    pairs = cage.edges(body)
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs) and (pairs[:, 0] < pairs[:, 1]).all()
    lines = cage.hangers(body, np.asarray(body.mesh.vertices), tetrahedron().points)
    assert lines.shape == (4, 2, 3)


def test_the_error_of_a_draft_is_a_share_of_the_size(body):
    apart = np.linspace(0.0, 0.1, len(body.embedding.points))
    values, scale = fields.draft_error(DraftError(0.3, apart), body, "Learnt error")
    size = np.linalg.norm(np.ptp(body.embedding.points, axis=0))
    assert values[-1] == pytest.approx(10.0 / size) and scale.high == values[-1]
    values, scale = fields.draft_error(None, body, "Draft error")
    assert not values.any() and "No final motion" in scale.title
