"""Bodies of handles with several energies, beside own elements: tets with a skin, and springs."""

import independent
import jounce
import numpy as np
import pytest

DT = 1.0 / 60.0
YOUNG, DENSITY = 3e3, 1000.0
THICKNESS = 4e-3
CLOTH = {"young": 2e5, "poisson": 0.3, "density": 300.0}


def nearest(f):
    """Polar factors of matrices, (m, 3, d)."""
    u, _, v = np.linalg.svd(f, full_matrices=False)
    return u @ v


def beyond(f, limit):
    """Twice the energy of a limit for matrices, and its gradient."""
    if limit is None:
        return 0.0, 0.0
    u, stretches, v = np.linalg.svd(f, full_matrices=False)
    least, most, firmness = limit
    apart = stretches - np.clip(stretches, least, most)
    return firmness * np.sum(apart**2, axis=1), firmness * (u * apart[:, None, :]) @ v


class Tets:
    """`mu V |F - R|^2` of tets, and that of a limit."""

    def __init__(self, places, tets, limit=None):
        self.limit = limit
        edges = places[tets[:, 1:]] - places[tets[:, :1]]
        inner = np.linalg.inv(edges).transpose(0, 2, 1)
        self.hats = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
        volumes = np.linalg.det(edges) / 6.0
        self.tets, self.weights = tets, YOUNG * volumes
        self.mass = np.bincount(tets.ravel(), np.repeat(DENSITY * volumes / 4.0, 4), len(places))
        products = np.einsum("t,tai,tbi->tab", self.weights, self.hats, self.hats)
        firm = 1.0 + (limit[2] if limit else 0.0)
        self.stiffness = firm * scattered(tets, products, len(places))

    def evaluate(self, x):
        f = np.einsum("tai,taj->tij", x[self.tets], self.hats)
        apart = f - nearest(f)
        assert np.linalg.det(f).min() > 0.0
        squares, pull = beyond(f, self.limit)
        pulls = np.einsum("t,tij,taj->tai", self.weights, apart + pull, self.hats)
        energy = 0.5 * self.weights @ (np.sum(apart**2, axis=(1, 2)) + squares)
        return energy, gathered(self.tets, pulls, x)


def scattered(corners, products, count):
    matrix = np.zeros((count, count))
    np.add.at(matrix, (corners[:, :, None], corners[:, None, :]), products)
    return matrix


def gathered(corners, pulls, x):
    out = np.zeros_like(x)
    np.add.at(out, corners, pulls)
    return out


