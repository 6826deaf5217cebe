"""Settings of simulations, as keyword arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    import numpy.typing as npt


class TreeSettings(TypedDict, total=False):
    """Settings of a `DomainTree`: keyword arguments of its constructor and of `vary`.

    Attributes
    ----------
    dt : float, default 1 / 24
        Seconds a step, divided into `substeps`.
    substeps : int, default 1
        Steps that each `step` makes, with the pose in between.
    max_iterations : int, default 30, 200 in the full space
        Most iterations of each substep.
    tolerance : float, default 1e-06
        Stopping threshold for the change in an iteration, in the full space for the distance to the
        solution: root mean square over the mass as a share of the body's diagonal. There it shrinks,
        down to a hundredth, for a substep that moves the body by less than 2e-4.
    integrator : {'backward_euler', 'bdf2'}, default 'backward_euler'
        "backward_euler" loses much energy, "bdf2" little.
    stiffness : float, default 1.0
        Factor on the elastic energy.
    damping : float, default 0.0
        Ratio, the same for every mode.
    gravity : 3 floats, default (0.0, 0.0, 0.0)
        m/s^2.

    Examples
    --------
    >>> settings: jounce.TreeSettings = {"dt": 1 / 24, "damping": 0.1}
    """

    dt: float
    substeps: int
    max_iterations: int | None
    tolerance: float
    integrator: Literal["backward_euler", "bdf2"]
    stiffness: float | None
    damping: float | None
    gravity: tuple[float, float, float] | None


class Settings(TreeSettings, total=False):
    """Settings of a `Simulation`: keyword arguments of its constructor and of `vary`.

    These are in addition to those of `TreeSettings`. None leaves a setting unchanged, and is no limit.

    Attributes
    ----------
    pose_rest : float, default 1.0
        1 = the elastic rest shape follows the pose, 0 = the bind shape as in the paper.
    strength : float, default 1.0
        Factor on the rig's acceleration felt by the flesh, 0 = none.
    limit : float, optional
        Largest displacement anywhere, as a share of the body's diagonal; the flesh stiffens beyond half
        of the limit.
    stretch : float, optional
        The same for lengths, as a share of their rest length.
    contraction : float or array, default 0.0
        Contraction of the Fibres of a full-space model, as a share of length, in [0, 1], one for all
        muscles or (muscles,) float64.
    stitching : float or array, default 1.0
        Active share of the stitch stiffness, 1 as built, 0 open, one for all stitch groups or (groups,)
        float64; takes effect from the next step on, with the same model.
    inflation : float, default 1.0
        Rest length factor of a projective body of tets, in [0.01, 100].
    hold : float, default 0.0
        Frequency in Hz of a critically damped spring from a loose projective body to its pose; 0 lets go.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> settings: jounce.Settings = {"dt": 1 / 24, "damping": 0.1, "limit": 0.2}
    >>> simulation = jounce.Simulation(body.model, **settings)
    >>> simulation.vary(damping=0.2)
    >>> simulation.settings["damping"], simulation.settings["limit"]
    (0.2, 0.2)
    """

    pose_rest: float | None
    strength: float | None
    limit: float | None
    stretch: float | None
    contraction: float | npt.ArrayLike | None
    stitching: float | npt.ArrayLike | None
    inflation: float | None
    hold: float | None
