"""The command line, from the words typed to the exit code."""

from __future__ import annotations

import bz2
import gzip
import html as html_module
import json
import lzma
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.datasets import make_xor

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from covmin.cli.app import app
from covmin.cli.errors import CommandError, ExitCode, nearest
from covmin.cli.main import main
from covmin.cli.problem import make_question, parse_epsilon, parse_size
from covmin.cli.tables import contents, read_buffer, read_table
from covmin.report import error_curve

TRUE = ["x0", "x1", "x2"]


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *words, **options: runner.invoke(app, [str(word) for word in words], **options)


@pytest.fixture(scope="module")
def table():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    frame["group"] = np.array(["red", "green", "blue", "white"])[y]
    return frame


@pytest.fixture
def csv(table, tmp_path):
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False)
    return path


def write_npz(table, path):
    X = table.drop(columns="group")
    np.savez(path, X=X.to_numpy(), y=table["group"].to_numpy(dtype=str), feature_names=list(X))


def write_mat(table, path):
    from scipy.io import savemat

    X = table.drop(columns="group")
    y = table["group"].astype("category").cat.codes
    savemat(path, {"X": X.to_numpy(), "y": y.to_numpy()[:, None]})


WRITERS = {
    "data.csv": lambda t, p: t.to_csv(p, index=False),
    "data.csv.gz": lambda t, p: t.to_csv(p, index=False),
    "data.csv.bz2": lambda t, p: t.to_csv(p, index=False),
    "data.csv.xz": lambda t, p: t.to_csv(p, index=False),
    "data.csv.zip": lambda t, p: t.to_csv(p, index=False),
    "data.tsv": lambda t, p: t.to_csv(p, index=False, sep="\t"),
    "semicolons.csv": lambda t, p: t.to_csv(p, index=False, sep=";"),
    "data.parquet": lambda t, p: t.to_parquet(p),
    "data.feather": lambda t, p: t.to_feather(p),
    "data.npz": write_npz,
    "data.mat": write_mat,
}


