"""Films of a character: posed, flesh and heat side by side, at true speed, and a strip of six frames."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters
import creature
import film
import films_of
import sheet
import studio

SIDE, LAST = 96, 31


@pytest.fixture
def made(tmp_path):
    """A creature with flesh, recorded over a second at 30 frames a second."""
    built = creature.build()
    scene = bpy.context.scene
    scene.render.fps, scene.frame_end = 30, LAST
    character = characters.Character("creature", built.armature, [built.body], built.parts)
    return character, films_of.taken(character, characters.Shot(built.action, 1, LAST), tmp_path)


def panels_of(path):
    """The three panels of every frame of a film, (f, 3, SIDE, SIDE, 3)."""
    with Image.open(path) as picture:
        frames, seconds = [], 0.0
        for index in range(picture.n_frames):
            picture.seek(index)
            picture.load()
            seconds += picture.info["duration"] / 1e3
            frames.append(np.asarray(picture.convert("RGB")))
    pitch = SIDE + sheet.GAP
    rows = np.array(frames)[:, film.HEAD : film.HEAD + SIDE].astype(float)
    return np.stack([rows[:, :, k * pitch : k * pitch + SIDE] for k in range(3)], axis=1), seconds


def test_a_film_shows_pose_flesh_and_heat_at_true_speed(made, tmp_path):
    character, take = made
    path = tmp_path / "films" / "creature"
    report = films_of.save(character, take, path, SIDE)
    panels, seconds = panels_of(path.with_suffix(".webp"))
    assert len(panels) == 25 and seconds == pytest.approx(25 / 24, abs=1e-3)
    slower = film.at_rate(take.in_place(), film.RATE)
    worst = int(slower.amplitudes().argmax())
    room = studio.Studio(character.body, slower.framed(), studio.best_engine())
    room.oversampling = 1
    drawn = film.panels(room, slower, worst, report["red"], (tmp_path / "panel.png", SIDE))
    apart = [[np.abs(np.asarray(one, float) - panel).mean() for one in drawn] for panel in panels[worst]]
    assert np.argmin(apart, axis=1).tolist() == [0, 1, 2]
    assert report["red"] == sheet.scale(film.at_rate(take, film.RATE)) > 0.0
    with Image.open(path.with_suffix(".png")) as strip:
        columns = len(report["strip, s"].split(", "))
        assert columns == film.SHOWN and strip.width == columns * (SIDE + sheet.GAP) - sheet.GAP
    assert Path(path.with_suffix(".mp4")).exists() == bpy.app.ffmpeg.supported
    if bpy.app.ffmpeg.supported:
        clip = bpy.data.movieclips.load(str(path.with_suffix(".mp4")))
        assert (clip.frame_duration, clip.fps) == (25, 24.0)
    assert not [scene for scene in bpy.data.scenes if scene.name.startswith("Film")]


@pytest.mark.long
def test_the_same_take_gives_the_same_film(made, tmp_path):
    character, take = made
    take = film.at_rate(take, film.RATE)
    room = studio.Studio(character.body, take.framed(), studio.best_engine())
    twice = [film.panels(room, take, 12, 0.05, (tmp_path / "panel.png", SIDE)) for _ in range(2)]
    assert all(np.array_equal(first, second) for first, second in zip(*twice, strict=True))


def test_another_rate_keeps_the_times():
    shapes = [[np.full((1, 3), float(frame), np.float32)] for frame in range(13)]
    take = sheet.Take("", 1, 60.0, 1.0, shapes, shapes)
    slower = film.at_rate(take, 24)
    assert [float(shape[0][0, 0]) for shape in slower.posed] == [0.0, 2.5, 5.0, 7.5, 10.0]
    same = film.at_rate(take, 60.0).posed
    assert [float(shape[0][0, 0]) for shape in same] == list(range(13))
