"""The report of a run: complete, self-contained, and safe against what a run's data says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair
import duckdb
import pytest
import vl_convert

from tests.warehouse.synthetic_run import write_run, write_series, write_unlucky_run
from warehouse.loading import run_database
from warehouse.report import write_report

Spec = dict[str, Any]


class Outline(HTMLParser):
    """The tags of a page, the text of its headings, and what lies in its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[tuple[int, str]] = []
        self.scripts: list[str] = []
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts.append(data)
        elif re.fullmatch(r"h[1-6]", self._open):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with run_database(write_run(tmp_path_factory.mktemp("home")).directory) as connection:
        yield connection


@pytest.fixture(scope="module")
def page(connection: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(connection, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with run_database(write_series(tmp_path_factory.mktemp("series")).directory) as connection:
        yield connection


def written(connection: duckdb.DuckDBPyConnection, directory: Path) -> str:
    return write_report(connection, directory / "report.html").read_text("utf-8")


def specs(page: str) -> list[Spec]:
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)]


def dots(page: str, kind: str, title: str) -> list[dict[str, Any]]:
    """The samples of the charts by storage form that are called ``title``."""
    chosen = [spec for spec in specs(page) if spec["description"].startswith(f"{title}: every sample by storage form")]
    return [dot for spec in chosen for dot in spec["datasets"][kind]]


def test_the_report_is_one_file_that_asks_for_nothing(page: str) -> None:
    outline = Outline(page)

    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:)?//""", page)
    assert not re.search(r"@import|url\(", re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1])  # type: ignore[index]
    assert outline.count("link") == outline.count("img") == outline.count("iframe") == 0
    assert all("src" not in attributes for _, attributes in outline.tags)
    assert any("vegaEmbed" in script and len(script) > 500_000 for script in outline.scripts)


def test_the_page_has_an_outline_and_every_table_a_caption(page: str) -> None:
    outline = Outline(page)
    levels = [level for level, _ in outline.headings]

    assert levels[0] == 1 == levels.count(1)
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert outline.count("table") == outline.count("caption") > 5
    assert ("html", {"lang": "en"}) in outline.tags
    assert [text for level, text in outline.headings if level == 2] == [
        "What to read first",
        "Verdicts",
        "Results",
        "Charts: embedded",
        "Charts: duckdb",
        "Beside the study",
        "Without a result",
        "Method",
        "Environment",
    ]


def test_links_within_the_page_lead_somewhere(page: str) -> None:
    tags = Outline(page).tags
    places = {attributes["id"] for _, attributes in tags if "id" in attributes}

    assert {str(attributes["href"])[1:] for tag, attributes in tags if tag == "a"} <= places
    assert {attributes["aria-labelledby"] for tag, attributes in tags if tag == "section"} <= places


def test_the_first_words_are_what_came_of_the_run(page: str) -> None:
    text = re.sub(r"<[^>]+>|\s+", " ", page.split("What to read first</h2>")[1].split("</section>")[0])

    assert "26 cells of 28 that could run gave a result" in text
    assert "1 failed, 1 timed out" in text
    assert "5 expectations: 1 fail, 1 error, 1 inconclusive, 1 pass, 1 not applicable." in text
    assert "Smallest: toast=default fillfactor=100 (2.63 MB)." in text
    assert "load with toast=default fillfactor=100 (254 ms, one sample)" in text
    assert "No cell stands out in group by, lookup." in text


@pytest.mark.parametrize(("kind", "is_warmup"), [("filled", False), ("hollow", True)])
@pytest.mark.parametrize(
    ("title", "step", "metric"),
    [("load", "load", "load_time"), ("group by", "group_by", "query_time"), ("lookup", "lookup", "query_time")],
)
def test_every_sample_that_counts_is_a_dot_and_every_warm_up_a_hollow_one(
    page: str, connection: duckdb.DuckDBPyConnection, title: str, step: str, metric: str, kind: str, is_warmup: bool
) -> None:
    taken = connection.execute(
        """
        select count(*) from measurement m join cell c using (run_id, cell_id, replicate)
        where c.status = 'ok' and m.step = ? and m.metric = ? and m.is_warmup = ?
        """,
        [step, metric, is_warmup],
    ).fetchone()

    assert (len(dots(page, kind, title)),) == taken


def test_samples_of_cells_that_did_not_end_well_are_not_shown(page: str) -> None:
    shown = {(dot["form"], dot["in_place"]) for dot in dots(page, "filled", "lookup")}

    assert ("external fillfactor=70", "btree(c2)") in shown
    assert ("external fillfactor=70", "hash(c2)") not in shown


def test_the_parts_of_a_size_add_up_to_its_total(page: str, connection: duckdb.DuckDBPyConnection) -> None:
    bars = [bar for spec in specs(page) for bar in spec["datasets"].get("bars", ())]
    chosen = [bar for bar in bars if (bar["form"], bar["in_place"]) == ("external fillfactor=100", "btree(c2)")]

    assert [bar["part"] for bar in chosen] == ["table", "TOAST", "index", "auxiliary"]
    assert sum(bar["value"] for bar in chosen) == pytest.approx(1.3 + 106 + 0.34 + 0.03, abs=0.01)
    assert {bar["total"] for bar in chosen} == {"108 MB"}


