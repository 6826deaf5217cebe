"""Types of the compiled module; checked against it by `mypy.stubtest`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, Unpack, final

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from jounce.settings import BodySettings, ProjectiveSettings, Settings, TreeSettings

__all__ = [
    "STANDARD",
    "Basis",
    "Body",
    "BodyJob",
    "Collider",
    "Cubature",
    "CycleReport",
    "Dents",
    "Domain",
    "DomainTree",
    "Drag",
    "ElasticEnergy",
    "Embedding",
    "Fibres",
    "ForceSamples",
    "FullSpaceJob",
    "Grip",
    "HelperBonesJob",
    "Job",
    "Key",
    "KeyedMotion",
    "LearnJob",
    "LimitSamples",
    "LinearModes",
    "LinearModesJob",
    "LocalisedModes",
    "Material",
    "ModalKeysJob",
    "Model",
    "MotionJob",
    "Player",
    "ProjectiveJob",
    "Pull",
    "Rig",
    "Simulation",
    "SkeletonCore",
    "SkinningModes",
    "SparseMatrix",
    "State",
    "StepReport",
    "Stitches",
    "SurfaceMesh",
    "TetMesh",
    "Tracking",
    "__version__",
    "cluster_tets",
    "displacement_constraint",
    "driven_modes",
    "gradient",
    "helper_bones",
    "keyed_motion",
    "laplacian",
    "linear_modes",
    "localised_modes",
    "lumped_mass",
    "mass_pca",
    "modal_keys",
    "momentum_leak",
    "pull_back",
    "resolution",
    "size_frequency",
    "skinning_jacobian",
    "skinning_modes",
    "spread_to_interior",
    "step_together",
    "stiffness",
    "weight_constraint",
    "weight_hessian",
]

__version__: str
STANDARD: dict[str, float]

# Results.
_Floats: TypeAlias = npt.NDArray[np.float64]
_Singles: TypeAlias = npt.NDArray[np.float32]
_Flags: TypeAlias = npt.NDArray[np.bool_]
_Indices: TypeAlias = npt.NDArray[np.int32]
# Arguments of any precision and order.
_FloatsLike: TypeAlias = npt.NDArray[np.floating[Any] | np.integer[Any]] | Sequence[Any]
_IndicesLike: TypeAlias = npt.NDArray[np.integer[Any]] | Sequence[Any]
# An optional array; one number or an array.
_Rows: TypeAlias = _FloatsLike | None
_Field: TypeAlias = float | _FloatsLike
# Names.
_Law: TypeAlias = Literal["arap", "corotated", "neo_hookean", "stvk", "mooney_rivlin", "polynomial", "spline"]
_DraftLaw: TypeAlias = Literal["arap", "corotated"]
_Role: TypeAlias = Literal["automatic", "flesh", "rigid", "free"]

@final
class TetMesh:
    """A tetrahedral mesh with positive volumes: `det[x1 - x0, x2 - x0, x3 - x0] / 6 > 0`.

    Tets are linear elements, which resist bending too much: a beam sags 0.56 to 0.68 times as far as it
    should with two cubes of tets across, and 0.80 to 0.88 times with four. The cells of `TetMesh.lattice`
    do not.

    Parameters
    ----------
    vertices : (n, 3) array
        Positions, metres.
    tets : (t, 4) array of integers
        Vertex indices of each tet.
    solid : (t,) array, optional
        Share of flesh in each tet, in (0, 1]; None is 1.

    Raises
    ------
    ValueError
        For a vertex that is not finite, an index out of range, a flat or inverted tet, a vertex
        without a tet, and a share out of range.

    Examples
    --------
    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> mesh = jounce.TetMesh(corners, [[0, 1, 2, 3]])
    >>> mesh
    TetMesh(4 vertices, 1 tets)
    >>> mesh.volumes.round(3).tolist()
    [0.167]
    """
    def __new__(cls, vertices: _FloatsLike, tets: _IndicesLike, *, solid: _Rows = None) -> TetMesh: ...
    @staticmethod
    def lattice(
        points: _FloatsLike,
        triangles: _IndicesLike,
        resolution: int = 32,
        *,
        tet_count: int | None = None,
        solid: bool = False,
    ) -> TetMesh:
        """Fills a surface with a lattice of tets. The surface may be open, have several parts, or intersect
        itself.

        Parameters
        ----------
        points : (p, 3) array
            Positions on the surface, metres.
        triangles : (q, 3) array of integers
            Indices of the points.
        resolution : int, default 32
            Cells along the longest side of the bounding box.
        tet_count : int, optional
            If given, selects the resolution with about as many tets; at most 20 million.
        solid : bool, default False
            Count only the inside share of tets cut by the surface; not with tet_count.

        Returns
        -------
        TetMesh
            The mesh.

        Raises
        ------
        ValueError
            For arguments out of range.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> round(float(mesh.volumes.sum()), 3)
        4.0
        """
    @property
    def vertices(self) -> _Floats:
        """Vertex positions, (n, 3) float64, metres, read only."""
    @property
    def tets(self) -> _Indices:
        """Vertex indices of each tet, (t, 4) int32."""
    @property
    def solid(self) -> _Floats:
        """Share of flesh in each tet, (t,) float64 in (0, 1], read only."""
    @property
    def cells(self) -> _Indices:
        """Corners of the cells with a single elastic energy, (c, 8) int32; five consecutive tets each. Empty
        if each tet has an energy of its own.
        """
    @property
    def flesh(self) -> _Floats:
        """Centre of the flesh in each of `cells` and its variance along each axis, (c, 2, 3) float64: 0 and
        1/3 for a full cell with sides at -1 and 1.
        """
    @property
    def volumes(self) -> _Floats:
        """Volume of the flesh in each tet, (t,) float64, cubic metres, read only."""
    @property
    def vertex_volumes(self) -> _Floats:
        """Volume of flesh lumped to each vertex, (n,) float64, cubic metres: the vertex mass at a density of
        1. Each tet gives a quarter to each corner; in partly filled `cells`, vertices near the flesh get
        more.
        """
    def cut(self, sides: _IndicesLike) -> TetMesh:
        """The same mesh, open along every triangle between a tet of side -1 and a tet of side 1.

        Vertices are doubled where the cut separates the tets around them, and new ones come last. Tets keep
        their order.

        Parameters
        ----------
        sides : (t,) array of integers
            -1 or 1 beside the cut, 0 elsewhere; all tets of a cell have the same side.

        Returns
        -------
        TetMesh
            The cut mesh.

        Raises
        ------
        ValueError
            For other numbers, for a cut through a cell, and for one that opens nothing.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> middle = mesh.vertices[mesh.tets].mean(axis=1)[:, 0]
        >>> cut = mesh.cut(np.where(middle < 2.0, -1, 1))
        >>> len(cut.vertices) > len(mesh.vertices)
        True
        """
    @property
    def boundary(self) -> _Indices:
        """Triangles of a single tet, oriented outwards, (q, 3) int32."""

@final
class Embedding:
    """Points embedded in a tet mesh: `x = sum_i barycentric_i x_i` over the corners of one tet each.

    Parameters
    ----------
    mesh : TetMesh
        Mesh around the points.
    points : (p, 3) array
        Positions at rest, metres. A point outside is attached to the nearest point of the mesh; its
        barycentric weights too are in [0, 1] with a sum of 1.

    Raises
    ------
    ValueError
        For a point that is not finite.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> embedding = jounce.Embedding(mesh, points)
    >>> bool(np.allclose(embedding.interpolate(mesh.vertices), points))
    True
    """
    def __new__(cls, mesh: TetMesh, points: _FloatsLike) -> Embedding: ...
    def interpolate(self, values: _FloatsLike) -> _Floats:
        """Linear interpolation of vertex values to the points: (n, k) float64 to (p, k) float64.

        Parameters
        ----------
        values : (n, k) array
            Values at the vertices.

        Returns
        -------
        (p, k) array
            The values at the points.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> markers = jounce.Embedding(mesh, [[0.3, 0.5, 0.5], [1.7, 0.2, 0.9]])
        >>> stretched = mesh.vertices * [2.0, 1.0, 1.0]
        >>> markers.interpolate(stretched).round(6).tolist()
        [[0.6, 0.5, 0.5], [3.4, 0.2, 0.9]]
        """
    @property
    def points(self) -> _Floats:
        """The points at rest, (p, 3) float64, metres, read only."""
    @property
    def tets(self) -> _Indices:
        """Tet of each point, (p,) int32."""
    @property
    def barycentric(self) -> _Floats:
        """Barycentric weights of each point in its tet, (p, 4) float64, rows sum to 1, read only."""
    @property
    def furthest(self) -> float:
        """Largest distance of a point from the mesh, metres; 0 if all points are inside."""

@final
class SurfaceMesh:
    """A surface of triangles without volume, such as a cape, a skirt or a hair card.

    Parameters
    ----------
    points : (n, 3) array
        Positions, metres.
    triangles : (q, 3) array of integers
        Indices of the points. The surface may be open, have several parts, and have flipped or
        degenerate triangles.

    Raises
    ------
    ValueError
        For a point that is not finite and an index out of range.

    Examples
    --------
    >>> jounce.SurfaceMesh(*jounce.shapes.box())
    SurfaceMesh(8 points, 12 triangles)
    """
    def __new__(cls, points: _FloatsLike, triangles: _IndicesLike) -> SurfaceMesh: ...
    @property
    def points(self) -> _Floats:
        """Positions, (n, 3) float64, metres, read only."""
    @property
    def triangles(self) -> _Indices:
        """Point indices of each triangle, (q, 3) int32."""

@final
class Rig:
    """Linear-blend weights of a mesh: a posed vertex is `x_i = sum_j weights_ij T_j [X_i; 1]`.

    Parameters
    ----------
    mesh : TetMesh or SurfaceMesh
        Mesh of the vertices; a SurfaceMesh for an attached surface.
    weights : (n, b) array
        Skinning weights, one row a vertex, each with a sum of 1.

    Raises
    ------
    ValueError
        For a wrong shape, a weight that is not finite, and a row with another sum.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> along = mesh.vertices[:, 0] / 4
    >>> rig = jounce.Rig(mesh, np.stack([1 - along, along], axis=1))
    >>> rig.bone_count
    2
    """
    def __new__(cls, mesh: TetMesh | SurfaceMesh, weights: _FloatsLike) -> Rig: ...
    @property
    def bone_count(self) -> int:
        """Number of bones b."""
    @property
    def weights(self) -> _Floats:
        """The weights, (n, b) float64, rows sum to 1."""
    def merged(self, into: _IndicesLike) -> Rig:
        """The rig in which bone j moves as bone into[j], without the merged bones.

        Parameters
        ----------
        into : (b,) array of integers
            The bone that replaces each; a kept bone names itself.

        Returns
        -------
        Rig
            The rig, for constraints only: poses keep all bones.

        Raises
        ------
        ValueError
            For an unknown bone and for a cyclic chain.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> along = mesh.vertices[:, 0] / 4
        >>> rig = jounce.Rig(mesh, np.stack([1 - along, along], axis=1))
        >>> rig.merged([0, 0]).bone_count
        1
        """
    def with_shapes(self, shapes: _FloatsLike) -> Rig:
        """The same rig with shapes animated by the artist; modes do not imitate them.

        Parameters
        ----------
        shapes : (s, n, 3) array
            Displacements at rest, of which only the directions matter.

        Returns
        -------
        Rig
            The rig with the shapes.

        Raises
        ------
        ValueError
            For a wrong shape and for values that are not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
        >>> breath = np.zeros((1, len(mesh.vertices), 3))
        >>> breath[0, :, 2] = mesh.vertices[:, 0]
        >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4, rig.with_shapes(breath))
        """
    def posed(self, points: _FloatsLike, pose: _FloatsLike) -> _Floats:
        """Vertices in a pose: `x_i = sum_j weights_ij T_j [X_i; 1]`.

        Parameters
        ----------
        points : (n, 3) array
            Places of the vertices at rest, such as `mesh.vertices`, metres.
        pose : (b, 3, 4) array
            Transform of each bone, rest to posed, in world space.

        Returns
        -------
        (n, 3) array
            Posed places, metres.

        Raises
        ------
        ValueError
            For a wrong shape and for a pose that is not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> along = mesh.vertices[:, 0] / 4
        >>> rig = jounce.Rig(mesh, np.stack([1 - along, along], axis=1))
        >>> pose = np.tile(np.eye(3, 4), (2, 1, 1))
        >>> pose[1, 2, 3] = 0.4
        >>> lift = rig.posed(mesh.vertices, pose) - mesh.vertices
        >>> bool(np.allclose(lift[:, 2], 0.4 * along))
        True
        """

def spread_to_interior(mesh: TetMesh, vertex_ids: _IndicesLike, values: _FloatsLike) -> _Floats:
    """Harmonic extension of values from some vertices to all: `div grad f = 0` at the others.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    vertex_ids : (k,) array of integers
        Vertices with a given value.
    values : (k,) or (k, c) array
        Values at these vertices.

    Returns
    -------
    (n, k) array
        Values at all vertices, in the same unit.

    Raises
    ------
    ValueError
        For an id out of range and for values that are not finite.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> outside = np.unique(mesh.boundary)
    >>> spread = jounce.spread_to_interior(mesh, outside, mesh.vertices[outside])
    >>> bool(np.allclose(spread, mesh.vertices))
    True
    """

def momentum_leak(mesh: TetMesh) -> _Floats:
    """Momentum leak from the rig to the flesh: 1 on the surface, falling to 0 deepest inside.

    Diffusion from the surface over a time derived from the mesh, independent of scale.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.

    Returns
    -------
    (n,) array
        Leak of each vertex, in [0, 1]; 1 - leak is the matrix D of [FastCD].

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> leak = jounce.momentum_leak(mesh)
    >>> round(float(leak.min()), 6), round(float(leak.max()), 4)
    (0.0, 1.0)
    """

@final
class Material:
    """An elastic material: a law and its parameters, each one number or (t,) float64, one a tet.

    Parameters
    ----------
    young : float or array, default 100000.0
        Young's modulus, Pa, above 0.
    poisson : float or array, default 0.0
        Poisson's ratio, in [0, 0.5).
    density : float or array, default 1000.0
        Mass density, kg/m^3, above 0.
    law : {'arap', 'corotated', ...}, default 'arap'
        "arap", `psi = mu |F - R|^2` with `mu = young / (2 (1 + poisson))`, or "corotated", which
        adds `lambda / 2 tr^2(R'F - I)` with `lambda = young poisson / ((1 + poisson) (1 - 2
        poisson))`: resistance to change of volume, at the cost of a line search a step [FastCD
        C.2]. Surfaces without volume take "arap", with poisson in effect in their plane and in
        bending. `Model.full_space` also knows "neo_hookean", "stvk", "mooney_rivlin" (with c1 = 0.4
        mu, c2 = 0.1 mu), "polynomial" and "spline". "polynomial" is `psi = mu sum_i (s_i - 1)^4` of
        the principal stretches, without resistance to small strains or to change of volume.
        "spline" has drawn stress curves.
    curves : sequence of arrays, optional
        For "spline" only, the derivatives of the energies of lengths, areas and the volume, each
        (k, 2) float64 of ascending stretches and stresses in shares of young, or None for zero.
        Natural cubic splines interpolate them, with straight lines beyond the ends. They must
        balance at rest: length + 2 area + volume is 0 at 1; poisson is ignored.

    Raises
    ------
    ValueError
        For a parameter out of range and for an unknown law.

    Examples
    --------
    >>> jelly = jounce.Material(young=2e4, poisson=0.4, density=1000.0, law="neo_hookean")
    >>> jelly.young
    20000.0
    """
    def __new__(
        cls,
        young: _Field = 1e5,
        poisson: _Field = 0.0,
        density: _Field = 1000.0,
        law: _Law = "arap",
        curves: Sequence[_Rows] | None = None,
    ) -> Material: ...
    @property
    def law(self) -> _Law:
        """Name of the law."""
    @property
    def young(self) -> float | _Floats:
        """Young's modulus, Pa: one number, or (t,) float64."""
    @property
    def poisson(self) -> float | _Floats:
        """Poisson's ratio: one number, or (t,) float64."""
    @property
    def density(self) -> float | _Floats:
        """Density, kg/m^3: one number, or (t,) float64."""
    @property
    def curves(self) -> list[_Floats | None] | None:
        """Drawn stress curves of lengths, areas and the volume, each (k, 2) float64 or None for zero, as in
        the constructor; None for other laws.
        """

@final
class Fibres:
    """Fibres of full-space flesh, as in muscles and tendons: `psi = stiffness / 2 (|F d| - l)^2` in each
    tet [QN 4.4].

    The stress-free stretch l is 1 minus the `contraction` of a Simulation. A single free tet with a law
    of `mu |F - R|^2` reaches a stretch of `(2 mu + stiffness l) / (2 mu + stiffness)` along d.

    Parameters
    ----------
    stiffness : float or array
        Stiffness along the fibres, Pa, one number or (t,) float64; 0 for tets without fibres.
    direction : (t, 3) array
        Direction d at rest, of any length; nonzero wherever the stiffness is.

    Raises
    ------
    ValueError
        For a stiffness below 0 and for a direction of zero length.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> biceps = jounce.Fibres(5e4, np.tile([1.0, 0.0, 0.0], (len(mesh.tets), 1)))
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> model = jounce.Model.full_space(mesh, jounce.Material(), pinned=held, fibres=biceps)
    >>> simulation = jounce.Simulation(model, contraction=0.2)
    >>> simulation.reset()
    >>> report = simulation.settle()
    >>> bool(simulation.displacement()[:, 0].min() < -0.05)
    True
    """
    def __new__(cls, stiffness: _Field, direction: _FloatsLike) -> Fibres: ...
    @staticmethod
    def joined(muscles: Sequence[Fibres]) -> Fibres:
        """Joined fibres of several muscles, at most 32, each with its own `contraction` in the given order.
        Muscles may share tets.

        Parameters
        ----------
        muscles : sequence of Fibres
            Fibres of each muscle in the same mesh.

        Returns
        -------
        Fibres
            The fibres of all muscles.

        Raises
        ------
        ValueError
            For an empty list, for too many muscles and for different numbers of tets.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> along = np.tile([1.0, 0.0, 0.0], (len(mesh.tets), 1))
        >>> left = mesh.vertices[mesh.tets].mean(axis=1)[:, 1] < 0.5
        >>> muscles = [jounce.Fibres(5e4 * side, along) for side in (left, ~left)]
        >>> both = jounce.Fibres.joined(muscles)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> model = jounce.Model.full_space(mesh, jounce.Material(), pinned=held, fibres=both)
        >>> simulation = jounce.Simulation(model, contraction=[0.2, 0.0])
        """

@final
class Stitches:
    """Springs between points of one mesh: `sum_s k_s / 2 |x_a - x_b - gap_s d_s|^2` of total positions.

    Parameters
    ----------
    mesh : TetMesh
        Mesh of the points.
    pairs : (s, 2) array of integers
        Vertex indices of both ends, or with `emb` indices of the points of an Embedding in the mesh.
    stiffness : float or array, default 10000.0
        Stiffness k of each spring, N/m, one number or (s,).
    gap : float or array, default 0.0
        Share of the rest distance to keep, one number or (s,): 0 pulls the ends together, 1 keeps their
        rest distance d, turned along with the rig.
    emb : Embedding, optional
        Embedding of the points in `pairs`; None for vertices.
    group : (s,) array of integers, optional
        Group of each spring, below 32, for separate opening by a Simulation's `stitching`; None for one
        group.
    radius : float or array, default 0.0
        Metres, one number or (s,): each end acts on the mean of the flesh in a ball of this radius,
        which makes the compliance independent of the mesh; 0 acts on points.

    Raises
    ------
    ValueError
        For an index out of range, a stiffness that is not positive and a gap outside of [0, 1].

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> ends = [int(np.argmin(mesh.vertices[:, 0])), int(np.argmax(mesh.vertices[:, 0]))]
    >>> stitches = jounce.Stitches(mesh, [ends], stiffness=100.0, gap=1.0)
    >>> len(stitches)
    1
    """
    def __new__(
        cls,
        mesh: TetMesh,
        pairs: _IndicesLike,
        stiffness: _Field = 1e4,
        gap: _Field = 0.0,
        emb: Embedding | None = None,
        group: _IndicesLike | None = None,
        radius: _Field = 0.0,
    ) -> Stitches: ...
    def __len__(self) -> int: ...

@final
class SkinningModes:
    """Skinning weights, the basis of the secondary motion: `u_i = sum_k weights_ik Z_k [X_i; 1]`, Z_k 3x4.

    Parameters
    ----------
    weights : (n, m) array
        Weights of each vertex. Given directly, they may be neither orthonormal nor independent.
    eigenvalues : (m,) array
        Eigenvalue of each mode, 1/s^2, ascending unless localised.

    Raises
    ------
    ValueError
        For a wrong shape and for values that are not finite.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> modes = jounce.SkinningModes(np.ones((len(mesh.vertices), 1)), [0.0])
    >>> modes.weights.shape == (len(mesh.vertices), 1)
    True
    """
    def __new__(cls, weights: _FloatsLike, eigenvalues: _FloatsLike) -> SkinningModes: ...
    @property
    def weights(self) -> _Floats:
        """The weights, (n, m) float64; from `skinning_modes` orthonormal in the mass, 1/sqrt(kg)."""
    @property
    def eigenvalues(self) -> _Floats:
        """Eigenvalues, (m,) float64, 1/s^2, ascending unless localised; a mode's frequency is
        `sqrt(eigenvalue) / (2 pi)` Hz.
        """

def skinning_modes(
    mesh: TetMesh,
    material: Material,
    count: int = 16,
    rig: Rig | None = None,
    leak: _Rows = None,
    pinned: _Flags | Sequence[bool] | None = None,
    stitches: Stitches | None = None,
) -> SkinningModes:
    """The smoothest weights complementary to the rig: smallest `H w = lambda M w` with `A' w = 0`.

    H is the weight-space Hessian, the Laplacian with conductivity 4 mu + lambda [FastCD eq. 18]; A the
    complementarity constraint `B' D M J = 0` [FastCD eq. 21] with D = 1 - leak.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        The material.
    count : int, default 16
        Number of modes m.
    rig : Rig, optional
        Rig that the modes complement; None leaves them unconstrained.
    leak : (n,) array, optional
        Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
    pinned : (n,) array of bool, optional
        Vertices with zero weights.
    stitches : Stitches, optional
        Springs whose stiffness is added to H.

    Returns
    -------
    SkinningModes
        The modes, with all copies of a repeated eigenvalue.

    Raises
    ------
    ValueError
        For a count above the free dimension of mesh and rig, and for arguments of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4, rig)
    >>> modes.weights.shape == (len(mesh.vertices), 4)
    True
    >>> bool((np.diff(modes.eigenvalues) >= 0).all())
    True
    """

