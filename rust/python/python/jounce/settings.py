"""Settings of bodies, models and simulations, as keyword arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    import numpy.typing as npt

    from jounce._jounce import Body, Material, Rig, SkeletonCore, SurfaceMesh


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
        Factor on the rig's acceleration felt by the flesh, 0 = none. Below 1, held flesh in the full space
        turns with the rig by the rest.
    smoothing : float, default 0.0
        Share of this acceleration that is constant between two poses, their second difference. The rest
        follows the path through the poses, whose velocity jumps at each: the flesh then feels
        accelerations above a sixth of the frame rate by a third too much. The constant one comes half a
        frame later.
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
        Rest length factor of a loose body, or a projective one of tets, in [0.01, 100].
    hold : float, default 0.0
        Frequency in Hz of a critically damped spring from a loose body to its pose; 0 lets go.
    minimiser : int or 'newton', default 5
        Minimiser of a full-space model: the number of curvature pairs of L-BFGS, at most 100, with 0 for
        projective dynamics with a line search [QN]; or Newton's method on the projected Hessian, the
        reference, many times slower an iteration and without colliders.

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
    smoothing: float | None
    limit: float | None
    stretch: float | None
    contraction: float | npt.ArrayLike | None
    stitching: float | npt.ArrayLike | None
    inflation: float | None
    hold: float | None
    minimiser: int | Literal["newton"] | None


class FleshSettings(TypedDict, total=False):
    """Material of a `Body`, a group of `BodySettings`.

    Attributes
    ----------
    young : float or array, default 10000.0
        Pa, one number or one a surface point.
    poisson : float, default 0.0
        Poisson's ratio; above 0 with a law other than "arap".
    density : float, default 1000.0
        kg/m^3.
    law : {'arap', 'corotated'}, default 'arap'
        As in `Material`.

    Examples
    --------
    >>> firm: jounce.FleshSettings = {"young": 5e4, "law": "corotated", "poisson": 0.4}
    """

    young: float | npt.ArrayLike | None
    poisson: float
    density: float
    law: Literal["arap", "corotated"]


class SubspaceSettings(TypedDict, total=False):
    """Cage, coordinates and forces of a `Body`, a group of `BodySettings`.

    Attributes
    ----------
    resolution : int, optional
        Cells along the longest side; None is those for about 12,000 tets.
    solid : bool, default True
        Count only the inside of the surface.
    modes : int, default 24
        Number of modes.
    clusters : int, optional
        Number of clusters, whose tets share one rotation; None is 140.
    cubature : int, optional
        Number of tets whose weighted forces stand for all; 0 uses clusters instead. None is 140, or 0 with
        clusters.
    locality : float, default 0.0
        0 for global modes, above 0 as in `localised_modes`.
    driven : bool, optional
        As in `driven_modes`; None is True for a body with a core.
    seed : int, default 0
        Seed of the random draws.

    Examples
    --------
    >>> coarse: jounce.SubspaceSettings = {"resolution": 8, "modes": 4, "cubature": 20}
    """

    resolution: int | None
    solid: bool
    modes: int
    clusters: int | None
    cubature: int | None
    locality: float
    driven: bool | None
    seed: int


class RigSettings(TypedDict, total=False):
    """Bones of a `Body` and maps at its surface points, a group of `BodySettings`.

    Attributes
    ----------
    leak : (p,) array, optional
        In [0, 1], share of the default leak to keep at each point.
    strength : (p,) array, optional
        >= 0, factor on the rig's acceleration felt at each point.
    pinned : (p,) array of bool, optional
        Points that follow the rig exactly.
    core : SkeletonCore, optional
        The part of the body that is no flesh.
    merge_into : (b,) array of integers, optional
        The bone that stands for each bone in the complementarity constraint.
    bone_parents : (b,) array of integers, optional
        Parent of each bone, -1 for none: small bones count as their parents.
    shapes : (s, p, 3) array, optional
        Displacements at rest animated by the artist, metres.

    Examples
    --------
    >>> held: jounce.RigSettings = {"pinned": np.array([True] + 7 * [False])}
    """

    leak: npt.ArrayLike | None
    strength: npt.ArrayLike | None
    pinned: npt.ArrayLike | None
    core: SkeletonCore | None
    merge_into: npt.ArrayLike | None
    bone_parents: npt.ArrayLike | None
    shapes: npt.ArrayLike | None


class StitchSettings(TypedDict, total=False):
    """Stitches between surface points of a `Body`, a group of `BodySettings`.

    Attributes
    ----------
    stitches : (s, 2) array of integers, optional
        Pairs of points joined by springs.
    stitch_stiffness : float or array, default 10000.0
        N/m.
    stitch_gap : float or array, default 0.0
        Share of the rest distance to keep.
    stitch_group : array of integers, optional
        Groups that open and close on their own.
    stitch_radius : float or array, default 0.0
        Metres, of the balls over which the ends average.
    stitch_known : float or array, default 1.0
        Share of the stiffness used in the modal analysis.

    Examples
    --------
    >>> sewn: jounce.StitchSettings = {"stitches": [(0, 7)], "stitch_stiffness": 100.0}
    """

    stitches: npt.ArrayLike | None
    stitch_stiffness: float | npt.ArrayLike | None
    stitch_gap: float | npt.ArrayLike | None
    stitch_group: npt.ArrayLike | None
    stitch_radius: float | npt.ArrayLike | None
    stitch_known: float | npt.ArrayLike | None


class BodySettings(FleshSettings, SubspaceSettings, RigSettings, StitchSettings, total=False):
    """Settings of a `Body`: keyword arguments of its constructor.

    These are in addition to those of its groups, `FleshSettings`, `SubspaceSettings`, `RigSettings` and
    `StitchSettings`, each of which can be passed on its own.

    Attributes
    ----------
    editable : bool, default False
        Keep the factor of the modal analysis for a fast `like`.
    like : Body, optional
        A Body of the same surface and weights whose unchanged parts are reused.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> coarse: jounce.SubspaceSettings = {"resolution": 8, "modes": 4, "cubature": 20}
    >>> firm: jounce.FleshSettings = {"young": 5e4}
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), **coarse, **firm)
    >>> body.settings["resolution"], body.settings["young"]
    (8, 50000.0)
    """

    editable: bool
    like: Body | None


class SheetSettings(TypedDict, total=False):
    """Surface or skin of a body of handles, a group of `ProjectiveSettings`.

    Attributes
    ----------
    thickness : float, optional
        Thickness of a surface or a skin, metres, for its mass and stiffness; None for tets alone.
    bending : float, default 1.0
        Bending stiffness of a surface or a skin, relative to a plate of this thickness.
    skin : SurfaceMesh, optional
        Triangles between the vertices of a body of tets, on its surface or inside; its points are these
        vertices. Energy and mass add to those of the tets. None for no triangles.
    skin_material : Material, optional
        Material of the skin, uniform or per triangle; None for the material of the tets.

    Examples
    --------
    >>> thin: jounce.SheetSettings = {"thickness": 1e-3, "bending": 0.5}
    """

    thickness: float | None
    bending: float
    skin: SurfaceMesh | None
    skin_material: Material | None


class SpringSettings(TypedDict, total=False):
    """Springs between vertices of a body of handles, a group of `ProjectiveSettings`.

    Attributes
    ----------
    springs : (s, 2) array of integers, optional
        Pairs of vertices joined by springs, each pair on one loose part; None for no springs.
    spring_stiffness : float or (s,) array, optional
        Stiffness of each spring, N/m; `stiffness` of a Simulation scales it.
    spring_length : (s,) array, optional
        Length of each spring without force, metres; None for the distance at rest.

    Examples
    --------
    >>> braced: jounce.SpringSettings = {"springs": [(0, 7)], "spring_stiffness": 200.0}
    """

    springs: npt.ArrayLike | None
    spring_stiffness: float | npt.ArrayLike | None
    spring_length: npt.ArrayLike | None


class StrainSettings(TypedDict, total=False):
    """Limit of strain of a body of handles, a group of `ProjectiveSettings`.

    Attributes
    ----------
    strain_limit : (float, float), optional
        Smallest and largest principal stretch of clusters and triangles, around 1; None for no limit.
    limit_firmness : float, default 10.0
        Stiffness of the limit relative to the flesh: a stretch that would exceed it by e does so by
        `e / (1 + limit_firmness)`. More takes more iterations.

    Examples
    --------
    >>> inextensible: jounce.StrainSettings = {"strain_limit": (0.9, 1.05), "limit_firmness": 30.0}
    """

    strain_limit: tuple[float, float] | None
    limit_firmness: float


class AttachmentSettings(TypedDict, total=False):
    """Attachment of a body of handles to bones, a group of `ProjectiveSettings`.

    Attributes
    ----------
    rig : Rig, optional
        Rig of an attached body; None for a loose one.
    attached : (n,) array, optional
        Attachment of each vertex to its bones, bool or in [0, 1], by a spring of stiffness
        `attached m (2 pi attachment)^2`; None for a loose body. Vertices with half or more touch nothing.
    attachment : float, default 30.0
        Frequency of the attachment, Hz.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> rig, top = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1))), mesh.vertices[:, 2] > 0.9
    >>> hung: jounce.AttachmentSettings = {"rig": rig, "attached": top}
    """

    rig: Rig | None
    attached: npt.ArrayLike | None
    attachment: float


class ProjectiveSettings(SheetSettings, SpringSettings, StrainSettings, AttachmentSettings, total=False):
    """Settings of `Model.projective` and `ProjectiveJob`: keyword arguments.

    These are those of its groups, `SheetSettings`, `SpringSettings`, `StrainSettings` and
    `AttachmentSettings`, each of which can be passed on its own.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> braced: jounce.SpringSettings = {"springs": [(0, 7)], "spring_stiffness": 200.0}
    >>> inextensible: jounce.StrainSettings = {"strain_limit": (0.9, 1.05)}
    >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, **braced, **inextensible)
    >>> model.coefficient_shape
    (8, 3, 4)
    """
