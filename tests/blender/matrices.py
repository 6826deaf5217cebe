"""Tests of every combination of several choices: a default run has each choice once."""

import itertools

import pytest


def crossed(*choices):
    """Parameters of all combinations. Those beyond the first ones to have every choice are long runs."""
    choices = [list(values) for values in choices]
    longest = max(map(len, choices))
    first = {tuple(number % len(values) for values in choices) for number in range(longest)}
    return [
        pytest.param(
            *(values[number] for values, number in zip(choices, at, strict=True)),
            marks=[] if at in first else pytest.mark.long,
        )
        for at in itertools.product(*(range(len(values)) for values in choices))
    ]
