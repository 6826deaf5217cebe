"""Plots, the viewer, and meshes of other libraries."""

import subprocess
import sys
import types

import jounce
import matplotlib
import numpy as np
import pytest
import trimesh

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def body(box):
    return jounce.Body(*box, resolution=8, modes=4, clusters=8)


@pytest.fixture
def moved(body):
    """Three frames of the surface, and the reports of their steps."""
    simulation = jounce.Simulation(body.model)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    simulation.reset(pose)
    frames, reports = [], []
    for height in (0.1, 0.2, 0.1):
        pose[1, 2, 3] = height
        reports.append(simulation.step(pose))
        frames.append(body.deformed(simulation, pose))
    return np.array(frames), reports


def test_spectra(body):
    axes = jounce.plot.spectrum(body.modes, label="draft")
    shown = axes.lines[0].get_ydata()
    assert np.allclose(shown, np.sqrt(body.modes.eigenvalues) / (2 * np.pi))
    linear = jounce.linear_modes(body.mesh, body.material, 8)
    jounce.plot.spectrum(linear, ax=axes, marker="x")
    assert np.allclose(axes.lines[1].get_ydata(), linear.frequencies, atol=1e-3)
    assert axes.lines[1].get_marker() == "x"


def test_energies(moved):
    axes = jounce.plot.energies({"draft": moved[1], "given": [1.0, 2.0]}, dt=0.1)
    assert np.allclose(axes.lines[0].get_xdata(), [0.1, 0.2, 0.3])
    assert np.allclose(axes.lines[0].get_ydata(), [report.energy for report in moved[1]])
    assert [it.get_text() for it in axes.get_legend().get_texts()] == ["draft", "given"]


def test_a_strip_shows_the_nearest_triangles_last(moved, body):
    """Seen from the front, -y, the front of the box covers the back, and lies at its points."""
    frames, _ = moved
    axes = jounce.plot.strip(frames, body.triangles, count=2)
    assert len(axes.collections) == 2
    last = axes.collections[0].get_paths()[-1].vertices
    front = [t for t in body.triangles if np.allclose(body.points[t][:, 1], 0.0)]
    places = [np.sort(frames[0][t][:, 2]) for t in front]
    assert any(np.allclose(np.sort(last[:3, 1]), place) for place in places)
    coloured = jounce.plot.strip(frames, body.triangles, frames[:, :, 2], count=3)
    assert coloured.collections[0].get_array().min() >= frames[:, :, 2].min()
    assert coloured.collections[0].norm.vmax == pytest.approx(frames[:, :, 2].max())


class Shown:
    """A mesh in the window, with the last values set."""

    def __init__(self, *arguments, **settings):
        self.made, self.places, self.colours = (arguments, settings), None, {}

    def update_vertex_positions(self, places):
        self.places = places

    def add_scalar_quantity(self, name, values, **settings):
        self.colours[name] = (values, settings)


class Window(types.ModuleType):
    """The calls of polyscope that a viewer makes, on a machine without a screen."""

    def __init__(self):
        super().__init__("polyscope")
        self.called, self.callback = [], None
        self.inputs = types.SimpleNamespace(DeltaTime=1 / 24, IniFilename=None)
        self.imgui = types.SimpleNamespace(
            GetIO=lambda: self.inputs,
            SliderInt=lambda _name, value, _low, _high: (False, value),
            Button=lambda _name: False,
        )
        self.register_surface_mesh = self.register_volume_mesh = Shown

    def set_user_callback(self, callback):
        self.callback = callback

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments: self.called.append((name, *arguments))


