"""Interrupted, killed and resumed fits."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from covmin import CCMSelector
from covmin.datasets import make_shell
from covmin.runtime.threads import row_threads


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A process started in the background ignores it from the start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def wide():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


class After:
    """A callback that does something at the n-th step."""

    def __init__(self, n, action):
        self.left, self.action = n, action

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            self.action()


class Folds(After):
    """The same at the n-th fold."""

    def __call__(self, progress):
        pass

    def fold(self, done, total):
        super().__call__(done)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def same_answer(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.weights_, other.weights_)
    assert one.objective_ == other.objective_
    assert one.epsilon_ == other.epsilon_


class TestInterrupt:
    def test_by_default_it_ends_the_fit_and_changes_nothing(self, wide):
        selector = CCMSelector(5, callback=After(8, press_ctrl_c))
        with pytest.raises(KeyboardInterrupt):
            selector.fit(*wide)
        assert not hasattr(selector, "support_")
        fitted = CCMSelector(5).fit(*wide)
        before = dict(vars(fitted))
        fitted.set_params(callback=After(8, press_ctrl_c))
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(*wide)
        for name in ("ranking_", "weights_"):
            assert vars(fitted)[name] is before[name]

    @pytest.mark.parametrize("step", [1, 8, 30])
    def test_kept(self, wide, step):
        X, y = wide
        selector = CCMSelector(5, interrupt="keep", callback=After(step, press_ctrl_c))
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            selector.fit(X, y)
        assert selector.transform(X).shape == (60, 5)
        assert sorted(selector.ranking_) == list(range(1, 201))
        whole = CCMSelector(5).fit(X, y)
        assert len(selector.history_.objective) < len(whole.history_.objective)
        # What was done before is as it would have been.
        n = step - 1
        assert_array_equal(selector.history_.objective[:n], whole.history_.objective[:n])

    def test_kept_among_folds(self, wide):
        selector = CCMSelector(interrupt="keep", callback=Folds(2, press_ctrl_c))
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            selector.fit(*wide)
        assert selector.callback.left == 0
        assert selector.support_.any()
        with pytest.raises(KeyboardInterrupt, match="before there was anything"):
            CCMSelector(interrupt="keep", callback=Folds(1, press_ctrl_c)).fit(*wide)

    def test_a_second_one_ends_it_at_once(self, wide):
        def twice():
            press_ctrl_c()
            press_ctrl_c()

        with pytest.raises(KeyboardInterrupt):
            CCMSelector(5, interrupt="keep", callback=After(3, twice)).fit(*wide)

    def test_the_handler_is_put_back(self, wide):
        before = signal.getsignal(signal.SIGINT)
        CCMSelector(5, interrupt="keep").fit(*wide)
        assert signal.getsignal(signal.SIGINT) is before

    def test_in_another_thread_nothing_is_noticed(self, wide):
        results = []
        worker = threading.Thread(
            target=lambda: results.append(CCMSelector(5, interrupt="keep").fit(*wide))
        )
        worker.start()
        worker.join()
        same_answer(results[0], CCMSelector(5).fit(*wide))


def ctrl_c_at_the_third_stage(progress):
    if progress.stage == 2:
        press_ctrl_c()


class TestCheckpoint:
    @pytest.mark.parametrize("m", [5, "auto"])
    @pytest.mark.parametrize("step", [3, 20, 45])
    def test_a_fit_goes_on_where_it_was_ended(self, wide, tmp_path, m, step):
        path = tmp_path / "fit.jsonl"
        parameters = {"checkpoint": path, "checkpoint_after": 0.0}
        selector = CCMSelector(m, **parameters, callback=After(step, press_ctrl_c))
        with pytest.raises(KeyboardInterrupt):
            selector.fit(*wide)
        folds = Folds(-1, None)
        resumed = CCMSelector(m, **parameters, callback=folds).fit(*wide)
        whole = CCMSelector(m).fit(*wide)
        same_answer(resumed, whole)
        if m == "auto":
            assert_array_equal(resumed.cross_fit_.mean_error, whole.cross_fit_.mean_error)
            assert folds.left == -1  # no fold again
        if step > 3:
            assert len(resumed.history_.objective) < len(whole.history_.objective)
        assert not path.exists()

    def test_short_fits_write_nothing(self, wide, tmp_path):
        path = tmp_path / "fit.jsonl"
        seen = []
        selector = CCMSelector(
            5, checkpoint=str(path), callback=lambda _: seen.append(path.exists())
        )
        selector.fit(*wide)
        assert not any(seen)

    def test_a_file_of_another_fit_is_refused_and_left(self, wide, tmp_path):
        X, y = wide
        path = tmp_path / "fit.jsonl"
        parameters = {"checkpoint": path, "checkpoint_after": 0.0}
        selector = CCMSelector(5, **parameters, callback=After(20, press_ctrl_c))
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, y)
        before = path.read_bytes()
        for other, data in (
            (CCMSelector(4, **parameters), X),
            (CCMSelector(5, **parameters), X + X**2),
        ):
            with pytest.raises(ValueError, match="other settings"):
                other.fit(data, y)
            assert path.read_bytes() == before

    def test_a_file_of_another_version_is_refused(self, wide, tmp_path, monkeypatch):
        """Its stages may have been solved by other defaults."""
        parameters = {"checkpoint": tmp_path / "fit.jsonl", "checkpoint_after": 0.0}
        with pytest.raises(KeyboardInterrupt):
            CCMSelector(5, **parameters, callback=After(20, press_ctrl_c)).fit(*wide)
        monkeypatch.setattr("covmin.selection.checkpoint.__version__", "9.9")
        with pytest.raises(ValueError, match=r"covmin: there '.*', now '9\.9'"):
            CCMSelector(5, **parameters).fit(*wide)

    @pytest.mark.parametrize("approximation", [None, "fourier"])
    def test_a_column_in_other_units_is_noticed(self, wide, tmp_path, approximation):
        X, y = wide
        selector = CCMSelector(
            5,
            standardize=False,
            approximation=approximation,
            tol=0.01,
            checkpoint=tmp_path / "fit.jsonl",
            checkpoint_after=0.0,
        )
        with pytest.raises(KeyboardInterrupt):
            clone(selector).set_params(callback=ctrl_c_at_the_third_stage).fit(X, y)
        with pytest.raises(ValueError, match="other settings"):
            clone(selector).fit(X * np.where(np.arange(200) == 4, 30.0, 1.0), y)
        resumed, whole = clone(selector).fit(X, y), clone(selector).fit(X, y)
        same_answer(resumed, whole)
        assert len(resumed.history_.objective) < len(whole.history_.objective)

    def test_long_parameters_are_told_apart(self, wide, tmp_path):
        X, y = np.tile(wide[0], 6), wide[1]
        parameters = {"checkpoint": tmp_path / "fit.jsonl", "checkpoint_after": 0.0}
        groups = np.arange(1200) // 2
        with pytest.raises(KeyboardInterrupt):
            CCMSelector(5, groups=groups, **parameters, callback=After(20, press_ctrl_c)).fit(X, y)
        others = groups.copy()
        others[[600, 602]] = others[[602, 600]]
        assert repr(others) == repr(groups)
        for different in (others, {"a": np.arange(600), "b": np.arange(600, 1200)}):
            with pytest.raises(ValueError, match="other settings"):
                CCMSelector(5, groups=different, **parameters).fit(X, y)
        CCMSelector(5, groups=groups.tolist(), **parameters).fit(X, y)

    def test_a_generator_is_refused(self, wide, tmp_path):
        generator = np.random.RandomState(0)
        selector = CCMSelector(5, checkpoint=tmp_path / "fit.jsonl", random_state=generator)
        with pytest.raises(ValueError, match="pass an integer as random_state"):
            selector.fit(*wide)

    def test_something_else_in_its_place(self, wide, tmp_path):
        path = tmp_path / "notes.txt"
        for text in ("do not lose me\n", "do not lose me", '{"my": "json"}'):
            path.write_text(text)
            with pytest.raises(ValueError, match="not a file of covmin's results"):
                CCMSelector(5, checkpoint=path).fit(*wide)
            assert path.read_text() == text

    def test_killed_fits_go_on(self, tmp_path):
        """Killed at random moments until one ends; the answer is that of one fit."""
        script = tmp_path / "fit.py"
        script.write_text(
            textwrap.dedent(
                f"""
                import numpy as np
                from covmin import CCMSelector
                from covmin.datasets import make_shell
                X, y = make_shell(150, n_noise=60, random_state=0, return_X_y=True)
                print("ready", flush=True)
                selector = CCMSelector(
                    checkpoint={str(tmp_path / "fit.jsonl")!r}, checkpoint_after=0.0
                ).fit(X, y)
                print(*selector.ranking_, flush=True)
                """
            )
        )
        moments = random.Random(0)
        for _ in range(4):
            with subprocess.Popen(
                [sys.executable, str(script)], stdout=subprocess.PIPE, text=True
            ) as process:
                process.stdout.readline()
                time.sleep(moments.uniform(0.0, 0.6))
                process.kill()
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=True
        )
        X, y = make_shell(150, n_noise=60, random_state=0, return_X_y=True)
        expected = CCMSelector().fit(X, y).ranking_
        assert_array_equal(np.array(done.stdout.split()[1:], dtype=int), expected)


def test_fits_at_once_in_threads(wide):
    X, y = wide
    expected = [CCMSelector(5, kernel=k).fit(X, y) for k in ("mixed", "gaussian", "laplacian")]
    selectors = [clone(selector) for selector in expected for _ in range(3)]
    threads = [threading.Thread(target=s.fit, args=(X, y)) for s in selectors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, selector in enumerate(selectors):
        same_answer(selector, expected[number // 3])


def test_fits_that_overlap_leave_blas_as_it_was(wide):
    second_is_in, first_is_out = threading.Event(), threading.Event()

    def wait_for_the_first(progress):
        second_is_in.set()
        assert first_is_out.wait(60)

    second = threading.Thread(target=CCMSelector(5, callback=wait_for_the_first).fit, args=wide)

    def let_the_second_in(progress):
        if not second_is_in.is_set():
            second.start()
            assert second_is_in.wait(60)
        assert row_threads() == 1

    # Not as a context, within which threadpoolctl lets no other thread set anything.
    limits = threadpool_limits(2, user_api="blas")
    try:
        CCMSelector(5, callback=let_the_second_in).fit(*wide)
        first_is_out.set()
        second.join()
        assert row_threads() == 2
    finally:
        limits.restore_original_limits()
