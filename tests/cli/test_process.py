"""What only a real process shows: pipes, signals, exit codes."""

import signal
import subprocess
import sys

import pytest

SLOW_PREDICTION = """
import time, countwise
load = countwise.load
def slow(path):
    model = load(path)
    predict = model.predict_proba
    def wait(X):
        print("predicting", flush=True)
        time.sleep(30)
        return predict(X)
    model.predict_proba = wait
    return model
countwise.load = slow
"""
SLOW_SCAN = """
import time, countwise
def scan(*args, **kwargs):
    print("scanning", flush=True)
    time.sleep(30)
countwise.scan = scan
"""


def finish(process, data=None):
    out, err = process.communicate(data, timeout=60)
    return process.returncode, out.decode(), err.decode()


def test_stdin_to_model_to_stdout(shell, folder):
    train, new = (folder / "train.csv").read_bytes(), (folder / "new.csv").read_bytes()
    code, out, err = finish(shell("fit", "-", "--target", "label", "--model", "nb", "--out", "p.cw"), train)
    assert (code, out) == (0, "")
    assert "standard input" in err
    code, out, err = finish(shell("predict", "p.cw", "-", "--id", "row"), new)
    assert code == 0
    assert out.splitlines()[0] == "row,prediction,p_no,p_yes"
    assert len(out.splitlines()) == 101


def test_empty_stdin(shell):
    code, _, err = finish(shell("fit", "-", "--target", "label", "--out", "p.cw"), b"")
    assert code == 1
    assert err.splitlines() == [
        "error: standard input is empty",
        "hint: pipe a CSV table with a header line into it",
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    ("args", "slow"),
    [
        (["predict", "m.cw", "new.csv", "--out", "p.parquet"], SLOW_PREDICTION),
        (["fit", "train.csv", "--target", "label", "--out", "n.cw"], SLOW_SCAN),
    ],
    ids=["predict", "fit"],
)
def test_signals_leave_nothing_behind(shell, model, folder, args, slow, number, code):
    before = sorted(folder.iterdir())
    process = shell(*args, code=slow)
    process.stdout.readline()  # it is in the middle of its work now
    process.send_signal(number)
    returned, _, err = finish(process)
    assert returned == code
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


def test_a_reader_that_stops_early_is_no_error(shell, model, folder):
    header = (folder / "new.csv").read_text().splitlines(keepends=True)
    (folder / "long.csv").write_text(header[0] + "".join(header[1:]) * 500)
    process = shell("predict", "m.cw", "long.csv", "--batch-size", "100", stdin=subprocess.DEVNULL)
    assert process.stdout.readline() == b"prediction,p_no,p_yes\n"
    process.stdout.close()
    err = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_usage_errors(shell):
    code, out, err = finish(shell("fit", "train.csv"))
    assert (code, out) == (2, "")
    assert "Missing option" in err


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "inspect"])
def test_help_has_examples(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"countwise {command} " in result.stdout.split("Examples:")[1]


def test_version(shell):
    code, out, _ = finish(shell("--version"))
    assert code == 0
    assert out.startswith("countwise ")


@pytest.mark.parametrize("absent", ["typer", "rich"])
def test_without_the_optional_packages_one_line_says_what_to_do(absent, folder):
    source = f"import sys; sys.modules[{absent!r}] = None\nfrom countwise.cli import main; main()"
    paths = ":".join(sys.path)
    process = subprocess.run(
        [sys.executable, "-c", source, "fit"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": paths},
    )
    assert process.returncode == 1
    assert process.stderr == f"error: the command line needs {absent}: pip install 'countwise[cli]'\n"
