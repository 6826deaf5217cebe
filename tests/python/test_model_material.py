"""A model shows the material that it was made of, however it was made; a file alone does not hold it."""

import pickle

import jounce
import numpy as np
import pytest

FIRM = jounce.Material(young=2e4, density=900.0)
JELLY = jounce.Material(young=3e4, poisson=0.4, law="neo_hookean")


@pytest.fixture(scope="module")
def body():
    points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    return jounce.Body(
        points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20, young=5e4, density=800.0
    )


@pytest.fixture(scope="module")
def learnt(body):
    """A basis of linear modes of the body's mesh."""
    return jounce.linear_modes(body.mesh, FIRM, 4, pinned=body.mesh.vertices[:, 0] < 0.1).basis


WAYS = {
    "body": (lambda it, _: it.model, None),
    "body in the full space": (lambda it, _: it.full_space(), None),
    "body of another material": (lambda it, _: it.full_space(JELLY), JELLY),
    "body in a job": (lambda it, _: jounce.FullSpaceJob(it).result(), None),
    "mesh in a job": (lambda it, _: jounce.FullSpaceJob(it.mesh, JELLY).result(), JELLY),
    "body in a basis": (lambda it, basis: it.reduced(basis), None),
    "body of another material in a basis": (lambda it, basis: it.reduced(basis, material=JELLY), JELLY),
    "skinning": (lambda it, _: jounce.Model.skinning(it.mesh, FIRM, it.modes, it.labels), FIRM),
    "full space": (lambda it, _: jounce.Model.full_space(it.mesh, JELLY), JELLY),
    "reduced": (lambda it, basis: jounce.Model.reduced(it.mesh, FIRM, basis), FIRM),
    "sampled": (
        lambda it, basis: jounce.Model.reduced(it.mesh, FIRM, basis).sampled(jounce.Cubature([0], [1.0])),
        FIRM,
    ),
    "limited": (
        lambda it, basis: jounce.Model.reduced(it.mesh, FIRM, basis).limited(
            jounce.LimitSamples([0], [1.0], [2], [0.5])
        ),
        FIRM,
    ),
    "projective": (lambda it, _: jounce.Model.projective(it.mesh, FIRM, 6, 20), FIRM),
    "projective in a job": (lambda it, _: jounce.ProjectiveJob(it.mesh, FIRM, 6, 20).result(), FIRM),
}


def numbers(material):
    return material.law, material.young, material.poisson, material.density


@pytest.mark.parametrize("name", WAYS)
def test_a_model_shows_its_material(name, body, learnt):
    make, given = WAYS[name]
    model = make(body, learnt)
    expected = body.material if given is None else given
    for each in (model, pickle.loads(pickle.dumps(model))):
        assert numbers(each.material) == numbers(expected)
        assert repr(each).endswith(f" bones, {expected!r})")


def test_a_file_does_not_hold_the_material(body, tmp_path):
    body.model.save(tmp_path / "saved.jounce")
    model = jounce.Model.load(tmp_path / "saved.jounce")
    assert model.material is None
    assert repr(model) == "Model(4 modes, 1 bones)"
