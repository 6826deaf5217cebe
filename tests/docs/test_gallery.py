"""The pages show every clip of the gallery, small enough, with the names that its licence asks for."""

import importlib.util
import re
import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "blender"))

from gallery_clips import CLIPS, FIRST, FREE, MOST, SECOND

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/images/gallery"
PAGE = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
# Most bytes of all clips, and the number of repetitions that stands for no end.
ALL_MOST, FOR_EVER = 3_000_000, 0


def credits_of(clip):
    """Authors and licences of a clip's character."""
    return f"{clip.author}, {clip.licence}".split(", ")


def animation(webp):
    """Width, repetitions, and milliseconds of each frame of an animated WebP."""
    place, width, loops, milliseconds = 12, 0, None, []
    while place < len(webp):
        name, size = struct.unpack_from("<4sI", webp, place)
        chunk = webp[place + 8 : place + 8 + size]
        if name == b"VP8X":
            width = 1 + int.from_bytes(chunk[4:7], "little")
        elif name == b"ANIM":
            loops = int.from_bytes(chunk[4:6], "little")
        elif name == b"ANMF":
            milliseconds.append(int.from_bytes(chunk[12:15], "little"))
        place += 8 + size + size % 2
    return width, loops, milliseconds


def test_there_is_no_other_picture():
    assert {path.stem for path in PICTURES.iterdir()} == {clip.picture for clip in (FIRST, *CLIPS)}
    assert len({clip.file for clip in CLIPS}) >= 10


@pytest.mark.parametrize("clip", (FIRST, *CLIPS), ids=lambda clip: clip.picture)
def test_a_clip_moves_again_and_again_and_is_small(clip):
    path = PICTURES / f"{clip.picture}.webp"
    assert path.stat().st_size <= clip.most
    width, loops, milliseconds = animation(path.read_bytes())
    assert loops == FOR_EVER
    assert len(milliseconds) >= 12
    assert sum(milliseconds) == pytest.approx(1000 * len(milliseconds) / 24, abs=1)
    # Two panels above a strip, or three panels.
    assert width >= (2 if clip is FIRST else 3) * clip.width


def test_the_first_picture_lasts_two_seconds_with_both_characters():
    _, _, milliseconds = animation((PICTURES / f"{FIRST.picture}.webp").read_bytes())
    rows = re.findall(rf"^\| {FIRST.picture}\.webp \|.*\| (\d+) \| 600 x 400 \| ([\d.]+) \|", PAGE, re.M)
    assert len(milliseconds) == sum(int(frames) for frames, _ in rows)
    assert 2000 <= sum(milliseconds) <= 2500
    assert int(rows[1][0]) == SECOND.shown
    # Outlines stand a half percent of the panel's width apart.
    assert all(float(apart) > 0.005 * FIRST.width for _, apart in rows)


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.picture)
def test_flesh_and_pose_of_a_clip_can_be_told_apart(clip):
    apart = re.search(rf"^\| {clip.picture}\.webp \|.*\| ([\d.]+) \| [\d.]+ \|$", PAGE, re.M)
    assert float(apart[1]) >= 0.3


def test_all_clips_are_small_together():
    assert MOST <= 250_000
    assert sum((PICTURES / f"{clip.picture}.webp").stat().st_size for clip in CLIPS) <= ALL_MOST


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.picture)
def test_the_gallery_names_clip_licence_and_author(clip):
    shown = re.search(rf"\(images/gallery/{clip.picture}\.webp\)\n\n    (.+(?:\n    .+)*)", PAGE)
    assert shown, clip.picture
    words = " ".join(shown[1].split())
    assert credits_of(clip) == [name for name in credits_of(clip) if name in words]
    assert set(clip.licence.split(", ")) <= FREE


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_picture_is_a_clip_with_its_licence(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    first = re.search(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert first and first[1].endswith(f"images/gallery/{FIRST.picture}.webp")
    assert credits_of(FIRST) == [name for name in credits_of(FIRST) if name in text]


def test_pictures_load_when_they_come_into_sight():
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "rust/xtask/src/site.py")
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    html = site.lazy('<p><img alt="a" src="a.webp"> <img alt="b" src="b.webp"><img src="c"></p>')
    assert html == (
        '<p><img alt="a" src="a.webp"> <img loading="lazy" alt="b" src="b.webp">'
        '<img loading="lazy" src="c"></p>'
    )
