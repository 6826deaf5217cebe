"""Clips of the gallery: turns of a cycle, the part of a character in the picture, distances of outlines."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters
import creature
import first_picture
import gallery_of
import sheet
import studio
from gallery_clips import Clip
from PIL import Image
from view import View


@pytest.fixture
def made():
    """A creature and its action, which loops."""
    built = creature.build()
    return characters.Character("creature", built.armature, [built.body], built.parts), built.action


def take_of(posed, fleshed):
    return sheet.Take("Clip", 1, 24.0, 1.0, posed, fleshed)


def test_a_cycle_plays_its_turns_and_shows_the_last(made):
    character, action = made
    clip = Clip("creature", "creature", "us", action.name, before=2)
    shot = gallery_of.chosen(clip, character, 0)
    period = round(action.frame_range[1] - action.frame_range[0])
    assert len(shot.frames) == 3 * period
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (shot.first, shot.last)
    posed = studio.record(character.body, shot.frames)
    assert np.ptp([shape[0] for shape in posed], axis=0).max() > 0.1
    shown = gallery_of.ending(take_of(posed, posed), clip)
    assert len(shown.posed) == period and shown.first == shot.first + 2 * period
    for first, last in zip(posed, shown.posed, strict=False):
        np.testing.assert_allclose(last[0], first[0], atol=1e-5)


def test_an_action_that_is_not_there_is_refused_by_name(made):
    with pytest.raises(characters.Unreadable, match="creature has no action Swim"):
        gallery_of.chosen(Clip("creature", "creature", "us", "Swim"), made[0], 0)


def test_a_view_frames_a_part_of_the_height():
    points = np.stack([np.zeros(11), np.zeros(11), np.linspace(1.0, 3.0, 11)], axis=1).astype(np.float32)
    shapes = [[points], [points + 1.0]]
    assert len(View().framed(shapes)) == 22
    part = View(low=0.5, high=0.75).framed(shapes)
    # The same vertices in all shapes.
    np.testing.assert_allclose(part[:, 2], [2.0, 2.2, 2.4, 3.0, 3.2, 3.4], atol=1e-6)


def test_the_distance_of_outlines_is_that_of_two_balls(tmp_path):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=5, radius=1.0)
    ball = bpy.context.object
    posed = studio.record([ball], range(1, 2))
    take = take_of(posed * 2, [posed[0], [1.1 * posed[0][0]]])
    room = studio.Studio([ball], [[1.1 * posed[0][0]]], "WORKBENCH")
    same, larger = gallery_of.outlines_apart(room, take, 240, tmp_path / "part.png")
    assert same == 0.0
    radius = 120.0 / studio.MARGIN / 1.1
    assert larger == pytest.approx(0.1 * radius, rel=0.25)
    assert not list(tmp_path.iterdir())


def test_the_last_frames_of_an_action_are_shown(made):
    clip = Clip("creature", "creature", "us", made[1].name, frames=30, shown=24)
    shot = gallery_of.chosen(clip, made[0], 0)
    posed = [[np.full((1, 3), frame)] for frame in shot.frames]
    shown = gallery_of.ending(take_of(posed, posed), clip)
    assert shown.posed == posed[6:] and shown.first == 7


def test_the_first_picture_shows_two_panels_and_marks_the_moment(tmp_path):
    colours = [(10 * number, 0, 0) for number in range(12)]
    shot = [tuple(Image.new("RGB", (600, 400), colour) for _ in range(3)) for colour in colours]
    pages = first_picture.pages(shot, 0.1)
    assert len(pages) == len(shot) and len({page.size for page in pages}) == 1
    line, gap = first_picture.LINE, first_picture.GAP
    for number, page in enumerate(pages):
        assert (
            page.getpixel((300, line + 200))
            == page.getpixel((600 + gap + 300, line + 200))
            == colours[number]
        )
        edges = [page.getpixel((column * (196 + gap), page.height - 10)) for column in range(6)]
        assert [edge == first_picture.INK for edge in edges].index(True) == number // 2
        assert edges.count(first_picture.INK) == 1
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        first_picture.keep(pages, folder)
    first_picture.join(folders, tmp_path / "all.webp", 1e9)
    with Image.open(tmp_path / "all.webp") as joined:
        assert joined.size == pages[0].size
    assert [path.name for path in tmp_path.iterdir()] == ["all.webp"]
