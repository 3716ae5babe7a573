"""A log of results: one line of JSON for each finished unit of work."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

_FORMAT = "covmin-results-1"


class ResultLog:
    """A file of results that survives a killed run.

    The first line holds the settings, and each further line one finished unit of work with its
    result. A line is on disk before the next one is written. An incomplete last line is dropped
    when the file is opened again.

    A missing file is created, together with its folders. A file with results of other settings
    is refused. With ``writable=False`` nothing is created, repaired or appended, so that a run in
    another process is not disturbed.
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: Mapping[str, Any], *, writable: bool = True
    ) -> None:
        self.path = Path(path)
        self.settings = json.loads(json.dumps(dict(settings)))
        self._results: dict[str, Any] = {}
        self._file: Any = None
        self._recover(mend=writable)
        if writable:
            self._open()

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered, so that a failed write is not repeated when the file is closed.
        self._file = self.path.open("ab", buffering=0)
        if self.path.stat().st_size > 0:
            return
        try:
            self._write({"format": _FORMAT, "settings": self.settings})
        except OSError:
            self._file.close()
            self.path.unlink()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def __contains__(self, unit: Mapping[str, Any]) -> bool:
        return _key(unit) in self._results

    def __getitem__(self, unit: Mapping[str, Any]) -> Any:
        return self._results[_key(unit)]

    def append(self, unit: Mapping[str, Any], result: Any) -> None:
        """Write a finished unit and its result, both as plain values, to disk."""
        self._write({"unit": dict(unit), "result": result})
        self._results[_key(unit)] = result

    def _write(self, record: Mapping[str, Any]) -> None:
        text = json.dumps(record, separators=(",", ":"), allow_nan=False)
        line = memoryview(text.encode() + b"\n")
        start = os.fstat(self._file.fileno()).st_size
        try:
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            # Write a line completely or not at all.
            os.ftruncate(self._file.fileno(), start)
            reason = f"{error.strerror}; all earlier results are kept"
            raise OSError(error.errno, reason, str(self.path)) from error

    def _recover(self, mend: bool) -> None:
        """Read an existing file; ``mend`` removes an incomplete last line."""
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        self._check_ours(data)
        whole, _, torn = data.rpartition(b"\n")
        if torn and mend:
            os.truncate(self.path, len(whole) + 1 if whole else 0)
        records = [self._parse(line, number) for number, line in enumerate(whole.splitlines(), 1)]
        if records:
            self._check_settings(records[0])
        self._results = {_key(record["unit"]): record["result"] for record in records[1:]}

    def _check_ours(self, data: bytes) -> None:
        """Refuse a file that is not a log, before changing anything in it."""
        start = b'{"format":"covmin-results'
        if not (data.startswith(start) or start.startswith(data)):
            raise ValueError(
                f"{self.path} is not a results file of covmin and was left unchanged. "
                "Choose another file."
            )

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ValueError(
                f"Line {number} of {self.path} is damaged ({error}). Remove that line to "
                "continue with the other results, or choose another file."
            ) from error
        if not isinstance(record, dict) or not ("unit" in record or "format" in record):
            raise ValueError(f"{self.path} is not a results file: see line {number}.")
        return record

    def _check_settings(self, header: Mapping[str, Any]) -> None:
        found = header.get("settings", {})
        if header.get("format") == _FORMAT and found == self.settings:
            return
        changed = [
            f"  {name}: {found.get(name)!r} in the file, {self.settings.get(name)!r} in this run"
            for name in sorted({*found, *self.settings})
            if found.get(name) != self.settings.get(name)
        ]
        raise ValueError(
            f"{self.path} holds results of other settings:\n"
            + "\n".join(changed or ["  a different format"])
            + "\nContinue with the settings in that file, or choose another file."
        )


def _key(unit: Mapping[str, Any]) -> str:
    return json.dumps(unit, sort_keys=True, separators=(",", ":"))
