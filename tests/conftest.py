"""One profile for all property tests: the same examples in every run, however slow."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "covmin", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("covmin")
