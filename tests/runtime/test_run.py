"""Fits that last: interrupted, killed, resumed, several at once, failed without a trace."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from covmin import CCMSelector, Formulation, LongRun

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 60))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A process started in the background ignores it from the start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def whole():
    """Fits that nobody disturbs, by the number of features asked for."""
    return {m: CCMSelector(m).fit(X, y) for m in (5, "auto")}


class At:
    """A callback that does something at the n-th step."""

    def __init__(self, n, action):
        self.left, self.action = n, action

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            self.action()


class AtFold(At):
    """The same at the n-th fold; steps are counted."""

    n_steps = 0

    def __call__(self, progress):
        self.n_steps += 1

    def fold(self, done, total):
        super().__call__(done)


def threads_of_blas():
    return max(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def n_steps(selector):
    return selector.history_.objective.size


def assert_same(one, other):
    for name, steps in one.history_.items():
        assert_array_equal(steps, other.history_[name])
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.weights_, other.weights_)
    assert one.objective_ == other.objective_
    assert one.epsilon_ == other.epsilon_


class TestParameters:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"checkpoint": 3}, "checkpoint must be a path"),
            ({"seconds": 0.0}, "seconds must be a number > 0"),
            ({"seconds": "ten"}, "seconds must be a number > 0"),
            ({"interrupt": "stop"}, 'interrupt must be "raise" or "keep"'),
            ({"callback": 3}, "callback must be callable"),
        ],
    )
    def test_what_cannot_be_done_is_refused(self, options, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(5, long_run=LongRun(**options)).fit(X, y)

    def test_they_are_parameters_of_the_selector(self):
        selector = CCMSelector(5, long_run=LongRun())
        selector.set_params(long_run__interrupt="keep")
        assert clone(selector).get_params()["long_run__interrupt"] == "keep"


class TestFailure:
    """Nothing is written to a selector before its fit has ended well."""

    OTHER = pd.DataFrame(X[:, :10], columns=[f"c{j}" for j in range(10)])

    @pytest.fixture
    def fitted(self):
        return CCMSelector(5).fit(X[:, :20], y)

    def refit_fails(self, fitted, kind, data, **changes):
        fitted.set_params(**changes)
        before = dict(vars(fitted))
        with pytest.raises(kind):
            fitted.fit(*data)
        assert vars(fitted).keys() == before.keys()
        assert all(vars(fitted)[name] is before[name] for name in before)

    @pytest.mark.parametrize("where", ["first", "last"])
    @pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
    def test_at_a_step(self, fitted, where, kind):
        def fail():
            if kind is KeyboardInterrupt:
                press_ctrl_c()
            raise kind

        step = 1 if where == "first" else n_steps(clone(fitted).fit(self.OTHER, y))
        long_run = LongRun(callback=At(step, fail))
        self.refit_fails(fitted, kind, (self.OTHER, y), long_run=long_run)

    def test_among_the_folds(self, fitted):
        long_run = LongRun(callback=AtFold(2, press_ctrl_c))
        changes = {"n_features_to_select": "auto", "long_run": long_run}
        self.refit_fails(fitted, KeyboardInterrupt, (self.OTHER, y), **changes)

    def test_among_folds_at_once(self, fitted, recwarn):
        def fail():
            raise RuntimeError

        changes = {"n_jobs": 2, "n_features_to_select": "auto"}
        long_run = LongRun(callback=AtFold(1, fail))
        before = set(threading.enumerate())
        self.refit_fails(fitted, RuntimeError, (self.OTHER, y), long_run=long_run, **changes)
        # A fold that still runs would put back the filters of warnings when it ends.
        for thread in set(threading.enumerate()) - before:
            thread.join(timeout=10)
        gc.collect()  # joblib used to complain of the other folds here
        assert not recwarn.list

    def test_on_data_that_are_refused(self, fitted):
        gaps = self.OTHER.mask(self.OTHER > 1.0)
        self.refit_fails(fitted, ValueError, (gaps, y), column_types="strict")
        self.refit_fails(fitted, ValueError, (self.OTHER, np.zeros(50)))
        self.refit_fails(fitted, ValueError, (self.OTHER.iloc[:, :3], y))  # five are asked for

    def test_by_a_warning_that_is_an_error(self, fitted):
        changes = {"formulation": Formulation(max_iter=1, tol=1e-12)}
        self.refit_fails(fitted, ConvergenceWarning, (self.OTHER, y), **changes)

    def test_when_the_checkpoint_cannot_be_removed(self, fitted, tmp_path):
        path = tmp_path / "fit.jsonl"

        def put_a_folder_in_its_place():
            path.mkdir()

        long_run = LongRun(checkpoint=path, callback=At(2, put_a_folder_in_its_place))
        self.refit_fails(fitted, OSError, (self.OTHER, y), long_run=long_run)


class TestInterrupt:
    @pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
    def test_kept(self, whole, share):
        step = 1 + int(share * n_steps(whole[5]))
        long_run = LongRun(interrupt="keep", callback=At(step, press_ctrl_c))
        selector = CCMSelector(5, long_run=long_run)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            selector.fit(X, y)
        assert selector.transform(X).shape == (50, 5)
        assert sorted(selector.ranking_) == list(range(1, 61))
        assert n_steps(selector) < n_steps(whole[5])
        # What was done before is as it would have been.
        before = slice(step - 1)
        assert_array_equal(selector.history_.objective[before], whole[5].history_.objective[before])

    def test_kept_among_folds(self):
        long_run = LongRun(interrupt="keep", callback=AtFold(2, press_ctrl_c))
        selector = CCMSelector(long_run=long_run)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            selector.fit(X, y)
        assert long_run.callback.left == 0
        assert selector.support_.any()
        long_run.callback = AtFold(1, press_ctrl_c)
        with pytest.raises(KeyboardInterrupt, match="before there was a result"):
            selector.fit(X, y)

    def test_a_second_one_ends_it_at_once(self):
        def twice():
            press_ctrl_c()
            press_ctrl_c()

        long_run = LongRun(interrupt="keep", callback=At(3, twice))
        with pytest.raises(KeyboardInterrupt):
            CCMSelector(5, long_run=long_run).fit(X, y)

    def test_the_handler_is_put_back(self):
        before = signal.getsignal(signal.SIGINT)
        CCMSelector(5, long_run=LongRun(interrupt="keep")).fit(X, y)
        assert signal.getsignal(signal.SIGINT) is before

    def test_in_another_thread_nothing_is_noticed(self, whole):
        selector = CCMSelector(5, long_run=LongRun(interrupt="keep"))
        worker = threading.Thread(target=selector.fit, args=(X, y))
        worker.start()
        worker.join()
        assert_same(selector, whole[5])


class TestSeconds:
    @pytest.fixture
    def pass_time(self, monkeypatch):
        """A clock that moves when it is told to."""
        now = [0.0]
        monkeypatch.setattr("covmin.runtime.run.monotonic", lambda: now[0])
        return lambda seconds=100.0: now.__setitem__(0, now[0] + seconds)

    def test_the_ranking_it_has_come_to_is_kept(self, whole, pass_time):
        step = n_steps(whole[5]) // 2
        selector = CCMSelector(5, long_run=LongRun(seconds=30, callback=At(step, pass_time)))
        with pytest.warns(ConvergenceWarning, match=r"stopped after 30 s at \d+ features?"):
            selector.fit(X, y)
        assert sorted(selector.ranking_) == list(range(1, 61))
        assert selector.support_.sum() == 5
        assert n_steps(selector) == step

    def test_enough_time_changes_nothing(self, whole, recwarn):
        assert_same(CCMSelector(long_run=LongRun(seconds=1e6)).fit(X, y), whole["auto"])
        assert not recwarn.list

    def test_the_folds_that_are_judged_choose(self, pass_time):
        selector = CCMSelector(
            n_jobs=1, long_run=LongRun(seconds=99, callback=AtFold(2, pass_time))
        )
        with pytest.warns(ConvergenceWarning) as said:
            selector.fit(X, y)
        assert "2 of 5 folds" in str(said[0].message)
        assert "stopped after 99 s" in str(said[0].message)
        assert selector.support_.sum() == selector.n_features_
        assert np.isfinite(selector.cv_results_.mean_error).all()

    @pytest.mark.parametrize("fold", [1, 2])
    def test_one_fold_is_enough_to_choose_by(self, fold, pass_time):
        """Also with measures whose spread is that between folds."""
        long_run = LongRun(seconds=99, callback=AtFold(fold, pass_time))
        judge = {"estimator": LogisticRegression(), "n_jobs": 1}
        with pytest.warns(ConvergenceWarning, match=f"{fold} of 5 folds"):
            selector = CCMSelector(**judge, long_run=long_run).fit(X, y)
        assert 1 <= selector.n_features_ <= 60

    def test_without_any_fold_a_few_are_kept(self):
        with pytest.warns(ConvergenceWarning, match="no time to choose"):
            selector = CCMSelector(long_run=LongRun(seconds=1e-9)).fit(X, y)
        assert selector.support_.sum() == 10
        assert selector.cv_results_ is None
        assert "no time" in str(selector.plan_)

    @pytest.mark.parametrize("fold", [None, 2])
    def test_with_more_time_it_goes_on_from_its_checkpoint(self, fold, whole, pass_time, tmp_path):
        kept = {"checkpoint": tmp_path / "fit.jsonl"}
        late = At(20, pass_time) if fold is None else AtFold(fold, pass_time)
        with pytest.warns(ConvergenceWarning, match="stopped after"):
            CCMSelector(n_jobs=1, long_run=LongRun(**kept, seconds=99, callback=late)).fit(X, y)
        assert kept["checkpoint"].exists()
        assert_same(CCMSelector(n_jobs=1, long_run=LongRun(**kept)).fit(X, y), whole["auto"])
        assert not kept["checkpoint"].exists()

    def test_a_slow_fit_ends_in_time(self):
        rng = np.random.default_rng(0)
        wide = rng.standard_normal((600, 300))
        start = time.monotonic()
        with pytest.warns(ConvergenceWarning, match="stopped after 0.5 s"):
            CCMSelector(long_run=LongRun(seconds=0.5)).fit(wide, wide[:, 0] * wide[:, 1])
        assert time.monotonic() - start < 15.0


class TestCheckpoint:
    @pytest.fixture
    def long_run(self, tmp_path):
        """With a checkpoint from the first moment on, and perhaps a callback."""

        def made(callback=None):
            return LongRun(tmp_path / "fit.jsonl", callback=callback)

        return made

    def end(self, selector, X, y):
        """End a fit after some of its stages."""
        selector = clone(selector)
        selector.long_run.callback = self.at_the_third_stage
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, y)

    @staticmethod
    def at_the_third_stage(progress):
        if progress.stage == 2:
            press_ctrl_c()

    @pytest.mark.parametrize(
        ("m", "share"), [(5, 0.1), (5, 0.5), (5, 0.9), ("auto", 0.0), ("auto", 0.5)]
    )
    def test_a_fit_goes_on_where_it_was_ended(self, long_run, whole, m, share):
        step = 1 + int(share * n_steps(whole[m]))
        with pytest.raises(KeyboardInterrupt):
            CCMSelector(m, long_run=long_run(At(step, press_ctrl_c))).fit(X, y)
        again = long_run(AtFold(-1, None))
        resumed = CCMSelector(m, long_run=again).fit(X, y)
        assert_same(resumed, whole[m])
        if m == "auto":
            assert_array_equal(resumed.cv_results_.mean_error, whole[m].cv_results_.mean_error)
            assert again.callback.left == -1  # no fold again
        if share >= 0.5:
            assert again.callback.n_steps < n_steps(whole[m])
        assert not again.checkpoint.exists()

    def test_folds_that_are_done_are_not_done_again(self, long_run, whole):
        with pytest.raises(KeyboardInterrupt):
            CCMSelector(long_run=long_run(AtFold(3, press_ctrl_c))).fit(X, y)
        again = long_run(AtFold(100, None))
        resumed = CCMSelector(long_run=again).fit(X, y)
        assert again.callback.left == 100 - 2  # of five
        assert_same(resumed, whole["auto"])

    def test_a_warning_that_is_an_error_leaves_it(self, long_run):
        selector = CCMSelector(5, formulation=Formulation(max_iter=1), long_run=long_run())
        with pytest.raises(ConvergenceWarning):
            selector.fit(X, y)
        assert selector.long_run.checkpoint.exists()
        told = AtFold(-1, None)
        with pytest.warns(ConvergenceWarning):
            clone(selector).set_params(long_run__callback=told).fit(X, y)
        assert told.n_steps == 0  # all that was done was kept
        assert not selector.long_run.checkpoint.exists()

    def test_a_file_of_another_fit_is_refused_and_left(self, long_run):
        selector = CCMSelector(5, long_run=long_run())
        self.end(selector, X, y)
        before = selector.long_run.checkpoint.read_bytes()
        for other, data in (
            (clone(selector).set_params(n_features_to_select=4), X),
            (clone(selector).set_params(formulation=Formulation(tol=0.01)), X),
            (clone(selector).set_params(kernel="gaussian"), X),
            (selector, X + X**2),
        ):
            with pytest.raises(ValueError, match="other settings"):
                other.fit(data, y)
            assert selector.long_run.checkpoint.read_bytes() == before

    def test_a_file_of_another_version_is_refused(self, long_run, monkeypatch):
        """Its stages may have been solved by other defaults."""
        selector = CCMSelector(5, long_run=long_run())
        self.end(selector, X, y)
        monkeypatch.setattr("covmin.runtime.resume.__version__", "9.9")
        with pytest.raises(ValueError, match=r"covmin: '.*' in the file, '9\.9' in"):
            selector.fit(X, y)

    @pytest.mark.parametrize("approximation", ["exact", "fourier"])
    def test_a_column_in_other_units_is_noticed(self, long_run, approximation):
        selector = CCMSelector(
            5,
            standardize=False,
            approximation=approximation,
            formulation=Formulation(tol=0.01),
            long_run=long_run(),
        )
        self.end(selector, X, y)
        with pytest.raises(ValueError, match="other settings"):
            selector.fit(X * np.where(np.arange(60) == 4, 30.0, 1.0), y)
        told = AtFold(-1, None)
        again = clone(selector).set_params(long_run__callback=told)
        resumed, whole = again.fit(X, y), clone(selector).fit(X, y)
        assert_same(resumed, whole)
        assert told.n_steps < n_steps(whole)

    def test_long_parameters_are_told_apart(self, long_run):
        X_ = np.tile(X, 20)
        groups = np.arange(1200) // 2
        selector = CCMSelector(5, feature_groups=groups, interactions=False, long_run=long_run())
        self.end(selector, X_, y)
        others = groups.copy()
        others[[600, 602]] = others[[602, 600]]
        assert repr(others) == repr(groups)
        for different in (others, {"a": np.arange(600), "b": np.arange(600, 1200)}):
            with pytest.raises(ValueError, match="other settings"):
                clone(selector).set_params(feature_groups=different).fit(X_, y)

    def test_a_generator_is_refused(self, long_run):
        generator = np.random.RandomState(0)
        selector = CCMSelector(5, long_run=long_run(), random_state=generator)
        with pytest.raises(ValueError, match="Pass an integer as random_state"):
            selector.fit(X, y)

    @pytest.mark.parametrize("text", ["do not lose me\n", "do not lose me", '{"my": "json"}'])
    def test_something_else_in_its_place(self, tmp_path, text):
        path = tmp_path / "notes.txt"
        path.write_text(text)
        with pytest.raises(ValueError, match="not a results file of covmin"):
            CCMSelector(5, long_run=LongRun(path)).fit(X, y)
        assert path.read_text() == text

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
    def test_a_killed_fit_goes_on(self, long_run, tmp_path, whole):
        """Killed at once, in the middle of the path, with nothing that could be tidied up."""
        np.savez(tmp_path / "data.npz", X=X, y=y)
        again = long_run(AtFold(-1, None))
        script = f"""
            import os, signal
            import numpy as np
            from covmin import CCMSelector, LongRun

            def kill(progress):
                if progress.stage == 3:
                    os.kill(os.getpid(), signal.SIGKILL)

            data = np.load({str(tmp_path / "data.npz")!r})
            long_run = LongRun({str(again.checkpoint)!r}, callback=kill)
            CCMSelector(long_run=long_run).fit(data["X"], data["y"])
            """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)])
        assert done.returncode == -signal.SIGKILL
        resumed = CCMSelector(long_run=again).fit(X, y)
        assert_same(resumed, whole["auto"])
        assert again.callback.left == -1  # no fold again
        assert again.callback.n_steps < n_steps(whole["auto"])


class TestAtOnce:
    def test_fits_in_threads(self):
        expected = [CCMSelector(5, kernel=kernel).fit(X, y) for kernel in ("mixed", "laplacian")]
        selectors = [clone(selector) for selector in expected for _ in range(2)]
        threads = [threading.Thread(target=s.fit, args=(X, y)) for s in selectors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, selector in enumerate(selectors):
            assert_same(selector, expected[number // 2])

    def test_fits_that_overlap_leave_blas_as_it_was(self):
        second_is_in, first_is_out = threading.Event(), threading.Event()

        def wait_for_the_first(progress):
            second_is_in.set()
            assert first_is_out.wait(300)

        second = threading.Thread(
            target=CCMSelector(5, long_run=LongRun(callback=wait_for_the_first)).fit, args=(X, y)
        )

        def let_the_second_in(progress):
            if not second_is_in.is_set():
                second.start()
                assert second_is_in.wait(300)
            assert threads_of_blas() == 1

        # Not as a context, within which threadpoolctl lets no other thread set anything.
        limits = threadpool_limits(2, user_api="blas")
        try:
            CCMSelector(5, long_run=LongRun(callback=let_the_second_in)).fit(X, y)
            first_is_out.set()
            second.join()
            assert threads_of_blas() == 2
        finally:
            first_is_out.set()
            limits.restore_original_limits()
