"""A representative vertex of a region, for its handle."""

import numpy as np

# Share of the largest weight from which on a vertex belongs to the middle of a region.
HALF = 0.5


def anchor(points: np.ndarray, shares: np.ndarray) -> int | None:
    """The vertex nearest to the middle of a region; None for an empty one. points: (p, 3). shares: (p,).

    For a region in two separate pieces, such as thighs, the middle of one piece.
    """
    most = float(shares.max(initial=0.0))
    if most <= 0.0:
        return None
    mine = np.flatnonzero(shares >= HALF * most)
    places = points[mine] - points[mine].mean(axis=0)
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    along = places @ axes[0]
    if np.abs(along).min() > HALF * np.abs(along).mean():
        mine = mine[along > 0.0]
    weights = shares[mine, np.newaxis]
    middle = (weights * points[mine]).sum(axis=0) / weights.sum()
    return int(mine[np.linalg.norm(points[mine] - middle, axis=1).argmin()])