@pytest.mark.parametrize("name", WRITERS)
def test_select_reads_every_format(name, table, tmp_path, run):
    path = tmp_path / name
    WRITERS[name](table, path)
    target = "y" if name.endswith((".npz", ".mat")) else "group"
    result = run("select", path, "--target", target, "-m", 3, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert sorted(answer["selected"]) == TRUE
    assert answer["n_selected"] == 3
    assert [row["rank"] for row in answer["ranking"]] == list(range(1, 11))


def test_select_names_pairs_that_interact(csv, run):
    answer = json.loads(run("select", csv, "-t", "group", "-m", 3, "--json").stdout)
    assert {name for pair in answer["interactions"] for name in pair["features"]} == set(TRUE)
    assert all(0 <= pair["p_value"] <= 0.05 < pair["share"] for pair in answer["interactions"])
    shown = " ".join(run("select", csv, "-t", "group", "-m", 3).stdout.split())
    assert "Pairs that say more together: " in shown
    assert "x0 × x1 (p" in shown


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_select_reads_standard_input(compress, csv, run):
    result = run("select", "-", "-t", -1, "-m", 3, "--json", input=compress(csv.read_bytes()))
    assert result.exit_code == 0, result.output
    assert sorted(json.loads(result.stdout)["selected"]) == TRUE


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.parquet", "out.feather"])
def test_output_holds_selected_columns_and_target(name, table, tmp_path, run):
    source = tmp_path / "data.parquet"
    typed = table.astype({"x0": "float32"})
    typed.to_parquet(source)
    result = run("select", source, "-t", "group", "-m", 3, "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    written = read_table(str(tmp_path / name))
    assert list(written) == [*TRUE, "group"]
    if name.endswith(("parquet", "feather")):
        pd.testing.assert_frame_equal(written, typed[[*TRUE, "group"]])


@pytest.mark.parametrize("name", ["out.npz", "out.mat"])
def test_arrays_go_round(name, csv, table, tmp_path, run):
    path = tmp_path / name
    assert run("select", csv, "-t", "group", "-m", 3, "-o", path).exit_code == 0
    written = read_table(str(path))
    assert list(written) == [*TRUE, "y"]
    np.testing.assert_allclose(written[TRUE], table[TRUE])
    assert written["y"].tolist() == table["group"].tolist()


def test_table_shows_ranking_choice_and_curve(csv, run):
    result = run("select", csv, "--target", "group")
    assert result.exit_code == 0, result.output
    assert "60 samples, 10 features, target group (4 classes)" in result.stdout
    assert "Cross-fitted error" in result.stdout
    assert "standard error" in result.stdout
    assert result.stdout.index("x0") < result.stdout.index("x9")


def test_top_and_fraction(csv, run):
    result = run("select", csv, "-t", "group", "-m", "20%", "--top", 4)
    assert "and 6 more" in result.stdout
    assert "2 features, as asked for (0.2 of 10)" in result.stdout


def test_no_header_and_index_target(table, tmp_path, run):
    path = tmp_path / "bare.csv"
    table.to_csv(path, index=False, header=False)
    result = run("select", path, "--no-header", "-t", 10, "-m", 3, "--json")
    assert sorted(json.loads(result.stdout)["selected"]) == ["0", "1", "2"]


def test_classes_stored_in_order_keep_it(tmp_path, run):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    words = ["poor", "fair", "good"]
    grade = np.array(words)[np.digitize(X[:, 0], [-0.5, 0.5])]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(grade=grade)
    frame["grade"] = pd.Categorical(frame["grade"], words, ordered=True)
    path = tmp_path / "grades.parquet"
    frame.to_parquet(path)
    result = run("select", path, "-t", "grade", "--json", "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    fitted = CCMSelector(random_state=0).fit(frame[list("abcd")], frame["grade"])
    assert json.loads(result.stdout)["cross_fitted_error"] == error_curve(fitted)


def test_report_is_written_with_notes_and_command(table, tmp_path, run):
    holes = table.copy()
    holes.loc[3, "x7"] = np.nan
    source, report = tmp_path / "holes.csv", tmp_path / "r.html"
    holes.to_csv(source, index=False)
    words = ("select", source, "-t", "group", "-m", 3, "--missing", "rows", "--drop", "x9")
    result = run(*words, "--report", report)
    assert result.exit_code == 0, result.output
    assert "1 row(s) with missing values left out" in result.stdout
    html = report.read_text("utf-8")
    assert "1 row(s) with missing values left out" in html
    assert "--drop x9 --missing rows" in html


def code_of(report):
    found = re.search(r'<pre id="code"[^>]*>(.*?)</pre>', report.read_text("utf-8"), re.DOTALL)
    return html_module.unescape(re.sub(r"<[^>]+>", "", found[1]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_command_in_a_report_has_every_option_of_the_fit(table, tmp_path, run):
    source, report, again = (tmp_path / name for name in ("data.weird", "r.html", "again.html"))
    table.to_csv(source, index=False)
    words = ("select", source, "-t", "group", "-m", 3, "--format", "csv", "--max-iter", 7)
    assert run(*words, "--report", report).exit_code == 0
    code = code_of(report)
    assert "--format csv" in code
    assert "--max-iter 7" in code
    assert run(*shlex.split(code)[1:], "--report", again).exit_code == 0
    assert code_of(again) == code


def test_the_python_in_a_report_reads_the_table(table, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("semi.csv", index=False, sep=";")
    answer = run("select", "semi.csv", "-t", "group", "-m", 3, "--json", "--report", "r.html")
    scope = {}
    exec(code_of(tmp_path / "r.html"), scope)
    found = scope["selector"].get_feature_names_out()
    assert sorted(found) == sorted(json.loads(answer.stdout)["selected"])


def test_a_row_number_that_tracks_the_response_is_pointed_out(table, tmp_path, run):
    path = tmp_path / "sorted.csv"
    table.sort_values("group").assign(row=range(60)).to_csv(path, index=False)
    result = run("select", path, "-t", "group", "-m", 2)
    assert "Warning: A row number tracks the response: “row” numbers" in result.stdout
    answer = json.loads(run("select", path, "-t", "group", "-m", 2, "--json").stdout)
    assert len(answer["warnings"]) == 1


def test_demo_ends_with_the_path_of_the_report(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "flavanoids" in result.stdout
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert result.stdout.rstrip().endswith("report.html")


def test_compare_prints_table_json_and_picture(csv, tmp_path, run):
    words = ("compare", csv, "-t", "group", "--methods", "ccm,pearson", "-m", "1,3", "--cv", 3)
    picture, scores = tmp_path / "c.png", tmp_path / "scores.csv"
    result = run(*words, "--picture", picture, "--output", scores)
    assert result.exit_code == 0, result.output
    assert "nested protocol" in result.stdout
    assert result.stdout.index("ccm") < result.stdout.index("pearson")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv(scores)) == 12
    answer = json.loads(run(*words, "--json").stdout)
    assert {row["selector"] for row in answer["scores"]} == {"ccm", "pearson"}
    assert answer["protocol"] == "nested"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["{csv}", "-t", "grup"], ExitCode.COLUMN, "Did you mean group?"),
        (["{csv}", "-t", "99"], ExitCode.COLUMN, "from 0 to 10"),
        (["{csv}", "-t", "group", "--drop", "X33"], ExitCode.COLUMN, "Did you mean x3"),
        (["{csv}"], ExitCode.USAGE, "--target"),
        (["{csv}", "-t", "group", "-m", "0"], ExitCode.USAGE, "-m auto"),
        (["{csv}", "-t", "group", "-m", "many"], ExitCode.USAGE, "-m auto"),
        (["{csv}", "-t", "group", "--epsilon", "-1"], ExitCode.USAGE, "positive"),
        (["{csv}", "-t", "group", "--task", "magic"], ExitCode.USAGE, "magic"),
        (["{csv}", "-t", "group", "--drop", "group"], ExitCode.USAGE, "target"),
        (["{csv}", "-t", "x0", "--task", "regression"], ExitCode.DATA, "--drop group"),
        (["{csv}", "-t", "group", "-m", "99"], ExitCode.DATA, "99"),
        (["{dir}/dta.csv"], ExitCode.INPUT, "Did you mean data.csv?"),
        (["{dir}/no/data.csv"], ExitCode.INPUT, "folder"),
        (["{csv}", "-t", "group", "-f", "parquet"], ExitCode.INPUT, "--format"),
        (["{csv}", "-t", "group", "--report", "{dir}/no/r.html"], ExitCode.OUTPUT, "folder"),
        (["{csv}", "-t", "group", "--report", "{dir}"], ExitCode.OUTPUT, "folder"),
        (["{csv}", "-t", "group", "-o", "{dir}/out.xyz"], ExitCode.OUTPUT, ".parquet"),
    ],
)
def test_errors_say_what_to_do(words, code, says, csv, run):
    words = [word.format(csv=csv, dir=csv.parent) for word in words]
    result = run("select", *words)
    assert result.exit_code == code, result.output
    assert says in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_classes_that_differ_in_case_or_spaces_are_noted(tmp_path, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(size=60), "b": rng.uniform(size=60)})
    frame["buys"] = np.where(frame["a"] > 0.5, "yes", "no")
    frame.loc[::10, "buys"] = frame.loc[::10, "buys"].str.title()
    frame.to_csv(tmp_path / "shop.csv", index=False)
    result = run("select", tmp_path / "shop.csv", "-t", "buys", "-m", 1)
    assert "Classes 'Yes' and 'yes' of 'buys' differ only in case" in " ".join(
        result.stdout.split()
    )


def test_compare_takes_categories(tmp_path, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"city": rng.choice(["Bonn", "Rome"], 60), "age": rng.uniform(size=60)})
    frame["buys"] = (frame["city"] == "Rome") ^ (frame["age"] > 0.5)
    frame.to_csv(tmp_path / "shop.csv", index=False)
    words = ("compare", tmp_path / "shop.csv", "-t", "buys", "--methods", "ccm,anova", "--cv", 3)
    refused = run(*words)
    assert refused.exit_code == ExitCode.DATA
    assert "--categorical city" in " ".join(refused.stderr.split())
    answer = json.loads(run(*words, "--categorical", "city", "--json").stdout)
    assert answer["n_features"] == 2
    assert {row["n_features"] for row in answer["scores"]} == {1, 2}


def test_compare_refuses_unknown_methods_sizes_and_pictures(csv, run):
    base = ("compare", csv, "-t", "group")
    for words, code, says in [
        (("--methods", "peerson"), ExitCode.USAGE, "Did you mean pearson"),
        (("--methods", "ccm", "-m", "1,99"), ExitCode.USAGE, "from 1 to 10"),
        (("--picture", "c.gif"), ExitCode.OUTPUT, ".png"),
    ]:
        result = run(*base, *words)
        assert result.exit_code == code, result.output
        assert says in " ".join(result.stderr.split())


def test_missing_values_name_columns_and_remedies(table):
    holes = table.copy()
    holes.loc[[1, 4], "x3"] = np.nan
    holes.loc[4, "x5"] = np.inf
    with pytest.raises(CommandError, match="x3, x5") as caught:
        make_question(holes, "group")
    assert caught.value.code == ExitCode.DATA
    assert "--missing rows" in caught.value.hint
    assert make_question(holes, "group", missing="rows").X.shape == (58, 10)
    assert make_question(holes, "group", missing="columns").X.shape == (60, 8)
    holes.loc[0, "group"] = None
    with pytest.raises(CommandError, match="target 'group' is missing in 1 of 60"):
        make_question(holes, "group")
    assert len(make_question(holes, "group", missing="rows").y) == 57


def test_constant_response_is_unfit_data(table, tmp_path, run):
    path = tmp_path / "flat.csv"
    table.assign(group="red").to_csv(path, index=False)
    result = run("select", path, "-t", "group", "-m", 3)
    assert result.exit_code == ExitCode.DATA
    assert "one class" in result.stderr


@pytest.mark.parametrize("name", ["evil.pkl", "evil.joblib", "evil.npy"])
def test_pickles_are_refused(name, tmp_path, run):
    (tmp_path / name).write_bytes(b"\x80\x04.")
    result = run("select", tmp_path / name, "-t", 0)
    assert result.exit_code == ExitCode.INPUT
    assert "carry code" in result.stderr


def test_object_arrays_are_not_unpickled(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, X=np.ones((3, 2)), y=np.array([{}, [], ()], dtype=object))
    with pytest.raises(CommandError, match="npz") as caught:
        read_table(str(path))
    assert caught.value.code == ExitCode.INPUT


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"\x1f\x8bgarbage", "compressed"),
        (b"PAR1garbage", "parquet"),
        (b"MATLABgarbage", "mat"),
        (b"a,b\n1,2\n1,2,3,4\n", "CSV"),
        (b"a\xff,b\n1,2\n", "not UTF-8"),
    ],
)
def test_bad_bytes_are_input_errors(data, says):
    with pytest.raises(CommandError, match=says) as caught:
        read_buffer(data)
    assert caught.value.code == ExitCode.INPUT


