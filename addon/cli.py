"""`blender -b shot.blend --command jounce info|build|bake`: what the buttons do, without a window.

Exit codes: 0 done, 1 refused (one sentence says why, and no file is written), 2 wrong arguments.
"""

import argparse
import sys

import bpy

from .bridge.body import bodies
from .bridge.common import registry
from .core.settings import BakeSettings, Target
from .core.task import Runner, Task
from .core.user_error import UserError
from .ops.bake import bake_body
from .ops.build import build_body

COMMAND = "jounce"
REFUSED = 1

# A line of progress is printed whenever this much more is done.
PROGRESS_STEP = 0.1


def main(arguments: list[str]) -> int:
    """Runs one command on the open file."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        options.run(options)
    except UserError as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return REFUSED
    return 0


def parser() -> argparse.ArgumentParser:
    """The commands and their arguments."""
    result = argparse.ArgumentParser(prog=f"blender -b FILE --command {COMMAND}", description=main.__doc__)
    commands = result.add_subparsers(required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="list the bodies of the file and their state")
    info.set_defaults(run=run_info)
    build = commands.add_parser("build", help="build bodies")
    build.set_defaults(run=run_build)
    bake = commands.add_parser("bake", help="build bodies where needed, and bake their motion")
    bake.set_defaults(run=run_bake)
    bake.add_argument("--start", type=int, metavar="FRAME", help="first frame; the scene's own if not given")
    bake.add_argument("--end", type=int, metavar="FRAME", help="last frame; the scene's own if not given")
    bake.add_argument(
        "--target", choices=[target.value for target in Target], help="the body's own if not given"
    )
    for command in (info, build, bake):
        command.add_argument(
            "--body", action="append", metavar="NAME", help="host object; all bodies if not given"
        )
    for command in (build, bake):
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
        print(f"{host.name}: {len(bodies.members(host))} mesh(es); {built}; {baked}")


def run_build(options: argparse.Namespace) -> None:
    """Builds the chosen bodies and saves."""
    for host in chosen_hosts(options.body):
        run(build_body(host, bpy.context, warn))
    save(options)


def run_bake(options: argparse.Namespace) -> None:
    """Bakes the chosen bodies and saves."""
    for host in chosen_hosts(options.body):
        if not host.jounce.built_digest:
            run(build_body(host, bpy.context, warn))
        run(bake_body(host, bpy.context, bake_settings(host, options), warn))
    save(options)


def bake_settings(host: bpy.types.Object, options: argparse.Namespace) -> BakeSettings:
    """The settings of the host, where the command does not say otherwise."""
    scene = bpy.context.scene
    start = scene.frame_start if options.start is None else options.start
    end = scene.frame_end if options.end is None else options.end
    if end < start:
        raise UserError(f"The bake ends at frame {end}, before it starts at frame {start}.")
    return host.jounce.bake_settings(options.target or host.jounce.target, start, end)


def chosen_hosts(names: list[str] | None) -> list[bpy.types.Object]:
    """The hosts of these names in the scene, all of them without names."""
    found = {obj.name: obj for obj in bpy.context.scene.objects if registry.is_host(obj)}
    if not found:
        raise UserError(f"No object of the scene {bpy.context.scene.name} has Jounce.")
    missing = [name for name in names or () if name not in found]
    if missing:
        raise UserError(f"There is no body {missing[0]}; the bodies are {', '.join(found)}.")
    return [found[name] for name in names] if names else list(found.values())


def run(task: Task) -> None:
    """Drives a task to its end and prints how far it is."""
    runner, shown = Runner(task), 0.0
    while not runner.run(0.0):
        if runner.step.fraction >= shown + PROGRESS_STEP:
            shown = runner.step.fraction
            print(f"{shown:4.0%} {runner.step.stage}", flush=True)
    print(runner.message, flush=True)


def warn(sentence: str) -> None:
    """Prints what the artist should know although the work goes on."""
    print(f"warning: {sentence}", file=sys.stderr, flush=True)


def save(options: argparse.Namespace) -> None:
    """Saves the open file where the command wants it."""
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
