"""The joined motion of shards: every frame from a shard of the same settings, or a refusal naming
the frame.
"""

import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.storage import shards
from jounce_core.storage.final_cache import DraftCache, FinalCache, opened

ORIGIN = {"Damping": "0.1", "Start frame": "1"}


def shard(folder, start, end, first=None, kind=DraftCache, count=None, programs="numpy 2", **origin):
    """A shard's file with some frames; those of the shard's range hold their number."""
    first = start if first is None else first
    frames = range(start, end + 1)
    path = folder / f"body {start}-{end}.jshard"
    part = shards.shard(kind, ORIGIN | origin, frames, first, path, programs)
    for frame in list(range(first, end + 1))[:count]:
        shape = (2, 3, 4) if kind is DraftCache else (5, 3)
        part.append(bytes([frame] * 16), np.full(shape, frame if frame in frames else -1.0))
    return path


def joined(paths, frames, kind=DraftCache, **origin):
    """The joined frames of shards."""
    return remarked(paths, frames, kind, **origin)[0]


def remarked(paths, frames, kind=DraftCache, **origin):
    """The joined frames of shards, and the remark on their programs."""
    return shards.joined(shards.found(kind, paths), ORIGIN | origin, frames, "Body", "numpy 2")


@pytest.mark.parametrize("kind", [DraftCache, FinalCache])
def test_each_frame_comes_from_the_shard_that_stands_for_it(tmp_path, kind):
    paths = [shard(tmp_path, 1, 4, kind=kind), shard(tmp_path, 5, 9, first=2, kind=kind)]
    whole = joined(paths, range(1, 10), kind)
    assert whole.frames == range(1, 10)
    assert [float(frame.flat[0]) for frame in whole.coefficients] == list(range(1, 10))
    assert whole.digests == [bytes([frame] * 16) for frame in range(1, 10)]
    assert whole.origin == ORIGIN


def test_a_part_of_the_frames_may_be_baked(tmp_path):
    paths = [shard(tmp_path, 1, 4), shard(tmp_path, 5, 9)]
    assert joined(paths, range(3, 7)).frames == range(3, 7)


def test_a_shard_that_was_stopped_lacks_frames(tmp_path):
    paths = [shard(tmp_path, 1, 4), shard(tmp_path, 5, 9, first=2, count=5)]
    with pytest.raises(UserError, match="No shard of Body has frame 7; simulate it"):
        joined(paths, range(1, 10))


def test_frames_of_a_lead_stand_for_nothing(tmp_path):
    with pytest.raises(UserError, match="frame 4"):
        joined([shard(tmp_path, 5, 9, first=2)], range(4, 10))


def test_other_settings_are_named_unless_another_shard_has_the_frame(tmp_path):
    stale, fresh = shard(tmp_path, 1, 8, Damping="0.2"), shard(tmp_path, 1, 9)
    assert joined([stale, fresh], range(1, 10)).frames == range(1, 10)
    with pytest.raises(UserError, match=r"frame 1 \(Damping changed since\)"):
        joined([stale], range(1, 9))


def test_other_programs_are_remarked_and_named_in_a_refusal(tmp_path):
    own, theirs = shard(tmp_path, 1, 4), shard(tmp_path, 5, 9, programs="numpy 1")
    assert remarked([own], range(1, 5))[1] == ""
    remark = " (simulated by numpy 1, baked by numpy 2)"
    whole, told = remarked([own, theirs], range(1, 10))
    assert whole.frames == range(1, 10) and told == remark
    stale = shard(tmp_path, 1, 8, programs="numpy 1", Damping="0.2")
    with pytest.raises(UserError) as refused:
        joined([stale], range(1, 9))
    assert f"frame 1 (Damping changed since){remark}; simulate it" in str(refused.value)


def test_files_of_other_kinds_hold_no_shard(tmp_path):
    path = tmp_path / "x.jshard"
    for data in (b"", b"theirs", DraftCache.magic, DraftCache.magic + b"{}\n", DraftCache.magic + b"[1]\n"):
        path.write_bytes(data)
        assert opened(DraftCache, path) is None
    assert opened(FinalCache, shard(tmp_path, 1, 4)) is None
