"""Files of freed bakes: deleted once neither the session nor a .blend on disk plays them."""

import pytest
from jounce_core.storage.freed_files import Caches


@pytest.fixture
def cache(tmp_path):
    """A file made by a bake."""
    path = tmp_path / "a.pc2"
    path.write_bytes(b"cache")
    return path


@pytest.fixture
def caches(cache):
    """A session that has freed the file from shot.blend."""
    made = Caches()
    made.free(cache, "shot.blend")
    return made


def test_it_stays_until_its_file_is_saved(cache, caches):
    assert cache.exists()
    caches.saved("shot.blend", set())
    assert not cache.exists()


def test_it_stays_while_undo_has_brought_it_back(cache, caches):
    caches.saved("shot.blend", {cache})
    assert cache.exists()
    caches.saved("shot.blend", set())
    assert not cache.exists()


def test_it_stays_when_another_file_is_saved_that_it_is_not_of(cache, caches):
    caches.saved("other.blend", set())
    assert cache.exists()
    caches.end()
    assert not cache.exists()


def test_it_stays_with_the_session_where_a_file_on_the_disk_plays_it(cache):
    session = Caches()
    session.opened({cache})
    session.free(cache, "shot.blend")
    session.saved("other.blend", set())
    session.saved("shot.blend", set())
    session.end()
    assert cache.exists()


def test_what_a_saved_copy_plays_stays_with_the_session(cache):
    session = Caches()
    session.copied({cache})
    session.free(cache, "shot.blend")
    session.opened(set())
    assert cache.exists()


def test_a_file_that_is_gone_does_no_harm(cache, caches):
    cache.unlink()
    caches.saved("shot.blend", set())
    caches.end()
