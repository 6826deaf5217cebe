"""End of a script's process: Blender's own exit handlers can hang or crash, after an error too."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[], int | None]) -> NoReturn:
    """Runs a script and ends the process with its exit code: 1 after an error, 0 if it returns none."""
    code = 1
    try:
        code = main() or 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
