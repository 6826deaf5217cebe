"""A column with flesh in the window, for tests that start from one."""

import importlib

import extension
import scenes


def module(name):
    """A module of the extension."""
    return importlib.import_module(f"{extension.INSTALLED}.{name}")


def built(window):
    """A built character in a calm viewport."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    rig.hide_set(True)
    window.calm()
    window.look_at(obj)
    scenes.activate(obj)
    return obj


def previewed(window):
    """The same with its preview on and a full cache."""
    obj = built(window)
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview
    yield from settled(obj)
    return obj


def settled(obj):
    """Waits until every frame is up to date."""
    previews = module("bridge.preview.previews")
    yield lambda: previews.session(obj) is not None
    yield lambda: previews.session(obj).complete and not previews.session(obj).busy
