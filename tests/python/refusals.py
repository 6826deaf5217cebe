"""Helpers of tests with bad input: required refusals, and numbers that spoil an array."""

import re

import numpy as np
import pytest

NOT_FINITE = "every number must be finite"


def refused(kind, sentence, call, *arguments, **settings):
    """Asserts that the call raises exactly this kind of error, in one line with the sentence."""
    with pytest.raises(kind, match=re.escape(sentence)) as caught:
        call(*arguments, **settings)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def mistyped(argument, call, *arguments, **settings):
    """Asserts a TypeError of the call, with the argument in the sentence or the note."""
    with pytest.raises(TypeError) as caught:
        call(*arguments, **settings)
    assert f"'{argument}'" in " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def poisoned(array, value=np.nan):
    """A copy with one bad number in the middle."""
    copy = array.copy()
    copy.reshape(-1)[copy.size // 2] = value
    return copy
