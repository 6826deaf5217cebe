"""Every step separately, on any tet mesh that meshio reads; posed meshes are written to a folder as .vtu.

    python pipeline.py [MESH [FOLDER]]

Without a mesh it makes a bar. One handle lifts the whole mesh and stops; flesh with momentum leak goes on.
"""

import argparse
from pathlib import Path

import jounce
import meshio
import numpy as np

DT = 1 / 48


def main() -> None:
    """Reads, reduces, saves, loads, simulates, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mesh", type=Path, nargs="?", help="file of tets; without one, a bar")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/pipeline"), help="for the results")
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    mesh = jounce.read_mesh(options.mesh or write_bar(folder / "bar.vtk"))
    size = np.ptp(mesh.vertices, axis=0).max()
    print(f"{mesh}, {size:.3g} m long")

    # One handle with weight one everywhere, as for a prop or for a character moved as a whole.
    rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    leak = jounce.momentum_leak(mesh)
    material = jounce.Material(young=2e3 * size**2, density=1000.0)
    modes = jounce.skinning_modes(mesh, material, 12, rig, leak)
    print("modes in Hz:", np.round(np.sqrt(modes.eigenvalues) / (2 * np.pi), 2))
    labels = jounce.cluster_tets(mesh, modes, 60)

    path = folder / "model.jounce"
    jounce.Model.skinning(mesh, material, modes, labels, rig).save(path)
    model = jounce.Model.load(path)
    print(f"{model} in {path.stat().st_size / 1e6:.1f} MB")

    simulation = jounce.Simulation(model, dt=DT, damping=0.03)
    pose = np.eye(3, 4)[np.newaxis].copy()
    simulation.reset(pose)
    for frame in range(1, 97):
        pose[0, 2, 3] = 0.2 * size * min(frame * DT / 0.4, 1.0)
        report = simulation.step(pose)
        displacement = simulation.displacement()
        if frame % 12 == 0:
            posed = mesh.vertices @ pose[0, :, :3].T + pose[0, :, 3] + displacement
            meshio.write(folder / f"frame_{frame:03}.vtu", meshio.Mesh(posed, [("tetra", mesh.tets)]))
            largest = np.linalg.norm(displacement, axis=1).max() / size
            print(f"frame {frame}: moved by {largest:.2%} of the size, {report.iterations} iterations")


def write_bar(path: Path) -> Path:
    """A bar of 1 x 0.2 x 0.2 m, written as a mesh file."""
    corners = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 0.2) for z in (0.0, 0.2)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([three for a, b, c, d in quads for three in ((a, b, c), (a, c, d))])
    bar = jounce.TetMesh.lattice(corners, triangles, resolution=20)
    meshio.write(path, meshio.Mesh(bar.vertices, [("tetra", bar.tets)]))
    return path


if __name__ == "__main__":
    main()
