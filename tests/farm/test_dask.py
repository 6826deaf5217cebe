"""A folder of shots on a Dask cluster: after any failure, every shot is baked, and no frame
simulated twice.
"""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import cloudpickle
import psutil
import pytest
from distributed import Client, LocalCluster

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "farm"
sys.path.insert(0, str(EXAMPLE))

import bake_shots  # noqa: E402

FRAMES, PART = 48, 24
# The second part starts a lead before its frames, at the start of the shot.
SIMULATED = PART + FRAMES
# Workers import neither this file nor the example.
for module in (bake_shots, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(module)


class Journal(bake_shots.Farm):
    """A farm that records the number of simulated frames of each part."""

    def simulate(self, shot, part):
        said = super().simulate(shot, part)
        with (self.shards / "journal").open("a") as journal:
            journal.write(f"{shot.stem}|{part[1]}|{said.rsplit(', ', 1)[1].split()[0]}\n")
        return said


def simulated(out):
    """Reported numbers of simulated frames, by shot."""
    told = {}
    for line in (out / "shards" / "journal").read_text().splitlines():
        shot, _, count = line.split("|")
        told[shot] = told.get(shot, 0) + int(count)
    return told


def baked(blender, path):
    """Jounce's report on a baked file."""
    done = subprocess.run(
        [*blender, str(path), "info", "--json"], stdout=subprocess.PIPE, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines[-1]["message"]


def is_simulating(worker):
    """True if a worker has started a simulating Blender."""
    for child in psutil.Process(worker).children(recursive=True):
        # The process may have ended meanwhile.
        with suppress(psutil.Error):
            if "simulate" in child.cmdline():
                return True
    return False


def kill(worker, with_its_blender):
    """Ends a worker at once like a lost machine, or alone, with its child processes still running."""
    process = psutil.Process(worker)
    children = process.children(recursive=True)
    process.kill()
    for child in children if with_its_blender else ():
        child.kill()


@pytest.mark.posix
@pytest.mark.parametrize("with_its_blender", [False, True])
def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_done_twice(
    blender, shots, tmp_path, with_its_blender
):
    out = tmp_path / "baked"
    farm = Journal(blender, out / "shards", PART)
    farm.shards.mkdir(parents=True)
    files = sorted(shots.glob("*.blend"))
    killed = []

    def strike(cluster):
        """As soon as a shard is being written, kills whoever does."""
        while not killed:
            for worker in cluster.workers.values():
                if is_simulating(worker.pid) and any(farm.shards.glob("*.jshard")):
                    kill(worker.pid, with_its_blender)
                    killed.append(worker.pid)
                    return
            time.sleep(0.01)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        striker = threading.Thread(target=strike, args=[cluster])
        striker.start()
        assert bake_shots.run(client, farm, files, out) == 0
        striker.join()
    assert len(killed) == 1
    assert sorted(path.name for path in out.glob("*.blend")) == [path.name for path in files]
    for shot, count in simulated(out).items():
        # The killed worker's frames are in the file, but were not reported.
        assert count <= SIMULATED, shot
    assert sum(simulated(out).values()) >= (len(files) - 1) * SIMULATED
    for path in files:
        assert f"{FRAMES} shape keys" in baked(blender, out / path.name)
    assert not list(farm.shards.glob("*.lock"))


def test_a_run_bakes_what_is_missing_and_says_why_it_cannot(blender, shots, tmp_path):
    own, out = tmp_path / "shots", tmp_path / "baked"
    own.mkdir()
    (own / "good.blend").write_bytes((shots / "shot 0.blend").read_bytes())
    (own / "broken.blend").write_bytes(b"no blend")
    command = [sys.executable, EXAMPLE / "bake_shots.py", own, "--out", out, "--workers", "1"]
    command += ["--blender", " ".join(blender)]
    first = subprocess.run(command, capture_output=True, text=True)
    assert first.returncode == 1
    assert "2 shots, 2 to bake" in first.stdout and "good.blend: Column" in first.stdout
    assert "error: broken.blend" in first.stderr
    (own / "broken.blend").unlink()
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0 and "1 shots, 0 to bake" in again.stdout
