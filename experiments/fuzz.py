"""Random and damaged files, names and options against the readers and the command line.

    python -m experiments.fuzz --minutes 30 --seed 0

Every input must end well or with a documented exit code and a message. Anything else is saved
with its input: a traceback, an unexplained exit, a crash of the interpreter, more than
``LIMIT_SECONDS`` of work, an output that is there although the command failed, a file left
beside it, an input that was changed, or JSON that does not parse. Case ``number`` of a seed is
the same every time: ``python -m experiments.fuzz --seed 0 --case 1234`` runs it alone. Counts go to
``experiments/results/fuzz.csv``.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
LIMIT_SECONDS = 60
MEMORY = 6 << 30
WELL = {0: "done", 2: "usage", 3: "input", 4: "column", 5: "data", 6: "output"}

# Names and values that have broken other programs.
ODD_TEXT = (
    "",
    " ",
    "\t",
    "\n",
    "\0",
    "0",
    "-1",
    "99",
    "1e400",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "None",
    "NA",
    "null",
    "true",
    "1,5",
    "1_000",
    "١٢",
    "²",
    "0x1F",
    "1e-320",
    "9" * 40,
    "=1+1",
    "--target",
    "-",
    "../../etc/passwd",
    "a/b",
    "[bold]x[/bold]",
    "[/]",
    "{x}",
    "%s%n",
    "<script>alert(1)</script>",
    '"',
    "'",
    ",",
    ";",
    "é",
    "日本語",
    "\ufeffx",
    "\u202egnp",
    "\ud800",
    "x" * 300,
    "y",
    "target",
    "X",
    "feature_names",
    "index",
    "Unnamed: 0",
    "2024-01-01",
)
# Lone surrogates come in words alone: no table can hold them.
CELLS = tuple(text for text in ODD_TEXT if text != "\ud800")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252")
DTYPES = ("float64", "float32", "int64", "int8", "uint64", "bool", "Int64", "boolean", "category")
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": lambda data: _zipped({"table.csv": data}),
}


class TooSlow(BaseException):
    """Raised in the middle of a case that takes too long; no handler of errors catches it."""


@dataclass(frozen=True)
class Case:
    """One input: the bytes of a file, its name, and the words after ``covmin``."""

    number: int
    data: bytes
    name: str
    fmt: str | None
    words: list[str]
    old_output: bool

    @property
    def kind(self) -> str:
        """What is tried: a reader alone, or a command."""
        return self.words[0] if self.words else "reader"


# Making cases ---------------------------------------------------------------------------------


def make_case(seed: int, number: int) -> Case:
    rng = random.Random(f"{seed}/{number}")
    frame = _frame(rng)
    fmt, data = _encoded(rng, frame)
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2, 8))):
        data = _damaged(rng, data)
    name = _name(rng, fmt)
    kinds = ("reader", "select", "compare", "reproduce", "demo")
    kind = rng.choices(kinds, (45, 40, 9, 5, 1))[0]
    columns = [str(name) for name in frame.columns]
    words = {
        "reader": lambda: [],
        "select": lambda: _select(rng, columns),
        "compare": lambda: _compare(rng, columns),
        "reproduce": lambda: _reproduce(rng),
        "demo": lambda: ["demo", "--report", rng.choice(("{out}/r.html", *ODD_TEXT[:6]))],
    }[kind]()
    told = rng.choice((None, None, None, "csv", "tsv", "parquet", "npz", "mat", "feather"))
    return Case(number, data, name, told, words, rng.random() < 0.3)


def _frame(rng: random.Random) -> pd.DataFrame:
    numbers = np.random.default_rng(rng.getrandbits(32))
    n, d = rng.choice((0, 1, 2, 5, 12, 20, 20, 30, 30)), rng.choice((0, 1, 2, 3, 5, 8))
    columns: dict[Any, Any] = {}
    for j in range(d):
        name = rng.choice(CELLS) if rng.random() < 0.15 else f"x{j}"
        columns[name] = _column(rng, numbers, n)
    if rng.random() < 0.8:
        columns[rng.choice(("y", "target", "group"))] = _response(rng, numbers, n)
    frame = pd.DataFrame(columns)
    if rng.random() < 0.05 and d:
        frame.columns = pd.Index([rng.choice(("a", "b", 3, None)) for _ in frame.columns])
    if rng.random() < 0.05 and n and d and frame.columns.is_unique:
        frame = frame.set_index(frame.columns[0])
    return frame


def _column(rng: random.Random, numbers: np.random.Generator, n: int) -> Any:
    kind = rng.randrange(24)
    values: Any = numbers.standard_normal(n)
    if kind == 0:
        return [rng.choice(CELLS) for _ in range(n)]
    if kind == 1:
        return pd.Series(np.rint(values)).astype(rng.choice(DTYPES), errors="ignore")
    if kind == 2:
        return np.full(n, rng.choice((0.0, 1e300, -1e-300, np.nan, np.inf)))
    if kind == 3:
        return values * 10.0 ** rng.randrange(-320, 308)
    if kind == 4:
        return np.where(numbers.random(n) < 0.2, rng.choice((np.nan, np.inf)), values)
    if kind == 5:
        return pd.date_range("2024-01-01", periods=n)
    return values


def _response(rng: random.Random, numbers: np.random.Generator, n: int) -> Any:
    kind = rng.randrange(6)
    if kind == 0:
        return [rng.choice(CELLS) for _ in range(n)]
    if kind == 1:
        return _column(rng, numbers, n)
    if kind == 2:
        return ["one"] * n
    if kind == 3:
        return numbers.standard_normal(n)
    return [rng.choice(("red", "green", "blue")) for _ in range(n)]


def _encoded(rng: random.Random, frame: pd.DataFrame) -> tuple[str, bytes]:
    """A file of the frame; where a format cannot hold it, a text table."""
    fmt = rng.choice(("csv", "csv", "csv", "tsv", "parquet", "feather", "npz", "mat", "noise"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = _WRITERS[fmt](rng, frame)
    except Exception:  # an odd table that the writer refuses
        fmt, data = "csv", _text(rng, frame, ",")
    if rng.random() < 0.15:
        suffix = rng.choice(tuple(COMPRESSORS))
        fmt, data = fmt + suffix, COMPRESSORS[suffix](data)
    return fmt, data


def _text(rng: random.Random, frame: pd.DataFrame, separator: str) -> bytes:
    options: dict[str, Any] = {
        "index": rng.random() < 0.1,
        "header": rng.random() < 0.9,
        "decimal": rng.choice(".....,"),
        "lineterminator": rng.choice(("\n", "\n", "\r\n", "\r")),
        "quoting": rng.choice((0, 0, 0, 1, 2)),
    }
    text = frame.to_csv(sep=separator, **options)
    encoding = "utf-8" if rng.random() < 0.7 else rng.choice(ENCODINGS)
    return text.encode(encoding, errors=rng.choice(("replace", "ignore")))


def _binary(method: str) -> Callable[[random.Random, pd.DataFrame], bytes]:
    def write(rng: random.Random, frame: pd.DataFrame) -> bytes:
        buffer = io.BytesIO()
        getattr(frame, method)(buffer)
        return buffer.getvalue()

    return write


def _arrays(rng: random.Random, frame: pd.DataFrame) -> dict[str, Any]:
    table = np.random.default_rng(rng.getrandbits(32)).standard_normal((len(frame), 4))
    found: dict[str, Any] = {
        "X": table.astype(rng.choice(("f8", "f4", ">f8", "i4", "c16", "U3", "?"))),
        "y": frame.iloc[:, -1].to_numpy() if frame.shape[1] else table[:, 0],
        "feature_names": np.array([rng.choice(CELLS) or "z" for _ in range(4)]),
        "odd": rng.choice((np.zeros((2, 2, 2)), np.array({}), np.zeros(0), 3.0, "text", [[]])),
        rng.choice(CELLS) or "w": rng.choice((table, table.T, table[:, 0], table[:1])),
    }
    return {name: value for name, value in found.items() if rng.random() < 0.75}


def _npz(rng: random.Random, frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(buffer, **_arrays(rng, frame))
    return buffer.getvalue()


def _mat(rng: random.Random, frame: pd.DataFrame) -> bytes:
    from scipy.io import savemat
    from scipy.sparse import csc_array

    arrays = _arrays(rng, frame)
    if rng.random() < 0.2:
        arrays["X"] = csc_array(np.eye(5))
    if rng.random() < 0.2:
        arrays["cell"] = np.array([{"a": 1}, "text", 3.0, np.eye(2)], dtype=object)
    buffer = io.BytesIO()
    savemat(buffer, arrays, format=rng.choice(("4", "5")), do_compression=rng.random() < 0.5)
    return buffer.getvalue()


def _noise(rng: random.Random, frame: pd.DataFrame) -> bytes:
    start = rng.choice((b"", b"PK\x03\x04", b"PAR1", b"ARROW1", b"MATLAB 5.0", b"\x1f\x8b", b"BZh"))
    if rng.random() < 0.2:
        return _zipped({rng.choice(CELLS): start, "../../b.csv": b"a,b\n1,2\n"})
    if rng.random() < 0.5:
        return start + rng.randbytes(rng.choice((0, 1, 7, 100, 4000)))
    return start + "".join(rng.choices("0123456789.,;\t|\n\r\"'-+eE \0", k=200)).encode()


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.encode("utf-8", "replace").decode() or "empty", data)
    return buffer.getvalue()


_WRITERS: dict[str, Callable[[random.Random, pd.DataFrame], bytes]] = {
    "csv": lambda rng, frame: _text(rng, frame, rng.choice(",,,;\t|")),
    "tsv": lambda rng, frame: _text(rng, frame, "\t"),
    "parquet": _binary("to_parquet"),
    "feather": _binary("to_feather"),
    "npz": _npz,
    "mat": _mat,
    "noise": _noise,
}


def _damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes cut off, doubled, moved, flipped or replaced."""
    at, length = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 8, 64))
    return rng.choice(
        (
            lambda: data[:at],
            lambda: data[:at] + data[at + length :],
            lambda: data[:at] + data[at : at + length] * 3 + data[at + length :],
            lambda: data[:at] + rng.randbytes(length) + data[at + length :],
            lambda: data[:at] + rng.choice(ODD_TEXT).encode("utf-8", "replace") + data[at:],
            lambda: bytes(
                b ^ (1 << rng.randrange(8)) if i == at else b for i, b in enumerate(data)
            ),
            lambda: data + data[:at],
        )
    )()


