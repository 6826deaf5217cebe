"""Settings chosen from the shape and the rig."""

import jounce
import numpy as np
from jounce_core.body import loose, sensible
from jounce_core.flesh.settings import LooseSettings
from jounce_core.mesh.surface import Surface
from jounce_core.stepping.motion import DENSITY, YOUNG, wave_frequency


def box(size):
    """A closed box as a surface."""
    corners = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]) * size
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))])
    return Surface(corners, triangles, np.ones((8, 1)), ())


def test_a_thin_body_gets_finer_cells_than_a_compact_one():
    compact, thin = sensible.resolution(box((1.0, 1.0, 1.0))), sensible.resolution(box((1.0, 0.1, 0.1)))
    assert sensible.LEAST_RESOLUTION <= compact < thin <= sensible.MOST_RESOLUTION


def test_size_does_not_matter():
    assert sensible.resolution(box((1.0, 0.4, 0.3))) == sensible.resolution(box((1e3, 4e2, 3e2)))


def test_an_answer_is_kept_by_the_shape_and_the_question():
    asked = []

    @sensible.kept
    def question(surface, cells=0):
        asked.append(cells)
        return len(surface.points) + cells

    surface = box((1.0, 0.4, 0.3))
    twins = surface, box((1.0, 0.4, 0.3))
    assert [(question(each), question(each, 3)) for each in twins] == [(8, 11)] * 2
    assert asked == [0, 3]
    question(box((1.0, 0.4, 0.2)))
    assert asked == [0, 3, 0]


def apart(shape, other):
    """Distance of two shapes, the other turned and shifted onto the first."""
    shape, other = shape - shape.mean(axis=0), other - other.mean(axis=0)
    left, _, right = np.linalg.svd(other.T @ shape)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return np.linalg.norm(other @ (left @ flip @ right) - shape)


def dropped(model, mesh, surface, damping=0.0):
    """Shapes of a body, as firm as Add makes it, that falls on a tilted plane, in eighteen frames."""
    firm = (sensible.loose_frequency(surface.diagonal) / wave_frequency(surface.diagonal)) ** 2
    ground = jounce.Collider.plane((0.0, 0.0, -0.1 * surface.diagonal), (0.3, 0.2, 1.0))
    simulation = jounce.Simulation(
        model,
        substeps=4,
        gravity=(0.0, 0.0, -9.81),
        stiffness=firm,
        damping=damping,
        colliders=[ground],
    )
    simulation.reset()
    shapes = []
    for _ in range(18):
        simulation.step()
        shapes.append(np.asarray(mesh.vertices) + model.displacement(simulation.coefficients))
    return shapes


def test_loose_bodies_get_handles_that_are_near_the_full_space():
    surface = box((0.4, 0.4, 1.2))
    resolution = sensible.loose_resolution(surface)

    def built(clusters):
        settings = LooseSettings(resolution, sensible.LOOSE_HANDLES, clusters)
        return finished_body(loose.made(surface, settings))

    body = built(sensible.LOOSE_CLUSTERS)
    full = jounce.Model.full_space(body.mesh, jounce.Material(YOUNG, 0.0, DENSITY, "arap"))
    coarse = built(100)

    def errors(damping):
        right = dropped(full, body.mesh, surface, damping)
        changed = np.hypot.reduce([apart(shape, np.asarray(body.mesh.vertices)) for shape in right])
        assert changed > 0.01 * surface.diagonal * np.sqrt(len(body.mesh.vertices))
        for each in (body, coarse):
            shapes = dropped(each.model, each.mesh, surface, damping)
            pairs = zip(right, shapes, strict=True)
            yield np.hypot.reduce([apart(shape, other) for shape, other in pairs]) / changed

    for damping in (0.0, 0.02, 0.1):
        near, far = errors(damping)
        assert near < 0.15, damping
        assert damping > 0.0 or far > 0.2


def finished_body(job):
    """The body that a job makes."""
    while True:
        try:
            next(job)
        except StopIteration as end:
            return end.value
