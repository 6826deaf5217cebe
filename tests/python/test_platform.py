"""Demands of Blender's platform of extensions: icon, featured picture, and words of the manifest."""

import tomllib
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
MANIFEST = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "kind", "size"), [("icon.png", "PNG", (256, 256)), ("featured.jpg", "JPEG", (1920, 1080))]
)
def test_pictures_are_as_large_as_asked(name, kind, size):
    with Image.open(ROOT / "docs/images" / name) as picture:
        assert (picture.format, picture.size) == (kind, size)
        assert picture.convert("RGB").getcolors(1000) is None, "a rendered picture"


def test_the_icon_stands_on_any_ground():
    with Image.open(ROOT / "docs/images/icon.png") as icon:
        alpha = icon.getchannel("A")
    corners = [(x, y) for x in (0, 255) for y in (0, 255)]
    assert [alpha.getpixel(corner) for corner in corners] == [0] * 4
    assert alpha.getpixel((128, 128)) == 255


def test_words_of_the_manifest_are_as_asked():
    """At most 64 characters and no full stop; no name that claims Blender."""
    for words in (MANIFEST["tagline"], *MANIFEST["permissions"].values()):
        assert len(words) <= 64 and words[-1] not in ".!?", words
    assert "Physics" in MANIFEST["tags"] and "blender" not in MANIFEST["name"].lower()
    assert "network" not in MANIFEST["permissions"]
