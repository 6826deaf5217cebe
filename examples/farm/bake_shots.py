"""Bakes a folder of shots on a Dask cluster, each body and range of frames on any free worker.

    python bake_shots.py SHOTS --out BAKED [--workers 4 | --scheduler tcp://HOST:8786] [--frames N]
                         [--blender "blender -b"]

Requires `pip install distributed`, and Blender with Jounce on every machine, with the same shared folders. A
shot in BAKED that is newer than its source is skipped, and complete shards are not simulated again, so an
interrupted run continues. Exits with 1, and the reasons, if a shot could not be baked.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from distributed import Client, Future, LocalCluster


@dataclass(frozen=True)
class Farm:
    """Settings of every machine.

    blender: its command, up to the file. shards: folder of the simulation shards. frames: length of a shard,
    0 for a whole shot.
    """

    blender: tuple[str, ...]
    shards: Path
    frames: int

    def jounce(self, shot: Path, *arguments: str) -> list[dict]:
        """Runs a command of Jounce on a shot; returns its output. Raises RuntimeError if it fails."""
        command = [*self.blender, str(shot), *command_words(self.blender), *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"event"')]
        if done.returncode != 0:
            reasons = [line["message"] for line in said if line["event"] == "error"]
            reason = reasons[-1] if reasons else done.stderr.strip()[-500:]
            raise RuntimeError(f"{shot.name}: {reason or f'ended with {done.returncode}'}")
        return said

    def parts(self, shot: Path) -> list[tuple[str, int, int]]:
        """Parts of a shot for independent simulation: bodies, with first and last frames."""
        parts = []
        for body in (line for line in self.jounce(shot, "info") if line["event"] == "done"):
            first, last = body["frames"]
            count = self.frames or last - first + 1
            for start in range(first, last + 1, count):
                parts.append((body["body"], start, min(start + count - 1, last)))
        return parts

    def simulate(self, shot: Path, part: tuple[str, int, int]) -> str:
        """Simulates a part; returns its description."""
        body, start, end = part
        frames = ["--start", str(start), "--end", str(end)]
        said = self.jounce(shot, "simulate", "--shards", str(self.shards), "--body", body, *frames)
        return said[-1]["message"]

    def bake(self, shot: Path, output: Path, simulated: list[str]) -> str:
        """Bakes a shot from its shards, and replaces the old file. `simulated` only orders the tasks."""
        part = output.with_name(f"{output.stem}.{os.getpid()}.part.blend")
        try:
            said = self.jounce(shot, "bake", "--shards", str(self.shards), "--output", str(part))
            os.replace(part, output)
        finally:
            part.unlink(missing_ok=True)
        return said[-1]["message"]


def command_words(blender: tuple[str, ...]) -> list[str]:
    """Words between a file and the command; a script in place of Blender has them built in."""
    return [] if any(word.endswith(".py") for word in blender) else ["--command", "jounce"]


def main() -> int:
    """Bakes all missing shots; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shots", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", help="address of a cluster; one on this machine if not given")
    parser.add_argument("--frames", type=int, default=0, help="of a shard; all of a shot if not given")
    parser.add_argument("--blender", default="blender -b")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    out = options.out.absolute()
    farm = Farm(tuple(shlex.split(options.blender)), out / "shards", options.frames)
    shots = sorted(options.shots.absolute().glob("*.blend"))
    missing = [shot for shot in shots if not is_newer(out / shot.name, shot)]
    print(f"{len(shots)} shots, {len(missing)} to bake", flush=True)
    with connected(options) as client:
        return run(client, farm, missing, out)


@contextmanager
def connected(options: argparse.Namespace) -> Iterator[Client]:
    """The cluster. Workers run one task at a time, because Jounce uses all processors. A cluster on this
    machine is closed after its client, before Python ends; otherwise its workers may complain.
    """
    if options.scheduler:
        with Client(options.scheduler) as client:
            yield client
        return
    own = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with own, Client(own) as client:
        yield client


def run(client: Client, farm: Farm, shots: list[Path], out: Path) -> int:
    """Submits all work, and reports the results."""
    with ThreadPoolExecutor() as pool:
        submitted = list(pool.map(partial(submit, client, farm, out), shots))
    failed = 0
    for shot, baked in zip(shots, submitted, strict=True):
        try:
            print(f"{shot.name}: {baked.result()}", flush=True)
        except Exception as error:
            failed += 1
            print(f"error: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def submit(client: Client, farm: Farm, out: Path, shot: Path) -> Future:
    """Submits the bake of a shot after its parts. If a worker dies, another takes over the task."""
    try:
        parts = client.submit(farm.parts, shot, pure=False).result()
    except RuntimeError as error:
        return client.submit(refuse, str(error), pure=False)
    simulated = [client.submit(farm.simulate, shot, part, pure=False, key=name(shot, part)) for part in parts]
    return client.submit(farm.bake, shot, out / shot.name, simulated, pure=False)


def name(shot: Path, part: tuple[str, int, int]) -> str:
    """Name of a part's simulation in the cluster."""
    return f"{shot.stem} {' '.join(map(str, part))}"


def refuse(reason: str) -> None:
    """Raises the error of an impossible bake."""
    raise RuntimeError(reason)


def is_newer(output: Path, source: Path) -> bool:
    """True if a shot was baked after it was saved."""
    return output.exists() and output.stat().st_mtime >= source.stat().st_mtime


if __name__ == "__main__":
    sys.exit(main())
