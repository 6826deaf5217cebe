"""Sag of a clamped bar by quadratic elements of another program, for `tests/rust/tests/bending.rs`.

    pip install scikit-fem==12.0.2 scipy==1.17.1; python cantilever.py

Linear elasticity on triquadratic cells (27 nodes), 8 x 1 x 1, under its weight, one end clamped: mean sag of
the free end as a share of Timoshenko's. The clamp keeps the end from bulging, which makes a singular edge:
shares of 3 and 6 cells across converge as a power, whose order comes from 2 and 4.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from skfem import (
    Basis,
    ElementHex2,
    ElementVector,
    FacetBasis,
    Functional,
    LinearForm,
    MeshHex,
)
from skfem.models.elasticity import lame_parameters, linear_elasticity

LENGTH, YOUNG, LOAD = 8.0, 1e5, 1.0


def sag(across: int, poisson: float) -> float:
    """Mean sag of the free end."""
    along, side = (np.linspace(0.0, size, int(size) * across + 1) for size in (LENGTH, 1.0))
    mesh, element = MeshHex.init_tensor(along, side, side), ElementVector(ElementHex2())
    basis = Basis(mesh, element, intorder=4)
    stiffness = linear_elasticity(*lame_parameters(YOUNG, poisson)).assemble(basis)
    weight = LinearForm(lambda v, _: -LOAD * v[2]).assemble(basis)
    held = basis.get_dofs(lambda x: np.isclose(x[0], 0.0)).all()
    free = np.setdiff1d(np.arange(stiffness.shape[0]), held)
    matrix = stiffness[free][:, free].tocsr()
    diagonal = matrix.diagonal()
    jacobi = LinearOperator(matrix.shape, lambda x: x / diagonal)
    u = np.zeros(stiffness.shape[0])
    u[free], _ = cg(matrix, weight[free], rtol=1e-8, M=jacobi)
    end = FacetBasis(mesh, element, facets=mesh.facets_satisfying(lambda x: np.isclose(x[0], LENGTH)))
    return Functional(lambda w: -w["u"][2]).assemble(end, u=end.interpolate(u))


def timoshenko(poisson: float) -> float:
    """Sag of Timoshenko's beam."""
    shear, section = YOUNG / (2.0 * (1.0 + poisson)), 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson)
    return LOAD * LENGTH**4 / (8.0 * YOUNG / 12.0) + LOAD * LENGTH**2 / (2.0 * section * shear)


if __name__ == "__main__":
    for poisson in (0.0, 0.3, 0.45, 0.49):
        shares = {across: sag(across, poisson) / timoshenko(poisson) for across in (2, 3, 4, 6)}
        order = np.log((shares[4] - shares[2]) / (shares[6] - shares[3])) / np.log(1.5)
        limit = shares[6] + (shares[6] - shares[3]) / (2.0**order - 1.0)
        print(
            poisson, *(f"{share:.5f}" for share in shares.values()), f"order {order:.2f}, limit {limit:.4f}"
        )
