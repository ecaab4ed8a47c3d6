"""The report of a run: one HTML file that needs nothing else, on paper, on a phone, without a network."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.extremes import extremes
from warehouse.formatting import counted, humanise, listed, spelled, times
from warehouse.labels import Names, read_names
from warehouse.medians import words
from warehouse.method import canaries, environments, lacks, methods, overhead, without_checkpoint
from warehouse.outcomes import broken_rows, cell_counts, failures, happened, repeated, unsupported, verdicts
from warehouse.result_tables import result_tables
from warehouse.sections import published_figures, published_rows, target_charts
from warehouse.selecting import rows
from warehouse.summary import best_sentences, losses_in_words, outcomes_in_words

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from jinja2 import Template

# Colour alone tells nothing to who cannot see it, or prints.
MARKS = {
    "pass": "✓ pass",
    "fail": "✗ fail",
    "inconclusive": "? inconclusive",
    "not_applicable": "– not applicable",
    "error": "! error",
}


def write_report(connection: DuckDBPyConnection, path: Path) -> Path:
    """Write the report of the one run that ``connection`` holds to ``path``; verdicts must be in it by then."""
    names = read_names(connection)
    contents = {**_run(connection), **_summary(connection, names), **_details(connection, names)}
    path.write_text(_template().render(contents, javascript=_javascript()), encoding="utf-8")
    return path


def _run(connection: DuckDBPyConnection) -> dict[str, Any]:
    run = rows(connection, "select * from run")[0]
    seconds = (run["finished_at"] - run["started_at"]).total_seconds() if run["finished_at"] else None
    readable = {name: json.loads(run[name] or "{}") for name in ("parameters", "baseline", "timings")}
    return {"run": {**run, **readable, "seconds": seconds}}


def _summary(connection: DuckDBPyConnection, names: Names) -> dict[str, Any]:
    """What to read first."""
    counts = Counter(cell_counts(connection))
    found = extremes(connection, names)
    return {
        "names": names,
        "counts": counts,
        "losses": losses_in_words(counts),
        "verdicts": [{**verdict, "rows": broken_rows(verdict)} for verdict in verdicts(connection)],
        "extremes": found,
        "best": {target: best_sentences(target, found) for target in names.targets},
    }


def _details(connection: DuckDBPyConnection, names: Names) -> dict[str, Any]:
    published = published_rows(connection)
    return {
        "tables": result_tables(connection, names, wide=True),
        "charts": [target_charts(connection, names, target) for target in names.targets],
        "published": published,
        "published_figures": published_figures(published, names),
        "unsupported": unsupported(connection),
        "failures": failures(connection, names),
        "repeated": repeated(connection, names),
        "environments": environments(connection),
        "methods": methods(connection),
        "overhead": overhead(connection),
        "lacks": lacks(connection),
        "canaries": canaries(connection),
        "without_checkpoint": without_checkpoint(connection),
    }


@cache
def _template() -> Template:
    """Everything from a run is escaped: levels and server messages are data."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("warehouse", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {name.__name__: name for name in (humanise, listed, spelled, times, words)}
    templates.globals |= {name.__name__: name for name in (counted, happened, outcomes_in_words)}
    templates.globals["MARKS"] = MARKS
    return templates.get_template("report.html.j2")


@cache
def _javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, as vl-convert bundles them."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    # A page's parser ends the script at the first end tag that it sees, in a string too.
    return bundle.replace("</script", "<\\/script")