def damaged_mat():
    """A sparse matrix with numbers of a type that does not exist: scipy's reader crashes."""
    import io

    from scipy.io import savemat
    from scipy.sparse import csc_matrix

    buffer = io.BytesIO()
    savemat(buffer, {"X": csc_matrix(np.eye(5)), "y": np.arange(5.0)})
    return buffer.getvalue().replace(b"\x05\0\0\0\x18\0\0\0", b"\0\0\0\0\x18\0\0\0", 1)


def test_a_mat_file_that_crashes_the_reader_is_an_input_error():
    with pytest.raises(CommandError, match=r"mat file.*damaged") as caught:
        read_buffer(damaged_mat())
    assert caught.value.code == ExitCode.INPUT


def test_the_message_says_what_is_in_columns_of_text(tmp_path, run):
    path = tmp_path / "odd.csv"
    path.write_text(
        'day,amount,size,y\n2024-01-31,"1,200,000",1,a\n2024-02-01,30,n/k,b\n2024-02-02,7,3.5,a\n'
    )
    for command in ("select", "compare"):
        result = run(command, path, "-t", "y")
        assert result.exit_code == ExitCode.DATA
        said = " ".join(result.stderr.split())
        assert "day: dates, such as '2024-01-31'" in said
        assert "amount: numbers with commas between thousands, such as '1,200,000'" in said
        assert "size: numbers, but for 'n/k' (row 2)" in said


