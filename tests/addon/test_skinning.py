"""The table of weights and transforms makes the simulated displacement, also far from the origin."""

import jounce
import numpy as np
import pytest
from jounce_core.bake.skinning import skinning_table
from jounce_core.common.task import Runner
from jounce_core.mesh.surface import Part, Surface
from jounce_core.stepping.motion import Motion


@pytest.mark.parametrize("place", [0.0, 5000.0])
def test_the_table_makes_the_displacement(place):
    corners = [[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 3.0)]
    points = np.array(corners) + place
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int64)
    upper = (points[:, 2] - place) / 3.0
    surface = Surface(
        points, faces, np.column_stack((1.0 - upper, upper)), (Part("Box", slice(0, 8), np.eye(3)),)
    )
    body = jounce.Body(points, faces, surface.weights, resolution=6, modes=5, clusters=4)
    coefficients = np.random.default_rng(2).normal(size=(4, body.model.mode_count, 3, 4))
    coefficients[..., 3] -= coefficients[..., :3] @ points.mean(axis=0)
    runner = Runner(skinning_table(body, surface, Motion(np.zeros((4, 2, 3, 4)), coefficients)))
    runner.run(float("inf"))
    table = runner.message
    homogeneous = np.column_stack((table.points, np.ones(8)))
    for frame in range(4):
        exact = body.model.displacement(coefficients[frame], body.embedding)
        made = np.einsum("kp,kij,pj->pi", table.weights, table.transforms[frame], homogeneous)
        assert np.abs(made - exact).max() < 1e-5 * np.abs(exact).max()
    assert table.error < 1e-5 * np.abs(exact).max()
