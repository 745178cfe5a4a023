"""Who sees which bar."""

import io
import threading

import pytest

from countwise import progress
from countwise.progress import TextProgress, progress_bar, use_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Recorder:
    def __init__(self):
        self.events = []

    def start(self, label, total):
        self.events.append((label, total))

    def advance(self, n=1):
        self.events.append(n)

    def stop(self):
        self.events.append("stop")


def test_silent_by_default(capsys):
    with progress_bar("work", 2) as bar:
        bar.advance()
    assert capsys.readouterr() == ("", "")


def test_only_the_outermost_bar_is_shown_and_the_reporter_comes_back():
    recorder = Recorder()
    with use_progress(recorder):
        with progress_bar("outer", 2) as bar:
            with progress_bar("inner", 9) as inner:
                inner.advance(9)
            bar.advance()
        with progress_bar("next") as bar:
            bar.advance(3)
    with progress_bar("outside", 1) as bar:
        bar.advance()
    assert recorder.events == [("outer", 2), 1, "stop", ("next", None), 3, "stop"]


def test_an_error_ends_the_bar():
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError), use_progress(recorder), progress_bar("work", 1):
        raise ZeroDivisionError
    assert recorder.events[-1] == "stop"


def test_true_is_text_on_stderr_false_is_silence_none_is_no_change(capsys):
    with use_progress(True), progress_bar("loud", 1) as bar:
        bar.advance()
    assert "loud [" in capsys.readouterr().err
    with use_progress(True), use_progress(False), progress_bar("quiet", 1):
        pass
    assert capsys.readouterr().err == ""
    with use_progress(True), use_progress(None), progress_bar("still loud", 1):
        pass
    assert "still loud" in capsys.readouterr().err


def test_terminals_are_redrawn_in_place(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = Terminal()
    with use_progress(TextProgress(stream)), progress_bar("fit", 4) as bar:
        for _ in range(4):
            now[0] += 10.0
            bar.advance()
        now[0] += 0.01
    lines = stream.getvalue().replace("\x1b[K", "").split("\r")
    assert lines[1] == "fit [######..................]  25% 1/4 0:00:10, 0:00:30 left"
    assert lines[-1] == "fit [########################] 100% 4/4 0:00:40\n"


def test_log_files_get_a_line_now_and_then(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with use_progress(TextProgress(stream)), progress_bar("fit", 100) as bar:
        for _ in range(100):
            now[0] += 0.25
            bar.advance()
    lines = stream.getvalue().splitlines()
    assert [line.split("]")[1].split()[0] for line in lines] == ["40%", "80%", "100%"]
    assert "\r" not in stream.getvalue()


def test_steps_from_many_threads_all_count():
    stream = io.StringIO()
    with use_progress(TextProgress(stream)), progress_bar("fit", 4000) as bar:
        threads = [threading.Thread(target=lambda: [bar.advance() for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert "100% 4000/4000" in stream.getvalue()