@pytest.mark.parametrize(
    ("values", "index", "said"),
    [
        (["1", "30"], [0, 1], "numbers stored as text, such as '1'"),
        (["1", "2", "n/k"], [7, 7, 7], "numbers, but for 'n/k' (row 3)"),
        ([None, "1", "2", "n/k"], [0, 1, 2, 3], "numbers, but for 'n/k' (row 4)"),
        ([None, None], [0, 1], "nothing, every cell is empty"),
        (["a", "b", "1"], [0, 0, 1], "text, such as 'a' (3 values)"),
        (["4,282", "921"], [0, 1], "numbers with commas between thousands, such as '4,282'; write"),
        (["26.628,82", "1.000,5"], [0, 1], "numbers with points between thousands"),
        (["88.2%", "3 %"], [0, 1], "percentages, such as '88.2%'"),
        (
            ["?", "1", "2", "3", "4", "-"],
            range(6),
            "numbers, but for '?' (row 1), '-' (row 6); leave cells",
        ),
        (["31.12.2024 10:30", "1.1.2025 9:00"], [0, 1], "dates, such as '31.12.2024 10:30'"),
    ],
)
def test_contents_of_columns_of_text(values, index, said):
    assert contents(pd.Series(values, index=index, dtype=object)).startswith(said)


