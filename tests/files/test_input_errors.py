"""The one error type, its suggestions and the exit status of a front door."""

from __future__ import annotations

import pytest

from files import InputError, nearest, run_cli


def test_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("weta", "; did you mean 'weat'?"), ("weat", "; did you mean 'weat'?"), ("zzz", "")],
)
def test_nearest_names_the_option_spelt_most_alike(name: str, expected: str) -> None:
    assert nearest(name, ["ripa", "weat", "ect"]) == expected


def test_nearest_of_no_options_is_empty() -> None:
    assert nearest("weat", []) == ""


def _raise(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3)])
def test_run_cli_exits_with_the_status_of_main(result: int | None, status: int) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: result)
    assert stop.value.code == status


def test_run_cli_prints_an_input_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: _raise(InputError("dose is 2; allowed is 0 to 1")))
    out, err = capsys.readouterr()
    assert (stop.value.code, out, err) == (2, "", "error: dose is 2; allowed is 0 to 1\n")


def test_run_cli_ends_an_interrupt_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: _raise(KeyboardInterrupt()))
    assert stop.value.code == 130
    assert capsys.readouterr() == ("", "interrupted\n")


def test_run_cli_is_silent_when_the_reader_of_a_pipe_has_gone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: _raise(BrokenPipeError()))
    assert stop.value.code == 1
    assert capsys.readouterr() == ("", "")


def test_run_cli_lets_a_bug_through() -> None:
    with pytest.raises(KeyError):
        run_cli(lambda: _raise(KeyError("bug")))
