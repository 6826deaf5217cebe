"""The list of commands: complete."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_command_is_listed():
    program = (ROOT / "rust/xtask/src/main.rs").read_text(encoding="utf-8")
    usage = program.partition('const USAGE: &str = "')[2].partition('";')[0]
    commands = set(re.findall(r"^  ([a-z][a-z-]+)", usage, re.M))
    pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    blocks = "".join(re.findall(r"```sh\n(.*?)```", pages, re.S))
    assert len(commands) > 20
    assert commands == set(re.findall(r"cargo x ([a-z-]+)", blocks))