def test_thousands_are_not_taken_for_decimals(tmp_path, run):
    path = tmp_path / "us.csv"
    path.write_text("amount;x;y\n4,282;1;a\n921;2;b\n1,017;3;a\n")
    result = run("select", path, "-t", "y")
    assert result.exit_code == ExitCode.DATA
    assert "write them without, or use --decimal ," in " ".join(result.stderr.split())


def test_levels_that_hardly_repeat_are_not_offered_as_categories(tmp_path, run):
    path = tmp_path / "table.csv"
    rows = "\n".join(f"s{i},{'uv'[i % 2]},{i},{'ab'[i % 2]}" for i in range(60))
    path.write_text(f"sample,kind,x,y\n{rows}\n")
    said = " ".join(run("select", path, "-t", "y").stderr.split())
    assert "--categorical kind" in said
    assert "--categorical sample" not in said


def test_one_column_is_a_question_of_the_separator(tmp_path, run):
    path = tmp_path / "table.txt"
    path.write_text("a b y\n1 2 0\n2 3 1\n")
    result = run("select", path)
    assert result.exit_code == ExitCode.DATA
    assert "stands between its columns" in " ".join(result.stderr.split())


def test_compare_reads_the_task_as_select_does(tmp_path, run):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(price=(1000 * (x[:, 0] + 5)).astype(int))
    frame.to_csv(tmp_path / "houses.csv", index=False)
    result = run("compare", tmp_path / "houses.csv", "-t", "price", "-m", "1", "--methods", "anova")
    assert result.exit_code == 0, result.stderr
    assert "R²" in result.stdout + result.stderr


def test_a_mat_file_is_read_without_importing_what_lies_beside_it(tmp_path, monkeypatch):
    from scipy.io import savemat

    (tmp_path / "secrets.py").write_text("raise SystemExit(9)")
    savemat(tmp_path / "data.mat", {"X": np.eye(3), "y": np.array(["a", "", "b"], dtype=object)})
    monkeypatch.chdir(tmp_path)
    table = read_table("data.mat")
    assert list(table["y"]) == ["a", "", "b"]


