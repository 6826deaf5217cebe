"""The trailer is a minute of characters that may be shown, each with the names that its licence asks for."""

import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "blender"))

from gallery_clips import CLIPS, FIRST, FREE
from trailer_beats import BEATS, HIGH, RATE, WIDE

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs/images"
FILM = IMAGES / "trailer.mp4"
# Shots of the gallery's characters; all others are made by scripts.
OTHERS = {"ears": FIRST.picture, "game": FIRST.picture, "skirt": "mage", "cape": "suit"}


def seconds(film):
    """Duration in the header of an MP4."""
    place = film.index(b"mvhd") + 4
    assert film[place] == 0
    rate, units = struct.unpack_from(">II", film, place + 12)
    return units / rate


def test_it_lasts_a_minute():
    assert sum(beat.frames for beat in BEATS) == 60 * RATE
    assert seconds(FILM.read_bytes()) == pytest.approx(60.0, abs=0.1)
    assert FILM.stat().st_size < 2 << 20


def test_each_beat_can_be_read():
    for beat in BEATS:
        assert beat.frames >= 2 * RATE + 4 * len(beat.words.split())
        assert sum((bool(beat.shot), bool(beat.stills))) + beat.is_card == 1
        assert all((IMAGES / f"{name}.webp").is_file() for name in beat.stills)


def test_a_character_has_its_author_and_a_free_licence():
    clips = {clip.picture: clip for clip in (FIRST, *CLIPS)}
    for beat in BEATS:
        clip = clips.get(OTHERS.get(beat.shot, ""))
        assert bool(beat.credit) == (clip is not None), beat.words
        if clip is not None:
            names = f"{clip.author}, {clip.licence}".split(", ")
            assert names == [name for name in names if name in beat.credit]
            assert set(clip.licence.split(", ")) <= FREE


def test_panels_fill_the_picture():
    for beat in (beat for beat in BEATS if beat.panels):
        assert WIDE % len(beat.panels) == 0 and WIDE // len(beat.panels) >= HIGH


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/gallery.md"])
def test_a_page_shows_it(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "images/trailer.mp4)" in text
    assert FILM.with_suffix(".webp").is_file()