def _name(rng: random.Random, fmt: str) -> str:
    if rng.random() < 0.8:
        return f"table.{fmt}"
    stem = rng.choice(ODD_TEXT).replace("/", "_").replace("\0", "_")[:80]
    return stem.encode("utf-8", "replace").decode() + rng.choice(
        ("", ".csv", ".CSV", ".zip", ".pkl")
    )


def _word(rng: random.Random, *good: str) -> str:
    return rng.choice(ODD_TEXT) if rng.random() < 0.05 else rng.choice(good)


def _options(rng: random.Random, choices: dict[str, Callable[[], str | None]]) -> list[str]:
    """Some of the options, each with its value (None: a flag)."""
    words: list[str] = []
    for option, value in choices.items():
        if rng.random() < 0.2:
            given = value()
            words += [option] if given is None else [option, given]
    return words


def _shared(rng: random.Random, columns: list[str]) -> list[str]:
    some = columns or ["x0"]
    words = ["--target", _word(rng, "-1", "y", some[-1])] if rng.random() < 0.9 else []
    return words + _options(
        rng,
        {
            "--drop": lambda: _word(rng, *some),
            "--task": lambda: _word(rng, "auto", "classification", "regression"),
            "--missing": lambda: _word(rng, "rows", "columns", "error"),
            "--format": lambda: _word(rng, "csv", "tsv", "parquet", "feather", "npz", "npy"),
            "--decimal": lambda: _word(rng, ".", ","),
            "--seed": lambda: _word(rng, "0", "7", "4294967295", "4294967296", str(2**70)),
            "--no-header": lambda: None,
            "--json": lambda: None,
            "--quiet": lambda: None,
        },
    )


