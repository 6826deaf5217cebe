"""`blender -b FILE --command jounce ARGUMENTS` by Blender's Python module: headless.py FILE ARGUMENTS."""

import os
import sys
import traceback
from contextlib import suppress


def main() -> int:
    """The exit code of the command."""
    import bpy
    import extension

    package = extension.enable_once()
    bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
    return sys.modules[f"{package.__name__}.cli"].main(sys.argv[2:])


if __name__ == "__main__":
    code = 3
    try:
        code = main()
    except BaseException:
        # Nobody reads the streams any more after the caller was killed.
        with suppress(OSError):
            traceback.print_exc()
    # A stream closed from the beginning is None.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            stream.flush()
    # Some versions of Blender hang or crash during shutdown.
    os._exit(code)