def driven_modes(
    mesh: TetMesh,
    material: Material,
    bones: Rig,
    count: int = 16,
    rig: Rig | None = None,
    leak: _Rows = None,
    pinned: _Flags | Sequence[bool] | None = None,
    stitches: Stitches | None = None,
) -> SkinningModes:
    """Modes that contain the motion which each bone's acceleration makes, also of small soft parts.

    A third of them are those of `skinning_modes`; the others hold the answers of the flesh to the loads
    `M w_b` of the bones, next that whose answer has the most energy outside of the modes so far. They
    are mass-orthonormal and diagonal in H, and `eigenvalues` those of H in their span, ascending.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        The material.
    bones : Rig
        Rig whose bones accelerate.
    count : int, default 16
        Number of modes.
    rig : Rig, optional
        Rig that the modes complement; None leaves them unconstrained.
    leak : (n,) array, optional
        Share of the momentum that reaches the flesh of each vertex, in [0, 1]; None is
        `momentum_leak(mesh)`.
    pinned : (n,) array of bool, optional
        Vertices that follow the rig exactly.
    stitches : Stitches, optional
        Springs between points of the mesh; None is none.

    Returns
    -------
    SkinningModes
        The modes.

    Raises
    ------
    ValueError
        As `skinning_modes`, and for bones of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    >>> jounce.driven_modes(mesh, jounce.Material(), rig, 4, rig).weights.shape[1]
    4
    """

@final
class LocalisedModes:
    """Localised modes and their quality; made by `localised_modes`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> found = jounce.localised_modes(mesh, jounce.Material(), 3, locality=5.0)
    >>> found.supports.shape, 0 <= found.span <= 1
    ((3,), True)
    """
    @property
    def modes(self) -> SkinningModes:
        """The modes in order of definition, with energies in place of eigenvalues."""
    @property
    def supports(self) -> _Floats:
        """Share of the mass with more than a hundredth of the largest value, for each mode, (m,) float64."""
    @property
    def span(self) -> float:
        """Share of the span of as many global modes, in [0, 1]."""
    @property
    def residual(self) -> float:
        """Optimality residual of the least exact mode, relative to its size."""

def localised_modes(
    mesh: TetMesh,
    material: Material,
    count: int = 16,
    locality: float = 10.0,
    rig: Rig | None = None,
    leak: _Rows = None,
    pinned: _Flags | Sequence[bool] | None = None,
) -> LocalisedModes:
    """Modes confined to parts of the body: `skinning_modes` with an L1 term, one mode after the other.

    Mode j minimises `w' H w / 2 + mu sum_i m_i |w_i|` with `w' M w = 1`, complementary to the rig and
    orthogonal to the previous modes [FastCD sec. 9.5].

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        The material.
    count : int, default 16
        Number of modes.
    locality : float, default 10.0
        Dimensionless locality, above 0: a mode covers about the share `1 / locality` of the body, less
        in thin limbs.
    rig : Rig, optional
        Rig that the modes complement; None leaves them unconstrained.
    leak : (n,) array, optional
        Share of the momentum that reaches the flesh of each vertex, in [0, 1]; None is
        `momentum_leak(mesh)`.
    pinned : (n,) array of bool, optional
        Vertices that follow the rig exactly.

    Returns
    -------
    LocalisedModes
        The modes and their quality.

    Raises
    ------
    ValueError
        For a locality that is not positive, and as `skinning_modes`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> found = jounce.localised_modes(mesh, jounce.Material(), 3, locality=5.0)
    >>> found.modes.weights.shape[1]
    3
    """

def cluster_tets(mesh: TetMesh, modes: SkinningModes, count: int = 100, seed: int = 0) -> _Indices:
    """Connected clusters of tets with similar motion in the modes.

    Volume-weighted k-means on `mean over the corners of weights_k / eigenvalue_k^2` [FastCD eq. 27],
    split into connected parts.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    modes : SkinningModes
        Modes in which the tets of a cluster move alike.
    count : int, default 100
        Largest number of clusters, unless the mesh has more separate parts.
    seed : int, default 0
        Seed of the k-means start.

    Returns
    -------
    (t,) array of integers
        Label of each tet, from 0; the same seed gives the same labels.

    Raises
    ------
    ValueError
        For a count of 0 and for modes of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4)
    >>> labels = jounce.cluster_tets(mesh, modes, count=10)
    >>> labels.shape == (len(mesh.tets),), int(labels.max()) < 10
    (True, True)
    """

@final
class Basis:
    """Displacement fields on all vertices, the basis of a body's motion: `u = sum_j shapes_j q_j`.

    Parameters
    ----------
    shapes : (r, n, 3) array
        Displacement fields. Given directly, they may be neither orthonormal nor independent.

    Raises
    ------
    ValueError
        For a wrong shape and for values that are not finite.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> sway = np.zeros((1, len(mesh.vertices), 3))
    >>> sway[0, :, 2] = mesh.vertices[:, 0] ** 2
    >>> jounce.Basis(sway).shapes.shape == sway.shape
    True
    """
    def __new__(cls, shapes: _FloatsLike) -> Basis: ...
    @property
    def shapes(self) -> _Floats:
        """Basis fields, (r, n, 3) float64; orthonormal in the mass if made by `mass_pca`, 1/sqrt(kg)."""
    @property
    def singular_values(self) -> _Floats:
        """Singular values of the snapshots, (k,) float64, m sqrt(kg), descending. All are listed; the basis
        keeps the first r directions. Empty for a basis made directly.
        """

def mass_pca(
    mesh: TetMesh,
    material: Material,
    snapshots: _FloatsLike,
    count: int | None = None,
    energy: float | None = None,
) -> Basis:
    """Mass-orthonormal displacements closest to the displacements of a shot: mass-PCA [MOR eq. 12].

    `M^1/2 A = U~ S V'` with snapshots as columns of A, `U = M^-1/2 U~`. In the mass norm, the error of
    the first r fields is the root of the sum of the remaining squared singular values.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        Material, whose density gives the mass norm.
    snapshots : (f, n, 3) array
        Displacements in each frame, metres, such as those of a full-space simulation.
    count : int, optional
        Largest r; fewer fields if the snapshots have a lower rank.
    energy : float, optional
        Share of the sum of squared singular values, in (0, 1], that the smallest r must have. With
        both, the smaller r wins; with neither, energy is 0.999.

    Returns
    -------
    Basis
        The basis.

    Raises
    ------
    ValueError
        For snapshots of another mesh, for values that are not finite, and for snapshots without
        motion.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> shot = np.sin(np.arange(6.0))[:, None, None] * mesh.vertices[None]
    >>> basis = jounce.mass_pca(mesh, jounce.Material(), shot)
    >>> len(basis.shapes)
    1
    """

@final
class LinearModes:
    """Linear modes of a body, or of a surface without volume: its small vibrations. Made by
    `linear_modes`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    >>> modes.shapes.shape == (5, len(mesh.vertices), 3)
    True
    >>> bool((np.diff(modes.frequencies) >= 0).all())
    True
    """
    @property
    def shapes(self) -> _Floats:
        """Displacements Psi, (k, n, 3) float64, with `Psi'M Psi = I`, 1/sqrt(kg)."""
    @property
    def eigenvalues(self) -> _Floats:
        """`lambda = omega^2`, (k,) float64, 1/s^2, ascending; about zero for rigid motions."""
    @property
    def frequencies(self) -> _Floats:
        """`sqrt(lambda) / 2 pi`, (k,) float64, Hz."""
    @property
    def basis(self) -> Basis:
        """The modes as a Basis, for `Model.reduced`."""
    @property
    def residuals(self) -> _Floats | None:
        """Bounds of the relative error of each eigenvalue, (k,) float64, for modes found by `stitched`,
        `stiffened` or `cut`; None for others. They hold if no mode is missing, and increase towards the
        highest of the modes that the edit started from: more such modes give tighter bounds.
        """
    @property
    def refactored(self) -> bool:
        """True if an edit took another factorisation, because an update would have taken longer."""
    def stitched(self, stitches: Stitches, count: int) -> LinearModes:
        """The count lowest modes of the body with these stitches in place of its own, without another
        factorisation [IDSR sec. 4.1].

        Rayleigh-Ritz on the stitched Hessian in the span of these modes and of static corrections `K^-1 A
        F`, widened while error bounds are above half a percent of an eigenvalue. Stitches raise some modes
        above others, so there should be more modes than count; they must include the rigid motions of free
        components. Modes that are stitched already start again from the unstitched ones, so that errors do
        not accumulate and the order of edits does not matter.

        Parameters
        ----------
        stitches : Stitches
            Stitches of this mesh; their gaps have no effect on small vibrations.
        count : int
            Number of modes.

        Returns
        -------
        LinearModes
            The modes of the stitched body.

        Raises
        ------
        ValueError
            For stitches of another mesh, for more modes than there are, and for a surface without
            volume.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> soft, held = jounce.Material(), mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, soft, 12, pinned=held)
        >>> stitches = jounce.Stitches(mesh, [[0, len(mesh.vertices) - 1]], stiffness=1e4)
        >>> sewn = modes.stitched(stitches, 4)
        >>> anew = jounce.linear_modes(mesh, soft, 4, pinned=held, stitches=stitches)
        >>> bool(np.allclose(sewn.frequencies, anew.frequencies, rtol=0.005))
        True
        """
    def stiffened(self, factor: _Field, count: int) -> LinearModes:
        """The count lowest modes of the body with the stiffness of its tets multiplied by a factor [IDSR sec.
        5.1].

        Factors replace earlier ones and refer to the material of the body as built; stitches stay, and
        `stitched` keeps factors. If a part that nothing connects to others changes as a whole, its shapes
        stay, and its frequencies change by the root of the factor. In other cases the search uses the factor
        of the matrix from before; where this would take too long, the matrix is factored anew, and
        `refactored` is True.

        Parameters
        ----------
        factor : float or (t,) array
            Factor on Young's modulus, one number or one for each tet; 1 restores the modes as built.
        count : int
            Number of modes; there should be a few more modes than this.

        Returns
        -------
        LinearModes
            The modes of the body with this stiffness.

        Raises
        ------
        ValueError
            For a factor that is not positive or of another mesh, for more modes than there are, and for a
            surface without volume.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 12, pinned=held)
        >>> outer = mesh.vertices[mesh.tets].mean(axis=1)[:, 0] > 2.0
        >>> softer = modes.stiffened(np.where(outer, 0.1, 1.0), 6)
        >>> bool((softer.frequencies < modes.frequencies[:6]).all())
        True
        >>> bool(np.allclose(modes.stiffened(4.0, 6).frequencies, 2.0 * modes.frequencies[:6]))
        True
        """
    def cut(self, mesh: TetMesh, count: int) -> LinearModes:
        """The count lowest modes of the body with a cut mesh: cutting as the inverse of stitching [IDSR].

        The vertices that `TetMesh.cut` doubles become a border of the factored matrix, where stitches have
        one with the compliance of their springs. A cut through many vertices takes another factor, and
        `refactored` is True. It replaces an earlier cut, and the uncut mesh restores the modes as built.
        Stitches that were added since go, so sew the vertices of the cut mesh by `stitched`; factors stay.

        Parameters
        ----------
        mesh : TetMesh
            Mesh made by `TetMesh.cut` from that of the body as built.
        count : int
            Number of modes; there should be a few more modes than this.

        Returns
        -------
        LinearModes
            The modes of the cut body.

        Raises
        ------
        ValueError
            For a mesh that is no cut of the body's, for more modes than there are, for modes that
            complement a rig, and for a surface without volume.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 20, pinned=mesh.vertices[:, 0] < 0.1)
        >>> x, _, z = mesh.vertices[mesh.tets].mean(axis=1).T
        >>> opened = modes.cut(mesh.cut(np.where(z > 0.5, 0, np.where(x < 2.0, -1, 1))), 6)
        >>> bool(opened.frequencies[0] < modes.frequencies[0])
        True
        """
    def attached(self, interfaces: Sequence[_IndicesLike]) -> LinearModes:
        """These modes, and up to six residual attachment modes for each interface: the part of the static
        responses to a force and to a torque there that the modes miss [MacNeal].

        A few modes describe vibration, but not how a body yields to another one attached to it, such as a
        Domain: that takes `K^-1` of six loads, spread over the interface by mass, minus the part in the
        modes. Each interface adds its own shapes, so this is for heavy attachments.

        Parameters
        ----------
        interfaces : sequence of arrays of integers
            Vertices of each interface.

        Returns
        -------
        LinearModes
            The modes with the new ones last, whose eigenvalues are no natural frequencies of the body.

        Raises
        ------
        ValueError
            For interfaces that do not fit, for a body that was stitched after it was factored, and for
            a surface without volume.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> tip = np.flatnonzero(mesh.vertices[:, 0] > 3.9)
        >>> len(modes.attached([tip]).shapes)
        11
        """
    def derivatives(self) -> _Floats:
        """Modal derivatives, the second-order deflections of the body: `K Phi^ij = -(H : psi_j) psi_i` [MOR
        eq. 13-16].

        `u = sum_i p_i psi_i + 1/2 sum_ij p_i p_j Phi^ij` is its response to the force `M Psi Lambda p`, up
        to third order.

        Returns
        -------
        (k (k + 1) / 2, n, 3) array
            Derivatives, 1/(m kg), one per pair i <= j: (0, 0), (0, 1) and so on.

        Raises
        ------
        ValueError
            If the body has more rigid motions than there are among these modes.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 2, pinned=mesh.vertices[:, 0] < 0.1)
        >>> tip = mesh.vertices[:, 0] > 3.9
        >>> straight, curved = modes.shapes[0, tip].mean(axis=0), modes.derivatives()[0, tip].mean(axis=0)
        >>> bool(abs(straight[0]) < 1e-9), bool(curved[0] < -1e-4)
        (True, True)
        """
    def carried_derivatives(self, derivatives: _FloatsLike) -> _Floats:
        """Derivatives of the unstitched body updated to the current stitches, without a solve for each [IDSR
        eq. 13].

        The right-hand sides stay, and `(K + A k A')^-1` of these is `Phi - Y f + R y` with `Y = K^-1 A`,
        the rigid motions R of components held by the stitches, and the forces f of the stitches.

        Parameters
        ----------
        derivatives : (k (k + 1) / 2, n, 3) array
            Derivatives by `derivatives` of the modes on which `stitched` was called.

        Returns
        -------
        (k (k + 1) / 2, n, 3) array
            Derivatives of the stitched body.

        Raises
        ------
        ValueError
            For a body that was not stitched, for derivatives of other modes, and if removed stitches
            set a component free.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> tip = np.flatnonzero(mesh.vertices[:, 0] > 3.9)
        >>> stitches = jounce.Stitches(mesh, [[tip[0], tip[-1]]], stiffness=1e4)
        >>> sewn = modes.stitched(stitches, 3)
        >>> carried = sewn.carried_derivatives(modes.derivatives())
        >>> len(carried)
        15
        """
    def bent_basis(self, count: int, carried: _FloatsLike | None = None) -> Basis:
        """The count displacements that best span the slow motion of the body, large bends included [MOR eq.
        17, 18].

        Mass-PCA of modes and derivatives, weighted towards low frequencies: `p l_1 / l_j psi_j` and `p^2 /
        2 l_1^2 / (l_i l_j) Phi^ij`, where p moves the slowest deforming mode by a quarter of the mesh's
        diagonal.

        Parameters
        ----------
        count : int
            Number of fields.
        carried : (k (k + 1) / 2, n, 3) array, optional
            Derivatives of the unstitched body. Two fifths of them, those of the slowest pairs, are taken
            over by `carried_derivatives`, and only the first five modes get new ones [IDSR sec. 4.2].

        Returns
        -------
        Basis
            The basis.

        Raises
        ------
        ValueError
            As `derivatives` and `carried_derivatives`, and if no mode deforms the body.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> firm, sags = jounce.Material(young=1e6), []
        >>> modes = jounce.linear_modes(mesh, firm, 5, pinned=mesh.vertices[:, 0] < 0.1)
        >>> for basis in (modes.basis, modes.bent_basis(8)):
        ...     model = jounce.Model.reduced(mesh, firm, basis)
        ...     simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81))
        ...     report = simulation.settle()
        ...     sags.append(-simulation.displacement()[:, 2].min())
        >>> bool(sags[0] < 1.0), bool(sags[1] > 2.0)
        (True, True)
        """
    @property
    def rotations(self) -> _Floats:
        """Infinitesimal rotations of the displacements at the vertices, `w = 1/2 curl psi`, (k, n, 3)
        float64, rad/(m sqrt(kg)).

        Each is a mean over the tets at a vertex, weighted by volume, or over the triangles, weighted by
        area. Modal warping rotates vertices by them.
        """
    def warped(
        self, amplitudes: _FloatsLike, method: Literal["rotation_strain", "modal"] = "rotation_strain"
    ) -> _Floats:
        """Displacement of the modes at large amplitudes, with bends and twists that do not grow.

        Forces are not considered: the result is no equilibrium.

        Parameters
        ----------
        amplitudes : (k,) array
            Amplitudes z of the modes, m kg^(1/2).
        method : {'rotation_strain', 'modal'}, default 'rotation_strain'
            "rotation_strain" is the displacement whose gradients are closest to `exp(w) (I + e)`,
            weighted by volumes, with the strain e and the infinitesimal rotation w of `Psi z` in each
            tet [MOR eq. 19-25]; the centre of a free component follows `Psi z`. "modal" rotates each
            vertex independently, `(I + W (1 - cos t) / t^2 + W^2 (t - sin t) / t^3) Psi z` with W the
            cross product with `rotations` at z, of length t [ModalWarping]: much faster and exact for
            rotation about a point, but large bends change lengths.

        Returns
        -------
        (n, 3) array
            Displacements, metres, `Psi z` for small z. Pinned vertices stay. The first call of a method
            prepares it for all later ones.

        Raises
        ------
        ValueError
            For amplitudes of other modes, and for any method but "modal" on a surface without volume.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> amplitudes = np.array([400.0, 0.0, 0.0, 0.0, 0.0])
        >>> modes.warped(amplitudes).shape == mesh.vertices.shape
        True
        """
    def swing(
        self, forces: _FloatsLike, damping: tuple[tuple[float, float], tuple[float, float]], fps: float = 24.0
    ) -> _Floats:
        """Amplitudes of the modes at each frame under forces, starting at rest, (f, k) float64, m kg^(1/2)
        [MOR eq. 2, 3].

        `z_i'' + (alpha + beta l_i) z_i' + l_i z_i = psi_i' f`, integrated exactly for forces that are
        linear between frames.

        Parameters
        ----------
        forces : (f, k) array
            Force on each mode in each frame, `psi_i' f`.
        damping : two pairs of floats
            Frequency in Hz and damping ratio there, twice, which determine alpha and beta.
        fps : float, default 24.0
            Frames per second.

        Returns
        -------
        (f, k) array
            Amplitudes in each frame.

        Raises
        ------
        ValueError
            For inputs that do not fit the modes.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> forces = np.zeros((24, 5))
        >>> forces[0] = 1.0
        >>> modes.swing(forces, damping=((1.0, 0.05), (10.0, 0.05))).shape
        (24, 5)
        """
    @property
    def radiation(self) -> _Floats:
        """Volume acceleration of each mode, which measures the air it moves: `omega^2 |integral of psi over
        the outward normals|`, (k,) float64.

        About zero for modes that bend without changing the volume.
        """
    def sound(
        self,
        duration: float,
        times: _Rows = None,
        vertices: _IndicesLike | None = None,
        impulses: _Rows = None,
        *,
        forces: _Rows = None,
        fps: float = 24.0,
        damping: tuple[tuple[float, float], tuple[float, float]] = ((100.0, 0.002), (5000.0, 0.005)),
        rate: float = 48000.0,
        weights: _Rows = None,
    ) -> _Singles:
        """Sound of the body, `s = sum_i w_i z_i` over its modes from 20 Hz to 20 kHz, starting at rest [MOR
        eq. 2-4].

        `z_i'' + (alpha + beta l_i) z_i' + l_i z_i = psi_i' f`, integrated exactly.

        Parameters
        ----------
        duration : float
            Length of the sound, seconds.
        times : (s,) array, optional
            Time of each blow, seconds; it acts at the nearest sample.
        vertices : (s,) array of integers, optional
            Vertex of each blow.
        impulses : (s, 3) array, optional
            Impulse of each blow, N s.
        forces : (f, k) array, optional
            Force on each mode in each frame, `psi_i' f`, linear between frames and zero after the last.
        fps : float, default 24.0
            Frames per second of the forces.
        damping : two pairs of floats, default ((100.0, 0.002), (5000.0, 0.005))
            Frequency in Hz and damping ratio there, twice.
        rate : float, default 48000.0
            Samples per second.
        weights : (k,) array, optional
            Loudness w of each mode; None is 1, `radiation` another choice.

        Returns
        -------
        (duration * rate,) array
            Float32 samples, linear in the forces and blows.

        Raises
        ------
        ValueError
            If no mode is audible, and for inputs that do not fit the modes.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((0.3, 0.03, 0.01))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=30)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(young=2e11, density=7800.0), 12)
        >>> blow = {"times": [0.0], "vertices": [0], "impulses": [[0.0, 0.0, 0.05]]}
        >>> modes.sound(0.1, **blow).shape
        (4800,)
        """
    def __copy__(self) -> LinearModes: ...
    def __deepcopy__(self, _memo: Any) -> LinearModes: ...

def linear_modes(
    mesh: TetMesh | SurfaceMesh,
    material: Material,
    count: int = 20,
    rig: Rig | None = None,
    leak: _FloatsLike | None = None,
    pinned: _Flags | Sequence[bool] | None = None,
    *,
    thickness: float | None = None,
    bending: float = 1.0,
    stitches: Stitches | None = None,
) -> LinearModes:
    """The lowest linear modes (small vibrations), `K psi = lambda M psi`, K the Hessian of the elastic
    energy at rest [MOR eq. 1].

    A surface without volume is a constant-strain membrane, and a plate whose curvature in each triangle
    follows from the angles at its edges. The rigid motions of a free body come first, with eigenvalues
    of about zero.

    Parameters
    ----------
    mesh : TetMesh or SurfaceMesh
        Body of tets, or a surface with a thickness.
    material : Material
        Its material; "arap" for a surface.
    count : int, default 20
        Number of modes k.
    rig : Rig, optional
        Rig that the modes complement, `B'(1 - leak) M psi = 0` (tets only); None leaves them
        unconstrained.
    leak : (n,) array, optional
        Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
    pinned : (n,) array of bool, optional
        Vertices at which the modes are 0; one pinned line of a surface acts as a hinge, two as a clamp.
    thickness : float, optional
        Thickness of a surface, metres; None for tets.
    bending : float, default 1.0
        Factor on the bending stiffness of a surface.
    stitches : Stitches, optional
        Springs that add to K (tets only).

    Returns
    -------
    LinearModes
        The modes.

    Raises
    ------
    ValueError
        For more modes than the body has, and for arguments of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(young=1e6), 3, pinned=held)
    >>> modes.frequencies.shape
    (3,)
    """

