"""Texts in lines of a width."""

import pytest
from jounce_core.common.text_lines import lines

SENTENCE = "Nothing of Dress is pinned where its bones hold it; paint what is held."


@pytest.mark.parametrize("width", [1, 5, 12, 30, 200])
def test_all_of_a_text_is_there_in_lines_that_fit(width):
    broken = list(lines(SENTENCE, width, len))
    assert all(len(line) <= width for line in broken)
    assert "".join(broken).replace(" ", "") == SENTENCE.replace(" ", "")


def test_words_stay_whole_where_they_fit():
    assert list(lines("of a body", 6, len)) == ["of a", "body"]
    assert list(lines("a Column.001.002", 8, len)) == ["a", "Column.0", "01.002"]
    assert list(lines("", 6, len)) == [""]