def test_an_axis_is_logarithmic_where_the_spread_needs_it(page: str) -> None:
    kinds = {
        spec["description"].split(":")[0]: spec["layer"][0]["encoding"]["x"]["scale"]["type"]
        for spec in specs(page)[:5]
        if "every sample by storage form" in spec["description"]
    }

    assert kinds == {"load": "linear", "group by": "linear", "lookup": "log", "index build": "linear"}


def test_every_kind_of_chart_is_valid_and_can_be_drawn(
    page: str, series: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    drawn = [*specs(page), *specs(written(series, tmp_path))]
    kinds = {repr([layer["mark"] for layer in spec["layer"]]): spec for spec in drawn}

    assert len(kinds) == 5
    for spec in kinds.values():
        altair.Chart.from_dict(spec)
        assert vl_convert.vegalite_to_svg({**spec, "width": 300}).startswith("<svg")


def test_what_the_server_said_is_text_and_never_markup(page: str) -> None:
    assert "&lt;b&gt;/PostgreSQL.42&lt;/b&gt;&#34; &amp; more: No space left on device" in page
    assert "<b>/PostgreSQL" not in page
    assert "53100" in page


def test_a_level_cannot_end_a_script(tmp_path: Path) -> None:
    with run_database(write_run(tmp_path).directory) as connection:
        connection.execute(
            """
            update planned_cell set storage_levels = '{"toast": "</script><script>alert(1)</script>"}'
            where target = 'embedded'
            """
        )
        page = written(connection, tmp_path)

    assert "<script>alert(1)" not in page
    assert any("</script><script>alert(1)" in json.dumps(spec) for spec in specs(page))


def test_published_figures_stand_beside_ours_as_ratios(page: str) -> None:
    ratios = [spec["datasets"]["dots"] for spec in specs(page) if "beside the study" in spec["description"]]

    assert [dot["ratio"] for dot in ratios[1] if dot["whose"] == "published"] == ["1.42x", "42.3x"]
    assert [dot["ratio"] for dot in ratios[1] if dot["whose"] == "ours"] == ["1.42x", "40.8x"]


def test_environment_and_method_are_told(page: str) -> None:
    for told in ("PostgreSQL 18.6", "AMD EPYC 7B13", "8.00 GB", "ext4", "6.8.0-45-generic", "shared_buffers", "256MB"):
        assert told in page
    for told in ("seed 20261130", "took 6.10 ms: what a cell costs", "statement and fetch, hot cache", "prefect start"):
        assert told in page


def test_a_series_is_drawn_over_its_rounds_with_the_vacuums_marked(
    series: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    lines = {spec["description"]: spec["datasets"] for spec in specs(written(series, tmp_path))}
    count = lines["count over rounds, a line per cell"]

    assert [point["round"] for point in count["middles"] if point["cell"] == "fillfactor=50 plain"] == list(range(9))
    assert len(count["filled"]) == 4 * 9 * 3
    assert len(count["hollow"]) == 4 * 9
    assert {(point["cell"], point["round"]) for point in count["events"]} == {
        *(("fillfactor=100 plain", 3), ("fillfactor=100 plain", 6)),
        *(("fillfactor=50 plain", 3), ("fillfactor=50 plain", 6)),
    }


def test_the_page_says_of_the_run_what_it_could_not_control(tmp_path: Path) -> None:
    with run_database(write_unlucky_run(tmp_path).directory) as connection:
        page = write_report(connection, tmp_path / "report.html").read_text()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.split("What to read first</h2>")[1]))

    assert "1 cell was measured again." in text
    assert "failed: step index_build: could not resize shared memory segment" in text
    assert "Load is durable, through checkpoint, but on embedded, where it ends with the commit;" in text
    assert "On embedded: compression ratio, cpu time (1 cell): permission denied." in text
    assert "On embedded load time ends with the commit (no checkpoint: the target is not exclusive)." in text


def test_the_page_of_an_ordinary_run_does_not_speak_of_it(page: str) -> None:
    assert "measured again" not in page
    assert "but on" not in page


def test_a_run_without_any_result_still_has_a_report(tmp_path: Path) -> None:
    with run_database(write_run(tmp_path).directory) as connection:
        connection.execute("delete from verdict")
        connection.execute("delete from environment")
        connection.execute("update run set finished_at = null, timings = null, status = 'interrupted'")
        connection.execute(
            "update cell set status = 'failed', reason = 'no space left on device' where status <> 'unsupported'"
        )
        page = written(connection, tmp_path)

    assert "0 cells of 28 that could run gave a result" in page
    assert "No expectation was judged." in page
    assert "no space left on device" in page
    assert specs(page) == []
