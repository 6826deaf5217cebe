"""Docstrings of everything public: sections, parameters as in the signature, and examples that run."""

import doctest
import inspect
import re

import jounce
import jounce.usd
import jounce.usd_cache
import numpy as np
import pytest

IO = ("from_trimesh", "read_surface", "to_trimesh", "write_mesh")
SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples)\n-+\n", re.M)
# A docstring that leaves its parameters to another one names it.
ELSEWHERE = re.compile(r"with the same arguments")
MODULES = ("gltf", "io", "operators", "plot", "shapes", "splines", "standard")
NAMES = [name for name in jounce.__all__ if name not in ("__version__", *MODULES)]
PARTS = [(name, getattr(jounce, name)) for name in NAMES] + [
    *((f"operators.{name}", getattr(jounce.operators, name)) for name in jounce.operators.__all__),
    *((f"plot.{name}", getattr(jounce.plot, name)) for name in ("energies", "spectrum", "strip")),
    *((f"io.{name}", getattr(jounce.io, name)) for name in IO),
    *((f"gltf.{name}", getattr(jounce.gltf, name)) for name in ("read", "add_flesh")),
    *(
        (f"standard.{name}", getattr(jounce.standard, name))
        for name in ("motion", "resolution", "size_frequency")
    ),
    ("shapes.box", jounce.shapes.box),
    ("splines.resisting_compression", jounce.splines.resisting_compression),
    ("splines.resisting_tension", jounce.splines.resisting_tension),
    ("standard.Motion", jounce.standard.Motion),
    ("usd.Settings", jounce.usd.Settings),
    ("usd.add_flesh", jounce.usd.add_flesh),
    ("usd_cache.write_motions", jounce.usd_cache.write_motions),
]


def callables():
    """Name and object of each class, function and public method."""
    for name, thing in PARTS:
        yield name, thing
        if inspect.isclass(thing):
            for key, value in vars(thing).items():
                member = getattr(value, "__func__", value)
                if not key.startswith("_") and callable(member):
                    yield f"{name}.{key}", member


def sections(text):
    """Sections of a docstring by their heads."""
    pieces = SECTION.split(text)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def signature(thing):
    """Names of the parameters; none for a class without a constructor."""
    try:
        names = list(inspect.signature(thing).parameters)
    except ValueError:
        return []
    return [name for name in names if name not in ("self", "args", "kwargs")]


@pytest.mark.parametrize(("name", "thing"), [pytest.param(*it, id=it[0]) for it in callables()])
def test_every_parameter_is_described(name, thing):
    text = inspect.getdoc(thing)
    named = re.findall(r"^(\w+) : \S", sections(text).get("Parameters", ""), re.M)
    if named or not ELSEWHERE.search(text):
        assert named == signature(thing), name
    assert "TODO" not in text


@pytest.mark.parametrize(("name", "thing"), [pytest.param(*it, id=it[0]) for it in PARTS])
def test_examples_run(name, thing):
    pieces = [inspect.getdoc(thing)]
    if inspect.isclass(thing):
        members = [getattr(it, "__func__", it) for key, it in vars(thing).items() if not key.startswith("_")]
        pieces += [inspect.getdoc(member) or "" for member in members]
    elif name not in ("usd.add_flesh", "usd_cache.write_motions", "read_mesh"):
        assert ">>> " in pieces[0], name
    if inspect.isclass(thing):
        assert any(">>> " in piece for piece in pieces), name
    for piece in pieces:
        found = doctest.DocTestParser().get_doctest(piece, {"jounce": jounce, "np": np}, name, None, 0)
        assert not doctest.DocTestRunner(verbose=False).run(found).failed, name


def test_examples_show_every_method():
    """Each public method of a class is called in the example of its own docstring."""
    methods = {name: thing for name, thing in callables() if name[0].isupper() and "." in name}
    assert len(methods) > 100
    calls = {name: rf"^(>>>|\.\.\.) .*\.{name.split('.')[-1]}\(" for name in methods}
    assert not [name for name in methods if not re.search(calls[name], inspect.getdoc(methods[name]), re.M)]


def test_what_returns_says_what():
    for name, thing in callables():
        text = inspect.getdoc(thing)
        if inspect.isclass(thing) or not re.search(r"^Returns\n-", text, re.M):
            continue
        described = sections(text)["Returns"].strip().splitlines()
        assert len(described) > 1 and described[1].startswith("    "), name
