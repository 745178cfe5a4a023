"""Pictures as files, and as SVG for HTML pages: equal numbers give equal bytes under one version of matplotlib."""

import hashlib
import io
import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from countwise.errors import DataError
from countwise.plots.style import need_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI: Final = 200
# Letters are drawn as paths: the picture is the same where a font is not installed, and labels that were placed so
# as not to touch do not touch there either. The price is that text in an SVG cannot be searched.
SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "countwise",  # ids are drawn from it; without it they are random
    "pdf.fonttype": 42,  # TrueType: journals refuse Type 3
    "savefig.bbox": None,  # a user's "tight" would change the size that was asked for
    "savefig.facecolor": "auto",
    "savefig.transparent": False,
}
METADATA: Final[dict[str, dict[str, None]]] = {
    ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}


def save(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG (200 dpi), SVG or PDF, by the ending of the path, at the figure's own size.

    Letters of an SVG are paths. No dates or versions are written.

    >>> import tempfile
    >>> from countwise.plots import ScatterDisplay
    >>> figure = ScatterDisplay([0.2, 0.3], [0.1, 0.3], "m-estimate", "HDP").figure()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure, f"{folder}/scatter.svg")
    ...     Path(folder, "scatter.svg").read_text()[:5]
    '<?xml'
    """
    ending = Path(path).suffix.lower()
    if ending not in METADATA:
        raise DataError(f"{os.fspath(path)}: the ending {ending!r} is not known; use {', '.join(METADATA)}")
    Path(path).write_bytes(_bytes(figure, ending))


def svg_text(figure: "Figure", *, label: str | None = None, prefix: str | None = None) -> str:
    """A figure as one ``<svg>`` element, to be put into an HTML page.

    Every id starts with ``prefix``, which comes from the picture's content unless given: several pictures on one
    page do not get into each other's way (give prefixes if one picture is there twice). Rules for ``*`` that would
    leak into the page are gone. The picture shrinks with the page. ``label`` is what screen readers say.

    >>> from countwise.plots import ScatterDisplay
    >>> figure = ScatterDisplay([0.2, 0.3], [0.1, 0.3], "m-estimate", "HDP").figure()
    >>> svg_text(figure, label="RMSE of two models", prefix="a")[:47]
    '<svg role="img" aria-label="RMSE of two models"'
    """
    text = _bytes(figure, ".svg").decode()
    prefix = "p" + hashlib.sha256(text.encode()).hexdigest()[:10] if prefix is None else prefix
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<style type=\"text/css\">.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*|<defs>\s*</defs>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-")
    spoken = ' role="img"' + (f' aria-label="{escape(label)}"' if label else "")
    style = ' style="max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt"'
    return "<svg" + spoken + style + text[len("<svg") :]


def _bytes(figure: "Figure", ending: str) -> bytes:
    need_matplotlib()
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context(SETTINGS):
        dpi = PNG_DPI if ending == ".png" else "figure"
        figure.savefig(buffer, format=ending[1:], dpi=dpi, metadata=METADATA[ending])
    return buffer.getvalue()
