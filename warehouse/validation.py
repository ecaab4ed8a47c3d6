"""Great Expectations on one pandas frame at a time: which rows a check objects to, or why it cannot be carried out."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

# Great Expectations takes some seconds of CPU to import and then sits in the way of every clock, so it is imported
# inside the functions, when the first frame is there to be judged.

COLUMN_ARGUMENTS = ("column", "column_A", "column_B", "column_list")
# What a check of the table itself names are columns to look for, not values to read.
TABLE_CHECKS = "expect_table_"


class CheckBroken(Exception):
    """The check cannot be carried out; the message says why in one line. It says nothing about the run."""


@dataclass(frozen=True)
class Finding:
    """What a check said. ``unexpected`` are index labels of the frame.

    ``judged`` is the number of rows that were looked at one by one, None for a check of the frame as a whole, whose
    value (a mean, a row count) is then ``observed``.
    """

    success: bool
    judged: int | None
    unexpected: tuple[int, ...]
    observed: Any


class Validator:
    """One ephemeral context and one pandas datasource for all frames: no files, no network, no progress bars."""

    def __init__(self) -> None:
        os.environ["GX_ANALYTICS_ENABLED"] = "false"

    def find(self, frame: pandas.DataFrame, check: Mapping[str, Any]) -> Finding | None:
        """Judge every row of ``frame``; None where it has none. Raises ``CheckBroken``, with or without rows."""
        expectation = self._expectation(check)
        missing = [column for column in columns_read(check) if column not in frame.columns]
        if missing:
            raise CheckBroken(f"the frame has no column {missing[0]}; it has {', '.join(map(str, frame.columns))}")
        if frame.empty:
            return None
        try:
            batch = self._whole_frame.get_batch({"dataframe": frame})
            result = batch.validate(expectation, result_format={"result_format": "COMPLETE"})
        except Exception as error:  # noqa: BLE001 - whatever a check raises, it is the check that broke
            raise CheckBroken(_first_line(error)) from None
        return _finding(result)

    def _expectation(self, check: Mapping[str, Any]) -> Any:
        from great_expectations.exceptions.exceptions import ExpectationNotFoundError
        from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

        arguments = dict(check)
        name = arguments.pop("type", None)
        if name is None:
            raise CheckBroken("the check has no type")
        try:
            return ExpectationConfiguration(type=name, kwargs=arguments).to_domain_obj()
        except ExpectationNotFoundError:
            raise CheckBroken(f"Great Expectations knows no {name}") from None
        except Exception as error:  # noqa: BLE001 - pydantic's own errors, and what validators of arguments raise
            raise CheckBroken(f"{name}: {_one_line(error)}") from None

    @cached_property
    def _whole_frame(self) -> Any:
        import great_expectations
        from great_expectations.data_context.types.base import (
            DataContextConfig,
            InMemoryStoreBackendDefaults,
            ProgressBarsConfig,
        )

        config = DataContextConfig(
            store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
            progress_bars=ProgressBarsConfig(globally=False, metric_calculations=False),
            analytics_enabled=False,
        )
        context = great_expectations.get_context(mode="ephemeral", project_config=config)
        asset = context.data_sources.add_pandas("warehouse").add_dataframe_asset("frame")
        return asset.add_batch_definition_whole_dataframe("whole")


def columns_read(check: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns whose values a check reads."""
    if str(check.get("type", "")).startswith(TABLE_CHECKS):
        return ()
    named = [check[argument] for argument in COLUMN_ARGUMENTS if argument in check]
    return tuple(column for value in named for column in (value if isinstance(value, list | tuple) else [value]))


def _finding(result: Any) -> Finding:
    broken = _exception(result.exception_info)
    if broken is not None:
        raise CheckBroken(broken)
    said = result.result
    if "unexpected_index_list" not in said:
        return Finding(bool(result.success), None, (), _observed(said))
    judged = said["element_count"] - said.get("missing_count", 0)
    return Finding(bool(result.success), judged, tuple(said["unexpected_index_list"]), None)


def _exception(info: Mapping[str, Any] | None) -> str | None:
    """The message of an exception inside Great Expectations, which keeps it flat or nested per metric."""
    if not info:
        return None
    entries = [info] if "raised_exception" in info else list(info.values())
    raised = [entry["exception_message"] for entry in entries if entry.get("raised_exception")]
    return _one_line(raised[0]) if raised else None


def _observed(said: Mapping[str, Any]) -> Any:
    """The value of the whole frame, else the values that were not expected; NaN where there should be one."""
    value = said.get("observed_value", True)
    return _plain(said.get("partial_unexpected_list", math.nan) if value is None else value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _one_line(error: object) -> str:
    return "; ".join(part.strip() for part in str(error).splitlines() if part.strip())
