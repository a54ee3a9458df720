"""The one error type, its suggestions and the exit status of a front door."""

from __future__ import annotations

import pytest

from files import InputError, nearest, run_cli


@pytest.mark.parametrize(
    ("name", "expected"),
    [("weta", "; did you mean 'weat'?"), ("weat", "; did you mean 'weat'?"), ("zzz", "")],
)
def test_nearest_names_the_option_spelt_most_alike(name: str, expected: str) -> None:
    assert nearest(name, ["ripa", "weat", "ect"]) == expected


def _raise(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3)])
def test_run_cli_exits_with_the_status_of_main(result: int | None, status: int) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: result)
    assert stop.value.code == status


def test_run_cli_lets_a_bug_through() -> None:
    with pytest.raises(KeyError):
        run_cli(lambda: _raise(KeyError("bug")))


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (InputError("dose is 2; allowed is 0 to 1"), 2, "error: dose is 2; allowed is 0 to 1\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(), 1, ""),
    ],
)
def test_run_cli_answers_in_one_line_at_most(
    error: BaseException, status: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: _raise(error))
    assert (stop.value.code, *capsys.readouterr()) == (status, "", printed)
