"""The report of a run: one HTML file that needs nothing else, on paper, on a phone, without a network."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.extremes import extremes
from warehouse.formatting import counted, humanise, spelled, times
from warehouse.labels import read_names
from warehouse.medians import title, words
from warehouse.method import canaries, environments, methods, overhead
from warehouse.outcomes import broken_rows, cell_counts, failures, unsupported, verdicts
from warehouse.result_tables import result_tables
from warehouse.sections import published_figures, published_rows, target_charts
from warehouse.selecting import Row, rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from jinja2 import Environment

TEMPLATE = "report.html.j2"


def write_report(connection: DuckDBPyConnection, path: Path) -> Path:
    """Write the report of the one run that ``connection`` holds to ``path``; verdicts must be in it by then."""
    text = _templates().get_template(TEMPLATE).render(**_contents(connection), javascript=_javascript())
    path.write_text(text, encoding="utf-8")
    return path


def _contents(connection: DuckDBPyConnection) -> dict[str, Any]:
    """All that the template shows, by name."""
    names = read_names(connection)
    published = published_rows(connection)
    return {
        "run": _run(connection),
        "names": names,
        "counts": cell_counts(connection),
        "extremes": extremes(connection, names),
        "verdicts": [{**verdict, "rows": broken_rows(verdict)} for verdict in verdicts(connection)],
        "tables": result_tables(connection, names, wide=True),
        "charts": [target_charts(connection, names, target) for target in names.targets],
        "published": published,
        "published_figures": published_figures(published, names),
        "unsupported": unsupported(connection),
        "failures": failures(connection, names),
        "environments": environments(connection),
        "methods": methods(connection),
        "overhead": overhead(connection),
        "canaries": canaries(connection),
    }


def _run(connection: DuckDBPyConnection) -> Row:
    run = rows(connection, "select * from run")[0]
    seconds = (run["finished_at"] - run["started_at"]).total_seconds() if run["finished_at"] else None
    readable = {name: json.loads(run[name] or "{}") for name in ("parameters", "baseline", "timings")}
    return {**run, **readable, "seconds": seconds}


@cache
def _templates() -> Environment:
    """Everything from a run is escaped: levels and server messages are data."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("warehouse", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "humanise": humanise,
        "spelled": spelled,
        "times": times,
        "words": words,
    }
    templates.globals |= {"counted": counted}
    return templates


@cache
def _javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, as vl-convert bundles them."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()
    # The bundle ends where the page's parser sees an end tag, in a string of it too.
    return bundle.replace("</script", "<\\/script")
