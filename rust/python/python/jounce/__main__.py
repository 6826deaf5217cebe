"""Command line, `jounce` or `python -m jounce`: `usd CHARACTER OUT` adds flesh to characters in USD files,
`cache FILE... OUT` exports stored final motions.

Exit codes: 0 done, 1 refused with one sentence and without a written file, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields

from jounce._jounce import __version__
from jounce.usd import Settings, add_flesh
from jounce.usd_cache import write_motions

# Help of each setting; argparse fills in the default.
HELP = {
    "resolution": "cells along the longest side; those for about 12,000 tets if not given",
    "modes": "independent motions of a draft (%(default)s)",
    "frequency": "firmness: swings per second of flesh of the body's size, Hz (%(default)s)",
    "damping": "damping ratio: 0 swings forever, 1 not at all (%(default)s)",
    "gravity": "factor on gravity (%(default)s)",
    "substeps": "steps a frame (%(default)s)",
    "limit": "largest displacement anywhere, as a share of the body's size (%(default)s)",
    "stretch": "largest stretch of the flesh, as a share of its length (%(default)s)",
    "core": "share of the flesh that follows the bones, 0 to 1 (%(default)s)",
}
# Fraction between two printed lines of progress.
PROGRESS_STEP = 0.1


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    shown = Progress().show
    try:
        if options.command == "cache":
            names = write_motions(options.files, options.out, options.over, shown)
        else:
            names = flesh(options, shown)
    except WrongArguments as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{', '.join(names)}: in {options.out}")
    return 0


class WrongArguments(Exception):
    """Contradictory arguments."""


def flesh(options: argparse.Namespace, shown: Callable[[float], None]) -> list[str]:
    """Simulates the characters of a file; returns the prim paths of their meshes."""
    given = {field.name: getattr(options, field.name) for field in fields(Settings)}
    frames = (options.start, options.end)
    if None not in frames and options.end < options.start:
        raise WrongArguments("--end is before --start")
    return add_flesh(options.character, options.out, Settings(**given), frames, shown)


class Progress:
    """Printer of progress."""

    def __init__(self) -> None:
        self._shown = 0.0

    def show(self, fraction: float) -> None:
        """Prints progress at every further step. fraction: completed share, in [0, 1]."""
        if fraction >= self._shown + PROGRESS_STEP:
            self._shown = fraction
            print(f"{fraction:4.0%}", flush=True)


def parser() -> argparse.ArgumentParser:
    """Parser of the commands and their arguments."""
    result = argparse.ArgumentParser(prog="jounce", description="Flesh for characters in files.")
    result.add_argument("--version", action="version", version=f"jounce {__version__}")
    commands = result.add_subparsers(required=True, dest="command", metavar="COMMAND")
    usd = commands.add_parser("usd", help="simulate the characters of a USD file; needs usd-core")
    usd.add_argument("character", help="a .usd, .usda, .usdc or .usdz file with skeletons")
    usd.add_argument("out", help="a .usda or .usdc layer over it, with the shapes of all frames")
    usd.add_argument(
        "--start", type=float, metavar="TIME", help="first time code; the file's own if not given"
    )
    usd.add_argument("--end", type=float, metavar="TIME", help="last time code; the file's own if not given")
    usd.add_argument("--final", action="store_true", help="solve for every vertex of the cage")
    cache = commands.add_parser("cache", help="final motions that were kept in files, as USD; needs usd-core")
    cache.add_argument("files", nargs="+", help=".jcache and .jshard files; those of one body are joined")
    cache.add_argument("out", help="a .usda or .usdc file with the shapes of all frames")
    cache.add_argument(
        "--over", metavar="CHARACTER", help="a USD file whose meshes take the shapes, by their names"
    )
    defaults = Settings()
    for field in fields(Settings):
        value = getattr(defaults, field.name)
        if field.name != "final":
            kind = int if isinstance(value, int) or field.name == "resolution" else float
            usd.add_argument(f"--{field.name}", type=kind, default=value, help=HELP[field.name])
    return result


if __name__ == "__main__":
    sys.exit(main())