class Skin:
    """Triangles in plane stress, with a limit, and plates about interior vertices by cotangents."""

    def __init__(self, places, triangles, limit=None):
        self.limit = limit
        self.triangles, n = triangles, CLOTH["poisson"]
        edges = places[triangles[:, 1:]] - places[triangles[:, :1]]
        normals = np.cross(edges[:, 0], edges[:, 1])
        areas = 0.5 * np.linalg.norm(normals, axis=1)
        one = edges[:, 0] / np.linalg.norm(edges[:, 0], axis=1, keepdims=True)
        two = np.cross(normals / (2.0 * areas[:, None]), one)
        flat = np.einsum("tei,tdi->ted", edges, np.stack([one, two], axis=1))
        inner = np.linalg.inv(flat).transpose(0, 2, 1)
        self.hats = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
        self.weights = CLOTH["young"] / (1.0 + n) * areas * THICKNESS
        self.aside = n / (1.0 - n)
        mass = CLOTH["density"] * areas * THICKNESS / 3.0
        self.mass = np.bincount(triangles.ravel(), np.repeat(mass, 3), len(places))
        firm = 1.0 + self.aside + (limit[2] if limit else 0.0)
        products = np.einsum("t,tai,tbi->tab", self.weights * firm, self.hats, self.hats)
        self.stiffness = scattered(triangles, products, len(places))
        self._plates(places, areas)

    def _plates(self, places, areas):
        """Rows l of curvatures, weights D A, lengths and sides at rest."""
        triangles, count = self.triangles, len(places)
        laplacian, area, edges = np.zeros((count, count)), np.zeros(count), {}
        for triangle, whole in zip(triangles, areas, strict=True):
            x, cotangents, squares = places[triangle], np.zeros(3), np.zeros(3)
            for i in range(3):
                a, b = x[(i + 1) % 3] - x[i], x[(i + 2) % 3] - x[i]
                cotangents[i], squares[i] = a @ b / (2.0 * whole), (b - a) @ (b - a)
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                edges[frozenset(triangle[[j, k]])] = edges.get(frozenset(triangle[[j, k]]), 0) + 1
                for a, b in ((triangle[j], triangle[k]), (triangle[k], triangle[j])):
                    laplacian[a, a] += 0.5 * cotangents[i]
                    laplacian[a, b] -= 0.5 * cotangents[i]
                if cotangents.min() < 0.0:
                    area[triangle[i]] += whole / (2.0 if cotangents[i] < 0.0 else 4.0)
                else:
                    area[triangle[i]] += (cotangents[j] * squares[j] + cotangents[k] * squares[k]) / 8.0
        border = {v for edge, met in edges.items() if met != 2 for v in edge}
        inside = [v for v in np.unique(triangles) if v not in border]
        plate = CLOTH["young"] * THICKNESS**3 / 12.0 / (1.0 - CLOTH["poisson"] ** 2)
        self.inside, self.rows = inside, laplacian[inside] / area[inside][:, None]
        self.plates = plate * area[inside]
        self.stiffness += np.einsum("v,vi,vj->ij", self.plates, self.rows, self.rows)
        rest, normals = self.rows @ places, self._normals(places)[inside]
        self.lengths = np.linalg.norm(rest, axis=1)
        along = np.sum(rest * normals, axis=1) / np.linalg.norm(normals, axis=1)
        size = np.abs(self.rows) @ np.ones(count) * np.ptp(places)
        self.lengths[self.lengths < 1e-9 * size] = 0.0
        self.outward = np.where(along >= 0.0, 1.0, -1.0)
        self.sided = np.abs(along) > 0.5 * self.lengths

    def _normals(self, x):
        edges = x[self.triangles[:, 1:]] - x[self.triangles[:, :1]]
        normals = np.cross(edges[:, 0], edges[:, 1])
        return gathered(self.triangles, np.repeat(normals[:, None], 3, axis=1), x)

    def evaluate(self, x):
        f = np.einsum("tai,tad->tid", x[self.triangles], self.hats)
        near = nearest(f)
        grown = np.einsum("tid,tid->t", f - near, near)
        squares, pull = beyond(f, self.limit)
        pull = f - near + self.aside * grown[:, None, None] * near + pull
        pulls = np.einsum("t,tid,tad->tai", self.weights, pull, self.hats)
        squares = np.sum((f - near) ** 2, axis=(1, 2)) + self.aside * grown**2 + squares
        k = self.rows @ x
        turned = self.sided & (self.outward * np.sum(k * self._normals(x)[self.inside], axis=1) < 0.0)
        length = np.maximum(np.linalg.norm(k, axis=1), 1e-300)
        apart = k - k * (np.where(turned, -1.0, 1.0) * self.lengths / length)[:, None]
        energy = 0.5 * self.weights @ squares + 0.5 * self.plates @ np.sum(apart**2, axis=1)
        return energy, gathered(self.triangles, pulls, x) + self.rows.T @ (self.plates[:, None] * apart)


