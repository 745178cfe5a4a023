"""The ``countwise`` command: fit, predict, evaluate and inspect from a shell."""

import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; without its optional packages, say how to get them."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401

        from countwise.cli.app import app
    except ModuleNotFoundError as error:
        sys.exit(f"error: the command line needs {error.name}: pip install 'countwise[cli]'")
    except KeyboardInterrupt:  # imports take a second or two
        print("interrupted", file=sys.stderr)
        sys.exit(130)  # as cli.failure has it
    signal.signal(signal.SIGTERM, _terminate)  # so that temporary files are removed then too
    app(prog_name="countwise")


def _terminate(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