@final
class Cubature:
    """Sample tets for the elastic forces of a body, and the weight of each.

    `Cubature.train` and `Cubature.of_shot` are the usual sources; the constructor restores stored tets,
    (c,) integers, and weights, (c,) float64.

    Parameters
    ----------
    tets : (c,) array of integers
        Sample tets.
    weights : (c,) array
        Weight of each.

    Raises
    ------
    ValueError
        For a wrong shape; the model checks the fit to its mesh.

    Examples
    --------
    >>> jounce.Cubature([0, 3], [0.5, 1.5]).weights.tolist()
    [0.5, 1.5]
    """
    def __new__(cls, tets: _IndicesLike, weights: _FloatsLike) -> Cubature: ...
    @staticmethod
    def train(
        mesh: TetMesh,
        material: Material,
        modes: SkinningModes,
        count: int = 100,
        rig: Rig | None = None,
        seed: int = 0,
    ) -> Cubature:
        """Trains a cubature by non-negative least squares on random states of the modes and the rig.

        Parameters
        ----------
        mesh : TetMesh
            The mesh.
        material : Material
            The material.
        modes : SkinningModes
            The modes.
        count : int, default 100
            Largest number of tets.
        rig : Rig, optional
            Rig of the body; None for a body without bones.
        seed : int, default 0
            Seed of the training states; the same seed gives the same tets.

        Returns
        -------
        Cubature
            Sample tets and their weights.

        Raises
        ------
        ValueError
            For a count of 0 and for arguments of another mesh.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4)
        >>> cubature = jounce.Cubature.train(mesh, jounce.Material(), modes, count=10)
        >>> 0 < len(cubature.tets) <= 10
        True
        """
    @staticmethod
    def of_shot(
        model: Model, coefficients: _FloatsLike, poses: _Rows = None, count: int = 100, seed: int = 0
    ) -> Cubature:
        """Trains a cubature of a reduced model by non-negative least squares on the states of a shot.

        Parameters
        ----------
        model : Model
            A reduced model without a cubature.
        coefficients : (f, r) array
            Coefficients in each frame, from `Model.nearest`.
        poses : (f, b, 3, 4) array, optional
            Pose in each frame; None without a rig.
        count : int, default 100
            Largest number of tets.
        seed : int, default 0
            Seed of extra states between those of the shot; the same seed gives the same tets.

        Returns
        -------
        Cubature
            Sample tets and their weights.

        Raises
        ------
        ValueError
            For a count of 0, for arguments of another model and for a shot without forces.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
        >>> shot = np.linspace(-0.2, 0.2, 6)[:, None] * np.ones(4)
        >>> cubature = jounce.Cubature.of_shot(model, shot, count=12)
        >>> len(cubature.tets) <= 12
        True
        """
    @property
    def tets(self) -> _Indices:
        """Indices of the tets, (c,) int32."""
    @property
    def weights(self) -> _Floats:
        """Weight of each tet's elastic energy, (c,) float64, above 0."""

@final
class LimitSamples:
    """Sample tets and vertices for the limits of stretch and displacement, and the weight of each.

    `LimitSamples.of_shot` and `Body.learn` are the usual sources; the constructor restores stored tets,
    (c,) integers, their weights, (c,) float64, vertices, (v,), and theirs.

    Parameters
    ----------
    tets : (t,) array of integers
        Sample tets of the stretch limit.
    tet_weights : (t,) array
        Weight of each tet.
    vertices : (v,) array of integers
        Sample vertices of the displacement limit.
    vertex_weights : (v,) array
        Weight of each vertex.

    Raises
    ------
    ValueError
        For a wrong shape; the model checks the fit to its mesh.

    Examples
    --------
    >>> jounce.LimitSamples([0, 3], [1.0, 2.0], [5], [1.0]).tets.tolist()
    [0, 3]
    """
    def __new__(
        cls,
        tets: _IndicesLike,
        tet_weights: _FloatsLike,
        vertices: _IndicesLike,
        vertex_weights: _FloatsLike,
    ) -> LimitSamples: ...
    @staticmethod
    def of_shot(
        model: Model,
        coefficients: _FloatsLike,
        poses: _Rows = None,
        limit: float | None = None,
        stretch: float | None = None,
        tets: int = 100,
        vertices: int = 50,
        seed: int = 0,
    ) -> LimitSamples:
        """Trains samples of the limits by non-negative least squares on a shot of a reduced model.

        Parameters
        ----------
        model : Model
            A reduced model.
        coefficients : (f, r) array
            Coefficients in each frame, from `Model.nearest`.
        poses : (f, b, 3, 4) array, optional
            Pose in each frame; None without a rig.
        limit : float, optional
            Displacement limit of the shot's simulation; None for none.
        stretch : float, optional
            Stretch limit of the shot's simulation; None for none.
        tets : int, default 100
            Largest number of tets; a shot below its limits has none.
        vertices : int, default 50
            Largest number of vertices; a shot below its limits has none.
        seed : int, default 0
            Seed of the draws; the same seed gives the same samples.

        Returns
        -------
        LimitSamples
            The samples.

        Raises
        ------
        ValueError
            For a limit that is not positive and as `Cubature.of_shot`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
        >>> shot = np.linspace(-2.0, 2.0, 6)[:, None] * np.ones(4)
        >>> samples = jounce.LimitSamples.of_shot(model, shot, stretch=0.1, tets=12)
        >>> len(samples.tets) <= 12
        True
        """
    @property
    def tets(self) -> _Indices:
        """Indices of the tets, (c,) int32."""
    @property
    def tet_weights(self) -> _Floats:
        """Weight of each tet, (c,) float64, above 0."""
    @property
    def vertices(self) -> _Indices:
        """Indices of the vertices, (v,) int32."""
    @property
    def vertex_weights(self) -> _Floats:
        """Weight of each vertex, (v,) float64, above 0."""

@final
class Model:
    """A precomputed, immutable model; made by `Model.skinning`, `Model.full_space`, `Model.reduced`,
    `Model.projective` or `Model.load`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> model = jounce.Model.full_space(mesh, jounce.Material(young=1e5), pinned=held)
    >>> model.coefficient_shape == (len(mesh.vertices), 3)
    True
    >>> model.material
    Material(arap, young=1e5)
    """
    @staticmethod
    def skinning(
        mesh: TetMesh,
        material: Material,
        modes: SkinningModes,
        labels: _IndicesLike,
        rig: Rig | None = None,
        strength: _Rows = None,
        stitches: Stitches | None = None,
        cubature: Cubature | None = None,
    ) -> Model:
        """A model of rig-complementary skinning modes with clustered local steps [FastCD].

        Parameters
        ----------
        mesh : TetMesh
            The mesh.
        material : Material
            The material.
        modes : SkinningModes
            The modes.
        labels : (t,) array of integers
            Cluster of each tet, from `cluster_tets`.
        rig : Rig, optional
            Rig of the body; None for a body without bones.
        strength : (n,) array, optional
            Factor on the rig's acceleration felt at each vertex, >= 0; None is 1 everywhere.
        stitches : Stitches, optional
            Springs between points of the body; compute the modes with the same stitches.
        cubature : Cubature, optional
            Sample tets for elastic forces, in place of cluster means.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            For arguments of another mesh.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> material, rig = jounce.Material(), jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
        >>> modes = jounce.skinning_modes(mesh, material, 4, rig)
        >>> labels = jounce.cluster_tets(mesh, modes, 20)
        >>> jounce.Model.skinning(mesh, material, modes, labels, rig)
        Model(4 modes, 1 bones, Material(arap, young=1e5))
        """
    @staticmethod
    def full_space(
        mesh: TetMesh,
        material: Material,
        rig: Rig | None = None,
        leak: _Rows = None,
        pinned: _Flags | Sequence[bool] | None = None,
        stitches: Stitches | None = None,
        strength: _Rows = None,
        complementary: bool = True,
        fibres: Fibres | None = None,
    ) -> Model:
        """A full-space model of any law: every vertex moves [QN]. The reference for reduced models.

        The displacement is complementary to the rig, `J' M D u = 0` with D = 1 - leak, unless
        `complementary` is False: then only `pinned` ties the flesh to its bones.

        Coefficients are the displacements of the vertices, (n, 3). There are no force samples; drag is at
        the vertices.

        Parameters
        ----------
        mesh : TetMesh
            The mesh.
        material : Material
            The material.
        rig : Rig, optional
            Rig of the body; None for a body without bones.
        leak : (n,) array, optional
            Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
        pinned : (n,) array of bool, optional
            Vertices that follow the rig exactly.
        stitches : Stitches, optional
            Springs between points of the body.
        strength : (n,) array, optional
            Factor on the rig's acceleration felt at each vertex, >= 0; None is 1 everywhere.
        complementary : bool, default True
            False lets the flesh imitate the rig.
        fibres : Fibres, optional
            Contractile fibres in the tets.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            For arguments of another mesh, and for a body without free vertices.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> model = jounce.Model.full_space(mesh, jounce.Material(young=1e6), pinned=held)
        >>> simulation = jounce.Simulation(model, gravity=(9.81, 0.0, 0.0))
        >>> report = simulation.settle()
        >>> stretch, of_a_rod = simulation.displacement()[:, 0].max(), 1000 * 9.81 * 4.0**2 / (2 * 1e6)
        >>> bool(np.isclose(stretch, of_a_rod, rtol=0.01))
        True
        """
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model of skinning modes or of the full space to a Jounce model file.

        Symbolic links are followed; an existing file keeps its mode, owner and hard links.

        Parameters
        ----------
        path : path
            Path of the file.

        Raises
        ------
        ValueError
            For other models, for a folder, a pipe or a device, and for disk errors; the file is then
            unchanged.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     body.model.save(Path(folder) / "bar.jounce")
        ...     model = jounce.Model.load(Path(folder) / "bar.jounce")
        >>> model.mode_count
        4
        """
    def to_bytes(self) -> bytes:
        """The bytes of a model file, as `save` writes it.

        Returns
        -------
        bytes
            Bytes of the file, for a `Player` or inside a file of another format.

        Raises
        ------
        ValueError
            For models that `save` does not write.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> data = body.model.to_bytes()
        >>> jounce.Player(data, points).mode_count
        4
        """
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Reads a model written by `save`; its motion is bit-identical.

        A full-space file holds the inputs, not the precomputed products: loading takes as long as building.

        Parameters
        ----------
        path : path
            Path of the file.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            For a file that is missing, of another version, truncated or damaged.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     body.model.save(Path(folder) / "bar.jounce")
        ...     loaded = jounce.Model.load(Path(folder) / "bar.jounce")
        >>> pair = [jounce.Simulation(model, gravity=(0, 0, -9.81)) for model in (body.model, loaded)]
        >>> reports = [simulation.step(np.eye(3, 4)[None]) for simulation in pair]
        >>> np.array_equal(pair[0].coefficients, pair[1].coefficients)
        True
        """
    @staticmethod
    def reduced(
        mesh: TetMesh,
        material: Material,
        basis: Basis,
        rig: Rig | None = None,
        strength: _Rows = None,
        cubature: Cubature | None = None,
        frequency: float | None = None,
        stitches: Stitches | None = None,
        *,
        cubic: bool = False,
    ) -> Model:
        """A reduced model of any law in the displacements of a basis [MOR]: `x = rig + sum_j shapes_j q_j`.

        Minimises the energy of `Model.full_space` in few coordinates. Linear properties shared by all basis
        fields, such as pins and complementarity to the rig, hold for all motion.

        Coefficients are q, (r,). Limits need `limited`. There are no force samples, offsets or file; drag is
        at the vertices.

        Parameters
        ----------
        mesh : TetMesh
            The mesh.
        material : Material
            The material.
        basis : Basis
            Displacement fields.
        rig : Rig, optional
            Rig of the body; None for a body without bones.
        strength : (n,) array, optional
            Factor on the rig's acceleration felt at each vertex, >= 0; None is 1 everywhere.
        cubature : Cubature, optional
            Sample tets for elastic forces, from `Cubature.of_shot`; None is all tets, at a cost
            proportional to the mesh.
        frequency : float, optional
            Reference frequency of limits, and of the damping ratio of a free body, Hz, for example the
            full space's; None is the lowest of the basis.
        stitches : Stitches, optional
            Springs between points of the body, without gap, exact.
        cubic : bool, default False
            Forces as cubic polynomials of the coefficients [MOR sec. 3.1], exact for all tets at a cost
            independent of the mesh: law "stvk" without its barrier, no rig, at most 80 fields; 20 to 40 are
            fastest.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            For arguments of another mesh, and for a basis without motion.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> firm, held = jounce.Material(young=1e6), mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, firm, 5, pinned=held)
        >>> model = jounce.Model.reduced(mesh, firm, modes.bent_basis(8))
        >>> reference = jounce.Model.full_space(mesh, firm, pinned=held)
        >>> pair = [jounce.Simulation(each, gravity=(0.0, 0.0, -9.81)) for each in (model, reference)]
        >>> reports = [simulation.settle() for simulation in pair]
        >>> [round(float(-simulation.displacement()[:, 2].min()), 1) for simulation in pair]
        [2.2, 2.2]
        >>> model.coefficient_shape, reference.coefficient_shape
        ((8,), (81, 3))
        """
    @staticmethod
    def projective(
        mesh: TetMesh | SurfaceMesh,
        material: Material,
        handles: int = 60,
        clusters: int = 120,
        seed: int = 0,
        **settings: Unpack[ProjectiveSettings],
    ) -> Model:
        """A body moved by affine handles, by hyper-reduced projective dynamics [HRPD]: jelly of tets, with or
        without a skin of triangles, or a surface without volume such as a cape, loose or attached to bones.

        Coefficients are the handles' transforms, (k, 3, 4): displacements from the modelled place are
        `sum_j w_j(X) Z_j [X - c_j; 1]`. The cost of a step depends on the handles, the clusters and the
        triangles of a surface, not on the size of a tet mesh.

        `Simulation.place` starts a loose body at a place with a velocity, and its poses are None; an
        attached body starts in the pose of its bones. Colliders act; there are no limits of displacement,
        force samples, offsets or file.

        Parameters
        ----------
        mesh : TetMesh or SurfaceMesh
            Body of tets, or a surface with a thickness.
        material : Material
            Material of law "arap", for a surface uniform or per triangle.
        handles : int, default 60
            Number of handles, spread over the mesh, each with local influence.
        clusters : int, default 120
            Number of groups of tets with a shared rotation; each triangle has its own rotation. Each loose
            part has at least one handle and one cluster.
        seed : int, default 0
            Seed of the random draws; the same seed gives the same model.
        settings : ProjectiveSettings
            Keyword arguments: surface and skin, springs, limit of strain, and attachment to bones;
            `ProjectiveSettings` has their meaning and defaults.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            For another law, for counts of 0, and for arguments without meaning for the mesh.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
        >>> ground = jounce.Collider.plane((0.0, 0.0, -0.5))
        >>> simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81), colliders=[ground])
        >>> for frame in range(48):
        ...     report = simulation.step()
        >>> landed = mesh.vertices + simulation.displacement()
        >>> bool(abs(landed[:, 2].min() + 0.5) < 0.01)
        True
        """
    def sampled(self, cubature: Cubature) -> Model:
        """The same reduced model with elastic forces evaluated at a cubature.

        Parameters
        ----------
        cubature : Cubature
            Sample tets and their weights.

        Returns
        -------
        Model
            The model with the cubature.

        Raises
        ------
        ValueError
            For other models and for a model with a cubature.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
        >>> shot = np.linspace(-0.2, 0.2, 6)[:, None] * np.ones(4)
        >>> fast = model.sampled(jounce.Cubature.of_shot(model, shot, count=12))
        """
    def limited(self, limits: LimitSamples) -> Model:
        """The same reduced model with limits, evaluated at sample tets and vertices.

        Parameters
        ----------
        limits : LimitSamples
            Samples of the limits.

        Returns
        -------
        Model
            The model with limits.

        Raises
        ------
        ValueError
            For other models and for indices out of range.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
        >>> limited = model.limited(jounce.LimitSamples([0, 3], [1.0, 1.0], [5], [1.0]))
        >>> simulation = jounce.Simulation(limited, stretch=0.2)
        """
    def nearest(self, displacements: _FloatsLike) -> _Floats:
        """Least-squares coefficients, (f, r) float64, of given displacements in a reduced model, in the mass
        norm.

        Parameters
        ----------
        displacements : (f, n, 3) array
            Displacements in each frame, metres.

        Returns
        -------
        (f, r) array
            Nearest coefficients of each frame.

        Raises
        ------
        ValueError
            For other models and for displacements of another mesh.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
        >>> lifted = np.zeros((1, len(mesh.vertices), 3))
        >>> lifted[0, :, 2] = 0.02 * mesh.vertices[:, 0] ** 2
        >>> model.nearest(lifted).shape
        (1, 4)
        """
    def displacement(
        self, coefficients: _FloatsLike, emb: Embedding | None = None, out: _Singles | None = None
    ) -> _Singles:
        """Secondary displacement `u = sum_k W_k(X) Z_k [X; 1]` for coefficients Z, metres; the vertex
        displacements in the full space; `sum_j shapes_j q_j` of a reduced model.

        Parameters
        ----------
        coefficients : array
            Coefficients of `coefficient_shape`.
        emb : Embedding, optional
            Points in the model's mesh; None for its vertices.
        out : array, optional
            Array (p, 3) of float32 to write into; None makes a new one.

        Returns
        -------
        (p, 3) array
            Displacements, metres; `out` itself if it is given.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> report = simulation.step(pose)
        >>> buffer = np.empty((8, 3), dtype=np.float32)
        >>> moved = body.model.displacement(simulation.coefficients, body.embedding, out=buffer)
        >>> moved is buffer, bool(np.allclose(body.posed(pose) + moved, body.deformed(simulation, pose)))
        (True, True)
        """
    def reduce_forces(self, forces: _FloatsLike, emb: Embedding | None = None) -> _Floats:
        """Generalised force, float64 of `coefficient_shape`, of forces on points, newtons:
        `sum_i W_k(X_i) f_i [X_i; 1]'`; the forces on the vertices in the full space.

        The exact transpose of `displacement`: equal work on coefficients and on displacements.

        Parameters
        ----------
        forces : (p, 3) array
            Forces on the points, newtons.
        emb : Embedding, optional
            Points in the mesh; None for its vertices.

        Returns
        -------
        array
            Generalised force of `coefficient_shape`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> push = np.zeros((8, 3))
        >>> push[0, 2] = 100.0
        >>> force = body.model.reduce_forces(push, body.embedding)
        >>> simulation = jounce.Simulation(body.model)
        >>> report = simulation.step(np.eye(3, 4)[None], force)
        """
    def force_samples(self, count: int) -> ForceSamples:
        """Sample points for force fields, at a cost independent of the mesh: about `count` parts of the body,
        at most one a cluster.

        Parameters
        ----------
        count : int
            Number of samples.

        Returns
        -------
        ForceSamples
            The samples.

        Raises
        ------
        ValueError
            For a count below 1.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> samples = body.model.force_samples(10)
        >>> len(samples.points), round(float(samples.masses.sum()))
        (10, 4000)
        """
    @property
    def material(self) -> Material | None:
        """Material of the model; None for a model from `load`, whose file does not hold it."""
    @property
    def frequency(self) -> float:
        """Frequency of the lowest mode, `sqrt(lambda_1) / (2 pi)`, Hz."""
    @property
    def basis(self) -> Basis | None:
        """The basis of a reduced model; None for other models."""
    @property
    def cubature(self) -> Cubature | None:
        """The cubature of a reduced model; None for other models, and without a cubature."""
    @property
    def limit_samples(self) -> LimitSamples | None:
        """The limit samples of a reduced model; None for other models, and without limits."""
    @property
    def handle_centers(self) -> _Floats | None:
        """Centres of the handles of a projective model, (k, 3) float64, metres; None for other models."""
    @property
    def vertex_mass(self) -> _Floats | None:
        """Vertex masses of a projective model, (n,) float64, kg; None for other models."""
    @property
    def skipped_count(self) -> int:
        """Number of degenerate triangles of a surface, which are left out; 0 for other models."""
    @property
    def coefficient_shape(self) -> tuple[int, ...]:
        """Shape of the coefficients: (m, 3, 4), (n, 3) in the full space, (r,) in a reduced model, or (k, 3,
        4) for handles.
        """
    @property
    def mode_count(self) -> int:
        """Number of skinning modes m; 0 for other models."""
    @property
    def bone_count(self) -> int:
        """Number of bones b; 0 without a rig."""
    @property
    def cluster_count(self) -> int:
        """Number of clusters with a tet, or of force samples; 0 in the full space."""
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, _memo: Any) -> Model: ...

@final
class ForceSamples:
    """Sample points for force fields: centres of mass of parts of a body; made by `Model.force_samples`.

    The force on a part is distributed over its mass. A uniform field therefore acts exactly as gravity
    does.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> samples = body.model.force_samples(20)
    >>> samples.points.shape
    (20, 3)
    >>> weight = samples.masses[:, None] * [0.0, 0.0, -9.81]
    >>> samples.reduce(weight).shape == body.model.coefficient_shape
    True
    """
    @property
    def points(self) -> _Floats:
        """Centres of mass at rest, (k, 3) float64, metres; `Simulation.sample_positions` gives the moving
        positions.
        """
    @property
    def masses(self) -> _Floats:
        """Masses of the parts, (k,) float64, kg."""
    def posed(self, pose: _Rows = None) -> _Floats:
        """Centres in a pose without secondary displacement, (k, 3) float64, metres. Forces read there depend
        on the pose alone.

        Parameters
        ----------
        pose : (b, 3, 4) array, optional
            Transform of each bone; None without a rig.

        Returns
        -------
        (k, 3) array
            Posed places of the samples, metres.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> samples = body.model.force_samples(20)
        >>> pose = np.eye(3, 4)[None].copy()
        >>> pose[0, :, 3] = [0.0, 0.0, 0.5]
        >>> bool(np.allclose(samples.posed(pose), samples.points + [0.0, 0.0, 0.5]))
        True
        """
    def reduce(self, forces: _FloatsLike) -> _Floats:
        """Generalised force (m, 3, 4) float64 of forces (k, 3) float64 on the parts, newtons.

        Parameters
        ----------
        forces : (k, 3) array
            Force on each part, newtons.

        Returns
        -------
        array
            Generalised force of `Model.coefficient_shape`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> samples, pose = body.model.force_samples(20), np.eye(3, 4)[None]
        >>> weight = samples.reduce(samples.masses[:, None] * [0.0, 0.0, -9.81])
        >>> pushed = jounce.Simulation(body.model)
        >>> heavy = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
        >>> reports = [pushed.step(pose, weight), heavy.step(pose)]
        >>> bool(np.allclose(pushed.displacement(), heavy.displacement(), atol=1e-6))
        True
        """
    def drag(self, linear: _FloatsLike, quadratic: _Rows = None, velocity: _Rows = None) -> Drag:
        """Drag of a medium on the parts: a force `-(linear + quadratic |w|) w` on each, with w the total
        velocity of the part relative to the medium.

        Parameters
        ----------
        linear : (k,) array
            Linear coefficient of each part, N s/m.
        quadratic : (k,) array, optional
            Quadratic coefficient of each part, N s^2/m^2; None is 0.
        velocity : (k, 3) array, optional
            Velocity of the medium, m/s; None is 0.

        Returns
        -------
        Drag
            The drag, for `Simulation.step`; stable for any coefficients.

        Raises
        ------
        ValueError
            For coefficients below 0.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> samples = body.model.force_samples(20)
        >>> wind = samples.drag(np.full(20, 5.0), velocity=np.tile([0.0, 10.0, 0.0], (20, 1)))
        >>> simulation = jounce.Simulation(body.model)
        >>> report = simulation.step(np.eye(3, 4)[None], drag=wind)
        """

