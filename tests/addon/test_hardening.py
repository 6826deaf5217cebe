"""Hardening: stress by hand, and laws as curves beside those of the native module."""

from dataclasses import replace
from itertools import permutations

import jounce
import numpy as np
import pytest
from jounce_core.flesh.laws import curves
from jounce_core.flesh.settings import Flesh, Law

YOUNG = 1e4


def cubes(count):
    """A bar along x with this number of cubes, of six tets each."""
    places = np.array([(x, y, z) for x in range(count + 1) for y in range(2) for z in range(2)], float) * 0.25
    tets = []
    for cube in range(count):
        for way in permutations(range(3)):
            corners = [np.array([cube, 0, 0])]
            for axis in way:
                corners.append(corners[-1] + np.eye(3, dtype=int)[axis])
            tet = [int(corner @ (4, 2, 1)) for corner in corners]
            edges = places[tet[1:]] - places[tet[0]]
            tets.append(tet if np.linalg.det(edges) > 0.0 else [tet[1], tet[0], *tet[2:]])
    return jounce.TetMesh(places, np.array(tets))


@pytest.fixture(scope="module")
def bar():
    """A bar of four cubes."""
    return cubes(4)


@pytest.fixture(scope="module")
def cube():
    """Too short to buckle."""
    return cubes(1)


def made_of(flesh, drawn=False):
    """The material of some flesh, as curves with hardening or on request."""
    if drawn or flesh.has_curves:
        return jounce.Material(YOUNG, density=1000.0, law="spline", curves=curves(flesh))
    return jounce.Material(YOUNG, flesh.poisson, 1000.0, flesh.law.value)


def pulled(mesh, material, stress):
    """Vertices (n, 3) of a bar with its end pulled by a stress, Pa, and the other end held."""
    rest, tets = np.asarray(mesh.vertices), np.asarray(mesh.tets)
    edges = rest[tets[:, 1:]] - rest[tets[:, :1]]
    hats = np.linalg.inv(edges).transpose(0, 2, 1)
    hats = np.concatenate([-hats.sum(axis=1, keepdims=True), hats], axis=1)
    force = np.zeros_like(rest)
    np.add.at(force[:, 0], tets, np.asarray(mesh.volumes)[:, None] * stress * hats[:, :, 0])
    model = jounce.Model.full_space(mesh, material, pinned=rest[:, 0] == 0.0)
    simulation = jounce.Simulation(model, tolerance=1e-10)
    simulation.settle(force=force, max_iterations=5000)
    return rest + np.asarray(simulation.coefficients)


@pytest.mark.parametrize("hardening", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("stretch", [0.7, 1.0, 1.25, 1.5, 2.0])
def test_flesh_is_as_long_as_by_hand_where_it_is_pulled(cube, hardening, stretch):
    """`P = 2 mu (x - 1) + 8/3 H mu (x - 1)^3` of flesh without volume preservation."""
    mu, strain = 0.5 * YOUNG, stretch - 1.0
    stress = 2.0 * mu * strain + 8.0 / 3.0 * hardening * mu * strain**3
    places = pulled(cube, made_of(Flesh(Law.COROTATED, 0.0, hardening)), stress)
    expected = np.asarray(cube.vertices) * (stretch, 1.0, 1.0)
    assert np.abs(places - expected).max() < 1e-4


def tangent(flesh, stretch):
    """The slope of stress at a stretch, in shares of Young's modulus."""
    (length, *_), step = curves(flesh), 0.025
    low, high = (np.interp(stretch + side * step, *length.T) for side in (-1.0, 1.0))
    return (high - low) / (2.0 * step)


@pytest.mark.parametrize("hardening", [0.0, 1.0, 4.0])
def test_its_number_says_how_much_stiffer_flesh_is_at_half_again_its_length(hardening):
    flesh = Flesh(Law.COROTATED, 0.0, hardening)
    for stretch, factor in ((1.0, 1.0), (0.5, 1.0 + hardening), (1.5, 1.0 + hardening)):
        assert tangent(flesh, stretch) == pytest.approx(factor, rel=1e-2)


@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.45])
@pytest.mark.parametrize("law", [law for law in Law if law is not Law.CURVE])
def test_without_it_curves_are_the_laws_of_the_native_module(cube, law, poisson):
    flesh = Flesh(law, poisson)
    for stress in (-0.25 * YOUNG, 0.4 * YOUNG):
        right = pulled(cube, made_of(flesh), stress)
        drawn = pulled(cube, made_of(flesh, drawn=True), stress)
        far = np.abs(right - np.asarray(cube.vertices)).max()
        assert np.abs(drawn - right).max() < 3e-3 * far


@pytest.mark.parametrize("law", Law)
def test_it_holds_what_is_strained_and_leaves_small_strains(bar, law):
    soft, hard = Flesh(law, 0.4), Flesh(law, 0.4, 5.0)
    rest = np.asarray(bar.vertices)
    grown = [
        [
            np.ptp(pulled(bar, made_of(flesh), share * YOUNG)[:, 0]) / np.ptp(rest[:, 0]) - 1.0
            for flesh in (soft, hard)
        ]
        for share in (0.01, 0.6)
    ]
    assert grown[0][1] == pytest.approx(grown[0][0], rel=2e-2)
    assert grown[1][1] < 0.9 * grown[1][0]


@pytest.mark.parametrize("law", Law)
def test_flesh_that_hardens_is_swung_hard_and_comes_to_rest(bar, law):
    """Violent steps stay finite, and released flesh returns to its place. Thrown harder, flesh of laws that
    let it turn inside out may stay so."""
    thrown = 15.0 if law in (Law.COROTATED, Law.CURVE) else 25.0
    material = made_of(Flesh(law, 0.45, 10.0))
    rng = np.random.default_rng(1)
    rest = np.asarray(bar.vertices)
    model = jounce.Model.full_space(bar, material, pinned=rest[:, 0] == 0.0)
    simulation = jounce.Simulation(model, stiffness=50.0, damping=0.3, max_iterations=200)
    for _ in range(40):
        simulation.step(force=rng.normal(0.0, thrown * YOUNG / len(rest), rest.shape))
        assert np.isfinite(simulation.coefficients).all()
    for _ in range(300):
        simulation.step()
    assert np.abs(simulation.coefficients).max() < 1e-3


def test_a_body_is_known_by_it():
    flesh = Flesh(Law.NEO_HOOKEAN, 0.3)
    assert flesh.key == "neo_hookean" and replace(flesh, hardening=2.0).key == "neo_hookean 2.0"
