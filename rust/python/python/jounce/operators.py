"""Discrete operators of meshes, materials and rigs, as numpy arrays and sparse matrices.

The operators of which models are made, for work of one's own: mass, gradient, Laplacian, elastic stiffness,
the Hessian of skinning modes, the complementarity constraints, the Jacobian of linear blend skinning, and
elastic energies with gradient and Hessian. A `SparseMatrix` has the arrays of compressed rows; `to_scipy`
makes a `scipy.sparse.csr_array` of it. SciPy itself is no requirement.
"""

from __future__ import annotations

from jounce._jounce import (
    ElasticEnergy,
    SparseMatrix,
    displacement_constraint,
    gradient,
    laplacian,
    lumped_mass,
    momentum_leak,
    skinning_jacobian,
    stiffness,
    weight_constraint,
    weight_hessian,
)

__all__ = [
    "ElasticEnergy",
    "SparseMatrix",
    "displacement_constraint",
    "gradient",
    "laplacian",
    "lumped_mass",
    "momentum_leak",
    "skinning_jacobian",
    "stiffness",
    "weight_constraint",
    "weight_hessian",
]
