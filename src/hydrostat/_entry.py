"""The first module that the command `hydrostat` imports: it listens to signals before it imports anything slow."""

import contextlib
import os
import sys

from hydrostat import _leaving

_OUTPUT_IS_OPEN = _leaving.open_standard_files()  # before any other file takes the place of one that is closed
_leaving.listen()


def main() -> int:
    """Run the command line; the exit code.

    The process ends without the interpreter's own end, during which threads of compiled code may still run.
    """
    from hydrostat.cli import main as run
    from hydrostat.cli import out_of_print

    try:
        code = run(sys.argv[1:])
    except SystemExit as leaving:  # argparse's --help and --version
        code = leaving.code if isinstance(leaving.code, int) else 0
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        code = out_of_print(error) if code == 0 else code
    if not _OUTPUT_IS_OPEN and code == 0:
        code = out_of_print(OSError("standard output is closed"))
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