class Springs:
    """`k / 2 (|d| - l)^2` of pairs of vertices."""

    def __init__(self, places, pairs, stiffness, lengths):
        self.pairs, self.lengths, self.k = pairs, lengths, stiffness
        self.mass = np.zeros(len(places))
        products = stiffness[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        self.stiffness = scattered(pairs, products, len(places))

    def evaluate(self, x):
        way = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        length = np.linalg.norm(way, axis=1)
        pull = (self.k * (length - self.lengths) / length)[:, None] * way
        energy = 0.5 * self.k @ (length - self.lengths) ** 2
        return energy, gathered(self.pairs, np.stack([pull, -pull], axis=1), x)


def evaluate(energies, x):
    """The sum of energies, and its gradient."""
    values, gradients = zip(*(energy.evaluate(x) for energy in energies), strict=True)
    return sum(values), sum(gradients)


def steps(energies, start, frames, h=DT):
    """Steps of backward Euler from rest, each solved by descent in the metric of fixed projections."""
    mass = sum(energy.mass for energy in energies)
    metric = np.diag(mass / h**2) + sum(energy.stiffness for energy in energies)
    inverse = np.linalg.inv(metric)
    before, now = start, start
    for _ in range(frames):
        target = 2.0 * now - before
        x = target
        for _ in range(20000):
            gradient = (mass / h**2)[:, None] * (x - target) + evaluate(energies, x)[1]
            move = inverse @ gradient
            x = x - move
            if np.abs(move).max() < 1e-12:
                break
        else:
            raise AssertionError("the reference does not converge")
        before, now = now, x
    return now


@pytest.fixture(scope="module")
def bar():
    places, tets = independent.grid((3, 1, 1), (0.3, 0.1, 0.1), 1)
    mesh = jounce.TetMesh(places, tets)
    # All of the surface but one end: vertices on the border have no bending.
    kept = places[mesh.boundary].mean(axis=1)[:, 0] < 0.28
    return mesh, mesh.boundary[kept]


def flesh():
    return jounce.Material(young=YOUNG, poisson=0.0, density=DENSITY)


def places(simulation, mesh):
    return np.asarray(mesh.vertices) + simulation.displacement()


def bent(model, mesh):
    """A simulation bent to rest, the forces on its vertices, and its places."""
    simulation = jounce.Simulation(model, dt=DT, max_iterations=3000, tolerance=1e-13)
    rest, mass = np.asarray(mesh.vertices), np.asarray(model.vertex_mass)
    along = np.sin(np.pi * rest[:, 0] / np.ptp(rest[:, 0]))
    force = np.zeros_like(rest)
    force[:, 2] = -20.0 * mass * (along - np.average(along, weights=mass))
    simulation.settle(force=model.reduce_forces(force), max_iterations=20000)
    return simulation, force, places(simulation, mesh)


def agree(model, mesh, energies):
    """Rest under forces and ten free steps are those of the own elements."""
    mass = sum(energy.mass for energy in energies)
    assert np.allclose(model.vertex_mass, mass, rtol=1e-12)
    simulation, force, start = bent(model, mesh)
    assert np.abs(start - mesh.vertices).max() > 5e-3
    left = evaluate(energies, start)[1] - force
    assert np.abs(left).max() < 2e-4 * np.abs(force).max()
    for _ in range(10):
        report = simulation.step()
    assert report.energy == pytest.approx(evaluate(energies, places(simulation, mesh))[0], rel=1e-4)
    expected = steps(energies, start, 10)
    assert np.abs(expected - start).max() > 1e-3
    return np.abs(places(simulation, mesh) - expected).max()


def test_tets_with_a_skin_move_as_their_sum(bar):
    mesh, triangles = bar
    places, tets = np.asarray(mesh.vertices), np.asarray(mesh.tets)
    skin = jounce.SurfaceMesh(places, triangles)
    counts = {"handles": len(places), "clusters": len(tets)}
    model = jounce.Model.projective(
        mesh, flesh(), **counts, thickness=THICKNESS, skin=skin, skin_material=jounce.Material(**CLOTH)
    )
    assert (model.cluster_count, model.skipped_count) == (len(tets) + len(triangles), 0)
    assert agree(model, mesh, [Tets(places, tets), Skin(places, triangles)]) < 1e-7
    bare = jounce.Model.projective(mesh, flesh(), **counts)
    assert agree(bare, mesh, [Tets(places, tets)]) < 1e-7


def column(young=2e4):
    """A column of 60 cm, its material, and the rig that holds its top."""
    points, triangles = jounce.shapes.box((0.1, 0.1, 0.6))
    mesh = jounce.TetMesh.lattice(points, triangles, resolution=12)
    places = np.asarray(mesh.vertices)
    top = places[:, 2] > places[:, 2].max() - 1e-6
    hung = {"rig": jounce.Rig(mesh, np.ones((len(top), 1))), "attached": top}
    return mesh, jounce.Material(young=young, poisson=0.0, density=DENSITY), hung


def sag(model, mesh, top):
    """Lengthening of a column under its weight, and its mass."""
    simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81), tolerance=1e-10)
    simulation.settle(np.eye(3, 4)[None], max_iterations=20000)
    moved, height = simulation.displacement()[:, 2], np.asarray(mesh.vertices)[:, 2]
    bottom = height < height.min() + 1e-6
    return moved[top].mean() - moved[bottom].mean(), np.sum(model.vertex_mass)


