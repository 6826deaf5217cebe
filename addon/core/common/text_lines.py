"""Breaks a text into lines of a width."""

from collections.abc import Callable, Iterator

Measure = Callable[[str], float]


def lines(text: str, width: float, measure: Measure) -> Iterator[str]:
    """The lines of a text, filled up to a width. measure: width of a drawn text.

    Words wider than a line are broken too, since names of files and objects may have any length.
    """
    line = ""
    for word in text.split():
        if line and measure(f"{line} {word}") <= width:
            line = f"{line} {word}"
            continue
        if line:
            yield line
        line = word
        while measure(line) > width and len(line) > 1:
            fits = max((n for n in range(1, len(line)) if measure(line[:n]) <= width), default=1)
            yield line[:fits]
            line = line[fits:]
    yield line
