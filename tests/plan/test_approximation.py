"""The kernel matrix or random components: by size, and by the memory there is."""

import pytest
from threadpoolctl import threadpool_limits

from covmin.constants import BUDGETS, N_COMPONENTS, SAMPLE_ROWS
from covmin.core.kernels import KERNELS
from covmin.core.problem import EFFORT
from covmin.plan.rules import choose_approximation
from covmin.runtime import machine

GAUSSIAN, MIXED, POLYNOMIAL, LINEAR = (
    KERNELS[name]() for name in ("gaussian", "mixed", "polynomial", "linear")
)


def component_bytes(n):
    """Of n components: three arrays of 1024 rows for each of two blocks, and eight moments."""
    return 8 * 2 * 3 * 1024 * n + 8 * 8 * (n + 1) ** 2


@pytest.fixture
def free(monkeypatch):
    """Set what the system says is free; None where it does not say."""

    def set_free(size):
        monkeypatch.setattr(machine, "available_bytes", lambda: size)

    return set_free


def choice(approximation, kernel, shape):
    return choose_approximation(approximation, kernel, shape)[0]


@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [
        (SAMPLE_ROWS, 50, None),
        (SAMPLE_ROWS + 1, 50, "fourier"),
        (SAMPLE_ROWS, 5000, None),
        (SAMPLE_ROWS + 1, 5000, "fourier"),
    ],
)
def test_where_components_take_over(free, n, d, expected):
    free(None)
    assert choice("auto", MIXED, (n, d)) == expected


def test_components_that_are_exact_are_used_where_they_are_fewer_than_the_samples(free):
    free(None)
    assert choice("auto", LINEAR, (100, 50)) == "fourier"
    assert choice("auto", LINEAR, (100, 100)) is None


def test_auto_turns_to_components_where_the_matrix_does_not_fit(free):
    shape = (1900, 5)
    free(int(machine.exact_bytes(*shape) / 0.8) + 1)
    assert choose_approximation("auto", GAUSSIAN, shape) == (
        None,
        f"1900 samples, at most {SAMPLE_ROWS}",
    )
    free(int(machine.exact_bytes(*shape) / 0.8) - 1)
    assert choose_approximation("auto", GAUSSIAN, shape) == (
        "fourier",
        "not enough memory for the kernel matrix",
    )


@pytest.mark.parametrize(
    ("approximation", "kernel", "remedy"),
    [
        (None, GAUSSIAN, "fourier"),
        (None, POLYNOMIAL, "gaussian"),
        ("fourier", GAUSSIAN, "disk"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(free, approximation, kernel, remedy):
    free(1_000_000)
    with pytest.raises(MemoryError, match=f"(?s)B of memory, but 1 MB is free.*{remedy}"):
        choice(approximation, kernel, (10**7, 50))


def test_a_kernel_without_components_stays_exact_at_any_size(free):
    free(None)
    assert choice("auto", POLYNOMIAL, (10**6, 10)) is None
    free(1_000_000)
    with pytest.raises(MemoryError, match='kernel="gaussian"'):
        choice("auto", POLYNOMIAL, (3000, 10))


def test_unknown_memory_stops_nobody(free):
    free(None)
    assert choice(None, GAUSSIAN, (10**6, 10)) is None


def least(kernel, shape):
    """Free memory from which on components are not refused, by bisection."""
    low, high = 1, 2**40
    with pytest.MonkeyPatch.context() as patch:
        while high - low > 1:
            middle = (low + high) // 2
            patch.setattr(machine, "available_bytes", lambda middle=middle: middle)
            try:
                choice("fourier", kernel, shape)
                high = middle
            except MemoryError:
                low = middle
    return high


@threadpool_limits.wrap(1, user_api="blas")
def test_a_sum_over_columns_takes_memory(free):
    """Eight waves for each of 100 columns, beside the random components."""
    shape = (5000, 100)
    assert EFFORT.rows(MIXED, 100, N_COMPONENTS) > SAMPLE_ROWS
    more = component_bytes(N_COMPONENTS + 8 * 100) - component_bytes(N_COMPONENTS)
    assert 0.8 * (least(MIXED, shape) - least(GAUSSIAN, shape)) == pytest.approx(more, abs=2)
    free(least(MIXED, shape) - 1)
    with pytest.raises(MemoryError, match='kernel="gaussian"'):
        choice("fourier", MIXED, shape)


@threadpool_limits.wrap(1, user_api="blas")
def test_a_matrix_of_some_rows_takes_memory_where_columns_are_many():
    """Components come after the first stage, for the columns it leaves."""
    n, d = 5000, 20_000
    waves = component_bytes(N_COMPONENTS + 8 * BUDGETS[0]) - component_bytes(N_COMPONENTS)
    matrix = machine.exact_bytes(EFFORT.rows(MIXED, d, N_COMPONENTS), d, mixed=True)
    more = 0.8 * (least(MIXED, (n, d)) - least(GAUSSIAN, (n, d)))
    assert more == pytest.approx(waves + matrix, abs=2)
