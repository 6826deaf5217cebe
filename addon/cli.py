"""`blender -b shot.blend --command jounce info|apply|build|simulate|bake`: the buttons without a window.

Exit codes: 0 done, 1 refused (one sentence gives the reason, and no file is written), 2 wrong arguments.
Shards are the exception: their completed frames stay, and the next `simulate` continues there.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import bpy

from .bridge.body import bodies, settings_files, wholeness
from .bridge.common import registry
from .core.common.task import Runner, Task
from .core.common.user_error import UserError
from .core.flesh.settings import BakeSettings, Target
from .core.storage import settings_file
from .ops.bake import bake_body
from .ops.build import build_body
from .ops.settings_files import applied
from .ops.simulate import simulate_shard

COMMAND = "jounce"
REFUSED = 1

# A line of progress is printed whenever this much more is done.
PROGRESS_STEP = 0.1
# Simulated frames before a shard's own frames, for convergence to the whole motion.
LEAD = 96


class Reporter:
    """Reports progress, in text for people or as one JSON object per line for programs."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def progress(self, fraction: float, stage: str) -> None:
        """Completed share, in [0, 1]."""
        if self._as_json:
            self._line("progress", fraction=round(fraction, 4), stage=stage)
        else:
            print(f"{fraction:4.0%} {stage}", flush=True)

    def done(self, sentence: str, **values: object) -> None:
        """Reports the result. values: the same for programs."""
        if self._as_json:
            self._line("done", message=sentence, **values)
        else:
            print(sentence, flush=True)

    def warn(self, sentence: str) -> None:
        """Reports a warning for the artist; the work continues."""
        if self._as_json:
            self._line("warning", message=sentence)
        else:
            print(f"warning: {sentence}", file=sys.stderr, flush=True)

    def refuse(self, sentence: str) -> None:
        """Why nothing was done."""
        if self._as_json:
            self._line("error", message=sentence)
        print(f"error: {sentence}", file=sys.stderr, flush=True)

    def _line(self, event: str, **values: object) -> None:
        print(json.dumps({"event": event} | values), flush=True)


