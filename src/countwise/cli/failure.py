"""What a user sees when something goes wrong: one line, a hint where there is one, and an exit code."""

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from countwise.errors import DataError

DATA_ERROR, INTERRUPTED = 1, 130

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def failure(message: str, hint: str) -> DataError:
    """An error with a hint."""
    error = DataError(message)
    error.add_note(hint)
    return error


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn exceptions of a command into ``error:`` and ``hint:`` lines on stderr and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader, `head` for one, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception as error:
            if kwargs.get("debug"):
                traceback.print_exc()
            for line in explain(error):
                typer.echo(line, err=True)
            raise typer.Exit(DATA_ERROR) from None

    return run


def explain(error: Exception) -> list[str]:
    """The lines that tell of an error; notes of an exception are its hints.

    >>> explain(failure("column 'age': all values are missing", "leave it out"))
    ["error: column 'age': all values are missing", 'hint: leave it out']
    >>> explain(FileNotFoundError(2, "No such file or directory", "train.csv"))
    ['error: train.csv: No such file or directory']
    """
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, DataError):
        text = str(error)
    else:
        text = str(error) or type(error).__name__
    return [f"error: {text}", *(f"hint: {note}" for note in getattr(error, "__notes__", ()))]