def _select(rng: random.Random, columns: list[str]) -> list[str]:
    some = columns or ["x0"]
    extra: dict[str, Callable[[], str | None]] = {
        "-m": lambda: _word(rng, "1", "2", "0.5", "20%", "auto", "0", "-3", "1e9", "100%"),
        "--given": lambda: _word(rng, *some),
        "--as": lambda: _word(rng, *(f"{name}=category" for name in some)),
        "--epsilon": lambda: _word(rng, "0.1", "1e-9", "1e300", "0.1,1", "auto", "1e-300"),
        "--top": lambda: _word(rng, "1", "5", "1000"),
        "--report": lambda: _word(rng, "{out}/r.html", "{out}/no/r.html", "{out}"),
        "--output": lambda: _output(rng),
    }
    words = ["select", rng.choice(("{data}", "{data}", "{data}", "-"))]
    return [
        *words,
        *_shared(rng, columns),
        *_options(rng, extra),
        "--set",
        "formulation__max_iter=20",
    ]


def _output(rng: random.Random) -> str:
    endings = (".csv", ".tsv", ".parquet", ".feather", ".npz", ".mat", ".csv.gz", ".npz.xz")
    return "{out}/" + _word(rng, *(f"o{ending}" for ending in endings), "o.xlsx").replace("/", "_")


