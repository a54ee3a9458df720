"""What every method of this room takes: a direction and a dose."""

from __future__ import annotations

from files import InputError, nearest

DIRECTIONS = ("debias", "overbias")


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ``InputError`` unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        raise InputError(
            f"{name} is {value!r}; choose one of {', '.join(allowed)}{nearest(value, allowed)}"
        )


def check_range(name: str, value: float, low: float, high: float = float("inf")) -> None:
    """Raise ``InputError`` unless ``low <= value <= high``; NaN, text and booleans are refused
    too.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not low <= value <= high
        or value == float("inf")
    ):
        allowed = f"from {low:g} to {high:g}" if high < float("inf") else f"of at least {low:g}"
        raise InputError(f"{name} is {value!r}; give a number {allowed}")


def check_whole(name: str, value: int, low: int) -> None:
    """Raise ``InputError`` unless ``value`` is a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise InputError(f"{name} is {value!r}; give a whole number of at least {low}")
