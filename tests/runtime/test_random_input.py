"""Random and damaged files with random options: a command ends well, or with a documented exit."""

import gzip
import io
import json
import random
import traceback
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer", reason="pip install 'covmin[cli]'")
from typer.testing import CliRunner

from covmin.cli.app import app
from covmin.cli.errors import ExitCode

WELL = {int(code) for code in ExitCode} - {int(ExitCode.FAILURE), int(ExitCode.INTERRUPTED)}
# Names and values that have broken other programs.
ODD = ["", " ", "\t", "0", "-1", "1e400", "nan", "inf", "None", "NA", "true", "1,5", "1_000", "²"]
ODD += ["9" * 40, "=1+1", "-", "../../etc/passwd", "[bold]x[/bold]", "[/]", "{x}", "%s%n", '"']
ODD += ["<script>alert(1)</script>", ",", ";", "é", "日本語", "\ufeffx", "x" * 300, "2024-01-01"]
STARTS = [b"", b"PK\x03\x04", b"PAR1", b"ARROW1", b"\x1f\x8b", b"BZh", b"\x89HDF"]


def make_frame(rng):
    numbers = np.random.default_rng(rng.getrandbits(32))
    n, d = rng.choice((0, 1, 2, 5, 20, 30, 30)), rng.choice((0, 1, 2, 3, 5, 8))
    columns = {rng.choice(ODD) if rng.random() < 0.15 else f"x{j}": None for j in range(d)}
    for name in columns:
        values = numbers.standard_normal(n)
        columns[name] = rng.choice(
            [
                *[values] * 6,
                [rng.choice(ODD) for _ in range(n)],
                np.full(n, rng.choice((0.0, 1e300, np.nan, np.inf))),
                values * 10.0 ** rng.randrange(-320, 308),
                np.where(numbers.random(n) < 0.2, np.nan, values),
                pd.date_range("2024-01-01", periods=n),
            ]
        )
    labels = [rng.choice(("red", "green", "blue")) for _ in range(n)]
    columns["y"] = rng.choice((labels, labels, numbers.standard_normal(n), ["one"] * n))
    return pd.DataFrame(columns)


def encoded(rng, frame):
    """A file of the frame; where a format cannot hold it, a text table."""
    text = frame.to_csv(index=False, sep=rng.choice(",,,;\t|")).encode("utf-8", "replace")
    kind = rng.choice(("csv", "csv", "csv", "parquet", "noise"))
    buffer = io.BytesIO()
    try:
        if kind == "parquet":
            frame.to_parquet(buffer)
    except Exception:  # an odd table that the writer refuses
        kind = "csv"
    data = buffer.getvalue() if kind == "parquet" else text
    if kind == "noise":
        data = rng.choice(STARTS) + rng.randbytes(rng.choice((0, 1, 100, 4000)))
    if rng.random() < 0.1:
        return f"{kind}.gz", gzip.compress(data)
    if rng.random() < 0.1:
        with zipfile.ZipFile(buffer := io.BytesIO(), "w") as archive:
            archive.writestr(rng.choice(("table.csv", "../../b.csv")), data)
        return "zip", buffer.getvalue()
    return kind, data


def damaged(rng, data):
    """Bytes cut off, doubled, replaced or put in."""
    at, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 8, 64))
    middle = (b"", data[at : at + length] * 3, rng.randbytes(length), rng.choice(ODD).encode())
    return rng.choice((data[:at], data[:at] + rng.choice(middle) + data[at + length :]))


def word(rng, *good):
    return rng.choice(ODD) if rng.random() < 0.05 else rng.choice(good)


def command(rng, frame, out):
    some = [str(name) for name in frame.columns]
    words = [rng.choice(("select", "select", "select", "compare")), "{data}"]
    words += ["--target", word(rng, "y", "y", some[-1])]
    extra = {
        "--drop": lambda: word(rng, *some),
        "--task": lambda: word(rng, "auto", "classification", "regression"),
        "--seed": lambda: word(rng, "0", "7", "4294967296"),
        "--json": None,
        "--quiet": None,
    }
    if words[0] == "select":
        extra["-m"] = lambda: word(rng, "1", "2", "0.5", "auto", "0", "-3", "1e9")
        names = ("o.csv", "o.parquet", "o.gif")
        extra["--output"] = lambda: str(out / word(rng, *names).replace("/", "_"))
        extra["--report"] = lambda: str(out / word(rng, "r.html", "no/r.html").replace("..", "_"))
    else:
        extra |= {"-m": lambda: word(rng, "1", "1,2", "1,99"), "--cv": lambda: word(rng, "2", "99")}
        words += ["--methods", word(rng, "pearson", "anova", "ccm")]
    for option, value in extra.items():
        if rng.random() < 0.2:
            words += [option] if value is None else [option, value()]
    return words


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(60))
def test_random_input_ends_well(number, tmp_path, monkeypatch):
    rng = random.Random(f"8/{number}")
    frame = make_frame(rng)
    kind, data = encoded(rng, frame)
    for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 8))):
        data = damaged(rng, data)
    source, out = tmp_path / f"table.{kind}", tmp_path / "out"
    source.write_bytes(data)
    out.mkdir()
    monkeypatch.chdir(out)
    words = [text.format(data=source) if text == "{data}" else text
             for text in command(rng, frame, out)]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        pytest.fail(f"{words}\n{''.join(traceback.format_exception(*result.exc_info))}")
    assert result.exit_code in WELL, (words, result.output[-2000:])
    assert source.read_bytes() == data
    after = contents(out)
    assert not [path for path in after if path.suffix == ".part"]
    if result.exit_code:
        assert result.stderr.strip() or "Usage" in result.output, words
        # Of two files asked for, the first may be whole before the second fails.
        assert len(after) <= int({"--output", "--report"} <= set(words)), (words, list(after))
    elif "--json" in words:
        assert isinstance(json.loads(result.stdout.splitlines()[-1]), dict)