def interrupt(*_, **__):
    raise KeyboardInterrupt


INTERRUPTED = {
    "fit": ("covmin.CCMSelector.fit", ["select", "{csv}", "-t", "group", "-o", "{dir}/out.csv"]),
    "report": ("os.replace", ["select", "{csv}", "-t", "group", "-m", "2", "-r", "{dir}/out.html"]),
    "table": ("os.replace", ["select", "{csv}", "-t", "group", "-m", "2", "-o", "{dir}/out.csv"]),
    "demo": ("covmin.report.write_report", ["demo", "--report", "{dir}/out.html"]),
    "compare": (
        "covmin.evaluation.curves.rank_features",
        ["compare", "{csv}", "-t", "group", "--methods", "pearson", "-o", "{dir}/out.csv"],
    ),
    "picture": (
        "os.replace",
        ["compare", "{csv}", "-t", "group", "--methods", "pearson", "-p", "{dir}/out.png"],
    ),
    "reproduce": (
        "covmin.evaluation.ranks.rank_features",
        ["reproduce", "synthetic", "--quick", "--only", "pearson", "-o", "{dir}/out"],
    ),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_leaves_nothing_half_written(name, csv, run, monkeypatch):
    place, words = INTERRUPTED[name]
    monkeypatch.setattr(place, interrupt)
    before = set(csv.parent.iterdir())
    result = run(*(word.format(csv=csv, dir=csv.parent) for word in words))
    assert result.exit_code == ExitCode.INTERRUPTED, result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Interrupted")
    assert "Traceback" not in result.output
    left = {path.name for path in set(csv.parent.iterdir()) - before}
    assert left == ({"out"} if name == "reproduce" else set())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_control_c_ends_a_running_fit(tmp_path):
    X, y = make_xor(1500, 50, random_state=0, return_X_y=True)
    source, report = tmp_path / "data.csv", tmp_path / "report.html"
    pd.DataFrame(X).assign(y=y).to_csv(source, index=False)
    code = (
        "import signal, sys, covmin.cli.select as s\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "fit = s.fit\n"
        "s.fit = lambda *a, **k: (print('fitting', flush=True), fit(*a, **k))[1]\n"
        "from covmin.cli.main import main\n"
        "main()"
    )
    words = ["select", str(source), "-t", "y", "--report", str(report)]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "fitting\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, errors
    assert errors.strip() == "Interrupted: nothing more was written."
    assert list(tmp_path.iterdir()) == [source]


def test_an_early_interrupt_has_its_code_too(monkeypatch, capsys):
    monkeypatch.setattr("covmin.cli.main._run", interrupt)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "Interrupted: nothing was written.\n"


def test_progress_follows_folds_and_stages(table):
    from covmin import CCMSelector

    class Listener:
        folds, steps = [], 0

        def fold(self, done, total):
            self.folds.append((done, total))

        def __call__(self, step):
            self.steps += 1

    listener = Listener()
    CCMSelector(callback=listener).fit(table.drop(columns="group"), table["group"])
    assert listener.folds == [(k, 5) for k in range(1, 6)]
    assert listener.steps > 0


def test_boolean_columns_and_targets(table, tmp_path, run):
    path = tmp_path / "bool.parquet"
    table.assign(flag=table["x3"] > 0, y=table["x0"] > 0).to_parquet(path)
    result = run("select", path, "--drop", "group", "-m", 2, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["selected"][0] == "x0"


@pytest.mark.parametrize("words", [["--help"], ["select", "-h"], ["compare", "-h"], ["demo", "-h"]])
def test_help_teaches(words, run):
    result = run(*words)
    assert result.exit_code == 0
    assert "covmin demo" in result.stdout or "Examples" in result.stdout
    assert "Exit codes" in result.stdout


def test_reproduce_is_wired(run):
    result = run("reproduce", "--help")
    assert result.exit_code == 0
    assert "synthetic" in result.stdout


def test_version_and_no_arguments(run):
    import covmin

    assert run("--version").stdout.strip() == f"covmin {covmin.__version__}"
    assert "Usage" in run().output


def test_entry_point_without_the_extra_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "covmin.cli.app")
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert 'pip install "covmin[cli]"' in capsys.readouterr().err


def test_entry_point_runs_the_application(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["covmin", "--version"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    assert capsys.readouterr().out.startswith("covmin ")


def test_heavy_parts_are_imported_by_the_commands_that_need_them():
    heavy = {"matplotlib", "jinja2", "covmin.report", "covmin.evaluation"}
    code = f"import sys, covmin.cli.app; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_column_completion(csv):
    from covmin.cli.options import complete_column

    for params, args in (({"data": str(csv)}, []), ({}, [str(csv)])):
        assert complete_column(SimpleNamespace(params=params, args=args), "g") == ["group"]
    assert complete_column(SimpleNamespace(params={"data": "nowhere.csv"}, args=[]), "g") == []


def test_parsers():
    assert parse_size("7") == 7
    assert parse_size("0.5") == 0.5
    assert parse_epsilon("auto") == "auto"
    assert parse_epsilon("0.1,1") == [0.1, 1.0]
    assert nearest("zzz", ["alpha"]) == []


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_the_input_is_never_overwritten(option, table, tmp_path, run):
    source = tmp_path / "data.csv"
    table.to_csv(source, index=False)
    before = source.read_bytes()
    result = run("select", source, "-t", "group", "-m", 2, option, source)
    assert result.exit_code == 6
    assert "would destroy" in result.output
    assert source.read_bytes() == before


def test_decimal_commas_are_noticed_or_asked_for(table, tmp_path, run):
    german, quoted = tmp_path / "german.csv", tmp_path / "quoted.csv"
    table.to_csv(german, index=False, sep=";", decimal=",")
    table.to_csv(quoted, index=False, decimal=",", quoting=1)
    answer = json.loads(run("select", german, "-t", "group", "-m", 3, "--json").stdout)
    assert sorted(answer["selected"]) == TRUE
    assert answer["notes"] == ["Numbers were read with a decimal comma (--decimal ,)."]
    refused = run("select", quoted, "-t", "group", "-m", 3)
    assert refused.exit_code == ExitCode.DATA
    assert "--decimal ," in refused.stderr
    result = run("select", quoted, "-t", "group", "-m", 3, "--decimal", ",", "--json")
    assert sorted(json.loads(result.stdout)["selected"]) == TRUE


def test_points_and_commas_in_one_table_cannot_be_read_by_an_option(table, tmp_path, run):
    path = tmp_path / "both.csv"
    table.assign(price="1,5").to_csv(path, index=False)
    result = run("select", path, "-t", "group")
    assert "price" in result.stderr
    assert "--decimal" not in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-t", "group", "-m", "99"], "-m 99, but the table has 10"),
        (["-t", "x0", "--drop", "group", "--task", "classification"], "target 'x0'"),
        (["-t", "x0", "--drop", "group", "--task", "classification"], "--task regression"),
    ],
)
def test_messages_speak_of_options(words, says, csv, run):
    result = run("select", csv, *words)
    assert result.exit_code == ExitCode.DATA
    text = " ".join(result.stderr.split())
    assert says in text
    assert "task=" not in text
    assert "n_features_to_select" not in text


def test_notes_speak_of_options(csv, run):
    words = ("-t", "group", "--n-features", 3, "--max-iter", 1, "--json")
    notes = json.loads(run("select", csv, *words).stdout)["notes"]
    assert notes == ["A solve stopped after 1 steps, unfinished; allow more with --max-iter."]


def test_the_weights_are_explained_and_one_size_has_no_curve(csv, tmp_path, table, run):
    assert "weight: how much" in run("select", csv, "-t", "group", "-m", 3).stdout
    single = tmp_path / "single.csv"
    table[["x0", "group"]].to_csv(single, index=False)
    shown = run("select", single, "-t", "group").stdout
    assert "1 feature, target" in shown
    assert "path" not in shown
    compared = run("compare", csv, "-t", "group", "--methods", "pearson", "-m", 3).stdout
    assert "…" not in compared


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_files_say_so(content, tmp_path, run):
    path = tmp_path / "empty.csv"
    path.write_text(content)
    result = run("select", path, "-t", "a")
    assert result.exit_code == ExitCode.INPUT
    assert "The input is empty." in result.stderr


def test_files_that_share_only_an_ending_are_not_suggested(csv, run):
    result = run("select", csv.parent / "measurements.csv")
    assert "Did you mean" not in result.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("covmin se", "select"),
        ("covmin select {csv} --tar", "--target"),
        ("covmin select {csv} --target gr", "group"),
        ("covmin compare {csv} --drop x", "x9"),
        ("covmin reproduce sy", "synthetic"),
    ],
)
def test_shell_completion(typed, offered, csv):
    words = typed.format(csv=csv)
    env = {
        **os.environ,
        "_COVMIN_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    command = [sys.executable, "-m", "covmin"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert offered in done.stdout.split(), done.stderr


def test_given_and_categorical_columns(tmp_path, run):
    rng = np.random.default_rng(0)
    district, area = rng.choice(list("abcd"), 120), rng.normal(size=120)
    houses = pd.DataFrame(rng.normal(size=(120, 3)), columns=["p", "q", "r"])
    houses = houses.assign(area=area, district=district)
    houses["price"] = area + 2.0 * (district == "a") + 0.2 * rng.normal(size=120)
    source, output, report = (tmp_path / name for name in ("h.csv", "out.csv", "r.html"))
    houses.to_csv(source, index=False)
    refused = run("select", source, "-t", "price")
    assert "--categorical district" in " ".join(refused.stderr.split())
    words = ("select", source, "-t", "price", "-c", "district", "--given", "area", "-m", 1)
    result = run(*words, "-o", output, "--report", report)
    assert result.exit_code == 0, result.output
    assert "1 feature besides the 1 given" in result.stdout
    assert list(pd.read_csv(output)) == ["area", "district", "price"]
    html = report.read_text("utf-8")
    assert "--categorical district --given area" in html
    assert "holds categories" in html
    ranking = json.loads(run(*words, "--json").stdout)["ranking"]
    assert [(row["rank"], row["feature"]) for row in ranking[:2]] == [(0, "area"), (1, "district")]
    wrong = run(*words, "--drop", "area")
    assert wrong.exit_code == ExitCode.USAGE


def test_categories_with_blanks_are_missing_values(tmp_path, run):
    frame = pd.DataFrame({"x": np.arange(8.0), "kind": [*"aabbab", None, "a"]})
    frame["y"] = frame["x"] * 0.5
    path = tmp_path / "blank.csv"
    frame.to_csv(path, index=False)
    words = ("select", path, "-t", "y", "-c", "kind", "-m", 1, "--task", "regression")
    assert "kind" in run(*words).stderr
    assert run(*words, "--missing", "rows").exit_code == 0


def test_a_folder_of_parquet_files(run, tmp_path):
    """More samples than an exact fit takes, read in batches and written out again."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4200, 5))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    frame["y"] = np.where(X[:, 0] * X[:, 1] > 0, "up", "down")
    folder = tmp_path / "table"
    folder.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(4200), 2)):
        frame.iloc[rows].to_parquet(folder / f"{part}.parquet", index=False)
    output = tmp_path / "selected.csv"
    result = run("select", folder, "--target", "y", "-m", 2, "--json", "--output", output)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert set(answer["selected"]) == {"x0", "x1"}
    assert answer["n_samples"] == 4200
    pd.testing.assert_frame_equal(pd.read_csv(output), frame[["x0", "x1", "y"]])


def test_a_folder_without_parquet_files(run, tmp_path):
    result = run("select", tmp_path, "--target", "y")
    assert result.exit_code == 3
    assert "no *.parquet files" in result.output