def _compare(rng: random.Random, columns: list[str]) -> list[str]:
    extra: dict[str, Callable[[], str | None]] = {
        "-m": lambda: _word(rng, "1", "1,2", "1,99", "2,1", "1,1"),
        "--cv": lambda: _word(rng, "2", "3", "99"),
        "--protocol": lambda: _word(rng, "nested", "paper"),
        "--jobs": lambda: _word(rng, "1"),
        "--picture": lambda: "{out}/" + _word(rng, "p.svg", "p.gif").replace("/", "_"),
        "--output": lambda: _output(rng),
    }
    methods = _word(rng, "pearson", "anova", "pearson,anova", "pearson,pearson", "ccm")
    words = ["compare", rng.choice(("{data}", "{data}", "-")), "--methods", methods]
    return [*words, *_shared(rng, columns), *_options(rng, extra)]


def _reproduce(rng: random.Random) -> list[str]:
    extra: dict[str, Callable[[], str | None]] = {
        "--repeats": lambda: _word(rng, "1", "0", "-1"),
        "--samples": lambda: _word(rng, "4", "10", "3"),
        "--no-run": lambda: None,
        "--dataset": lambda: _word(rng, "wine", "../wine", "nothing"),
        "--protocol": lambda: _word(rng, "paper", "both"),
    }
    which = _word(rng, "synthetic", "synthetic", "real")
    folder = rng.choice(("{out}/run", "{out}/run", "{out}/old"))
    words = ["reproduce", which, "--quick", "--quiet", "-o", folder]
    # The smallest run there is: the log before it is what is tried.
    small = ["--repeats", "1", "--samples", "6"] if which == "synthetic" else ["--no-run"]
    return [*words, "--only", _word(rng, "pearson"), *small, *_options(rng, extra)]


