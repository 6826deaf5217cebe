"""Effect of `Model.save` on existing files: links, modes, other names, and unchanged bytes on a full disk."""

import os
import re
import stat
import subprocess
import sys
import textwrap

import jounce
import pytest


@pytest.fixture
def small(mesh, material, modes, labels):
    """A model of the two lowest modes."""
    lowest = jounce.SkinningModes(modes.weights[:, :2], modes.eigenvalues[:2])
    return jounce.Model.skinning(mesh, material, lowest, labels)


@pytest.fixture
def saved(small, tmp_path):
    """The file of a small model."""
    path = tmp_path / "saved.jounce"
    small.save(path)
    return path


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def refuses(model, path, why):
    with pytest.raises(ValueError, match=re.escape(why)) as caught:
        model.save(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.posix
def test_links_are_written_through(model, saved, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, further = tmp_path / "link", tmp_path / "elsewhere" / "further"
    link.symlink_to("saved.jounce")
    further.symlink_to("../link")
    model.save(further)
    assert link.is_symlink() and further.is_symlink()
    assert jounce.Model.load(saved).mode_count == model.mode_count
    ahead = tmp_path / "ahead"
    ahead.symlink_to("not yet there")
    model.save(ahead)
    assert ahead.is_symlink() and (tmp_path / "not yet there").is_file()
    assert sorted(os.listdir(tmp_path)) == ["ahead", "elsewhere", "link", "not yet there", "saved.jounce"]
    assert os.listdir(tmp_path / "elsewhere") == ["further"]


@pytest.mark.posix
def test_links_in_a_circle_are_refused(model, tmp_path):
    for name, other in (("one", "other"), ("other", "one")):
        (tmp_path / name).symlink_to(other)
    refuses(model, tmp_path / "one", "its links lead nowhere; name another file")
    assert sorted(os.listdir(tmp_path)) == ["one", "other"]


@pytest.mark.posix
def test_what_is_no_file_is_refused_and_stays(model, tmp_path):
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "link"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to("pipe")
    refuses(model, pipe, "it is a pipe or a device; name a file")
    refuses(model, link, "it is a pipe or a device; name a file")
    refuses(model, folder, "it is a folder; name a file in it")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "pipe"]


@pytest.mark.posix
@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666, 0o400])
def test_the_mode_stays(model, saved, bits):
    saved.chmod(bits)
    if os.access(saved, os.W_OK):
        model.save(saved)
        assert jounce.Model.load(saved).mode_count == model.mode_count
    else:
        refuses(model, saved, "ermission denied")
    assert mode(saved) == bits


@pytest.mark.posix
def test_other_names_of_the_file_see_the_same(model, small, saved, tmp_path):
    saved.chmod(0o600)
    name = tmp_path / "another name"
    os.link(saved, name)
    for replacement in (model, small):
        replacement.save(name)
        assert saved.samefile(name)
        assert mode(saved) == 0o600
        assert jounce.Model.load(saved).mode_count == replacement.mode_count
    assert sorted(os.listdir(tmp_path)) == ["another name", "saved.jounce"]


@pytest.mark.posix
@pytest.mark.parametrize("names", [1, 2])
def test_a_disk_that_is_full_costs_nothing(model, saved, tmp_path, names):
    before = saved.read_bytes()
    large = tmp_path / "large.jounce"
    model.save(large)
    room = (len(before) + large.stat().st_size) // 2
    if names == 2:
        os.link(saved, tmp_path / "another name")
    files = sorted(os.listdir(tmp_path))
    script = f"""
        import resource, sys, jounce
        model = jounce.Model.load(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
        try:
            model.save(sys.argv[2])
        except ValueError as error:
            print(error)
    """
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), large, saved],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.startswith(f"file: cannot write {saved}: ")
    assert saved.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == files
