"""TEMPORARY: the editable install still maps to this file. Delete it and install again (``make install``)."""

from pathlib import Path

__path__ = [str(Path(__file__).with_suffix(""))]
exec(Path(__path__[0], "__init__.py").read_text(encoding="utf-8"))