def main(arguments: list[str]) -> int:
    """Runs one command on the open file."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    options.reporter = Reporter(options.json)
    try:
        options.run(options)
    except UserError as refusal:
        options.reporter.refuse(str(refusal))
        return REFUSED
    return 0


def parser() -> argparse.ArgumentParser:
    """The commands and their arguments."""
    result = argparse.ArgumentParser(prog=f"blender -b FILE --command {COMMAND}", description=main.__doc__)
    commands = result.add_subparsers(required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="list the bodies of the file and their state")
    info.set_defaults(run=run_info)
    apply = commands.add_parser("apply", help="give the character of the file saved settings, and build it")
    apply.set_defaults(run=run_apply)
    apply.add_argument("settings", metavar="SETTINGS", help="file from Save Settings; it names the meshes")
    build = commands.add_parser("build", help="build bodies")
    build.set_defaults(run=run_build)
    bake = commands.add_parser("bake", help="build bodies where needed, and bake their motion")
    bake.set_defaults(run=run_bake)
    simulate = commands.add_parser("simulate", help="simulate some frames of bodies, for a bake elsewhere")
    simulate.set_defaults(run=run_simulate, target=None)
    simulate.add_argument(
        "--lead", type=int, default=LEAD, metavar="FRAMES", help="simulated before the first (%(default)s)"
    )
    for command in (simulate, bake):
        command.add_argument(
            "--start", type=int, metavar="FRAME", help="first frame; the scene's own if not given"
        )
        command.add_argument(
            "--end", type=int, metavar="FRAME", help="last frame; the scene's own if not given"
        )
        command.add_argument(
            "--incomplete", action="store_true", help="go on without missing scripts, libraries and files"
        )
    simulate.add_argument("--shards", metavar="FOLDER", required=True, help="folder of the simulated motion")
    bake.add_argument("--shards", metavar="FOLDER", help="take the motion from there, and simulate nothing")
    bake.add_argument(
        "--target", choices=[target.value for target in Target], help="the body's own if not given"
    )
    for command in (info, apply, build, simulate, bake):
        command.add_argument("--json", action="store_true", help="say all as a JSON object a line")
    for command in (info, build, simulate, bake):
        command.add_argument(
            "--body", action="append", metavar="NAME", help="host object; all bodies if not given"
        )
    for command in (apply, build, bake):
        kept = command.add_mutually_exclusive_group(required=True)
        kept.add_argument("--save", action="store_true", help="save the file itself")
        kept.add_argument("--output", metavar="FILE", help="save as another file")
    return result


def run_info(options: argparse.Namespace) -> None:
    """Prints a line for each body."""
    for host in chosen_hosts(options.body):
        state = host.jounce
        built = state.built_summary or "not built"
        baked = f"{state.bake_parts}, error {state.bake_error:.3%}" if state.bake_parts else "not baked"
        count, scene = len(bodies.members(host)), bpy.context.scene
        options.reporter.done(
            f"{host.name}: {count} mesh(es); {built}; {baked}",
            body=host.name,
            frames=[scene.frame_start, scene.frame_end],
        )


def run_apply(options: argparse.Namespace) -> None:
    """Applies a file of settings to the named meshes, builds the body and saves."""
    file = settings_file.read(Path(options.settings))
    meshes, lacking = settings_files.meshes_of(file, bpy.context.scene)
    if lacking:
        raise UserError(f"The scene has no mesh {lacking[0]}, which {options.settings} names; rename one so.")
    run(applied(meshes, file, bpy.context, options.reporter.warn), options.reporter)
    save(options)


def run_build(options: argparse.Namespace) -> None:
    """Builds the chosen bodies and saves."""
    reporter = options.reporter
    for host in chosen_hosts(options.body):
        run(build_body(host, bpy.context, reporter.warn), reporter)
    save(options)


def run_simulate(options: argparse.Namespace) -> None:
    """Simulates frames of the chosen bodies; the open file stays unchanged."""
    reporter = options.reporter
    if options.lead < 0:
        raise UserError(f"--lead {options.lead}: no motion has fewer than no frames before it.")
    for host in whole_hosts(options):
        settings = bake_settings(host, options)
        build_where_needed(host, reporter)
        run(simulate_shard(host, bpy.context, settings, options.lead, reporter.warn), reporter)


def run_bake(options: argparse.Namespace) -> None:
    """Bakes the chosen bodies and saves."""
    reporter = options.reporter
    for host in whole_hosts(options):
        build_where_needed(host, reporter)
        run(bake_body(host, bpy.context, bake_settings(host, options), reporter.warn), reporter)
    save(options)


def build_where_needed(host: bpy.types.Object, reporter: Reporter) -> None:
    """Builds a body that was never built."""
    if not host.jounce.built_digest:
        run(build_body(host, bpy.context, reporter.warn), reporter)


def bake_settings(host: bpy.types.Object, options: argparse.Namespace) -> BakeSettings:
    """The settings of the host, overridden by the command's options."""
    scene = bpy.context.scene
    start = scene.frame_start if options.start is None else options.start
    end = scene.frame_end if options.end is None else options.end
    if end < start:
        raise UserError(f"The bake ends at frame {end}, before it starts at frame {start}.")
    target = options.target or host.jounce.target
    shards = "" if options.shards is None else str(Path(options.shards).absolute())
    return replace(host.jounce.bake_settings(target, start, end), shards=shards)


def chosen_hosts(names: list[str] | None) -> list[bpy.types.Object]:
    """The hosts of these names in the scene, all hosts without names."""
    found = {obj.name: obj for obj in bpy.context.scene.objects if registry.is_host(obj)}
    if not found:
        raise UserError(f"No object of the scene {bpy.context.scene.name} has Jounce.")
    missing = [name for name in names or () if name not in found]
    if missing:
        raise UserError(f"There is no body {missing[0]}; the bodies are {', '.join(found)}.")
    return [found[name] for name in names] if names else list(found.values())


def whole_hosts(options: argparse.Namespace) -> list[bpy.types.Object]:
    """The chosen hosts; refuses missing dependencies unless the command allows them."""
    hosts = chosen_hosts(options.body)
    if not options.incomplete:
        wholeness.refuse(hosts, bpy.context, ", or go on without it by --incomplete")
    return hosts


def run(task: Task, reporter: Reporter) -> None:
    """Runs a task to its end and reports progress."""
    runner, shown = Runner(task), 0.0
    while not runner.run(0.0):
        if runner.step.fraction >= shown + PROGRESS_STEP:
            shown = runner.step.fraction
            reporter.progress(shown, runner.step.stage)
    reporter.done(runner.message)


def save(options: argparse.Namespace) -> None:
    """Saves the open file if the command asks for this."""
    path = options.output or bpy.data.filepath
    if not path:
        raise UserError("The open file was never saved, so --save has no place for it; give --output.")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=bpy.path.abspath(path), copy=bool(options.output))
    except RuntimeError as error:
        raise UserError(f"{path} cannot be written: {str(error).strip()}") from error


_registered: list[object] = []


def register() -> None:
    """Makes the command known to Blender."""
    _registered.append(bpy.utils.register_cli_command(COMMAND, main))


def unregister() -> None:
    """Undoes `register`."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