@final
class Drag:
    """Drag of a medium on parts of a body, constant in each part; made by `ForceSamples.drag`. The
    constructor makes vertex drag for a full-space, reduced or projective model: linear (n,) float64, N
    s/m; quadratic (n,) or None; velocity of the medium (n, 3) or None, as in `ForceSamples.drag`.

    Parameters
    ----------
    linear : (n,) array
        Linear coefficient of each vertex, N s/m.
    quadratic : (n,) array, optional
        Quadratic coefficient of each vertex, N s^2/m^2; None is 0.
    velocity : (n, 3) array, optional
        Velocity of the medium, m/s; None is 0.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> model = jounce.Model.full_space(mesh, jounce.Material(), pinned=held)
    >>> simulation = jounce.Simulation(model)
    >>> air = jounce.Drag(np.full(len(mesh.vertices), 0.5))
    >>> simulation.reset()
    >>> report = simulation.step(drag=air)
    """
    def __new__(
        cls, linear: _FloatsLike, quadratic: _FloatsLike | None = None, velocity: _FloatsLike | None = None
    ) -> Drag: ...
    @property
    def linear(self) -> _Floats:
        """Linear coefficients, (k,) float64, N s/m."""
    @property
    def quadratic(self) -> _Floats:
        """Quadratic coefficients, (k,) float64, N s^2/m^2."""
    @property
    def velocity(self) -> _Floats:
        """Velocities of the medium, (k, 3) float64, m/s."""

@final
class Grip:
    """Points of a projective model prepared for pulling: by the pointer, a pin, a string.

    Parameters
    ----------
    model : Model
        A projective model.
    points : (k,) array of integers
        Vertices, or with `embedding` its points; at most 64.
    embedding : Embedding, optional
        Points in the model's mesh; None for its vertices.

    Raises
    ------
    ValueError
        For an index out of range, for duplicates, and for other models.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
    >>> corner = int(np.argmax(mesh.vertices.sum(axis=1)))
    >>> grip = jounce.Grip(model, [corner])
    >>> simulation = jounce.Simulation(model)
    >>> report = simulation.step(pull=grip.pull(mesh.vertices[[corner]] + [0.0, 0.0, 0.5]))
    >>> bool(simulation.displacement()[corner, 2] > 0)
    True
    """
    def __new__(cls, model: Model, points: _IndicesLike, embedding: Embedding | None = None) -> Grip: ...
    def pull(self, targets: _FloatsLike, frequency: float = 10.0, calm: float = 0.0) -> Pull:
        """Pulls the points to targets throughout a step, each by a critically damped spring with the
        effective mass of the point: `c'' = -w^2 (c - g) - 2 w c'` with `w = 2 pi frequency`.

        Parameters
        ----------
        targets : (k, 3) array
            Target of each point, metres.
        frequency : float, default 10.0
            Stiffness of the springs as a frequency, Hz, at most 1e5, the value of a pin.
        calm : float, default 0.0
            Decay rate of the pulled body's velocity, 1/s, against swinging and spinning.

        Returns
        -------
        Pull
            The pull, for `Simulation.step`; stable for any values.

        Raises
        ------
        ValueError
            For a frequency that is not positive and for a rate below 0.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
        >>> corner = int(np.argmax(mesh.vertices.sum(axis=1)))
        >>> pin = jounce.Grip(model, [corner]).pull(mesh.vertices[[corner]], frequency=1e5)
        >>> simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81))
        >>> for frame in range(12):
        ...     report = simulation.step(pull=pin)
        >>> moved = np.linalg.norm(simulation.displacement(), axis=1)
        >>> bool(moved[corner] < 1e-4), bool(moved.max() > 1.0)
        (True, True)
        """

@final
class Pull:
    """Points with targets for a step; made by `Grip.pull`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
    >>> pull = jounce.Grip(model, [0]).pull([[0.0, 0.0, 1.0]])
    >>> pull.targets.tolist()
    [[0.0, 0.0, 1.0]]
    """
    @property
    def targets(self) -> _Floats:
        """Target positions, (k, 3) float64, metres."""

@final
class StepReport:
    """Result of one step.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> simulation = jounce.Simulation(body.model)
    >>> simulation.reset(np.eye(3, 4)[None])
    >>> report = simulation.step(np.eye(3, 4)[None])
    >>> report.iterations > 0, report.converged
    (True, True)
    """
    @property
    def iterations(self) -> int:
        """Iterations, summed over the substeps."""
    @property
    def residual(self) -> float:
        """Distance to the solution in the full space, for skinning modes and in reduced bases, change in the
        last iteration for other models; the largest of the substeps, to compare with `tolerance`.
        """
    @property
    def converged(self) -> bool:
        """True if every substep has reached `tolerance` within its iterations."""
    @property
    def energy(self) -> float:
        """Elastic energy at the end, J."""

@final
class CycleReport:
    """Closing error of a cycle.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> simulation = jounce.Simulation(body.model, damping=0.1)
    >>> poses = np.tile(np.eye(3, 4), (12, 1, 1, 1))
    >>> poses[:, 0, 2, 3] = 0.1 * np.sin(np.arange(12) * 2 * np.pi / 12)
    >>> simulation.reset(poses[0])
    >>> report = simulation.settle_cycle(poses)
    >>> report.passes <= 6
    True
    """
    @property
    def passes(self) -> int:
        """Number of simulated passes through the cycle."""
    @property
    def position(self) -> float:
        """Position difference between end and start: root mean square over the mass, as a share of the body's
        diagonal.
        """
    @property
    def velocity(self) -> float:
        """Velocity difference between end and start, in the same measure a frame."""

@final
class State:
    """The state of a simulation or a tree at one time; `restore_state` continues from it bit for bit.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> simulation = jounce.Simulation(body.model)
    >>> simulation.reset(np.eye(3, 4)[None])
    >>> kept = jounce.State.from_bytes(simulation.save_state().to_bytes())
    >>> simulation.restore_state(kept)
    """
    def to_bytes(self) -> bytes:
        """The state as bytes; `from_bytes` of the same version of Jounce restores it bit for bit.

        Returns
        -------
        bytes
            The bytes.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> takes = []
        >>> for take in range(2):
        ...     simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
        ...     report = simulation.step(np.eye(3, 4)[None])
        ...     takes.append(simulation.save_state().to_bytes())
        >>> takes[0] == takes[1]
        True
        """
    @staticmethod
    def from_bytes(data: bytes) -> State:
        """The state in bytes made by `to_bytes`. `restore_state` checks the fit to a model.

        Parameters
        ----------
        data : bytes
            Bytes from `to_bytes`.

        Returns
        -------
        State
            The state.

        Raises
        ------
        ValueError
            For any other bytes.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> first, second = (jounce.Simulation(body.model, gravity=(0, 0, -9.81)) for _ in range(2))
        >>> report = first.step(np.eye(3, 4)[None])
        >>> second.restore_state(jounce.State.from_bytes(first.save_state().to_bytes()))
        >>> reports = [simulation.step(np.eye(3, 4)[None]) for simulation in (first, second)]
        >>> np.array_equal(first.coefficients, second.coefficients)
        True
        """

@final
class Collider:
    """A rigid obstacle of bodies and domains, made by `Collider.plane`, `sphere`, `capsule`, `box` or
    `mesh`.

    The colliders of a Simulation or DomainTree are fixed at construction. Each stays at its initial
    place until a step moves it. Friction is Coulomb's coefficient, >= 0.

    Raises
    ------
    ValueError
        For sizes that are not positive and for values that are not finite.

    Examples
    --------
    >>> ball = jounce.Collider.sphere(0.5, center=(0, 0, 1))
    >>> ball.distances([[0, 0, 2], [0, 0, 1]]).tolist()
    [0.5, -0.5]
    """
    @staticmethod
    def plane(
        point: Sequence[float] = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        friction: float = 0.5,
    ) -> Collider:
        """The half-space behind a plane through a point, such as the ground.

        Parameters
        ----------
        point : 3 floats, default (0.0, 0.0, 0.0)
            A point of the plane, metres.
        normal : 3 floats, default (0.0, 0.0, 1.0)
            Outward direction; any length.
        friction : float, default 0.5
            Coulomb's coefficient, >= 0.

        Returns
        -------
        Collider
            The collider.

        Examples
        --------
        >>> jounce.Collider.plane().distance((0, 0, 2))
        (2.0, [0.0, 0.0, 1.0])
        """
    @staticmethod
    def sphere(radius: float, center: Sequence[float] = (0.0, 0.0, 0.0), friction: float = 0.5) -> Collider:
        """A ball.

        Parameters
        ----------
        radius : float
            Radius, metres.
        center : 3 floats, default (0.0, 0.0, 0.0)
            Centre, metres.
        friction : float, default 0.5
            Coulomb's coefficient, >= 0.

        Returns
        -------
        Collider
            The collider.

        Examples
        --------
        >>> ball = jounce.Collider.sphere(0.5, center=(0, 0, 1))
        >>> ball.distance((0, 0, 2))
        (0.5, [0.0, 0.0, 1.0])
        """
    @staticmethod
    def capsule(
        start: Sequence[float], end: Sequence[float], radius: float, friction: float = 0.5
    ) -> Collider:
        """All points within a radius of the segment between two points.

        Parameters
        ----------
        start : 3 floats
            First end of the axis, metres.
        end : 3 floats
            Second end of the axis, metres.
        radius : float
            Radius, metres.
        friction : float, default 0.5
            Coulomb's coefficient, >= 0.

        Returns
        -------
        Collider
            The collider.

        Examples
        --------
        >>> bone = jounce.Collider.capsule((0, 0, 0), (0, 0, 1), radius=0.1)
        >>> bone.distances([[0.3, 0, 0.5]]).round(3).tolist()
        [0.2]
        """
    @staticmethod
    def box(
        size: Sequence[float], center: Sequence[float] = (0.0, 0.0, 0.0), friction: float = 0.5
    ) -> Collider:
        """An axis-aligned box with the given three sides.

        Parameters
        ----------
        size : 3 floats
            Lengths of the sides, metres.
        center : 3 floats, default (0.0, 0.0, 0.0)
            Centre, metres.
        friction : float, default 0.5
            Coulomb's coefficient, >= 0.

        Returns
        -------
        Collider
            The collider.

        Examples
        --------
        >>> table = jounce.Collider.box((2.0, 1.0, 0.1), center=(0.0, 0.0, 0.75))
        >>> table.distances([[0, 0, 1], [0, 0, 0.75], [1.5, 0, 0.75]]).round(3).tolist()
        [0.2, -0.05, 0.5]
        """
    @staticmethod
    def mesh(
        points: _FloatsLike, triangles: _IndicesLike, resolution: int = 64, friction: float = 0.5
    ) -> Collider:
        """The inside of a surface, as a grid of signed distances with `resolution` cells along the longest
        side, 8 to 128. Details and walls thinner than a cell are lost.

        Parameters
        ----------
        points : (p, 3) array
            Positions on the surface, metres.
        triangles : (q, 3) array of integers
            Indices of the points. The surface may have several parts, intersect itself, and have holes and
            flipped triangles.
        resolution : int, default 64
            Cells of the distance grid along the longest side.
        friction : float, default 0.5
            Coulomb's coefficient, >= 0.

        Returns
        -------
        Collider
            The collider.

        Raises
        ------
        ValueError
            For a surface without an inside at this resolution.

        Examples
        --------
        >>> collider = jounce.Collider.mesh(*jounce.shapes.box((4.0, 1.0, 1.0)), resolution=32)
        >>> bool(collider.distances([[2.0, 0.5, 0.5]])[0] < 0)
        True
        """
    @staticmethod
    def patches(
        points: _FloatsLike,
        triangles: _IndicesLike,
        patches: Sequence[_IndicesLike],
        resolution: int = 64,
        friction: float = 0.5,
    ) -> list[Collider]:
        """The solids behind patches of a surface: the part of the inside that is nearest to a patch, up to a
        quarter of its longest side deep. Solids of neighbouring patches overlap. Each with a placement of its
        own, they are together a collider that deforms.

        Parameters
        ----------
        points : (p, 3) array
            Positions on the surface, metres.
        triangles : (q, 3) array of integers
            Indices of the points.
        patches : list of (k,) arrays of integers
            Indices of the triangles of each patch.
        resolution : int, default 64
            Cells of a distance grid along the longest side of the whole surface; a patch has at least 8.
        friction : float, default 0.5
            Coulomb's coefficient, >= 0.

        Returns
        -------
        list of Collider
            A collider for each patch.

        Raises
        ------
        ValueError
            If no patch has an inside at this resolution.
        IndexError
            For an unknown point or triangle.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> right = (points[triangles][:, :, 0] > 2.0).any(axis=1)
        >>> sides = [np.flatnonzero(~right), np.flatnonzero(right)]
        >>> halves = jounce.Collider.patches(points, triangles, sides)
        >>> [bool(half.distances([[3.9, 0.5, 0.5]])[0] < 0) for half in halves]
        [False, True]
        """
    def sparing(self, points: _IndicesLike) -> Collider:
        """The same collider with contact switched off for some contact points, such as those of the flesh
        around it.

        Parameters
        ----------
        points : (k,) array of integers
            Indices into the `contact_points` of a Simulation, or without them into the boundary vertices of
            the mesh, in order. A Simulation refuses an index out of range.

        Returns
        -------
        Collider
            The collider without contact at these points.

        Examples
        --------
        >>> arm = jounce.Collider.capsule((0, 0, 0), (0, 0, 1), radius=0.1)
        >>> spared = arm.sparing([0, 3])
        """
    @property
    def friction(self) -> float:
        """Coulomb coefficient of friction."""
    def distance(self, point: Sequence[float]) -> tuple[float, list[float]]:
        """Signed distance of a point to the collider at its initial place, metres, negative inside, and the
        outward normal.

        Parameters
        ----------
        point : 3 floats
            Position, metres.

        Returns
        -------
        tuple of (float, list of float)
            Distance, metres, negative inside, and outward normal.

        Examples
        --------
        >>> ball = jounce.Collider.sphere(1.0)
        >>> distance, normal = ball.distance((3.0, 4.0, 0.0))
        >>> nearest = np.array([3.0, 4.0, 0.0]) - distance * np.array(normal)
        >>> nearest.round(6).tolist()
        [0.6, 0.8, 0.0]
        """
    def distances(self, points: _FloatsLike) -> _Floats:
        """Signed distances of points (n, 3) to the collider at its initial place, (n,) float64, metres,
        negative inside.

        Parameters
        ----------
        points : (p, 3) array
            Positions, metres.

        Returns
        -------
        (p,) array
            Distances, metres, negative inside.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> bone = jounce.Collider.capsule((0.0, 0.5, 0.5), (2.0, 0.5, 0.5), radius=0.3)
        >>> inside = bone.distances(mesh.vertices) < 0
        >>> int(inside.sum()), bool(mesh.vertices[inside, 0].max() < 2.3)
        (5, True)
        """