def test_a_hanging_column_lengthens_by_hooke_s_law_of_flesh_and_skin():
    mesh, material, hung = column()
    places, triangles = np.asarray(mesh.vertices), np.asarray(mesh.boundary)
    edges = places[triangles[:, 1:]] - places[triangles[:, :1]]
    sides = triangles[np.abs(np.cross(edges[:, 0], edges[:, 1])[:, 2]) < 1e-9]
    counts = {"handles": len(places), "clusters": len(mesh.tets)}
    skin = {"skin": jounce.SurfaceMesh(places, sides), "thickness": THICKNESS, "bending": 0.0}
    skin["skin_material"] = jounce.Material(young=2e5, poisson=0.0, density=300.0)
    wide, deep, high = np.ptp(places, axis=0)
    flesh_alone = 2e4 * wide * deep
    for covered, firm in (({}, flesh_alone), (skin, flesh_alone + 2e5 * THICKNESS * 2.0 * (wide + deep))):
        model = jounce.Model.projective(mesh, material, **counts, **covered, **hung)
        longer, mass = sag(model, mesh, hung["attached"])
        assert longer == pytest.approx(mass * 9.81 * high / (2.0 * firm), rel=0.02)


def test_springs_move_as_their_sum_with_tets(bar):
    mesh, _ = bar
    places, tets = np.asarray(mesh.vertices), np.asarray(mesh.tets)
    order = np.argsort(places[:, 0])
    pairs = np.stack([order[:4], order[-4:]], axis=1)
    stiffness = np.array([5.0, 20.0, 8.0, 30.0])
    rest = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    counts = {"handles": len(places), "clusters": len(tets)}
    for share in (1.0, 0.9):
        lengths = {} if share == 1.0 else {"spring_length": share * rest}
        model = jounce.Model.projective(
            mesh, flesh(), **counts, springs=pairs, spring_stiffness=stiffness, **lengths
        )
        energies = [Tets(places, tets), Springs(places, pairs, stiffness, share * rest)]
        assert agree(model, mesh, energies) < 1e-7


@pytest.mark.parametrize("pull", [0.5, 3.0])
def test_a_spring_in_hardly_any_flesh_has_hooke_s_length(bar, pull):
    mesh, _ = bar
    places = np.asarray(mesh.vertices)
    pair = [int(np.argmin(places[:, 0])), int(np.argmax(places[:, 0]))]
    way = places[pair[1]] - places[pair[0]]
    length, stiffness = np.linalg.norm(way), 40.0
    soft = jounce.Material(young=0.1, poisson=0.0, density=DENSITY)
    counts = {"handles": len(places), "clusters": len(mesh.tets)}
    model = jounce.Model.projective(mesh, soft, **counts, springs=[pair], spring_stiffness=stiffness)
    force = np.zeros_like(places)
    force[pair] = pull * np.stack([-way, way]) / length
    simulation = jounce.Simulation(model, tolerance=1e-12)
    simulation.settle(force=model.reduce_forces(force), max_iterations=20000)
    now = places + simulation.displacement()
    found = np.linalg.norm(now[pair[1]] - now[pair[0]])
    assert found - length == pytest.approx(pull / stiffness, rel=2e-3)


