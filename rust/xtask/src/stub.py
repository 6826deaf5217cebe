"""Docstrings of the compiled module in its stub: stub.py STUB [--check].

Each class, function, method and property of the stub gets the docstring that the compiled module has, so that
editors and the reference show it. With --check nothing is written, and a stub that differs is refused.
"""

import ast
import inspect
import sys
import textwrap
from pathlib import Path

import jounce._jounce as module

Definition = ast.ClassDef | ast.FunctionDef


def main(path: Path, is_check: bool) -> None:
    """Writes or checks the stub."""
    stub = path.read_text(encoding="utf-8")
    if not is_check:
        path.write_text(documented(stub), encoding="utf-8")
        return
    wanted = docstrings(ast.parse(stub).body, module)
    wrong = [node.name for node, docstring in wanted if (ast.get_docstring(node) or "") != docstring]
    if wrong:
        raise SystemExit(f"{path}: docstrings of {', '.join(wrong)} are not the module's; run cargo x stubs")


def documented(stub: str) -> str:
    """The stub with the docstrings of the compiled module."""
    lines = stub.splitlines()
    # From the end on, to keep earlier line numbers.
    for node, docstring in reversed(list(docstrings(ast.parse(stub).body, module))):
        replace(lines, node, docstring)
    return "\n".join(lines) + "\n"


def docstrings(nodes: list[ast.stmt], owner: object) -> list[tuple[Definition, str]]:
    """Definitions with their docstrings, in order; special methods have none."""
    found: list[tuple[Definition, str]] = []
    for node in nodes:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("__"):
            continue
        is_setter = any(isinstance(it, ast.Attribute) and it.attr == "setter" for it in node.decorator_list)
        thing = vars(owner)[node.name]
        if not is_setter:
            thing = getattr(thing, "__func__", thing)
            found.append((node, inspect.cleandoc(thing.__doc__ or "")))
        if isinstance(node, ast.ClassDef):
            found += docstrings(node.body, thing)
    return found


def replace(lines: list[str], node: Definition, docstring: str) -> None:
    """Puts a docstring in place of an earlier one, or of the dots of an empty body."""
    first, indent = node.body[0], " " * (node.col_offset + 4)
    text = docstring.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    whole = textwrap.indent(f'"""{text}\n"""' if "\n" in text else f'"""{text}"""', indent).splitlines()
    start = min([first.lineno, *(it.lineno for it in getattr(first, "decorator_list", []))]) - 1
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if is_docstring and first.value.value is not ...:
        lines[first.lineno - 1 : first.end_lineno] = whole
    elif is_docstring and lines[first.lineno - 1].strip() != "...":
        head = lines[first.lineno - 1]
        lines[first.lineno - 1 : first.end_lineno] = [head[: first.col_offset].rstrip(), *whole]
    elif is_docstring:
        lines[first.lineno - 1 : first.end_lineno] = whole
    else:
        lines[start:start] = whole


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--check" in sys.argv)