# Trying them ----------------------------------------------------------------------------------


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlow(f"no answer after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_case(case: Case, folder: Path) -> tuple[str, str | None]:
    """What came of a case, and what was wrong with that."""
    source, out = folder / case.name, folder / "out"
    out.mkdir()
    try:
        source.write_bytes(case.data)
    except (OSError, ValueError):  # no file can have this name
        source = folder / "table"
        source.write_bytes(case.data)
    try:
        with _time_limit(LIMIT_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not case.words:
                outcome, wrong = _read(source, case.fmt)
            else:
                outcome, wrong = _command(case, source, out)
    except TooSlow as error:
        return "too slow", str(error)
    if wrong is None and source.read_bytes() != case.data:
        wrong = "the input was changed"
    return outcome, wrong


def _read(source: Path, fmt: str | None) -> tuple[str, str | None]:
    from covmin.cli.errors import CommandError
    from covmin.cli.files import FileOptions, read_file

    try:
        frame = read_file(FileOptions(str(source), format=fmt)).frame
    except CommandError as error:
        return WELL[int(error.code)], None
    except Exception:
        return "traceback", traceback.format_exc()
    if not all(isinstance(name, str) for name in frame.columns) or frame.columns.has_duplicates:
        return "done", f"bad column names {list(frame.columns)}"
    return "done", None


def _command(case: Case, source: Path, out: Path) -> tuple[str, str | None]:
    from typer.testing import CliRunner

    from covmin.cli.app import app

    words = [word.replace("{data}", str(source)).replace("{out}", str(out)) for word in case.words]
    written = _destinations(words)
    if case.old_output:
        for path in written:
            _write_old(path)
    before = _contents(out)
    result = CliRunner().invoke(app, words, input=case.data)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        error: Any = result.exc_info
        return "traceback", "".join(traceback.format_exception(*error))
    if result.exit_code not in WELL:
        return "undocumented exit", f"exit {result.exit_code}: {result.output[-2000:]}"
    return WELL[result.exit_code], _complaint(case, result, written, before, _contents(out))


def _destinations(words: list[str]) -> list[Path]:
    options = ("--report", "--output", "--picture")
    return [Path(b) for a, b in pairwise(words) if a in options]


def _write_old(path: Path) -> None:
    try:
        path.write_bytes(b"old")
    except (OSError, ValueError):  # nothing can be there
        return


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _complaint(
    case: Case,
    result: Any,
    written: list[Path],
    before: dict[str, bytes],
    after: dict[str, bytes],
) -> str | None:
    if result.exit_code and not result.stderr.strip() and "Usage" not in result.output:
        return "failed without a word"
    if any(name.endswith(".part") for name in after):
        return f"left behind: {sorted(after)}"
    if result.exit_code and case.kind in ("select", "compare") and after != before:
        # Of two files asked for, the first may be whole before the second fails.
        changed = [name for name in after if after[name] != before.get(name)]
        if len(written) < 2 or len(changed) > 1:
            return f"failed, but changed {changed}"
    if result.exit_code == 0 and case.kind in ("select", "compare"):
        asked_for = "--json" in case.words and "--help" not in case.words
        if asked_for and not isinstance(json.loads(result.stdout.splitlines()[-1]), dict):
            return "no JSON"
        if missing := [path for path in written if not path.is_file()]:
            return f"not written: {missing}"
        if old := [path for path in written if path.read_bytes() == b"old"]:
            return f"still the old file: {old}"
    return None


# Running many ---------------------------------------------------------------------------------


def run_cases(seed: int, first: int, deadline: float, report: Path, findings: Path) -> None:
    """Run cases until the deadline; every line of the report is one case."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    number = first
    os.chdir(tempfile.mkdtemp())
    with report.open("a", encoding="utf-8") as lines:
        while time.time() < deadline:
            print(json.dumps({"number": number}), file=lines, flush=True)
            case = make_case(seed, number)
            folder = Path(tempfile.mkdtemp())
            start = time.perf_counter()
            try:
                outcome, wrong = try_case(case, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            line = {"number": number, "kind": case.kind, "outcome": outcome, "wrong": bool(wrong)}
            line["seconds"] = round(time.perf_counter() - start, 3)
            print(json.dumps(line), file=lines, flush=True)
            if wrong:
                save_finding(findings, seed, case, wrong)
            number += 1


def save_finding(findings: Path, seed: int, case: Case, wrong: str) -> None:
    findings.mkdir(parents=True, exist_ok=True)
    stem = findings / f"seed{seed}-case{case.number}"
    stem.with_suffix(".data").write_bytes(case.data)
    text = f"name: {case.name!r}\nformat: {case.fmt}\nwords: {case.words!r}\n\n{wrong}\n"
    stem.with_suffix(".txt").write_text(text, "utf-8", "backslashreplace")


def run(seed: int, minutes: float, findings: Path) -> dict[str, Any]:
    """Run cases in a process of their own, started again where one brings it down."""
    start = time.time()
    deadline = start + 60 * minutes
    crashes = 0
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "cases.jsonl"
        report.touch()
        while time.time() < deadline:
            first = _next_number(report)
            words = ["--seed", str(seed), "--worker", str(first), str(deadline), str(report)]
            command = [sys.executable, "-m", "experiments.fuzz", *words]
            try:
                done = subprocess.run([*command, "--findings", str(findings.absolute())])
            except KeyboardInterrupt:  # what was tried until then counts
                break
            if done.returncode != 0:
                crashes += 1
                case = make_case(seed, _next_number(report) - 1)
                save_finding(findings, seed, case, f"the interpreter ended: {done.returncode}")
        lines = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    tried = [line for line in lines if "kind" in line]
    return _summary(tried, crashes, seed, round((time.time() - start) / 60, 1))


def _next_number(report: Path) -> int:
    lines = report.read_text("utf-8").splitlines()
    return 1 + max((json.loads(line)["number"] for line in lines), default=-1)


def _summary(
    lines: list[dict[str, Any]], crashes: int, seed: int, minutes: float
) -> dict[str, Any]:
    return {
        "seed": seed,
        "minutes": minutes,
        "inputs": len(lines) + crashes,
        "kinds": Counter(line["kind"] for line in lines),
        "outcomes": Counter(line["outcome"] for line in lines),
        "slowest_seconds": max((line["seconds"] for line in lines), default=0.0),
        "crashes": crashes,
        "findings": sum(line["wrong"] for line in lines) + crashes,
    }


def write(summary: dict[str, Any]) -> None:
    """A line for each count; those of kinds and of outcomes have a prefix."""
    counts = {name: value for name, value in summary.items() if not isinstance(value, dict)}
    counts |= {f"kind {name}": count for name, count in summary["kinds"].items()}
    counts |= {f"outcome {name}": count for name, count in summary["outcomes"].items()}
    pd.Series(counts, name="count", dtype=object).rename_axis("what").to_csv(
        RESULTS / "fuzz.csv", lineterminator="\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run one case and say what came of it")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        first, deadline, report = given.worker
        run_cases(given.seed, int(first), float(deadline), Path(report), given.findings)
    elif given.case is not None:
        case = make_case(given.seed, given.case)
        os.chdir(tempfile.mkdtemp())  # a case may write to a name without a folder
        with tempfile.TemporaryDirectory() as folder:
            print(case, *try_case(case, Path(folder)), sep="\n")
    else:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        result = run(given.seed, given.minutes, given.findings)
        print(json.dumps(result, indent=1))
        write(result)
        sys.exit(bool(result["findings"]))


if __name__ == "__main__":
    main()
