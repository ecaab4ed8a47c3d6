"""Values as people read them."""

from __future__ import annotations

import pytest

from warehouse.formatting import counted, digits, humanise, listed, scale_for, spelled, times


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "seconds", "–"),
        (0, "seconds", "0 s"),
        (0.0000421, "seconds", "42.1 µs"),
        (0.00042, "seconds", "420 µs"),
        (0.0123, "seconds", "12.3 ms"),
        (0.168, "seconds", "168 ms"),
        (1.8744, "seconds", "1.87 s"),
        (120.526, "seconds", "121 s"),
        (599.4, "seconds", "599 s"),
        (900, "seconds", "15.0 min"),
        (0, "bytes", "0 B"),
        (512, "bytes", "512 B"),
        (8192, "bytes", "8.00 kB"),
        (16_384_000, "bytes", "15.6 MB"),
        (44 * 1024**3, "bytes", "44.0 GB"),
        (1_307 * 1024**2, "bytes", "1.28 GB"),
        (20_000, "rows", "20,000"),
        (1_234, "pages", "1,234"),
        (3, "count", "3"),
        (104_005, "per_second", "104 k/s"),
        (2.345, "per_second", "2.35 /s"),
        (12, "per_second", "12 /s"),
        (0.62, "ratio", "0.620"),
    ],
)
def test_a_value_is_printed_with_three_digits_and_a_unit(value: float | None, unit: str, text: str) -> None:
    assert humanise(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.996, "10.0"),
        (0.9996, "1.00"),
        (1234.5, "1,234"),
        (0.0004, "0.0004"),
        (-0.5, "-0.500"),
        (100, "100"),
        (1, "1.00"),
    ],
)
def test_digits_do_not_jump_at_a_power_of_ten(value: float, text: str) -> None:
    assert digits(value) == text


def test_an_axis_takes_the_unit_of_its_largest_value() -> None:
    assert scale_for(118_000_000, "bytes") == ("MB", 1024.0**2)
    assert scale_for(0.4, "seconds") == ("ms", 1e-3)


def test_ratios_counts_lists_and_levels_are_words() -> None:
    assert times(3.561) == "3.56x"
    assert times(None) == "–"
    assert counted(1, "cell") == "1 cell"
    assert counted(2, "entry", "entries") == "2 entries"
    assert listed(["a", "b", "c", "d", "e"]) == "a; b; c and 2 more"
    assert spelled({"compression": "lz4", "fillfactor": 70}) == "compression=lz4, fillfactor=70"
