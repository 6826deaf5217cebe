"""Smoothing: the flesh feels the second difference of the poses, constant between two of them."""

import cases
import jounce
import numpy as np
import pytest

SETTINGS = {"substeps": 4, "damping": 0.1, "tolerance": 1e-12, "max_iterations": 3000}


@pytest.fixture(params=["full space", "modes"])
def driven(request, mesh, rig, model):
    if request.param == "modes":
        return model
    material = jounce.Material(young=cases.YOUNG, poisson=0.3, density=cases.DENSITY, law="corotated")
    return jounce.Model.full_space(mesh, material, rig)


def places(mesh, rig, poses):
    """Places (f, n, 3) of the vertices of the rig in each pose."""
    points = np.column_stack([mesh.vertices, np.ones(len(mesh.vertices))])
    return np.einsum("nb,fbij,nj->fni", rig.weights, poses, points)


def walked(model, poses, forces=None, **settings):
    """Displacements (f, n, 3) over some poses."""
    simulation = jounce.Simulation(model, dt=cases.DT, **SETTINGS, **settings)
    simulation.reset(poses[0])
    moved = [simulation.displacement()]
    for frame, pose in enumerate(poses[1:], 1):
        simulation.step(pose, None if forces is None else forces[frame])
        moved.append(simulation.displacement())
    return np.array(moved)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_it_is_the_force_of_the_second_difference(driven, mesh, rig, bar, integrator):
    poses = bar.poses[:12].copy()
    if not driven.mode_count:
        # Without strength, flesh in the full space turns with its bones.
        poses[..., :3] = np.eye(3)
    mass = np.zeros(len(mesh.vertices))
    np.add.at(mass, mesh.tets, np.repeat(cases.DENSITY * mesh.volumes[:, None] / 4, 4, 1))
    there = places(mesh, rig, poses)
    before = np.concatenate([there[:1], there[:1], there[:-2]])
    last = np.concatenate([there[:1], there[:-1]])
    felt = -1.5 * mass[:, None] * (there - 2.0 * last + before) / cases.DT**2
    forces = [driven.reduce_forces(force) for force in felt] if driven.mode_count else list(felt)
    smooth = walked(driven, poses, smoothing=1.0, strength=1.5, integrator=integrator)
    forced = walked(driven, poses, forces, strength=0.0, integrator=integrator)
    size = np.abs(smooth).max()
    assert size > 1e-3
    assert np.abs(smooth - forced).max() < 1e-6 * size
    along = walked(driven, poses, strength=1.5, integrator=integrator)
    assert np.abs(smooth - along).max() > 0.02 * size


def test_a_trembling_rig_shakes_flesh_a_third_less(model, bar):
    draws = np.random.default_rng(0).normal(size=(60, 3))
    poses = np.repeat(np.tile(np.eye(3, 4), (1, len(bar.poses[0]), 1, 1)), 60, axis=0)
    poses[:, :, :, 3] += 0.01 * draws[:, None, :]

    def jitter(**settings):
        return np.percentile(np.abs(np.diff(walked(model, poses, **settings), n=2, axis=0)), 99.0)

    assert jitter(smoothing=1.0) < 0.67 * jitter()


def test_a_share_lies_between(model, bar):
    none, half, all_of_it = (walked(model, bar.poses[:8], smoothing=share) for share in (0.0, 0.5, 1.0))
    apart = np.abs(all_of_it - none).max()
    assert apart > 0.0
    assert 0.2 * apart < np.abs(half - none).max() < 0.8 * apart


def test_values_out_of_range_are_refused(model):
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="smoothing"):
            jounce.Simulation(model, smoothing=share)