@final
class Simulation:
    """Steps a model through time by implicit steps; the pose is given, the flesh follows.

    Each step minimises `1/(2 h^2) |x - y|^2_M + stiffness * sum_t V_t psi(F_t) - f.x` over the modes,
    with `y = 2 x_k - x_(k-1)` for backward Euler, by quasi-Newton descent.

    Several threads may each have a Simulation of the same model; use of one Simulation by two threads
    at once raises RuntimeError. Ctrl+C ends a step or any long call and leaves the state as before.

    Parameters
    ----------
    model : Model
        The model; several simulations may share it.
    colliders : sequence of Collider, optional
        Obstacles, with backward Euler. Skinning modes and reduced models touch with at most 256 points,
        where their coordinates move the body.
    contact_points : Embedding, optional
        Contact points in the model's mesh, such as the skin `body.embedding`; points much closer
        together than vertices are thinned to the first. None is the boundary of the mesh.
    contact_weights : (p, b) array, optional
        Skinning weights of these points as displayed; None interpolates the vertex weights. Skinning modes
        and reduced models with bones need them.
    contact_triangles : (q, 3) array of integers, optional
        Triangles between these points, which touch what is narrower than the spacing of the points;
        None for the points alone, or without `contact_points` for the triangles of the boundary.
    self_collision : bool
        True if the skin of a full-space body collides with itself, at its contact points and triangles and
        without friction. Places close to each other along the skin, or that overlap at rest, do not.
    shape : Collider, optional
        Collision shape of a projective body of tets for other bodies in `step_together`, at the
        modelled place: it deforms with the body and excludes no points. None for no contact with other
        bodies.
    settings : Settings
        Keyword arguments; `Settings` has their defaults, and the property `settings` all values.

    Raises
    ------
    ValueError
        For a parameter out of range.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> simulation = jounce.Simulation(body.model, dt=1 / 24, substeps=4, damping=0.02)
    >>> pose = np.eye(3, 4)[None].copy()
    >>> simulation.reset(pose)
    >>> pose[0, 2, 3] = 0.1
    >>> report = simulation.step(pose)
    >>> lag = body.model.displacement(simulation.coefficients, body.embedding)
    >>> lag.shape, lag.dtype, bool(np.abs(lag).max() > 0.001)
    ((8, 3), dtype('float32'), True)
    """
    def __new__(
        cls,
        model: Model,
        *,
        colliders: Sequence[Collider] | None = None,
        contact_points: Embedding | None = None,
        contact_weights: _FloatsLike | None = None,
        contact_triangles: _IndicesLike | None = None,
        self_collision: bool = False,
        shape: Collider | None = None,
        **settings: Unpack[Settings],
    ) -> Simulation: ...
    def step(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
        pull: Pull | None = None,
    ) -> StepReport:
        """One step of `dt` to a pose.

        Parameters
        ----------
        pose : (b, 3, 4) array, optional
            Transform of each bone, rest to posed, in world space; None without a rig. A loose projective
            body takes (1, 3, 4), the target of `hold`; None is the modelled place.
        force : array, optional
            Generalised force throughout the step, of `Model.coefficient_shape`, from `Model.reduce_forces`
            or `ForceSamples.reduce`; None is none.
        offsets : (k, 3) array, optional
            Difference of the rig from linear skinning in this pose, from `Body.reduce_offsets`, or at the
            vertices in the full space; None is none.
        drag : Drag, optional
            Drag from `ForceSamples.drag`, or at the vertices for full-space, reduced and projective models;
            None is none.
        colliders : (c, 3, 4) array, optional
            Rotation and translation of each from its initial place; None keeps the last ones. The first
            step moves them from their initial places; `reset(colliders=)` places them without motion.
        pull : Pull, optional
            Springs from points of a projective body to targets, from `Grip.pull`; None is none.

        Returns
        -------
        StepReport
            Iterations, residual, energy and convergence.

        Raises
        ------
        ValueError
            For arguments of a wrong shape or with values that are not finite; the state is then
            unchanged.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, damping=0.5), np.eye(3, 4)[None].copy()
        >>> simulation.reset(pose)
        >>> pose[0, 2, 3] = 0.1
        >>> lags = []
        >>> for frame in range(96):
        ...     report = simulation.step(pose)
        ...     lags.append(simulation.displacement()[:, 2].min())
        >>> bool(lags[0] < -0.05), bool(abs(lags[-1]) < 0.001)
        (True, True)
        """
    def settle(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        max_iterations: int = 1000,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
    ) -> StepReport:
        """Restarts in static equilibrium: at rest in a pose, sagging under gravity and a generalised force.

        Motion without elastic energy, such as the place of a body without a rig, is unchanged.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        force : array, optional
            Force as in `step`.
        max_iterations : int, default 1000
            Largest number of iterations; too few if the report's residual is above `tolerance`.
        offsets : array, optional
            Offsets as in `step`.
        drag : Drag, optional
            Drag as in `step`, on a body at rest.
        colliders : array, optional
            Places as in `step`; friction is left out.

        Returns
        -------
        StepReport
            Iterations, residual and energy.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> report = simulation.settle(pose)
        >>> sag = simulation.displacement()
        >>> report = simulation.step(pose)
        >>> bool(sag[:, 2].min() < -1.0), bool(np.allclose(simulation.displacement(), sag, atol=1e-5))
        (True, True)
        """
    def settle_cycle(
        self,
        poses: _FloatsLike,
        strengths: _Rows = None,
        forces: _Rows = None,
        offsets: _Rows = None,
        max_passes: int = 6,
        tolerance: float = 1e-5,
        drags: Sequence[Drag | None] | None = None,
        colliders: _FloatsLike | None = None,
    ) -> CycleReport:
        """Starts a cycle of poses in its periodic state: stepping through the other poses returns to the same
        position and velocity, and the motion loops.

        Parameters
        ----------
        poses : (f, b, 3, 4) array
            Pose of each frame; the last is like the first up to a common translation.
        strengths : (f,) array, optional
            Strength of each frame, as in `vary`; None keeps the present one.
        forces : (f, ...) array, optional
            Force of each frame, as in `step`; None is none.
        offsets : (f, k, 3) array, optional
            Offsets of each frame, as in `step`; None is none.
        max_passes : int, default 6
            Largest number of passes through the cycle.
        tolerance : float, default 1e-05
            Seam, relative to the motion, at which the passes end.
        drags : sequence of Drag, optional
            Drag of each frame, as in `step`, or None; None is none.
        colliders : (f, c, 3, 4) array, optional
            Placements of each frame, as in `step`; None leaves them in place. Each ends where it began, or
            moved along with the body; a plane may stay below a walk.

        Returns
        -------
        CycleReport
            Passes, seam and convergence.

        Raises
        ------
        ValueError
            For poses that are not cyclic; the state is then unchanged.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model, damping=0.1)
        >>> poses = np.tile(np.eye(3, 4), (13, 1, 1, 1))
        >>> poses[:, 0, 2, 3] = 0.1 * np.sin(np.arange(13) * 2 * np.pi / 12)
        >>> report = simulation.settle_cycle(poses)
        >>> start = simulation.displacement()
        >>> reports = [simulation.step(pose) for pose in poses[1:]]
        >>> bool(np.abs(start).max() > 0.01), bool(np.allclose(simulation.displacement(), start, atol=1e-4))
        (True, True)
        """
    def vary(self, **settings: Unpack[Settings]) -> None:
        """Changes settings from the next step on; None leaves a setting unchanged.

        Parameters
        ----------
        settings : Settings
            Keyword arguments, by the names of `Settings`.

        Raises
        ------
        ValueError
            For invalid settings; all then keep their values.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model), np.eye(3, 4)[None]
        >>> simulation.reset(pose)
        >>> simulation.vary(gravity=(0.0, 0.0, -9.81), damping=0.2)
        >>> report = simulation.step(pose)
        >>> simulation.settings["damping"], bool(simulation.displacement()[:, 2].min() < -0.01)
        (0.2, True)
        """
    @property
    def strength(self) -> float:
        """Factor on the rig's acceleration felt by the flesh, >= 0; may be set between steps."""
    @strength.setter
    def strength(self, strength: float) -> None: ...
    def sample_positions(self, samples: ForceSamples) -> _Floats:
        """Sample positions after the last step, (k, 3) float64, metres; rest positions before the first.

        Parameters
        ----------
        samples : ForceSamples
            Samples of the same model.

        Returns
        -------
        (k, 3) array
            Metres.

        Raises
        ------
        ValueError
            For samples of another model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> samples = body.model.force_samples(20)
        >>> jounce.Simulation(body.model).sample_positions(samples).shape
        (20, 3)
        """
    def displacement(self, out: _Singles | None = None) -> _Singles:
        """Secondary displacement of the mesh's vertices, metres, relative to the posed mesh.

        Parameters
        ----------
        out : array, optional
            Array (n, 3) of float32 to write into; None makes a new one.

        Returns
        -------
        (n, 3) array
            Displacements, metres; `out` itself if it is given.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> report = simulation.step(pose)
        >>> moved = body.rig.posed(body.mesh.vertices, pose) + simulation.displacement()
        >>> skin = body.embedding.interpolate(moved)
        >>> bool(np.allclose(skin, body.deformed(simulation, pose), atol=1e-6))
        True
        """
    @property
    def coefficients(self) -> _Floats:
        """The coefficients Z, (m, 3, 4) float64, read only; in the full space the vertex displacements, (n,
        3).
        """
    @property
    def settings(self) -> Settings:
        """Settings in effect, by the names of the constructor: keyword arguments of an equal Simulation."""
    @property
    def model(self) -> Model:
        """The simulated model."""
    def save_state(self) -> State:
        """A copy of the complete state behind the next step.

        Returns
        -------
        State
            The state.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> report = simulation.step(pose)
        >>> state, ends = simulation.save_state(), []
        >>> for take in range(2):
        ...     simulation.restore_state(state)
        ...     report = simulation.step(pose)
        ...     ends.append(simulation.coefficients)
        >>> np.array_equal(ends[0], ends[1])
        True
        """
    def restore_state(self, state: State) -> None:
        """Restores a saved state.

        Parameters
        ----------
        state : State
            A state of the same model.

        Raises
        ------
        ValueError
            For a state of another model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> report = simulation.settle(pose)
        >>> state, sag = simulation.save_state(), simulation.displacement()
        >>> simulation.reset(pose)
        >>> simulation.restore_state(state)
        >>> np.array_equal(simulation.displacement(), sag)
        True
        """
    def place(
        self,
        place: _Rows = None,
        velocity: tuple[float, float, float] | None = None,
        spin: tuple[float, float, float] | None = None,
    ) -> None:
        """Restarts a loose body, of `Model.projective` or `Model.full_space` without rig and pins, at a
        place, with a velocity and a spin about its centre of mass.

        Parameters
        ----------
        place : (3, 4) array, optional
            Rotation and translation from the modelled place; None is the identity.
        velocity : 3 floats, optional
            Initial velocity, m/s; None is zero.
        spin : 3 floats, optional
            Initial angular velocity, rad/s; None is zero.

        Raises
        ------
        ValueError
            For other models, and for a matrix other than a rotation with a translation.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box()
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=6)
        >>> model = jounce.Model.projective(mesh, jounce.Material(young=2e4), handles=8, clusters=20)
        >>> simulation = jounce.Simulation(model, gravity=(0, 0, -9.81))
        >>> simulation.place(velocity=(1.0, 0.0, 2.0), spin=(0.0, 3.0, 0.0))
        >>> report = simulation.step()
        """
    def cut(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None:
        """Cut or teleport: at rest relative to a pose, with the displacement kept. The flesh feels no kick
        from the jump of the pose. The displacement turns with the body's overall rotation.

        `reset` and `settle` are the other two ways across a cut.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        offsets : array, optional
            Offsets as in `step`.
        colliders : array, optional
            Places as in `step`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
        >>> near, far = np.tile(np.eye(3, 4), (2, 1, 1, 1))
        >>> far[0, 0, 3] = 40.0
        >>> report = simulation.step(near)
        >>> bent = simulation.displacement()
        >>> simulation.cut(far)
        >>> bool(np.allclose(simulation.displacement(), bent))
        True
        >>> bool(np.allclose(simulation.velocity(), 0.0, atol=1e-6))
        True
        """
    def coast(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None:
        """Starts in steady motion: call it right after `reset` or `settle` with the next pose, then step to
        this pose. The rig's velocity to the next pose becomes the initial velocity, and the first step has
        no jolt.

        `x_(-1) = 2 x_0 - x_1` for the rig; the flesh moves along.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        offsets : array, optional
            Offsets as in `step`.
        colliders : array, optional
            Places as in `step`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model)
        >>> pose = np.eye(3, 4)[None].copy()
        >>> simulation.reset(pose)
        >>> pose[0, 2, 3] = 0.1
        >>> simulation.coast(pose)
        >>> report = simulation.step(pose)
        >>> bool(np.abs(simulation.coefficients).max() < 1e-3)
        True
        """
    def reset(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None:
        """Puts the flesh at rest in a pose: no displacement, no velocity. Call it at cuts, when the pose
        jumps.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        offsets : array, optional
            Offsets as in `step`.
        colliders : array, optional
            Places as in `step`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> report = simulation.step(pose)
        >>> simulation.reset(pose)
        >>> bool(simulation.displacement().any()), bool(simulation.velocity().any()), simulation.time
        (False, False, 0.0)
        """
    def velocity(self, emb: Embedding | None = None, out: _Singles | None = None) -> _Singles:
        """Velocity of the secondary displacement, m/s, relative to the posed mesh; zeros at rest.

        By the backward difference of the integrator over the last substeps.

        Parameters
        ----------
        emb : Embedding, optional
            Points in the model's mesh; None for its vertices.
        out : array, optional
            Array (p, 3) of float32 to write into; None makes a new one.

        Returns
        -------
        (p, 3) array
            Velocities, m/s; `out` itself if it is given.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model)
        >>> simulation.reset(np.eye(3, 4)[None])
        >>> simulation.velocity(body.embedding).shape
        (8, 3)
        """
    @property
    def time(self) -> float:
        """Seconds since the last start at rest: `reset`, `settle` or the first step."""
    @property
    def surroundings(self) -> dict[str, Any]:
        """The arguments of the constructor about contact, by their names: colliders, contact_points,
        contact_weights, contact_triangles, self_collision and shape.
        """
    def __copy__(self) -> Simulation: ...
    def __deepcopy__(self, _memo: Any) -> Simulation: ...
    def __setstate__(self, state: State) -> None: ...

@final
class Dents:
    """A displayed skin whose points inside colliders move to their surfaces.

    A Simulation keeps its contact points out of colliders, moving the body in its own coordinates. Modes have
    no dent of the size of a finger, and a fine skin has points between those in contact. Here each point
    moves by itself, out of a collider the nearest way: `u = d n` for a small depth d. Below it flesh gives
    way up to half of its distance from pinned vertices, at most a twentieth of the skin's size. Deeper skin
    stays in place more and more, and skin that would close around a collider stays too. The body feels
    nothing of it.

    Parameters
    ----------
    embedding : Embedding
        Points of the skin in the mesh of the body.
    triangles : (q, 3) array of integers
        Triangles of the skin.
    pinned : (n,) array of bool, optional
        Vertices of the mesh that do not give way.

    Raises
    ------
    ValueError
        For another number of vertices, and for triangles of unknown points.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> dents = jounce.Dents(jounce.Embedding(mesh, points), triangles)
    >>> floor = jounce.Collider.plane((0, 0, 0.01))
    >>> shown = dents.press(points, [floor], np.eye(3, 4)[None])
    >>> sorted(set(shown[:, 2].round(3).tolist()))
    [0.01, 1.0]
    """
    def __new__(
        cls,
        embedding: Embedding,
        triangles: _IndicesLike,
        pinned: _Flags | Sequence[bool] | None = None,
    ) -> Dents: ...
    @property
    def depths(self) -> _Floats:
        """Depth of the flesh that gives way below each point, (p,) float64, metres."""
    def press(self, points: _FloatsLike, colliders: Sequence[Collider], transforms: _FloatsLike) -> _Floats:
        """Displayed places of the points among colliders.

        Parameters
        ----------
        points : (p, 3) array
            Places of the points with their displacement, metres.
        colliders : sequence of Collider
            The colliders; points that one spares are not moved by it.
        transforms : (c, 3, 4) array
            Rotation and translation of each collider from its initial place, metres.

        Returns
        -------
        (p, 3) array
            Places, metres; points outside of all colliders keep all bits.

        Raises
        ------
        ValueError
            For a wrong shape, values that are not finite, and transforms that are not rigid.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> dents = jounce.Dents(jounce.Embedding(mesh, points), triangles)
        >>> ball, lifted = jounce.Collider.sphere(0.1, (1.0, 1.0, 1.0)), np.eye(3, 4)[None]
        >>> lifted[0, 2, 3] = 0.08
        >>> moved = dents.press(points, [ball], lifted) - points
        >>> (moved[moved.any(axis=1)].round(3) + 0.0).tolist()
        [[0.0, 0.0, -0.02]]
        """

@final
class Domain:
    """A reduced body for use in domain trees. Share one Domain among leaves of one shape.

    Parameters
    ----------
    body : LinearModes or Model
        Modes of tets or of a surface without volume, with energy `1/2 z' Lambda z` over the deforming
        modes; or a Model of `Model.reduced` without a rig, which bends far by itself and keeps its
        tets. The pinned part is attached to the parent domain.

    Raises
    ------
    ValueError
        For other models, for a model with a rig, and for a basis that contains rigid motion.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    >>> jounce.Domain(modes).coordinate_count
    4
    """
    def __new__(cls, body: LinearModes | Model) -> Domain: ...
    @property
    def coordinate_count(self) -> int:
        """Number of coordinates k."""
    @property
    def held(self) -> _Indices:
        """Vertices with zero displacement in every coordinate, (h,) int32: the attached part."""
    def __copy__(self) -> Domain: ...
    def __deepcopy__(self, _memo: Any) -> Domain: ...

@final
class DomainTree:
    """A tree of attached domains, each a reduced body in a local frame [MOR sec. 4].

    A vertex is at `c + R (X + B y)`. The frame (R, c) of a domain follows its interface, a set of
    vertices of the parent: c is their mean, R the rotation of `A = sum m x X' = R S`. Small bends
    therefore add up along the tree. Each step minimises `1/(2 h^2) |x - y|^2_M + stiffness * E - f.x`
    over the coordinates of all domains, with the full coupling between the frames and the coordinates
    of parents and children. The cost is linear in the number of domains.

    Parameters
    ----------
    domains : sequence of Domain
        The d domains; one may appear several times.
    parents : (d,) array of integers
        Parent of each domain, before its children; -1 for the first, the root.
    interfaces : sequence of arrays of integers
        For each domain, vertices of the parent near the domain's pinned part, three or more and not
        collinear; empty for the root.
    placements : (d, 3, 4) array, optional
        Rotation and translation of each from its modelled place to its rest place; None for the
        identity.
    free : bool, default False
        True for a root that is not attached.
    colliders : sequence of Collider, optional
        Obstacles, with backward Euler. Contact points are the boundary vertices, or all vertices of a
        surface; domains do not collide with each other. Domains far from all colliders cost little, for
        any mesh.
    settings : TreeSettings
        Keyword arguments, by the names of `TreeSettings`.

    Raises
    ------
    ValueError
        For a list of parents that is no tree, for an interface that does not fit, and for settings
        out of range.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    >>> root = np.flatnonzero(held)
    >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
    >>> report = tree.step()
    >>> tree.positions(0).shape == mesh.vertices.shape
    True
    """
    def __new__(
        cls,
        domains: Sequence[Domain],
        parents: _IndicesLike,
        interfaces: Sequence[_IndicesLike],
        placements: _Rows = None,
        *,
        free: bool = False,
        colliders: Sequence[Collider] | None = None,
        **settings: Unpack[TreeSettings],
    ) -> DomainTree: ...
    def step(
        self,
        root: _Rows = None,
        wind: _FloatsLike | None = None,
        drag: _Field | None = None,
        colliders: _Rows = None,
    ) -> StepReport:
        """One step of dt.

        Parameters
        ----------
        root : (3, 4) array, optional
            Rotation and translation of the root, and with it of the whole tree, from the rest place;
            None keeps the last one. The first root transform sets the start, at rest.
        wind : (d, 3) array, optional
            Velocity of the medium at each domain, or three numbers for all, m/s; None is no medium.
        drag : float or array, optional
            Relaxation rate towards the wind, 1/s, one number or (d,) float64; None is 1: `-drag m (v -
            wind)` acts on every vertex.
        colliders : (c, 3, 4) array, optional
            Rotation and translation of each from its initial place; None keeps the last ones.

        Returns
        -------
        StepReport
            Iterations, residual, energy and convergence.

        Raises
        ------
        ValueError
            For a wrong shape, for values that are not finite, and for the root of a free tree; the
            state is then unchanged.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
        >>> report = tree.step(wind=(0.0, 5.0, 0.0), drag=2.0)
        >>> drift = (tree.positions(0) - mesh.vertices)[:, 1]
        >>> bool(np.abs(drift[held]).max() < 1e-9), bool(drift.max() > 0.01)
        (True, True)
        """
    def cut(self, root: _Rows = None) -> None:
        """Cut or teleport: at rest at a place of the root, with the deformation kept. A free root stays.

        Parameters
        ----------
        root : (3, 4) array, optional
            Place of the root, as in `step`.

        Raises
        ------
        ValueError
            As in `step`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
        >>> root = np.flatnonzero(held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
        >>> report = tree.step(np.eye(3, 4))
        >>> bent, far = tree.positions(0), np.eye(3, 4)
        >>> far[:, 3] = [40.0, 0.0, 0.0]
        >>> tree.cut(far)
        >>> bool(np.allclose(tree.positions(0), bent + [40.0, 0.0, 0.0]))
        True
        """
    def coast(self, root: _Rows = None) -> None:
        """Starts in steady motion, right after a start at rest: the root gets the velocity towards its next
        place, and the first step has no jolt. No effect before the first step.

        Parameters
        ----------
        root : (3, 4) array, optional
            Next place of the root, as in `step`.

        Raises
        ------
        ValueError
            As in `step`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
        >>> tree.coast(np.eye(3, 4))
        >>> report = tree.step(np.eye(3, 4))
        """
    def vary(self, **settings: Unpack[TreeSettings]) -> None:
        """Changes settings from the next step on; None leaves a setting unchanged.

        Parameters
        ----------
        settings : TreeSettings
            Keyword arguments, by the names of `TreeSettings`.

        Raises
        ------
        ValueError
            For invalid settings; all then keep their values.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
        >>> tree.vary(gravity=(0.0, 0.0, -9.81), damping=0.1)
        >>> report = tree.step()
        >>> bool((tree.positions(0) - mesh.vertices)[:, 2].min() < -0.01)
        True
        """
    @property
    def coordinate_count(self) -> int:
        """Number of coordinates of all domains."""
    @property
    def frames(self) -> _Floats:
        """Transform from the modelled place of each body to its current frame, (d, 3, 4) float64: the rigid
        part of the motion.
        """
    def coordinates(self, domain: int) -> _Floats:
        """Coordinates of a domain, (k,) float64, m kg^(1/2): the amplitudes of the deforming LinearModes, or
        the coefficients of the reduced model.

        Parameters
        ----------
        domain : int
            Number of the domain.

        Returns
        -------
        (r,) array
            Coordinates of the domain.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
        >>> tree.coordinates(0).shape
        (5,)
        """
    def positions(self, domain: int) -> _Floats:
        """Vertex positions of a domain, (n, 3) float64, metres.

        Parameters
        ----------
        domain : int
            Number of the domain.

        Returns
        -------
        (n, 3) array
            Positions of the domain's vertices, metres.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held, tip = mesh.vertices[:, 0] < 0.1, mesh.vertices[:, 0] > 3.9
        >>> domain = jounce.Domain(jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held))
        >>> places = np.tile(np.eye(3, 4), (2, 1, 1))
        >>> places[1, 0, 3] = 4.0
        >>> interfaces = [np.flatnonzero(held), np.flatnonzero(tip)]
        >>> chain = jounce.DomainTree([domain, domain], [-1, 0], interfaces, places)
        >>> bool(np.allclose(chain.positions(1), mesh.vertices + [4.0, 0.0, 0.0]))
        True
        """
    def save_state(self) -> State:
        """The complete state from which a step starts.

        Returns
        -------
        State
            The state.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
        >>> root = np.flatnonzero(held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
        >>> report = tree.step()
        >>> state, ends = tree.save_state(), []
        >>> for take in range(2):
        ...     tree.restore_state(state)
        ...     report = tree.step()
        ...     ends.append(tree.coordinates(0))
        >>> np.array_equal(ends[0], ends[1])
        True
        """
    def restore_state(self, state: State) -> None:
        """Restores a saved state.

        Parameters
        ----------
        state : State
            A state of the same model.

        Raises
        ------
        ValueError
            For a state of another tree.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
        >>> root = np.flatnonzero(held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
        >>> report = tree.step()
        >>> state, bent = tree.save_state(), tree.positions(0)
        >>> tree.reset()
        >>> tree.restore_state(state)
        >>> np.array_equal(tree.positions(0), bent)
        True
        """
    def reset(self) -> None:
        """Resets the tree to rest at its initial place.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> held = mesh.vertices[:, 0] < 0.1
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
        >>> root = np.flatnonzero(held)
        >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
        >>> report = tree.step()
        >>> tree.reset()
        >>> bool(np.allclose(tree.positions(0), mesh.vertices))
        True
        """

@final
class Key:
    """Target shape or vertex position at the end of a frame; made by `Key.shape` or `Key.vertex`.

    Examples
    --------
    >>> up = jounce.Key.vertex(12, vertex=5, displacement=(0.0, 0.0, 0.1))
    """
    @staticmethod
    def shape(frame: int, coefficients: _FloatsLike, weight: float = 1.0) -> Key:
        """Target coefficients, (r,) float64, after the step `frame`, counted from 0.

        Parameters
        ----------
        frame : int
            Number of the frame, from 0.
        coefficients : array
            Shape to reach, of `Model.coefficient_shape`.
        weight : float, default 1.0
            Weight of the miss, > 0.

        Returns
        -------
        Key
            The key.

        Raises
        ------
        ValueError
            For values that are not finite; `keyed_motion` checks the rest.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
        >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
        >>> bent = [20.0, 0.0, 0.0, 0.0]
        >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(5, bent)], 8)
        >>> bool(np.allclose(motion.coefficients[5], bent, atol=0.01))
        True
        """
    @staticmethod
    def vertex(frame: int, vertex: int, displacement: Sequence[float], weight: float = 1.0) -> Key:
        """Target displacement of one vertex from its rig position, metres, after the step `frame`, counted
        from 0.

        Parameters
        ----------
        frame : int
            Number of the frame, from 0.
        vertex : int
            Vertex of the mesh.
        displacement : 3 floats
            Displacement to reach, metres.
        weight : float, default 1.0
            Weight of the miss, > 0.

        Returns
        -------
        Key
            The key.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
        >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
        >>> tip = int(np.argmax(mesh.vertices[:, 0]))
        >>> motion = jounce.keyed_motion(simulation, [jounce.Key.vertex(5, tip, (0.0, 0.0, 0.2))], 8)
        >>> reports = [simulation.step(force=force) for force in motion.forces[:6]]
        >>> bool(np.allclose(simulation.displacement()[tip], [0.0, 0.0, 0.2], atol=1e-3))
        True
        """

@final
class KeyedMotion:
    """A motion through keys and the forces behind it; made by `keyed_motion`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.basis)
    >>> simulation = jounce.Simulation(model, damping=0.1)
    >>> tip = int(np.argmax(mesh.vertices[:, 0]))
    >>> motion = jounce.keyed_motion(simulation, [jounce.Key.vertex(6, tip, (0, 0, 0.1))], 8)
    >>> motion.forces.shape, bool(motion.misses.max() < 0.01)
    ((8, 4), True)
    """
    @property
    def forces(self) -> _Floats:
        """Generalised control forces of the frames, (f, r) float64, as input for `Simulation.step`; the given
        forces come on top.
        """
    @property
    def coefficients(self) -> _Floats:
        """Coefficients at the ends of the frames, (f, r) float64."""
    @property
    def misses(self) -> _Floats:
        """Miss of each key, (k,) float64, as a share of the mesh's diagonal; root mean square over the mass
        for a shape.
        """
    @property
    def iterations(self) -> int:
        """Number of iterations."""
    @property
    def residual(self) -> float:
        """Change of the forces in the last iteration, to compare with `tolerance`."""
    def tracking(self, effort: float = 0.01) -> Tracking:
        """Feedback that returns disturbed flesh to this motion: a linear regulator along the trajectory.

        The gains minimise `sum_f |dx_f|^2 / size^2 + effort |du_f|^2 / push^2` for small disturbances, in
        the units of `keyed_motion`: less effort gives firmer tracking.

        Parameters
        ----------
        effort : float, default 0.01
            Weight of the forces against the disturbance, > 0.

        Returns
        -------
        Tracking
            The tracking forces.

        Raises
        ------
        ValueError
            For an effort that is not positive.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
        >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
        >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(8, [20.0, 0.0, 0.0, 0.0])], 12)
        >>> gentle, firm = motion.tracking(effort=1.0), motion.tracking(effort=0.01)
        >>> bool(np.abs(firm.gains).max() > 2.0 * np.abs(gentle.gains).max())
        True
        """

@final
class Tracking:
    """Feedback from disturbed flesh to a motion; made by `KeyedMotion.tracking`.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.basis)
    >>> simulation = jounce.Simulation(model, damping=0.1)
    >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(6, np.full(4, 0.1))], 8)
    >>> simulation.reset()
    >>> motion.tracking().force(0, simulation.save_state()).shape
    (4,)
    """
    @property
    def gains(self) -> _Floats:
        """Gains G of the frames, (f, r, m r) float64: `force = forces - G dx`. dx is the error of the
        coefficients of the last m substeps, newest first; m is 2 for "backward_euler", 4 for "bdf2".
        """
    def force(self, frame: int, state: State) -> _Floats:
        """The force of a frame for `Simulation.step`, (r,) float64, from the state before the frame
        (`Simulation.save_state`).

        Parameters
        ----------
        frame : int
            Number of the frame, from 0.
        state : State
            State before the frame.

        Returns
        -------
        array
            Force to pass to `Simulation.step` in this frame, of `Model.coefficient_shape`.

        Raises
        ------
        ValueError
            For a frame out of range, and for a state of another model or other substeps.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=mesh.vertices[:, 0] < 0.1)
        >>> simulation = jounce.Simulation(jounce.Model.reduced(mesh, jounce.Material(), modes.basis))
        >>> motion = jounce.keyed_motion(simulation, [jounce.Key.shape(8, [20.0, 0.0, 0.0, 0.0])], 12)
        >>> tracking, misses, kick = motion.tracking(), [], 2000.0
        >>> for frame in range(12):
        ...     report = simulation.step(force=tracking.force(frame, simulation.save_state()) + kick)
        ...     misses.append(np.abs(simulation.coefficients - motion.coefficients[frame]).max())
        ...     kick = 0.0
        >>> bool(misses[0] > 1.0), bool(misses[-1] < 0.1)
        (True, True)
        """

def keyed_motion(
    simulation: Simulation,
    keys: Sequence[Key],
    frames: int,
    *,
    poses: _Rows = None,
    forces: _Rows = None,
    effort: float = 1e-6,
    max_iterations: int = 200,
    tolerance: float = 1e-4,
) -> KeyedMotion:
    """Motion of a reduced simulation from its current state through keys with least effort [MOR sec. 5].

    Finds one generalised force a frame that minimises `1/2 sum_keys w |x - x*|^2 / size^2 + effort / 2f
    sum_f |u_f|^2 / push^2`. Misses are in the mass norm, or at a vertex, as shares of the mesh's
    diagonal. `|u|^2 = f' M^-1 f` for the vertex forces f of u. `push` is the pull of the lowest
    deforming mode at a displacement of one diagonal.

    A small effort meets the keys closely; weights decide between conflicting keys. The motion equals
    `Simulation.step` under `forces + KeyedMotion.forces`. The simulation's state is unchanged.

    Parameters
    ----------
    simulation : Simulation
        Simulation of a reduced model, at the start of the motion.
    keys : sequence of Key
        Keys, from `Key.shape` and `Key.vertex`.
    frames : int
        Number f of steps of dt, at most 100000.
    poses : (f, b, 3, 4) array, optional
        Pose of each frame; None without a rig.
    forces : (f, r) array, optional
        Additional force of each frame; None is none.
    effort : float, default 1e-06
        Weight of the forces against the misses, at least 1e-15.
    max_iterations : int, default 200
        Largest number of iterations.
    tolerance : float, default 0.0001
        Relative change of the forces at which the iterations end.

    Returns
    -------
    KeyedMotion
        Forces and motion.

    Raises
    ------
    ValueError
        For other models, and for keys that do not fit.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.basis)
    >>> simulation = jounce.Simulation(model, damping=0.1)
    >>> key = jounce.Key.shape(6, np.full(4, 0.1))
    >>> jounce.keyed_motion(simulation, [key], 8).coefficients.shape
    (8, 4)
    """

def step_together(
    simulations: Sequence[Simulation],
    poses: Sequence[_Rows],
    forces: Sequence[_Rows] | None = None,
    offsets: Sequence[_Rows] | None = None,
    drags: Sequence[Drag | None] | None = None,
    colliders: Sequence[_Rows] | None = None,
) -> list[StepReport]:
    """Steps several simulations at once, in parallel; returns a report for each, in order.

    Bodies with a `shape` touch each other: contact between them is detected once a substep, with
    opposite forces on both. All others step exactly as they would alone. The states contain sticking
    contacts, which refer to the other bodies by list position: pass the bodies in the same order each
    step.

    Parameters
    ----------
    simulations : sequence of Simulation
        Simulations of any models, without duplicates.
    poses : sequence of arrays
        Pose of each body, as in `Simulation.step`, or None.
    forces : sequence of arrays, optional
        Force on each body, as in `Simulation.step`, or None; without the list, no body has any.
    offsets : sequence of arrays, optional
        Offsets of each body, as in `Simulation.step`, or None; without the list, no body has any.
    drags : sequence of Drag, optional
        Drag of each body, as in `Simulation.step`, or None; without the list, no body has any.
    colliders : sequence of arrays, optional
        Places of each body's colliders, as in `Simulation.step`, or None; without the list, all stay.

    Returns
    -------
    list of StepReport
        A report for each simulation, in order.

    Raises
    ------
    ValueError
        As `Simulation.step` does, for the first failing body (bodies without a shape come first),
        and for shapes with different dt or substeps; then no body has moved.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
    >>> bodies = [jounce.Simulation(model, gravity=(0, 0, -9.81)) for body in range(2)]
    >>> reports = jounce.step_together(bodies, [None, None])
    >>> len(reports)
    2
    """

@disjoint_base
class Job:
    """Base class of all jobs: work on a thread that never touches Python.

    Poll `done`; show `progress` and `stage`. Dropping a job cancels the work.

    Examples
    --------
    >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
    >>> job = jounce.ModalKeysJob(frames, 1e-4)
    >>> keys, values, error = job.result()
    >>> job.done, job.progress
    (True, 1.0)
    """
    @property
    def progress(self) -> float:
        """The completed fraction, in [0, 1]."""
    @property
    def stage(self) -> str:
        """Current stage, in a word or two; empty before the first stage."""
    @property
    def done(self) -> bool:
        """True if the job is finished or has failed: a waiting call would return or raise at once."""
    def cancel(self) -> None:
        """Asks the job to stop soon; `result()` then raises ValueError "cancelled".

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> job = jounce.BodyJob(points, triangles, np.ones((8, 1)), resolution=32)
        >>> job.cancel()
        >>> try:
        ...     body = job.result()
        ... except ValueError as error:
        ...     print(error)
        cancelled
        """

@final
class MotionJob(Job):
    """A copy of a simulation, stepped on a thread that never touches Python.

    `reset`, `place`, `step`, `settle`, `settle_cycle`, `cut`, `coast`, `vary` and `strength` have the
    meaning of the Simulation's methods. They return at once, and the thread executes them in order.
    `keep()` stores the coefficients at its point of the order, bit for bit those of the Simulation.
    Invalid arrays raise at once; `wait()` and `coefficients()` raise the error of a failed step, which
    ends the queue. `progress` and `stage` belong to the last cycle or settling; `report` gives the
    closing error of the last cycle. `cancel()` stops within an iteration of a step; kept results stay.

    Parameters
    ----------
    simulation : Simulation
        The simulation to copy.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> simulation = jounce.Simulation(body.model)
    >>> job = jounce.MotionJob(simulation)
    >>> job.reset(np.eye(3, 4)[None])
    >>> for height in (0.1, 0.2):
    ...     pose = np.eye(3, 4)[None].copy()
    ...     pose[0, 2, 3] = height
    ...     job.step(pose)
    ...     job.keep()
    >>> job.wait()
    >>> job.coefficients().shape == (2, *body.model.coefficient_shape)
    True
    """
    def __new__(cls, simulation: Simulation) -> MotionJob: ...
    def step(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
    ) -> None:
        """Requests a step of `dt` to a pose; `report` then has its report.

        Parameters
        ----------
        pose : (b, 3, 4) array, optional
            Transform of each bone, rest to posed, in world space; None without a rig. A loose projective
            body takes (1, 3, 4), the target of `hold`; None is the modelled place.
        force : array, optional
            Generalised force throughout the step, of `Model.coefficient_shape`, from `Model.reduce_forces`
            or `ForceSamples.reduce`; None is none.
        offsets : (k, 3) array, optional
            Difference of the rig from linear skinning in this pose, from `Body.reduce_offsets`, or at the
            vertices in the full space; None is none.
        drag : Drag, optional
            Drag from `ForceSamples.drag`, or at the vertices for full-space, reduced and projective models;
            None is none.
        colliders : (c, 3, 4) array, optional
            Rotation and translation of each from its initial place; None keeps the last ones. The first
            step moves them from their initial places; `reset(colliders=)` places them without motion.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.step` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation, pose = jounce.Simulation(body.model, gravity=(0, 0, -9.81)), np.eye(3, 4)[None]
        >>> job = jounce.MotionJob(simulation)
        >>> job.step(pose)
        >>> job.keep()
        >>> job.wait()
        >>> report = simulation.step(pose)
        >>> np.array_equal(job.coefficients()[0], simulation.coefficients)
        True
        """
    def settle(
        self,
        pose: _Rows = None,
        force: _Rows = None,
        max_iterations: int = 1000,
        offsets: _Rows = None,
        drag: Drag | None = None,
        colliders: _Rows = None,
    ) -> None:
        """Requests a start in static equilibrium; `report` then has its report.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        force : array, optional
            Force as in `step`.
        max_iterations : int, default 1000
            Largest number of iterations; too few if the report's residual is above `tolerance`.
        offsets : array, optional
            Offsets as in `step`.
        drag : Drag, optional
            Drag as in `step`, on a body at rest.
        colliders : array, optional
            Places as in `step`; friction is left out.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.settle` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
        >>> job = jounce.MotionJob(simulation)
        >>> job.settle(np.eye(3, 4)[None])
        >>> job.keep()
        >>> job.wait()
        >>> report = simulation.settle(np.eye(3, 4)[None])
        >>> np.array_equal(job.coefficients()[0], simulation.coefficients)
        True
        """
    def settle_cycle(
        self,
        poses: _FloatsLike,
        strengths: _Rows = None,
        forces: _Rows = None,
        offsets: _Rows = None,
        max_passes: int = 6,
        tolerance: float = 1e-5,
        drags: Sequence[Drag | None] | None = None,
        colliders: _FloatsLike | None = None,
    ) -> None:
        """Requests a start in the closed state of a cycle; `report` then has its report.

        Parameters
        ----------
        poses : (f, b, 3, 4) array
            Pose of each frame; the last is like the first up to a common translation.
        strengths : (f,) array, optional
            Strength of each frame, as in `vary`; None keeps the present one.
        forces : (f, ...) array, optional
            Force of each frame, as in `step`; None is none.
        offsets : (f, k, 3) array, optional
            Offsets of each frame, as in `step`; None is none.
        max_passes : int, default 6
            Largest number of passes through the cycle.
        tolerance : float, default 1e-05
            Seam, relative to the motion, at which the passes end.
        drags : sequence of Drag, optional
            Drag of each frame, as in `step`, or None; None is none.
        colliders : (f, c, 3, 4) array, optional
            Placements of each frame, as in `step`; None leaves them in place. Each ends where it began, or
            moved along with the body; a plane may stay below a walk.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.settle_cycle` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model, damping=0.1))
        >>> poses = np.tile(np.eye(3, 4), (13, 1, 1, 1))
        >>> poses[:, 0, 2, 3] = 0.1 * np.sin(np.arange(13) * 2 * np.pi / 12)
        >>> job.settle_cycle(poses)
        >>> job.wait()
        >>> job.report.passes <= 6, job.report.position < 1e-5
        (True, True)
        """
    def cut(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None:
        """Requests a cut: at rest relative to a pose, with the displacement kept.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        offsets : array, optional
            Offsets as in `step`.
        colliders : array, optional
            Places as in `step`.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.cut` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81)))
        >>> near, far = np.tile(np.eye(3, 4), (2, 1, 1, 1))
        >>> far[0, 0, 3] = 40.0
        >>> job.step(near)
        >>> job.keep()
        >>> job.cut(far)
        >>> job.keep()
        >>> job.wait()
        >>> before, after = job.coefficients()
        >>> bool(np.allclose(before, after))
        True
        """
    def coast(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None:
        """Requests steady motion: call it after `reset` or `settle` with the next pose, then step to it.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        offsets : array, optional
            Offsets as in `step`.
        colliders : array, optional
            Places as in `step`.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.coast` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model))
        >>> pose = np.eye(3, 4)[None].copy()
        >>> job.reset(pose)
        >>> pose[0, 2, 3] = 0.1
        >>> job.coast(pose)
        >>> job.step(pose)
        >>> job.wait()
        """
    def reset(self, pose: _Rows = None, offsets: _Rows = None, colliders: _Rows = None) -> None:
        """Requests a start at rest in a pose: no displacement, no velocity.

        Parameters
        ----------
        pose : array, optional
            Pose as in `step`.
        offsets : array, optional
            Offsets as in `step`.
        colliders : array, optional
            Places as in `step`.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.reset` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81)))
        >>> job.step(np.eye(3, 4)[None])
        >>> job.reset(np.eye(3, 4)[None])
        >>> job.keep()
        >>> job.wait()
        >>> bool(job.coefficients().any())
        False
        """
    def place(
        self,
        place: _Rows = None,
        velocity: tuple[float, float, float] | None = None,
        spin: tuple[float, float, float] | None = None,
    ) -> None:
        """Requests a new start of a loose body at a place, with a velocity and a spin.

        Parameters
        ----------
        place : (3, 4) array, optional
            Rotation and translation from the modelled place; None is the identity.
        velocity : 3 floats, optional
            Initial velocity, m/s; None is zero.
        spin : 3 floats, optional
            Initial angular velocity, rad/s; None is zero.

        Raises
        ------
        ValueError
            For arguments of a wrong shape; `wait` raises what else `Simulation.place` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box()
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=6)
        >>> model = jounce.Model.projective(mesh, jounce.Material(young=2e4), handles=8, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(model))
        >>> job.place(velocity=(1.0, 0.0, 2.0))
        >>> job.step()
        >>> job.wait()
        """
    def vary(self, **settings: Unpack[Settings]) -> None:
        """Requests other settings from the next step on; None leaves a setting unchanged.

        Parameters
        ----------
        settings : Settings
            Keyword arguments, by the names of `Settings`.

        Raises
        ------
        ValueError
            For unknown settings and other types; `wait` raises what else `Simulation.vary` refuses.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model))
        >>> for gravity in (0.0, -9.81):
        ...     job.vary(gravity=(0.0, 0.0, gravity))
        ...     job.step(np.eye(3, 4)[None])
        ...     job.keep()
        >>> job.wait()
        >>> [bool(np.abs(kept).max() > 0.001) for kept in job.coefficients()]
        [False, True]
        """
    @property
    def strength(self) -> float:
        """Factor on the rig's acceleration from the next requested step on, >= 0."""
    @strength.setter
    def strength(self, strength: float) -> None: ...
    def keep(self, state: bool = False) -> None:
        """Requests to keep the coefficients at this point, and for `state=True` the state too.

        Parameters
        ----------
        state : bool, default False
            True keeps the state too.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model))
        >>> for frame in range(3):
        ...     job.step(np.eye(3, 4)[None])
        ...     job.keep(state=frame == 2)
        >>> job.wait()
        >>> job.kept, job.state(0) is None, job.state(2) is None
        (3, True, False)
        """
    @property
    def kept(self) -> int:
        """Number of kept coefficients so far."""
    @property
    def report(self) -> CycleReport | None:
        """Closing error of the last cycle, as returned by `Simulation.settle_cycle`; None until available."""
    def wait(self) -> None:
        """Waits until all requests are done, or until Ctrl+C; raises the error of a failed request.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model))
        >>> for frame in range(12):
        ...     job.step(np.eye(3, 4)[None])
        ...     job.keep()
        >>> job.wait()
        >>> job.done, job.kept
        (True, 12)
        """
    def coefficients(self, start: int = 0) -> _Floats:
        """Kept coefficients from number `start` on, (k, ...) float64; raises the error of a failed request.

        Parameters
        ----------
        start : int, default 0
            Number of the first kept coefficients.

        Returns
        -------
        (k, ...) array
            Kept coefficients.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model))
        >>> for frame in range(3):
        ...     job.step(np.eye(3, 4)[None])
        ...     job.keep()
        >>> job.wait()
        >>> len(job.coefficients()), len(job.coefficients(start=2))
        (3, 1)
        """
    def converged(self, start: int = 0) -> list[bool]:
        """For each kept coefficients from number `start` on, true if all solves up to them converged.

        Parameters
        ----------
        start : int, default 0
            Number of the first kept coefficients.

        Returns
        -------
        list of bool
            True for frames whose steps all reached the tolerance.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> job = jounce.MotionJob(jounce.Simulation(body.model))
        >>> job.step(np.eye(3, 4)[None])
        >>> job.keep(state=True)
        >>> job.wait()
        >>> job.converged(), job.state(0) is not None
        ([True], True)
        """
    def state(self, index: int) -> State | None:
        """Kept state number `index`; None if no state was kept or the thread is not there yet.

        Parameters
        ----------
        index : int
            Number of the kept state, from 0.

        Returns
        -------
        State, optional
            The state; None if it was not kept.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
        >>> job = jounce.MotionJob(simulation)
        >>> job.step(np.eye(3, 4)[None])
        >>> job.keep(state=True)
        >>> job.wait()
        >>> simulation.restore_state(job.state(0))
        >>> np.array_equal(simulation.coefficients, job.coefficients()[0])
        True
        """

@final
class SkeletonCore:
    """A core of bone for a `Body`: the core follows the rig exactly, the rest is flesh.

    Hands, feet and heads are rigid by default, and so are the `hard_points` of the surface.

    Parameters
    ----------
    heads : (b, 3) array
        Head of each bone at rest, metres.
    parents : (b,) array of integers
        Parent of each bone, -1 for none.
    names : sequence of str, optional
        Name of each bone, as a hint at the part of the body.
    roles : sequence of _Role, optional
        Role of each bone: "automatic", "flesh" (thick flesh around the bone moves), "rigid" (none
        moves) or "free" (all moves).
    amount : float, default 0.5
        Share of the flesh beside rigid parts that follows the bones, from 0, none, to 1, all but
        the thickest flesh.
    rigid : (p,) array of bool, optional
        Points that are hard.
    still : sequence of bool, optional
        True for each bone that only its parents move; such tails, ears and the like swing freely.
    resolution : int, optional
        Cells along the longest side of the lattice for the search of thin parts and roles, to get
        the same result for bodies of all resolutions; None is the body's own.
    anatomy : bool, default True
        Share of bone by region and direction, as in a living body: hard rib cage, loins and pelvis,
        soft belly, buttocks and a soft layer on the limbs; ears and tails free. The amount then
        scales the shares: 0.5 leaves them as they are, 0 is no core, 1 is all. A body without legs,
        fins and tail keeps the core that it has without anatomy.
    parts : mapping of str to (float, float), optional
        (softness, amount) by the name of a part: "belly", "chest", "buttocks", "thighs", "calves",
        "arms", "neck", "ears", "tail", "fins", "hair", "rest". Softness, > 0, divides the part's
        stiffness, which is such that at 1 each part has a frequency of its own; amount in [0, 3] is
        the share of the rig's acceleration that it feels.

    Raises
    ------
    ValueError
        For lengths that do not agree and unknown roles; `Body` raises for a core that does not fit
        its surface.

    Examples
    --------
    >>> heads = [[0, 0.5, 0.5], [2, 0.5, 0.5]]
    >>> core = jounce.SkeletonCore(heads, [-1, 0], roles=["flesh", "flesh"])
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> weights = np.stack([points[:, 0] < 2, points[:, 0] > 2], axis=1).astype(float)
    >>> body = jounce.Body(points, triangles, weights, resolution=12, modes=4, clusters=20, core=core)
    >>> body.roles
    ['flesh', 'flesh']
    """
    def __new__(
        cls,
        heads: _FloatsLike,
        parents: _IndicesLike,
        *,
        names: Sequence[str] | None = None,
        roles: Sequence[_Role] | None = None,
        amount: float = 0.5,
        rigid: _Flags | Sequence[bool] | None = None,
        still: Sequence[bool] | None = None,
        resolution: int | None = None,
        anatomy: bool = True,
        parts: Mapping[str, tuple[float, float]] | None = None,
    ) -> SkeletonCore: ...
    @staticmethod
    def is_hard_name(name: str) -> bool:
        """True if a bone name marks flesh that follows the bone, as for hands, feet and heads.

        Parameters
        ----------
        name : str
            Name of a bone.

        Returns
        -------
        bool
            True for the name of a hard thing.

        Examples
        --------
        >>> jounce.SkeletonCore.is_hard_name("LeftHand"), jounce.SkeletonCore.is_hard_name("Spine")
        (True, False)
        """
    @staticmethod
    def is_hard_material(name: str) -> bool:
        """True if the name of a material marks hard things, such as metal, armour and glass.

        Parameters
        ----------
        name : str
            Name of a material.

        Returns
        -------
        bool
            True for the name of a hard material.

        Examples
        --------
        >>> jounce.SkeletonCore.is_hard_material("Steel"), jounce.SkeletonCore.is_hard_material("Skin")
        (True, False)
        """
    @staticmethod
    def hard_points(
        points: _FloatsLike,
        triangles: _IndicesLike,
        weights: _FloatsLike,
        *,
        joints: int = 1,
        hinted: _Flags | None = None,
    ) -> _Flags:
        """The hard points of a surface, (p,) bool: those of loose parts that follow their bones as a whole,
        for which `Body` looks by itself.

        Parameters
        ----------
        points : (p, 3) array
            Positions on the surface, metres.
        triangles : (q, 3) array of integers
            Indices of the points.
        weights : (p, b) array
            Skinning weights, one row a point, each with a sum of 1.
        joints : int, default 1
            Number of joints of the skeleton, those without weight included; a surface with equal
            weights everywhere is a hard prop on one of several joints, and flesh on a single one.
        hinted : (p,) array of bool, optional
            Points of a hard material, see `is_hard_material`.

        Returns
        -------
        (p,) array of bool
            True for hard points.

        Raises
        ------
        ValueError
            As `Body` does.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> along = points[:, :1] / 4
        >>> weights = np.hstack([1 - along, along])
        >>> bool(jounce.SkeletonCore.hard_points(points, triangles, weights).any())
        False
        """

@final
class Body:
    """A rigged surface and everything for its simulation, built in one call.

    Fills the surface with a lattice, carries the weights to the lattice, and computes leak, modes,
    clusters and model.

    `BodyJob` does the same without blocking.

    Without `merge_into` and `bone_parents`, the modes are complementary to every bone. A pose always
    has a transform for each bone.

    Parameters
    ----------
    points : (p, 3) array
        Positions on the surface, metres.
    triangles : (q, 3) array of integers
        Indices of the points.
    weights : (p, b) array
        Skinning weights, one row a point, each with a sum of 1.
    resolution : int, optional
        Cells along the longest side; None is those for about 12,000 tets, between 16 and 64.
    solid : bool, default True
        Count only the inside of the surface, as in `TetMesh.lattice`; False counts each touched
        cell in full.
    modes : int, default 24
        Number of modes.
    clusters : int, optional
        Number of clusters, whose tets share one rotation; None is 140.
    cubature : int, optional
        Number of tets whose weighted forces stand for all; 0 uses clusters instead. None is 140, or 0
        with clusters.
    young : float or array, default 10000.0
        Young's modulus, Pa, one number or (p,), interpolated to the inside on a log scale.
    poisson : float, default 0.0
        Poisson's ratio, in [0, 0.5); above 0 with a law other than "arap".
    density : float, default 1000.0
        Mass density, kg/m^3.
    locality : float, default 0.0
        Locality as in `localised_modes`; 0 for global modes.
    driven : bool, optional
        True for `driven_modes`, with locality 0; None is True for a body with a core.
    law : {'arap', 'corotated'}, default 'arap'
        Elastic law, as in `Material`.
    leak : (p,) array, optional
        Share of the default leak to keep at each point, in [0, 1]; None keeps all.
    strength : (p,) array, optional
        Factor on the rig's acceleration felt at each point, >= 0; None is 1 everywhere.
    pinned : (p,) array of bool, optional
        Points that follow the rig exactly.
    core : SkeletonCore, optional
        Bone inside the flesh, of the b bones, whose vertices follow the rig exactly too. With a core,
        only parts of the body without core have modes complementary to the rig, leak multiplies
        strength, and there may be fewer modes than requested.
    merge_into : (b,) array of integers, optional
        The bone that stands for each bone in the complementarity constraint; a bone that names
        itself counts on its own.
    bone_parents : (b,) array of integers, optional
        Parent of each bone, -1 for none: a bone whose subtree moves less than 0.3 percent of the
        mass counts as its parent.
    shapes : (s, p, 3) array, optional
        Displacements at rest that the artist animates, such as shape keys, metres; modes do not imitate
        them. Each step receives their motion through `reduce_offsets`.
    seed : int, default 0
        Seed of the random draws; the same seed gives the same result.
    stitches : (s, 2) array of integers, optional
        Pairs of points joined by springs.
    stitch_stiffness : float or array, default 10000.0
        Stiffness of each stitch, N/m, one number or (s,).
    stitch_gap : float or array, default 0.0
        Share of the rest distance to keep, one number or (s,).
    stitch_group : (s,) array of integers, optional
        Group of each stitch, as in `Stitches`.
    stitch_radius : float or array, default 0.0
        Radius of the flesh at each end, metres, as in `Stitches`.
    stitch_known : float or array, default 1.0
        Share of the stitch stiffness used in the modal analysis, in (0, 1]. Use less than 1 for
        stitches that a Simulation's `stitching` opens, since the modes then include the opening.
    editable : bool, default False
        Keep the factor of the modal analysis, tens of megabytes, for a fast `like`.
    like : Body, optional
        Body of the same surface and weights whose unchanged parts are reused. If only stiffness or
        stitches differ and both bodies are editable, modes are updated from its modes, to about one
        percent, and clusters stay.

    Raises
    ------
    ValueError
        With the error of the failing stage.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> body.mesh.tets.shape[1], body.model.mode_count
    (4, 4)
    >>> simulation = jounce.Simulation(body.model, dt=1 / 24)
    >>> simulation.reset(np.eye(3, 4)[None])
    """
    def __new__(
        cls,
        points: _FloatsLike,
        triangles: _IndicesLike,
        weights: _FloatsLike,
        *,
        resolution: int | None = None,
        solid: bool = True,
        modes: int = 24,
        clusters: int | None = None,
        cubature: int | None = None,
        young: _Field = 1e4,
        poisson: float = 0.0,
        density: float = 1000.0,
        locality: float = 0.0,
        driven: bool | None = None,
        law: _DraftLaw = "arap",
        leak: _Rows = None,
        strength: _Rows = None,
        pinned: _Flags | Sequence[bool] | None = None,
        core: SkeletonCore | None = None,
        merge_into: _IndicesLike | None = None,
        bone_parents: _IndicesLike | None = None,
        shapes: _Rows = None,
        seed: int = 0,
        stitches: _IndicesLike | None = None,
        stitch_stiffness: _Field = 1e4,
        stitch_gap: _Field = 0.0,
        stitch_group: _IndicesLike | None = None,
        stitch_radius: _Field = 0.0,
        stitch_known: _Field = 1.0,
        editable: bool = False,
        like: Body | None = None,
    ) -> Body: ...
    @property
    def residual(self) -> float:
        """Largest bound of the relative errors of the modes' eigenvalues after `like`, provided that no mode
        is missing; 0 for a new body.
        """
    @property
    def residuals(self) -> _Floats:
        """Estimated error of modes updated by `like` at the tet vertices, (n,) float64: root mean square over
        modes of the bound of the error to first order, as a share of the mode's largest weight. Zeros for a
        new body.
        """
    @property
    def mesh(self) -> TetMesh:
        """The simulated lattice."""
    @property
    def embedding(self) -> Embedding:
        """Embedding of the surface points in the mesh."""
    @property
    def rig(self) -> Rig:
        """Rig weights, carried to the tet vertices."""
    @property
    def leak(self) -> _Floats:
        """Leak at the tet vertices, (n,) float64 in [0, 1], read only."""
    @property
    def pinned(self) -> _Flags:
        """Vertices at which the modes vanish, (n,) bool: pinned vertices and the core."""
    @property
    def roles(self) -> list[str]:
        """Role of the flesh of each bone, b of "flesh", "rigid" and "free"; empty without a core."""
    @property
    def parts(self) -> list[str]:
        """Names of the parts found by the anatomy of the core; empty without one."""
    @property
    def part_weights(self) -> _Floats:
        """Share of each tet vertex that belongs to each part, (k, n) float64 in [0, 1]."""
    @property
    def core_share(self) -> _Floats:
        """Share of bone at each tet vertex, (n,) float64 in [0, 1]; empty without an anatomy."""
    @property
    def merged(self) -> _Indices:
        """The bone that stands for each bone in the constraint, (b,) int32."""
    @property
    def material(self) -> Material:
        """The material, with one stiffness a tet if stiffness is painted."""
    @property
    def modes(self) -> SkinningModes:
        """The rig-complementary modes."""
    @property
    def labels(self) -> _Indices:
        """Cluster of each tet, (t,) int32, read only."""
    @property
    def model(self) -> Model:
        """The model, ready to simulate."""
    def full_space(self, material: Material | None = None, fibres: Fibres | None = None) -> Model:
        """Full-space model of the same body: mesh, rig, pins, strength and stitches. The reference for the
        reduced model.

        As `Model.full_space`.

        Parameters
        ----------
        material : Material, optional
            Material of any law; None is the body's own.
        fibres : Fibres, optional
            Fibres in the tets of the mesh.

        Returns
        -------
        Model
            The model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> body.full_space().coefficient_shape == (len(body.mesh.vertices), 3)
        True
        """
    def learn(
        self,
        snapshots: _FloatsLike,
        poses: _FloatsLike,
        count: int = 64,
        tets: int | None = None,
        material: Material | None = None,
        frequency: float | None = None,
        limit: float | None = None,
        stretch: float | None = None,
        seed: int = 0,
    ) -> Model:
        """Reduced model of the same body, learnt from a full-space shot: mass-PCA and a cubature.

        Parameters
        ----------
        snapshots : (f, n, 3) array
            Displacements of the tet vertices in each frame, metres.
        poses : (f, b, 3, 4) array
            Pose of each of these frames.
        count : int, default 64
            Largest size of the basis. It ends earlier once it has all but 1e-5 of the shot's energy,
            because the rest is below the tolerance of the full space.
        tets : int, optional
            Largest size of the cubature; None is three times count.
        material : Material, optional
            The material of the full space, of any law; None is the body's own.
        frequency : float, optional
            Reference frequency of limits, usually the full space's; None is the lowest learnt
            frequency.
        limit : float, optional
            Displacement limit of the shot's simulation; None for none. With a limit, the model gets limit
            samples, up to `tets`, as in `LimitSamples.of_shot`.
        stretch : float, optional
            Stretch limit of the shot's simulation, likewise; None for none.
        seed : int, default 0
            Seed of the random draws; the same seed gives the same result.

        Returns
        -------
        Model
            The model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> poses = np.tile(np.eye(3, 4), (12, 1, 1, 1))
        >>> poses[:, 0, 2, 3] = 0.2 * np.sin(np.arange(12))
        >>> shot = jounce.Simulation(body.full_space())
        >>> shot.reset(poses[0])
        >>> frames = []
        >>> for pose in poses:
        ...     report = shot.step(pose)
        ...     frames.append(shot.displacement())
        >>> learnt = body.learn(frames, poses, count=4)
        >>> learnt.coefficient_shape
        (4,)
        """
    def reduced(
        self,
        basis: Basis,
        cubature: Cubature | None = None,
        material: Material | None = None,
        frequency: float | None = None,
        limits: LimitSamples | None = None,
    ) -> Model:
        """Reduced model of the same body in a given basis, such as a stored learnt basis, with the body's
        mesh, rig and strength.

        As `Model.reduced` and `Model.limited`.

        Parameters
        ----------
        basis : Basis
            Basis of a model made by `learn`, or rebuilt from stored arrays.
        cubature : Cubature, optional
            Cubature of the same model; None evaluates the forces at all tets.
        material : Material, optional
            Material of any law; None is the body's own.
        frequency : float, optional
            Reference frequency of limits, Hz, as in `learn`.
        limits : LimitSamples, optional
            Samples of the limits; without them the model has no limits.

        Returns
        -------
        Model
            The model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> poses = np.tile(np.eye(3, 4), (6, 1, 1, 1))
        >>> poses[:, 0, 2, 3] = 0.2 * np.sin(np.arange(6))
        >>> simulation, shot = jounce.Simulation(body.model), []
        >>> for pose in poses:
        ...     report = simulation.step(pose)
        ...     shot.append(simulation.displacement())
        >>> learnt = body.learn(shot, poses, count=4)
        >>> basis = jounce.Basis(learnt.basis.shapes)
        >>> again = body.reduced(basis, learnt.cubature, frequency=learnt.frequency)
        >>> pair = [jounce.Simulation(model) for model in (learnt, again)]
        >>> reports = [simulation.step(pose) for simulation in pair for pose in poses]
        >>> np.array_equal(pair[0].coefficients, pair[1].coefficients)
        True
        """
    def reduce_offsets(self, offsets: _FloatsLike) -> _Floats:
        """Reduces rig offsets, the difference of a rig from linear skinning at the surface points, for
        `Simulation.step`.

        Parameters
        ----------
        offsets : (p, 3) array
            Posed points minus linear skinning with the weights and the pose, in world space, metres.

        Returns
        -------
        (k, 3) array
            Offsets for simulations of this body's model. The first call prepares operators of the body and
            takes longer.

        Raises
        ------
        ValueError
            For a wrong shape and for values that are not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> offsets = np.zeros((8, 3))
        >>> offsets[points[:, 0] > 2, 2] = 0.1
        >>> reduced = body.reduce_offsets(offsets)
        >>> simulation = jounce.Simulation(body.model)
        >>> report = simulation.step(np.eye(3, 4)[None], offsets=reduced)
        """
    def vertex_offsets(self, offsets: _FloatsLike) -> _Floats:
        """Carries rig offsets from the surface points to the vertices of the mesh, for a step in the full
        space.

        Parameters
        ----------
        offsets : (p, 3) array
            Offsets of the points, as in `reduce_offsets`.

        Returns
        -------
        (n, 3) array
            Offsets for simulations of `full_space()`.

        Raises
        ------
        ValueError
            As `reduce_offsets`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> body.vertex_offsets(np.full((8, 3), 0.1)).shape == body.mesh.vertices.shape
        True
        """
    def spread(self, values: _FloatsLike) -> _Floats:
        """Spreads values at the surface points to the vertices of the mesh, as for painted maps: the boundary
        takes the value at the closest point of the surface, the inside is harmonic.

        Parameters
        ----------
        values : (p,) array
            Values at the points.

        Returns
        -------
        (n,) array
            Values at the vertices.

        Raises
        ------
        ValueError
            For a wrong shape and for values that are not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> softness = body.spread(points[:, 0])
        >>> softness.shape == (len(body.mesh.vertices),)
        True
        """
    @property
    def points(self) -> _Floats:
        """Points of the surface, (p, 3) float64, metres, read only."""
    @property
    def triangles(self) -> _Indices:
        """Triangles of the surface, (q, 3) int32."""
    @property
    def weights(self) -> _Floats:
        """Weights of the surface points as given, (p, b) float64."""
    @property
    def settings(self) -> BodySettings:
        """Settings of the body by the names of the constructor:
        `Body(body.points, body.triangles, body.weights, **body.settings)` is the same body.
        """
    def posed(self, pose: _FloatsLike) -> _Floats:
        """Surface points in a pose, without secondary motion.

        Parameters
        ----------
        pose : (b, 3, 4) array
            Transform of each bone, rest to posed, in world space.

        Returns
        -------
        (p, 3) array
            Posed points, metres.

        Raises
        ------
        ValueError
            For a wrong shape and for a pose that is not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> raised = np.eye(3, 4)[None] + [[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.5]]]
        >>> bool(np.allclose(body.posed(raised), points + [0, 0, 0.5]))
        True
        """
    def deformed(self, simulation: Simulation, pose: _FloatsLike) -> _Floats:
        """Surface points as they are shown after the last step: posed, and moved by the flesh.

        Parameters
        ----------
        simulation : Simulation
            Simulation of a model of this body, reduced or in the full space.
        pose : (b, 3, 4) array
            Pose of the last step.

        Returns
        -------
        (p, 3) array
            Deformed points, metres.

        Raises
        ------
        ValueError
            For a simulation of another mesh, and as `posed`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> simulation = jounce.Simulation(body.model)
        >>> simulation.reset(np.eye(3, 4)[None])
        >>> pose = np.eye(3, 4)[None].copy()
        >>> pose[0, 2, 3] = 0.2
        >>> report = simulation.step(pose)
        >>> moved = body.deformed(simulation, pose) - body.posed(pose)
        >>> bool(np.abs(moved).max() > 0.01)
        True
        """
    def __copy__(self) -> Body: ...
    def __deepcopy__(self, _memo: Any) -> Body: ...

@final
class BodyJob(Job):
    """Background job for a `Body`, with the same arguments; the thread never touches Python.

    Stages: "lattice", "embedding", "weights", "leak", "modes", "clusters", "forces" and "model";
    `result()` gives the Body. Invalid arrays raise at once; `result()` raises the errors of a stage.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> job = jounce.BodyJob(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> job.result().model.mode_count
    4
    """
    def __new__(
        cls,
        points: _FloatsLike,
        triangles: _IndicesLike,
        weights: _FloatsLike,
        *,
        resolution: int | None = None,
        solid: bool = True,
        modes: int = 24,
        clusters: int | None = None,
        cubature: int | None = None,
        young: _Field = 1e4,
        poisson: float = 0.0,
        density: float = 1000.0,
        locality: float = 0.0,
        driven: bool | None = None,
        law: _DraftLaw = "arap",
        leak: _Rows = None,
        strength: _Rows = None,
        pinned: _Flags | Sequence[bool] | None = None,
        core: SkeletonCore | None = None,
        merge_into: _IndicesLike | None = None,
        bone_parents: _IndicesLike | None = None,
        shapes: _Rows = None,
        seed: int = 0,
        stitches: _IndicesLike | None = None,
        stitch_stiffness: _Field = 1e4,
        stitch_gap: _Field = 0.0,
        stitch_group: _IndicesLike | None = None,
        stitch_radius: _Field = 0.0,
        stitch_known: _Field = 1.0,
        editable: bool = False,
        like: Body | None = None,
    ) -> BodyJob: ...
    def result(self) -> Body:
        """Waits for the Body, or raises the error of the job.

        Returns
        -------
        Body
            The body.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> settings = {"resolution": 8, "modes": 4, "clusters": 20}
        >>> job = jounce.BodyJob(points, triangles, np.ones((8, 1)), **settings)
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), **settings)
        >>> np.array_equal(job.result().modes.weights, body.modes.weights)
        True
        """

@final
class LearnJob(Job):
    """Background job for `Body.learn`, with the same arguments; the thread never touches Python.

    Stages: "displacements", "reduction", "forces" and, with limits, "limits"; `result()` gives the
    Model, or raises the error.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> simulation = jounce.Simulation(body.full_space(), damping=0.05)
    >>> poses = np.tile(np.eye(3, 4), (12, 1, 1, 1))
    >>> poses[:, 0, 2, 3] = 0.2 * np.sin(np.arange(12))
    >>> simulation.reset(poses[0])
    >>> shot = []
    >>> for pose in poses:
    ...     report = simulation.step(pose)
    ...     shot.append(simulation.coefficients.copy())
    >>> jounce.LearnJob(body, shot, poses, count=4).result().coefficient_shape
    (4,)
    """
    def __new__(
        cls,
        body: Body,
        snapshots: _FloatsLike,
        poses: _FloatsLike,
        count: int = 64,
        tets: int | None = None,
        material: Material | None = None,
        frequency: float | None = None,
        limit: float | None = None,
        stretch: float | None = None,
        seed: int = 0,
    ) -> LearnJob: ...
    def result(self) -> Model:
        """Waits for the Model, or raises the error of the job.

        Returns
        -------
        Model
            The model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> poses = np.tile(np.eye(3, 4), (6, 1, 1, 1))
        >>> sway = body.modes.weights[:, :1] * [0.0, 0.0, 1.0]
        >>> shot = np.sin(np.arange(6.0))[:, None, None] * sway
        >>> learnt = jounce.LearnJob(body, shot, poses, count=4).result()
        >>> np.array_equal(learnt.basis.shapes, body.learn(shot, poses, count=4).basis.shapes)
        True
        """

@final
class FullSpaceJob(Job):
    """Background job for `Body.full_space`, with the same arguments, or for a loose body by
    `Model.full_space` of a TetMesh with a Material; the thread never touches Python.

    The only stage is "full space"; `result()` gives the Model, or raises the error.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> jounce.FullSpaceJob(body).result().coefficient_shape == (len(body.mesh.vertices), 3)
    True
    """
    def __new__(
        cls, body: Body | TetMesh, material: Material | None = None, fibres: Fibres | None = None
    ) -> FullSpaceJob: ...
    def result(self) -> Model:
        """Waits for the Model, or raises the error of the job.

        Returns
        -------
        Model
            The model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> jelly = jounce.Material(young=2e4, poisson=0.4, law="neo_hookean")
        >>> jounce.FullSpaceJob(mesh, jelly).result()
        Model(81 vertices, 0 bones, Material(neo_hookean, young=2e4))
        """

@final
class LinearModesJob(Job):
    """Background job for `linear_modes`, with the same arguments; the thread never touches Python.

    With `derivatives=True` the `derivatives` of the modes are computed too (tets only), and then return at
    once. Stages: "modes" and "derivatives"; `result()` gives the LinearModes. Invalid arrays raise
    at once; `result()` raises the errors of a stage.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> held = mesh.vertices[:, 0] < 0.1
    >>> job = jounce.LinearModesJob(mesh, jounce.Material(), 3, pinned=held, derivatives=True)
    >>> job.result().derivatives().shape == (6, len(mesh.vertices), 3)
    True
    """
    def __new__(
        cls,
        mesh: TetMesh | SurfaceMesh,
        material: Material,
        count: int = 20,
        rig: Rig | None = None,
        leak: _FloatsLike | None = None,
        pinned: _Flags | Sequence[bool] | None = None,
        *,
        thickness: float | None = None,
        bending: float = 1.0,
        stitches: Stitches | None = None,
        derivatives: bool = False,
    ) -> LinearModesJob: ...
    def result(self) -> LinearModes:
        """Waits for the modes, or raises the error of the job.

        Returns
        -------
        LinearModes
            The modes.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> job = jounce.LinearModesJob(mesh, jounce.Material(), 8)
        >>> modes = jounce.linear_modes(mesh, jounce.Material(), 8)
        >>> np.array_equal(job.result().frequencies, modes.frequencies)
        True
        """

@final
class Player:
    """Plays the flesh of one character in real time, as engines and browsers do: poses in, displacements of
    points out.

    A step moves the modes of a body by `substeps` implicit steps of at most 1/96 s, eight a frame, as
    `Simulation` does. The displacement of a point at rest X is `u = sum_k W_k Z_k [X; 1]`. The first pose
    is a start in equilibrium, and the rig counts as having moved there as it moves on.

    Parameters
    ----------
    model : Model, bytes or path
        Model of skinning modes, the bytes of its file, or the file.
    points : (p, 3) array, optional
        Vertices of the character at rest, metres; None for the vertices of the tet mesh.
    settings : float
        Keyword arguments, as in `set`.

    Raises
    ------
    ValueError
        For a damaged file, a model of another method, or an invalid setting.
    OSError
        For a file that cannot be read.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    >>> player = jounce.Player(body.model, points, damping=0.05)
    >>> pose = np.eye(3, 4)[None].copy()
    >>> for frame in range(10):
    ...     pose[0, 2, 3] = 0.1 * np.sin(frame)
    ...     player.step(pose, 1 / 60)
    >>> moved = player.displacements()
    >>> moved.shape, moved.dtype, bool(np.abs(moved).max() > 0.001)
    ((8, 3), dtype('float32'), True)
    """
    def __new__(
        cls,
        model: Model | bytes | str | os.PathLike[str],
        points: _FloatsLike | None = None,
        **settings: float,
    ) -> Player: ...
    def attach(self, points: _FloatsLike) -> None:
        """Chooses the points with displacements.

        A point outside of the body moves with the nearest of the body. A grabbed point is let go, and contact
        ends.

        Parameters
        ----------
        points : (p, 3) array
            Points at rest, in the space of the bind pose, metres.

        Raises
        ------
        ValueError
            For no points, or one that is not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model)
        >>> player.attach(points[:4])
        >>> player.displacements().shape
        (4, 3)
        """
    def collide(
        self,
        colliders: Sequence[Collider],
        weights: _FloatsLike | None = None,
        triangles: _IndicesLike | None = None,
        bones: Sequence[int] | None = None,
    ) -> None:
        """Keeps the points out of colliders, in place of any before. The motion goes on.

        Contact is with at most 256 of the points, evenly spread, and with the triangles between them. A skin
        of triangles is dented too, as by `Dents`. Points that start deeper inside than a twentieth of the
        body stay. A largest displacement (`limit`) wins over contact, but not over dents.

        Parameters
        ----------
        colliders : sequence of Collider
            Colliders; an empty sequence ends contact.
        weights : (p, b) array, optional
            Skinning weights of the points; None for a body without bones.
        triangles : (q, 3) array, optional
            Triangles between the points; None for contact of the points alone, without dents, which misses
            small colliders.
        bones : sequence of int, optional
            Bone of each collider, or -1. A collider on a bone is given where it is at rest, moves with the
            bone, keeps its size, and spares the bone's own points; others stand in the world. None for no
            bones.

        Raises
        ------
        ValueError
            For weights of other points or bones, or an unknown bone or point; nothing changes then.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> weights = np.ones((8, 1))
        >>> body = jounce.Body(points, triangles, weights, resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model, points)
        >>> player.collide([jounce.Collider.plane((0, 0, -0.1), (0, 0, 1))], weights, triangles)
        >>> pose, lowest = np.eye(3, 4)[None].copy(), 1.0
        >>> for frame in range(60):
        ...     pose[0, 2, 3] = -0.3 * np.sin(frame / 10)
        ...     player.step(pose, 1 / 60)
        ...     lowest = min(lowest, (points + pose[0, :, 3] + player.displacements())[:, 2].min())
        >>> bool(-0.11 < lowest < 0.0)
        True
        """

    def move_collider(self, collider: int, transform: _FloatsLike) -> None:
        """Moves a collider of the world to a place in the next step.

        Parameters
        ----------
        collider : int
            Index in `collide`.
        transform : (3, 4) array
            Rotation and translation from where the collider was given, metres.

        Raises
        ------
        ValueError
            For an unknown collider, one on a bone, or a transform that is not rigid.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model, points)
        >>> player.collide([jounce.Collider.sphere(0.5, (2, 0.5, -1))], np.ones((8, 1)), triangles)
        >>> lift = np.eye(3, 4)
        >>> for frame in range(30):
        ...     lift[2, 3] = 0.02 * frame
        ...     player.move_collider(0, lift)
        ...     player.step(np.eye(3, 4)[None], 1 / 60)
        >>> bool(np.abs(player.displacements()).max() > 0.001)
        True
        """

    def set(self, **settings: float) -> None:
        """Changes settings from the next step on.

        Parameters
        ----------
        settings : float
            Keyword arguments. `amount` (1): factor on the motion that the flesh feels, 0 none. `stiffness`
            (1): factor on the model's, > 0. `damping` (0.12): ratio of every mode. `stretch` (0.4): largest
            change of a length, as a share, 0 for no limit. `limit` (0.25): largest displacement, as a share
            of the diagonal, 0 for no limit. `gravity_x`, `gravity_y`, `gravity_z` (0): m/s^2. `modes` (all):
            level of detail, the finest with at most this number, 0 for none. `sleep` (1): 1 to stop while
            nothing moves. `pose_rest` (1): elastic rest shape, 0 bind, 1 pose. `substep` (1/96): longest
            substep, seconds.

        Raises
        ------
        ValueError
            For a value out of range; the settings before it are changed.
        TypeError
            For an unknown setting.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model, points)
        >>> player.set(damping=0.3, gravity_z=-9.81)
        """
    def step(self, pose: _FloatsLike, seconds: float) -> None:
        """Advances to a pose in any time. More than a quarter of a second counts as a teleport.

        Parameters
        ----------
        pose : (b, 3, 4) array
            Transform of each bone, rest to posed, metres, in world space; (0, 3, 4) without a rig.
        seconds : float
            Time since the last step, >= 0.

        Raises
        ------
        ValueError
            For a pose of a wrong shape or without a volume, and for negative seconds; the motion is then
            unchanged.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> swung = []
        >>> for rate in (30, 60):
        ...     player, pose = jounce.Player(body.model, points), np.eye(3, 4)[None].copy()
        ...     for frame in range(rate + 1):
        ...         pose[0, 2, 3] = 0.2 * np.sin(2 * np.pi * frame / rate)
        ...         player.step(pose, 1 / rate)
        ...     swung.append(player.displacements())
        >>> bool(np.abs(swung[0]).max() > 0.1), bool(np.allclose(*swung, atol=0.02))
        (True, True)
        """
    def teleport(self, pose: _FloatsLike) -> None:
        """Puts the body into a pose without a kick, after a cut or a leap. The displacement stays, and swings
        back.

        Parameters
        ----------
        pose : (b, 3, 4) array
            Pose as in `step`.

        Raises
        ------
        ValueError
            As in `step`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model, points)
        >>> pose = np.eye(3, 4)[None].copy()
        >>> player.step(pose, 1 / 60)
        >>> pose[0, 0, 3] = 40.0
        >>> player.teleport(pose)
        >>> bool(np.abs(player.displacements()).max() < 1e-3)
        True
        """
    def displacements(self, out: _Singles | None = None) -> _Singles:
        """Displacements of the points from where the bones put them, world space, metres.

        Parameters
        ----------
        out : array, optional
            Array (p, 3) of float32 to write into; None makes a new one.

        Returns
        -------
        (p, 3) array
            Displacements, metres; `out` itself if it is given.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model, points, gravity_z=-9.81)
        >>> buffer = np.empty((8, 3), dtype=np.float32)
        >>> for frame in range(10):
        ...     player.step(np.eye(3, 4)[None], 1 / 60)
        ...     shown = points + player.displacements(out=buffer)
        >>> bool(shown[:, 2].min() < -0.1)
        True
        """
    def grab(self, point: int, displacement: _FloatsLike) -> None:
        """Pulls a point towards a displacement from its rigged place, until `release`.

        The spring is implicit in time, six times as stiff as the body there, and never kicks.

        Parameters
        ----------
        point : int
            Index of a point.
        displacement : (3,) array
            Displacement of the point from its pose, metres, in world space.

        Raises
        ------
        ValueError
            For an unknown point, or a displacement that is not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player = jounce.Player(body.model, points)
        >>> player.grab(7, (0.0, 0.0, 0.3))
        >>> for _ in range(60):
        ...     player.step(np.eye(3, 4)[None], 1 / 60)
        >>> bool(player.displacements()[7, 2] > 0.1)
        True
        >>> player.release()
        """
    def release(self) -> None:
        """Lets a grabbed point go.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
        >>> player, heights = jounce.Player(body.model, points, damping=0.3), []
        >>> player.grab(7, (0.0, 0.0, 0.3))
        >>> for frame in range(180):
        ...     if frame == 60:
        ...         player.release()
        ...     player.step(np.eye(3, 4)[None], 1 / 60)
        ...     heights.append(player.displacements()[7, 2])
        >>> bool(heights[59] > 0.1), bool(abs(heights[-1]) < 0.01)
        (True, True)
        """
    @property
    def weights(self) -> _Floats:
        """Weights of the modes at the points, (p, m) float64, for a vertex shader."""
    @property
    def transforms(self) -> _Floats:
        """Transforms Z of the modes after the last step, (m, 3, 4) float64."""
    @property
    def is_asleep(self) -> bool:
        """True while nothing moves; a step costs nothing then."""
    @property
    def bone_count(self) -> int:
        """Number of bones of a pose."""
    @property
    def mode_count(self) -> int:
        """Number of modes of the model."""

@final
class ProjectiveJob(Job):
    """Background job for `Model.projective`, with the same arguments; the thread never touches Python.

    The only stage is "handles"; `result()` gives the Model, or raises the error.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> job = jounce.ProjectiveJob(mesh, jounce.Material(), handles=8, clusters=20)
    >>> job.result().bone_count
    0
    """
    def __new__(
        cls,
        mesh: TetMesh | SurfaceMesh,
        material: Material,
        handles: int = 60,
        clusters: int = 120,
        seed: int = 0,
        **settings: Unpack[ProjectiveSettings],
    ) -> ProjectiveJob: ...
    def result(self) -> Model:
        """Waits for the Model, or raises the error of the job.

        Returns
        -------
        Model
            The model.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> job = jounce.ProjectiveJob(mesh, jounce.Material(), handles=8, clusters=20)
        >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
        >>> np.array_equal(job.result().handle_centers, model.handle_centers)
        True
        """

@final
class HelperBonesJob(Job):
    """Background job for `helper_bones`, with the same arguments; the thread never touches Python.

    Invalid arrays raise at once; `result()` raises later errors.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box()
    >>> frames = points + np.linspace(0, 1, 8)[:, None, None] * (points[:, :1] > 0.5)
    >>> still = np.tile(np.eye(3, 4), (8, 1, 1, 1))
    >>> jounce.HelperBonesJob(points, frames, still, np.ones((8, 1)), 1).result()[0].shape
    (8, 2)
    """
    def __new__(
        cls,
        points: _FloatsLike,
        frames: _FloatsLike,
        transforms: _FloatsLike,
        weights: _FloatsLike,
        count: int,
        influences: int = 4,
        passes: int = 15,
    ) -> HelperBonesJob: ...
    def result(self) -> tuple[_Floats, _Floats, float, float]:
        """Waits for weights, transforms, root mean square and largest distance, or raises the error of the
        job.

        Returns
        -------
        tuple of (array, array, float, float)
            Weights, transforms, mean and largest distance, as of `helper_bones`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box()
        >>> frames = points + np.linspace(0, 1, 8)[:, None, None] * (points[:, :1] > 0.5)
        >>> still = np.tile(np.eye(3, 4), (8, 1, 1, 1))
        >>> job = jounce.HelperBonesJob(points, frames, still, np.ones((8, 1)), 1)
        >>> weights, helpers, mean, largest = job.result()
        >>> bones = np.concatenate([still, helpers], axis=1)
        >>> skinned = np.einsum("pb,fbij,pj->fpi", weights, bones, np.hstack([points, np.ones((8, 1))]))
        >>> bool(np.allclose(skinned, frames, atol=1e-3))
        True
        """

def helper_bones(
    points: _FloatsLike,
    frames: _FloatsLike,
    transforms: _FloatsLike,
    weights: _FloatsLike,
    count: int,
    influences: int = 4,
    passes: int = 15,
) -> tuple[_Floats, _Floats, float, float]:
    """Extra rigid bones with which plain skinning follows a motion, for game engines [SSDR].

    Parameters
    ----------
    points : (p, 3) array
        Rest positions, metres.
    frames : (f, p, 3) array
        Positions in each frame, metres.
    transforms : (f, b, 3, 4) array
        Transforms of the existing bones from the rest shape in each frame.
    weights : (p, b) array
        Skinning weights of the existing bones, rows sum to 1.
    count : int
        Number of helper bones.
    influences : int, default 4
        Largest number of nonzero weights a point.
    passes : int, default 15
        Number of alternating updates of weights and bones.

    Returns
    -------
    tuple of (array, array, float, float)
        Weights (p, b + count), the helper bones' transforms (f, count, 3, 4), and the root mean
        square and the largest remaining distance in metres. `HelperBonesJob` does the same without
        blocking.

    Raises
    ------
    ValueError
        For wrong shapes, values that are not finite, and rows with another sum.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box()
    >>> frames = points + np.linspace(0, 1, 8)[:, None, None] * (points[:, :1] > 0.5)
    >>> still = np.tile(np.eye(3, 4), (8, 1, 1, 1))
    >>> made = jounce.helper_bones(points, frames, still, np.ones((8, 1)), count=1)
    >>> weights, transforms, mean, largest = made
    >>> weights.shape, transforms.shape, largest < 1e-3
    ((8, 2), (8, 1, 3, 4), True)
    """

@final
class ModalKeysJob(Job):
    """Background job for `modal_keys`, with the same arguments; the thread never touches Python.

    Invalid arrays raise at once; `result()` raises later errors.

    Examples
    --------
    >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
    >>> keys, values, error = jounce.ModalKeysJob(frames, 1e-4).result()
    >>> len(keys)
    1
    """
    def __new__(cls, frames: _FloatsLike, tolerance: float, max_keys: int = 30) -> ModalKeysJob: ...
    def result(self) -> tuple[_Singles, _Singles, float]:
        """Waits for keys, values and error, or raises the error of the job.

        Returns
        -------
        tuple of (array, array, float)
            Keys, values and error, as of `modal_keys`.

        Examples
        --------
        >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
        >>> keys, values, error = jounce.ModalKeysJob(frames, 1e-4).result()
        >>> bool(np.allclose(np.tensordot(values, keys, axes=1), frames, atol=1e-4))
        True
        """

def modal_keys(frames: _FloatsLike, tolerance: float, max_keys: int = 30) -> tuple[_Singles, _Singles, float]:
    """The fewest shapes, from the singular value decomposition of all frames, within a tolerance.

    Frame i is `sum over j of values_ij keys_j`.

    Parameters
    ----------
    frames : (f, p, 3) array
        Displacements in each frame, metres.
    tolerance : float
        Largest distance of any point in any frame, metres.
    max_keys : int, default 30
        Largest number of shapes, even at the cost of a larger error.

    Returns
    -------
    tuple of (array, array, float)
        Keys (k, p, 3) float32 in metres, values (f, k) float32, and the remaining error in metres.
        `ModalKeysJob` does the same without blocking.

    Raises
    ------
    ValueError
        For values that are not finite and for a tolerance below 0.

    Examples
    --------
    >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
    >>> keys, values, error = jounce.modal_keys(frames, tolerance=1e-4)
    >>> keys.shape, values.shape, error < 1e-4
    ((1, 8, 3), (24, 1), True)
    """

def pull_back(displacement: _FloatsLike, matrices: _FloatsLike) -> _Singles:
    """Displacements before skinning from displacements after skinning: solves `matrices_i d_i =
    displacement_i`.

    If skinning flattens space at a point, d_i is the shortest least-squares solution.

    Parameters
    ----------
    displacement : (p, 3) array
        Displacements in the posed shape, metres.
    matrices : (p, 3, 3) array
        The linear part of the skinning at each point.

    Returns
    -------
    (p, 3) array
        Displacements in the rest shape, metres.

    Raises
    ------
    ValueError
        For a wrong shape and for values that are not finite.

    Examples
    --------
    >>> jounce.pull_back([[0, 2, 0]], [np.diag([1, 2, 1])]).tolist()
    [[0.0, 1.0, 0.0]]
    """

@final
class SparseMatrix:
    """A sparse matrix in compressed rows: row i has the entries `indptr[i]` to `indptr[i + 1]` of `indices`,
    its columns in ascending order, and of `data`, its values.

    The same type with and without SciPy, which Jounce does not need; `to_scipy` shares the arrays.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> laplacian = jounce.operators.laplacian(mesh)
    >>> laplacian.shape == (len(mesh.vertices),) * 2
    True
    >>> bool(abs(laplacian.to_scipy() @ np.ones(laplacian.shape[1])).max() < 1e-12)
    True
    """
    @property
    def indptr(self) -> _Indices:
        """Start of each row in `indices` and `data`, and the end, (rows + 1,) int32, read only."""
    @property
    def indices(self) -> _Indices:
        """Column of each entry, (entries,) int32, read only."""
    @property
    def data(self) -> _Floats:
        """Value of each entry, (entries,) float64, read only."""
    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
    def to_scipy(self) -> Any:
        """The matrix as a `scipy.sparse.csr_array`, which shares the arrays.

        Returns
        -------
        scipy.sparse.csr_array
            The matrix; its arrays are read only.

        Raises
        ------
        ImportError
            Without SciPy.

        Examples
        --------
        >>> from scipy.sparse.linalg import spsolve
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> laplacian, x = jounce.operators.laplacian(mesh).to_scipy(), mesh.vertices[:, 0]
        >>> inner = (x > 0.1) & (x < 3.9)
        >>> heat = spsolve(laplacian[inner][:, inner], -laplacian[inner][:, ~inner] @ x[~inner])
        >>> bool(np.allclose(heat, x[inner]))
        True
        """

@final
class ElasticEnergy:
    """Elastic energy of flesh of any law as a function of the vertex positions, with its derivatives.

    The energy that `Model.full_space` minimises, without stitches, fibres, limits and rest shapes that
    follow the rig: `E(x) = sum V psi(F(x))` over the tets, or over the `TetMesh.cells` of a lattice, which
    also resist bending.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        Material of any law.

    Raises
    ------
    ValueError
        For a material of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
    >>> stretched = mesh.vertices * [1.1, 1.0, 1.0]
    >>> energy.value(stretched) > 0.0, energy.gradient(stretched).shape == mesh.vertices.shape
    (True, True)
    >>> energy.hessian(stretched).shape == (mesh.vertices.size,) * 2
    True
    """
    def __new__(cls, mesh: TetMesh, material: Material) -> ElasticEnergy: ...
    def value(self, positions: _FloatsLike) -> float:
        """Energy at given positions.

        Parameters
        ----------
        positions : (n, 3) array
            Positions of the vertices, metres.

        Returns
        -------
        float
            Energy, J.

        Raises
        ------
        ValueError
            For a wrong shape and for values that are not finite.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(young=1e5))
        >>> round(energy.value(mesh.vertices * [1.1, 1.0, 1.0])), round(1e5 / 2 * 0.1**2 * 4.0)
        (2000, 2000)
        >>> turn = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        >>> energy.value(mesh.vertices @ turn) < 1e-9
        True
        """
    def gradient(self, positions: _FloatsLike) -> _Floats:
        """Gradient at given positions: minus the elastic forces on the vertices.

        Parameters
        ----------
        positions : (n, 3) array
            Positions of the vertices, metres.

        Returns
        -------
        (n, 3) array
            Gradient, N.

        Raises
        ------
        ValueError
            As `value`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
        >>> x, step = mesh.vertices * [1.1, 1.0, 1.0], 1e-5 * np.sin(mesh.vertices)
        >>> difference = (energy.value(x + step) - energy.value(x - step)) / 2
        >>> bool(np.isclose(difference, (energy.gradient(x) * step).sum(), rtol=1e-6))
        True
        """
    def hessian(self, positions: _Rows = None, *, definite: bool = False) -> SparseMatrix:
        """Hessian at given positions: the stiffness matrix there.

        Parameters
        ----------
        positions : (n, 3) array, optional
            Positions of the vertices, metres; None is at rest.
        definite : bool, default False
            True for the Hessian of each element replaced by the positive semidefinite matrix closest to it,
            as Newton's method takes it.

        Returns
        -------
        SparseMatrix
            Hessian, 3n x 3n, N/m; rows 3i to 3i + 2 belong to vertex i.

        Raises
        ------
        ValueError
            As `value`.

        Examples
        --------
        >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
        >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
        >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
        >>> x, step = mesh.vertices * [1.1, 1.0, 1.0], 1e-5 * np.sin(mesh.vertices)
        >>> difference = (energy.gradient(x + step) - energy.gradient(x - step)) / 2
        >>> bool(np.allclose(energy.hessian(x).to_scipy() @ step.ravel(), difference.ravel(), atol=1e-6))
        True
        """

def lumped_mass(mesh: TetMesh, material: Material) -> _Floats:
    """Mass lumped to the vertices: the diagonal of M for one coordinate.

    Each tet gives a quarter of its mass to each corner; in partly filled `TetMesh.cells`, vertices near the
    flesh get more.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        Material, whose density counts.

    Returns
    -------
    (n,) array
        Mass of each vertex, kg.

    Raises
    ------
    ValueError
        For a material of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> mass = jounce.operators.lumped_mass(mesh, jounce.Material(density=1000.0))
    >>> round(float(mass.sum()))
    4000
    """

def gradient(mesh: TetMesh) -> SparseMatrix:
    """Gradient operator G of piecewise linear functions: rows 3t to 3t + 2 of `G f` are the gradient of f in
    tet t.

    For positions x, (n, 3), `(G @ x).reshape(-1, 3, 3)` has the transposed deformation gradient of each tet.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.

    Returns
    -------
    SparseMatrix
        Gradient, 3t x n, 1/m.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> gradients = (jounce.operators.gradient(mesh).to_scipy() @ mesh.vertices).reshape(-1, 3, 3)
    >>> bool(np.allclose(gradients, np.eye(3)))
    True
    """

def laplacian(mesh: TetMesh, conductivity: _Field = 1.0) -> SparseMatrix:
    """Laplacian of piecewise linear functions, `L = sum_t c_t V_t g_t g_t'`: positive semidefinite, with rows
    that sum to zero.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    conductivity : float or array, default 1.0
        Conductivity c, >= 0, one number or (t,).

    Returns
    -------
    SparseMatrix
        Laplacian, n x n, in metres times the unit of c.

    Raises
    ------
    ValueError
        For a wrong shape and a conductivity that is negative or not finite.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> x = mesh.vertices[:, 0]
    >>> round(float(x @ (jounce.operators.laplacian(mesh).to_scipy() @ x)), 3)
    4.0
    """

def stiffness(mesh: TetMesh, material: Material) -> SparseMatrix:
    """Elastic stiffness at rest, for each coordinate c of the vertices: the energy `sum_c u_c' L u_c / 2`.

    On tets `L = sum_t 2 mu_t V_t g_t g_t'`, the `laplacian` of `2 mu`: the constant metric of projective
    dynamics and of [QN]. For motions without local rotation it is the whole energy of a material without
    resistance to change of volume; rotations, which cost nothing in `ElasticEnergy`, are resisted. The
    `TetMesh.cells` of a lattice also resist bending and twisting, by hourglass control [FlanaganBelytschko].

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        The material.

    Returns
    -------
    SparseMatrix
        Stiffness, n x n, N/m.

    Raises
    ------
    ValueError
        For a material of another mesh.

    Examples
    --------
    A bar of 4 m that is stretched by a hundredth, with 2 mu = E = 100 kPa:

    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> stiffness = jounce.operators.stiffness(mesh, jounce.Material(young=1e5)).to_scipy()
    >>> stretch = 0.01 * mesh.vertices[:, 0]
    >>> round(float(stretch @ (stiffness @ stretch) / 2), 3)
    20.0
    """

def weight_hessian(mesh: TetMesh, material: Material) -> SparseMatrix:
    """Hessian H_w of the elastic energy in the space of skinning weights [FastCD eq. 18], whose generalised
    eigenvectors `H_w w = lambda M w` are the skinning modes.

    On tets it is the `laplacian` of `4 mu + lambda`; the `TetMesh.cells` of a lattice also resist bending.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        The material.

    Returns
    -------
    SparseMatrix
        Hessian, n x n, N/m.

    Raises
    ------
    ValueError
        For a material of another mesh.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> jounce.operators.weight_hessian(mesh, jounce.Material()).shape == (len(mesh.vertices),) * 2
    True
    """

def weight_constraint(mesh: TetMesh, material: Material, rig: Rig, leak: _Rows = None) -> SparseMatrix:
    """Complementarity constraint of skinning modes: `C w = 0` exactly when the motion of the weights w is
    complementary to the rig, `J' D M B(w) = 0` with D = 1 - leak [FastCD eq. 21].

    Dependent rows among the products of each bone's weights with pairs of `{x, y, z, 1}` are left out.

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        Material, whose density counts.
    rig : Rig
        The rig.
    leak : (n,) array, optional
        Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.

    Returns
    -------
    SparseMatrix
        Constraint, c x n, at most ten rows a bone, each of length one.

    Raises
    ------
    ValueError
        For arguments of another mesh and a leak out of range.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    >>> jounce.operators.weight_constraint(mesh, jounce.Material(), rig).shape[0]
    10
    """

def displacement_constraint(mesh: TetMesh, material: Material, rig: Rig, leak: _Rows = None) -> SparseMatrix:
    """Complementarity constraint of displacements: `C u = 0` for each coordinate exactly when u is
    complementary to the rig, `J' M D u = 0` with D = 1 - leak [FastCD eq. 3].

    Parameters
    ----------
    mesh : TetMesh
        The mesh.
    material : Material
        Material, whose density counts.
    rig : Rig
        The rig.
    leak : (n,) array, optional
        Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.

    Returns
    -------
    SparseMatrix
        Constraint, c x n, at most four rows a bone, each of length one.

    Raises
    ------
    ValueError
        For arguments of another mesh and a leak out of range.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    >>> jounce.operators.displacement_constraint(mesh, jounce.Material(), rig).shape[0]
    4
    """

def skinning_jacobian(points: _FloatsLike, rig: Rig) -> SparseMatrix:
    """Jacobian J of linear blend skinning: `x = J p` has the posed vertices, coordinates of a vertex
    adjacent, for a pose p, (b, 3, 4) in C order.

    Parameters
    ----------
    points : (n, 3) array
        Places at rest of the rig's vertices, metres.
    rig : Rig
        The rig.

    Returns
    -------
    SparseMatrix
        Jacobian, 3n x 12b.

    Raises
    ------
    ValueError
        For another number of points.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    >>> jacobian = jounce.operators.skinning_jacobian(mesh.vertices, rig).to_scipy()
    >>> posed = (jacobian @ np.eye(3, 4).ravel()).reshape(-1, 3)
    >>> bool(np.allclose(posed, mesh.vertices))
    True
    """

def resolution(points: _FloatsLike, triangles: _IndicesLike, tets: int = 12000) -> int:
    """Cells along the longest side of a surface for about a given number of tets, between 16 and 64.

    Parameters
    ----------
    points : (p, 3) array
        Positions on the surface, metres.
    triangles : (q, 3) array of integers
        Indices of the points.
    tets : int, default 12000
        Number of tets to come near.

    Returns
    -------
    int
        Cells along the longest side.

    Raises
    ------
    ValueError
        As `TetMesh.lattice`.

    Examples
    --------
    >>> jounce.standard.resolution(*jounce.shapes.box())
    16
    """

def size_frequency(volume: float) -> float:
    """Frequency of a pressure wave across a cube of `YOUNG`, `DENSITY` and a volume.

    Bones and pins do not change it; the lowest mode of a body on bones is near.

    Parameters
    ----------
    volume : float
        Volume of the flesh, m^3.

    Returns
    -------
    float
        `sqrt(E / rho) / V^(1/3)`, Hz.

    Examples
    --------
    >>> round(jounce.standard.size_frequency(0.08), 2)
    7.34
    """