def test_a_view_plays_frames(monkeypatch, body, moved):
    window = Window()
    monkeypatch.setitem(sys.modules, "polyscope", window)
    frames, _ = moved
    shown = jounce.view(body, frames, {"height": frames[:, :, 2]})
    assert np.array_equal(shown.places, frames[0])
    assert shown.colours["height"][1]["vminmax"] == (frames[:, :, 2].min(), frames[:, :, 2].max())
    assert ("show",) in window.called and ("set_up_dir", "z_up") in window.called
    assert window.called.index(("set_use_prefs_file", False)) < window.called.index(("init",))
    assert window.inputs.IniFilename == "", "a window leaves no file in the current folder"
    for frame in (1, 2, 0):
        window.callback()
        assert np.array_equal(shown.places, frames[frame])
    window.imgui.SliderInt = lambda *_: (True, 2)
    window.callback()
    window.imgui.SliderInt = lambda _name, value, _low, _high: (False, value)
    window.callback()
    assert np.array_equal(shown.places, frames[2]), "a slider that was moved stays"
    still = jounce.view(body.mesh, show=False)
    assert np.array_equal(still.made[1]["tets"], body.mesh.tets)
    with pytest.raises(ValueError, match=r"frames: expected shape \(f, 8, 3\), got \(3, 7, 3\)"):
        jounce.view(body, frames[:, :7])
    with pytest.raises(ValueError, match="height: expected shape"):
        jounce.view(body, frames, {"height": np.zeros(3)})


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("matplotlib", "jounce.plot.spectrum([1.0])", "plot"),
        ("polyscope", "jounce.view(jounce.SurfaceMesh(*jounce.shapes.box()))", "view"),
        ("trimesh", "jounce.io.read_surface('a.obj')", "io"),
        ("meshio", "jounce.read_mesh('a.msh')", "io"),
        ("usd-core", "jounce.usd.add_flesh('a.usd', 'b.usda')", "usd"),
        ("usd-core", "jounce.usd_cache.write_motions(['a.jcache'], 'b.usda')", "usd"),
    ],
)
def test_a_missing_package_is_named(package, call, extra):
    module = {"usd-core": "pxr"}.get(package, package)
    program = f"""
import sys
sys.modules[{module!r}] = None
import jounce.usd
import jounce.usd_cache
try:
    {call}
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    function = call.partition("(")[0].rpartition(".")[2]
    assert run.stdout.strip() == (
        f'{function} needs {package}; install it with: pip install "jounce[{extra}]" or pip install {package}'
    )


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".msh"])
def test_meshes_are_written_and_read_back(tmp_path, body, suffix):
    path = tmp_path / f"body{suffix}"
    jounce.io.write_mesh(path, body.mesh, values={"leak": body.leak})
    again = jounce.read_mesh(path)
    assert np.allclose(again.vertices, body.mesh.vertices)
    assert np.array_equal(again.tets, body.mesh.tets)
    with pytest.raises(ValueError, match="leak: expected"):
        jounce.io.write_mesh(path, body.mesh, values={"leak": body.leak[:3]})
    with pytest.raises(ValueError, match="cannot be written as a mesh"):
        jounce.io.write_mesh(tmp_path / "body.nothing", body.mesh)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl"])
def test_surfaces_are_read(tmp_path, suffix):
    path = tmp_path / f"ball{suffix}"
    trimesh.creation.icosphere(subdivisions=2).export(path)
    points, triangles = jounce.io.read_surface(path)
    assert triangles.shape == (320, 3)
    assert np.allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-6)
    assert jounce.TetMesh.lattice(points, triangles, resolution=6).volumes.sum() > 4.0
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=f"ball{suffix}"):
        jounce.io.read_surface(path)
    with pytest.raises(ValueError, match="missing.obj cannot be read as a surface"):
        jounce.io.read_surface(tmp_path / "missing.obj")


def test_surfaces_go_to_trimesh_and_back(body, moved):
    frames, _ = moved
    there = jounce.io.to_trimesh(body, frames[-1])
    points, triangles = jounce.io.from_trimesh(there)
    assert np.array_equal(points, frames[-1]) and np.array_equal(triangles, body.triangles)
    boundary = jounce.io.to_trimesh(body.mesh)
    assert boundary.is_watertight
    whole = body.mesh.volumes / body.mesh.solid
    assert boundary.volume == pytest.approx(whole.sum(), rel=1e-9)
    scene = trimesh.Scene([trimesh.creation.box(), trimesh.creation.icosphere(subdivisions=0)])
    assert len(jounce.io.from_trimesh(scene)[1]) == 12 + 20