def test_a_limit_of_strain_acts_as_its_projection(bar):
    mesh, triangles = bar
    places, tets = np.asarray(mesh.vertices), np.asarray(mesh.tets)
    limit = (0.99, 1.01, 4.0)
    counts = {"handles": len(places), "clusters": len(tets)}
    cover = {"skin": jounce.SurfaceMesh(places, triangles), "skin_material": jounce.Material(**CLOTH)}
    for covered, energies in (
        ({}, [Tets(places, tets, limit)]),
        ({"thickness": THICKNESS, **cover}, [Tets(places, tets, limit), Skin(places, triangles, limit)]),
    ):
        model = jounce.Model.projective(
            mesh, flesh(), **counts, **covered, strain_limit=limit[:2], limit_firmness=limit[2]
        )
        _, _, start = bent(model, mesh)
        f = np.einsum("tai,taj->tij", start[tets], energies[0].hats)
        assert np.linalg.svd(f, compute_uv=False).max() > limit[1] + 5e-3
        assert agree(model, mesh, energies) < 1e-7


@pytest.mark.parametrize("firmness", [1.0, 10.0, 100.0])
def test_a_pulled_column_exceeds_its_limit_by_a_share_of_what_it_would(firmness):
    mesh, material, _ = column()
    rest, boundary, most = np.asarray(mesh.vertices), np.asarray(mesh.boundary), 1.1
    counts = {"handles": len(rest), "clusters": len(mesh.tets)}
    edges = rest[boundary[:, 1:]] - rest[boundary[:, :1]]
    areas = 0.5 * np.cross(edges[:, 0], edges[:, 1])
    # An even pull of 6 kPa on both ends.
    force = gathered(boundary, np.repeat(6e3 / 3.0 * areas[:, None] * [0.0, 0.0, 1.0], 3, axis=1), rest)

    def stretches(**limits):
        model = jounce.Model.projective(mesh, material, **counts, **limits)
        simulation = jounce.Simulation(model, tolerance=1e-12)
        simulation.settle(force=model.reduce_forces(force), max_iterations=50000)
        tets = np.asarray(mesh.tets)
        f = np.einsum("tai,taj->tij", places(simulation, mesh)[tets], Tets(rest, tets).hats)
        return np.linalg.svd(f, compute_uv=False)

    free, limited = stretches(), stretches(strain_limit=(0.0, most), limit_firmness=firmness)
    assert np.abs(free - [1.3, 1.0, 1.0]).max() < 1e-5
    assert np.abs(limited - [most + 0.2 / (1.0 + firmness), 1.0, 1.0]).max() < 1e-5


def test_what_has_no_meaning_is_refused(bar):
    mesh, triangles = bar
    skin = jounce.SurfaceMesh(mesh.vertices, triangles)

    def made(of=mesh, **arguments):
        return jounce.Model.projective(of, flesh(), handles=6, clusters=8, **arguments)

    other = jounce.SurfaceMesh(np.asarray(mesh.vertices) + 1.0, triangles)
    for arguments, why in (
        ({"skin": skin}, "give it in metres"),
        ({"skin_material": flesh()}, "give its triangles"),
        ({"of": skin, "skin": skin, "thickness": 1e-3}, "leave it out"),
        ({"skin": other, "thickness": 1e-3}, "give it these points"),
        ({"strain_limit": (1.1, 1.2)}, "strain_limit"),
        ({"strain_limit": (0.9, 0.95)}, "strain_limit"),
        ({"strain_limit": (0.9, 1.1), "limit_firmness": 0.0}, "limit_firmness"),
        ({"springs": [[0, 1]]}, "spring_stiffness"),
        ({"spring_stiffness": 1.0}, "two vertices"),
        ({"springs": [[0, 99]], "spring_stiffness": 1.0}, "springs"),
        ({"springs": [[0, 1]], "spring_stiffness": 0.0}, "spring_stiffness"),
        ({"springs": [[0, 1]], "spring_stiffness": 1.0, "spring_length": [-1.0]}, "spring_length"),
        ({"springs": [[0, 1]], "spring_stiffness": 1.0, "spring_length": [1.0, 1.0]}, "spring_length"),
    ):
        with pytest.raises(ValueError, match=why):
            made(**arguments)
