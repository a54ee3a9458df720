"""Files as people have them: each kind as in ``tests/cases/predictions``, and in other forms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasbridge
from biasbridge.commands.gaps import main
from biasbridge.corpora.posts import TableSource
from biasbridge.extrinsic.bbq import count_from_0, match_output
from biasbridge.extrinsic.logs import _read_inspect
from biasbridge.extrinsic.measures import RANKINGS
from biasbridge.files import InputError
from biasbridge.files.documents import read_documents
from biasbridge.files.tables import read_table
from tests.extrinsic.bbq_items import item

CASES = Path(__file__).parent.parent / "cases" / "predictions"
BASE = {"recall": 5 / 6 - 3 / 6, "fpr": 2 / 6 - 1 / 6}  # counted by hand in base.csv
COMPARED: dict[str, Any] = {"privileged": "men", "unprivileged": "women"}


def gaps_of(table: Any, **options: Any) -> dict[str, float]:
    rows = biasbridge.gaps(table, min_support=0, measures=["recall", "fpr"], **options)
    rows = rows[rows["kind"] == "gap"]
    return dict(zip(rows["measure"], rows["value"], strict=True))


def base(**columns: Any) -> pd.DataFrame:
    return pd.read_csv(CASES / "base.csv").assign(**columns)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("base.csv", {}),
        ("BASE.CSV", {}),
        ("group_blank.csv", {}),
        ("group_codes_mixed.csv", {"privileged": "1", "unprivileged": "2"}),
        ("float_codes.parquet", {"group": "sex", "privileged": "0", "unprivileged": "1"}),
        ("quotes.tsv", {}),
        ("labels_joined.csv", {"positive": ["hateful", "offensive;hateful"]}),
        ("groups_comma.csv", {"group_sep": ","}),
        ("lines.json", {}),
        ("lines.ndjson", {}),
        ("sep_line.csv", {}),
        ("trailing_columns.csv", {}),
    ],
)
def test_gaps_are_those_of_the_plain_table(name: str, options: dict[str, Any]) -> None:
    assert gaps_of(CASES / name, **COMPARED | options) == pytest.approx(BASE)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("labels_joined.csv", {"positive": "hateful"}, "'offensive;hateful' beside 'hateful'"),
        ("groups_comma.csv", {}, r"'men, black' and '\w+'; give --group-sep ','"),
        ("r_write_table.tsv", {}, r"line 2 has 4 cells, the header 3; .*R's write.table"),
    ],
)
def test_a_file_is_refused_with_the_cause(name: str, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gaps_of(CASES / name, **COMPARED | options)


def spelled(names: pd.Series, forms: list[str]) -> list[str]:
    return [forms[n % len(forms)].format(name) for n, name in enumerate(names)]


@pytest.mark.parametrize("blank", [" ", "\u00a0"])
def test_clusters_and_ids_with_blanks_at_their_ends_are_one(blank: str) -> None:
    plain = base(author=[f"a{n // 4}" for n in range(24)])
    blanks = plain.assign(author=[f"a{n // 4}{blank * (n % 2)}" for n in range(24)])
    pd.testing.assert_frame_equal(
        biasbridge.gaps(plain, cluster="author", **COMPARED),
        biasbridge.gaps(blanks, cluster="author", **COMPARED),
    )
    long = pd.concat([base(id=[f"p{n}" for n in range(24)])] * 2, ignore_index=True)
    long.loc[24:, "group"] = "black"
    ids = [f"{name}{blank * (n // 24)}" for n, name in enumerate(long["id"])]
    assert biasbridge.gaps(long.assign(id=ids), measures="accuracy").loc[0, "support"] == 24


def test_a_class_that_joins_another_is_noted() -> None:
    label = [["mild", "bad", "mild;bad", "None"][n % 4] for n in range(24)]
    table = biasbridge.gaps(base(label=label, prediction=label), multiclass=True, min_support=0)
    assert "'mild;bad' beside 'mild' is a class of its own" in table.attrs["notes"]
    assert "None" in {*table["subset"]}, "a class of posts without hate speech"


def test_names_that_differ_in_case_are_noted() -> None:
    group = ["Men" if n < 2 else name for n, name in enumerate(base()["group"])]
    notes = biasbridge.gaps(base(group=group)).attrs["notes"]
    assert "groups of 'group' that differ only in case count as different: 'Men' and 'men'" in notes


def test_groups_of_studies_are_compared_in_one_form(tmp_path: Path) -> None:
    table = base(text=[f"text {n}" for n in range(24)])
    table["group"] = spelled(table["group"], ["{}", "{}", "{}\u00a0", " {}"])
    table.loc[0, "group"] = "NA"
    table.to_csv(tmp_path / "p.csv", index=False)
    posts = TableSource(str(tmp_path / "p.csv"), group="group").load(seed=0)
    assert posts["group"].fillna("").value_counts().to_dict() == {"women": 12, "men": 11, "": 1}


@pytest.mark.parametrize("joint", ["|", ", ", " & "])
def test_a_cell_of_several_labels_is_refused_in_posts_too(joint: str, tmp_path: Path) -> None:
    label = [["mild", "hateful", f"mild{joint}hateful"][n % 3] for n in range(24)]
    table = base(label=label, prediction=label, text="a b")
    with pytest.raises(InputError, match="one label in a cell"):
        gaps_of(table, positive="hateful", **COMPARED)
    table.to_csv(tmp_path / "p.csv", index=False)
    with pytest.raises(InputError, match="one label in a cell"):
        TableSource(str(tmp_path / "p.csv"), positive=("hateful",)).load(seed=0)


@pytest.mark.parametrize("joint", ["/", "\n", "+"])
def test_groups_joined_in_a_cell_are_refused_and_read(joint: str) -> None:
    group = [f"{x}{joint}black" if n // 2 % 2 else x for n, x in enumerate(base()["group"])]
    with pytest.raises(InputError, match="give --group-sep"):
        gaps_of(base(group=group), **COMPARED)
    shell = joint.replace("\n", "\\n")
    assert gaps_of(base(group=group), group_sep=shell, **COMPARED) == pytest.approx(BASE)


def test_a_name_that_ends_in_a_mark_joins_nothing() -> None:
    group = ["LGBTQ+" if name == "men" else "LGBTQ" for name in base()["group"]]
    assert gaps_of(base(group=group), privileged="LGBTQ+") == pytest.approx(BASE)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("id,group,text", ['{},men,"it began', "{},women,own", '{},men,ended"', "{},men,own"]),
        ("text\tlabel", ['"began\t1', 'ended"\t0', "own\t1", "own\t0"]),
    ],
)
def test_marks_that_swallow_rows_are_refused(header: str, rows: list[str], tmp_path: Path) -> None:
    path = tmp_path / ("a.csv" if "," in header else "a.tsv")
    lines = [row.format(n) for n, row in enumerate(["{},women,own"] * ("id" in header) + rows)]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a quotation mark holds [23] rows in one cell"):
        read_table(path)
    assert len(read_table(path, quoted=False)) == len(lines)


@pytest.mark.parametrize(
    "cell", ['"Hi, you\nbye, you"', '"a\nb"', '"one, two\nthree, 1\nfour, 0"', '"x\n\ny, z"']
)
def test_cells_of_several_lines_are_read(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for header, row in (("group,text,label", f"men,{cell},1"), ("text,label", f"{cell},1")):
        path.write_text(f"{header}\n{row}\n{row}\n{row}\n", encoding="utf-8")
        assert read_table(path)["text"].tolist() == [cell.strip('"')] * 3


def literal_recall_gaps(table: pd.DataFrame) -> dict[str, float]:
    """The recall of an item's row by group against all others, by a loop over ids."""
    items: dict[Any, tuple[int, int, set[str]]] = {}
    for row in table.to_dict("records"):
        known = items.setdefault(row["id"], (row["label"], row["prediction"], set()))
        known[2].add(row["group"])

    def recall(rows: list[tuple[int, int, set[str]]]) -> float:
        return sum(p for y, p, _ in rows if y) / sum(y for y, *_ in rows)

    rows = [*items.values()]
    names = {name for *_, groups in rows for name in groups}
    return {
        name: recall([x for x in rows if name not in x[2]])
        - recall([x for x in rows if name in x[2]])
        for name in names
    }


@pytest.mark.parametrize("form", ["file", "parquet", "memory"])
def test_ids_in_an_index_are_ids(form: str, tmp_path: Path) -> None:
    long = pd.read_csv(CASES / "long.csv")
    table: Any = CASES / "long_id_in_index.parquet"
    if form == "memory":
        table = long.set_index("id")
    elif form == "parquet":
        table = tmp_path / "p.parquet"
        long.set_index(["id", "group"]).to_parquet(table)
    result = biasbridge.gaps(table, measures="recall", min_support=0)
    gaps = result[result["kind"] == "gap"].set_index("unprivileged")["value"]
    assert gaps.round(2).to_dict() == {"men": -0.33, "women": 0.33, "black": -0.12}
    assert gaps.to_dict() == pytest.approx(literal_recall_gaps(long))


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("bbq_*")))
def test_answers_to_bbq_are_scored_however_they_are_written(name: str) -> None:
    result = biasbridge.bbq(CASES / name)
    assert result["n_unmatched"].tolist() == [0, 0]
    assert result["accuracy"].tolist() == [0.625, 0.25]
    assert result["score"].round(3).tolist() == [0.125, -0.333]


@pytest.mark.parametrize(
    "form",
    [
        *(
            *("{}", "**{}**", "({})", "Answer: {}", "answer:{}", "The answer is {}.", '["{}"]'),
            *("['{}']", "__{}__"),
        ),
        *("\\boxed{{{}}}", '{{"answer": "{}"}}', "`{}`", "**{}.** ", "<answer>{}</answer>"),
    ],
)
def test_a_letter_in_markup_is_a_letter(form: str) -> None:
    question = biasbridge_item()
    assert [match_output(form.format(letter), question) for letter in "ABC"] == [0, 1, 2]


def biasbridge_item() -> Any:
    from biasbridge.extrinsic.bbq_answers import read_items

    [question], _ = read_items(pd.DataFrame([item(0) | {"output": "A"}]))
    return question


@pytest.mark.parametrize("form", ["{}", "({})", "**{}.**", "{}.0"])
def test_places_from_1_are_seen_by_a_3(form: str) -> None:
    table = pd.read_json(CASES / "bbq_places_from_1.jsonl", lines=True)
    result = biasbridge.bbq(table.assign(answer=table["answer"].map(form.format)))
    assert result["score"].round(3).tolist() == [0.125, -0.333]


def test_numbers_in_sentences_are_no_places() -> None:
    said = ["3 days later the uncle left", "1", "2", "2 of them"]
    assert count_from_0(said) == said
    assert count_from_0(["0", "3", "1"]) == ["0", "3", "1"]
    assert count_from_0(["3) Unknown", "(1)", "B"]) == ["2) unknown", "0)", "B"]


def test_many_outputs_that_mean_nothing_are_noted() -> None:
    table = pd.read_json(CASES / "bbq_right.jsonl", lines=True)
    wrong = table.assign(answer=["I see", *table["answer"].tolist()[1:]])  # 1 of 16 is 6%
    [note] = [note for note in biasbridge.bbq(wrong).attrs["notes"] if "match none" in note]
    assert note.startswith("1 of 16 outputs match none of the three answers, such as 'I see'")
    many = pd.concat([table.assign(example_id=table["example_id"] + 100 * n) for n in range(2)])
    many = many.assign(answer=["I see", *many["answer"].tolist()[1:]])  # 1 of 32 is 3%
    assert not any("match none" in note for note in biasbridge.bbq(many).attrs["notes"])


def test_a_nested_cell_that_is_neither_json_nor_python_is_named() -> None:
    table = pd.read_json(CASES / "bbq_right.jsonl", lines=True).head(1)
    table["answer_info"] = "{ans0: uncle}"
    with pytest.raises(InputError, match=r"column 'answer_info' holds '\{ans0: uncle\}', neither"):
        biasbridge.bbq(table)


@pytest.mark.parametrize("form", ["case", "blanks", "gz"])
def test_conll_of_four_columns_has_the_word_in_the_third(form: str, tmp_path: Path) -> None:
    path = CASES / "four_key.conll"
    text = path.read_text(encoding="utf-8")
    if form == "blanks":
        path = tmp_path / "a.conll"
        path.write_text(text.replace("\t", "   "), encoding="utf-8")
    elif form == "gz":
        path = tmp_path / "a.conll.gz"
        path.write_bytes(gzip.compress(text.encode()))
    [document] = read_documents(path)
    assert document.sentences == (("Ada", "met", "her", "nurse"),)
    assert document.clusters == (((0, 1), (2, 3)),)


@pytest.mark.parametrize("name", ["a.JSON", "a.JSONL", "a.TSV.gz", "a.CSV.GZ", "a.NDJSON"])
def test_endings_of_either_case_are_read(name: str, tmp_path: Path) -> None:
    table, path = base(), tmp_path / name
    separator = "\t" if "TSV" in name else ","
    text = table.to_csv(index=False, sep=separator)
    if "json" in name.lower():
        text = table.to_json(orient="records", lines=True)
    packed = gzip.compress(text.encode()) if "gz" in name.lower() else text.encode()
    path.write_bytes(packed)
    assert gaps_of(path, **COMPARED) == pytest.approx(BASE)


def test_a_log_in_lines_of_json_keeps_its_ending(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"X": ["a"],\n "Y": ["b"]}\n', encoding="utf-8")
    from biasbridge.files.tables import table_suffix

    assert table_suffix(tmp_path / "a.json") == ".json"
    assert table_suffix(CASES / "inspect_yes_no.json") == ".json"


@pytest.mark.parametrize("text", ["SEP=|\na|b\n1|2\n", "a\tb\t\n1\t2\t\n", "a;b\n1;2;;\n"])
def test_lines_that_spreadsheets_add_are_left_out(text: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.tsv" if "\t" in text else "a.csv")
    path.write_text(text, encoding="utf-8")
    assert read_table(path).to_dict("list") == {"a": ["1"], "b": ["2"]}


def test_text_for_missing_cells_is_missing() -> None:
    rows = pd.read_csv(CASES / "r_na.csv", keep_default_na=False).to_dict("records")
    kept = [row for row in rows if row["group"] not in ("NA", "nan", "None")]
    hits = {name: [r["prediction"] for r in kept if r["group"] == name and r["label"]] for name in
            ("men", "women")}  # fmt: skip
    result = biasbridge.gaps(CASES / "r_na.csv", measures="recall", min_support=0)
    values = result[result["kind"] == "value"].set_index("group")["value"].to_dict()
    assert {*values} == {"all", "men", "women"}
    assert values["women"] == pytest.approx(sum(hits["women"]) / len(hits["women"]))
    n = len(rows) - len(kept)
    assert f"{n} of 24 rows have an empty 'group' (" in result.attrs["notes"][0]


@pytest.mark.parametrize("word", ["<NA>", "None", "NaN", "N/A"])
def test_other_words_for_missing_cells_are_missing_unless_named(word: str) -> None:
    group = [word if n < 3 else name for n, name in enumerate(base()["group"])]
    table = base(group=group)
    assert {*biasbridge.gaps(table)["group"]} - {""} == {"men", "women", "all"}
    assert word in {*biasbridge.gaps(table, privileged=word)["group"]}
    clustered = biasbridge.gaps(table.assign(g=base()["group"]), group="g", cluster="group")
    assert "3 of 24 rows have an empty 'group'" in clustered.attrs["notes"][0]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("yes", "no"), (1, 0)),
        (("TRUE", "False"), (1, 0)),
        (("1", "0.0"), (1, 0)),
        (("C", "P"), (1, 0.5)),
    ],
)
def test_values_of_inspect_count_as_in_its_accuracy(
    words: tuple[str, str], values: tuple[float, float], tmp_path: Path
) -> None:
    log = json.loads((CASES / "inspect_yes_no.json").read_text(encoding="utf-8"))
    for sample in log["samples"]:
        score = sample["scores"]["grader"]
        score["value"] = words[score["value"] not in ("yes", "1")]
    (tmp_path / "a.json").write_text(json.dumps(log), encoding="utf-8")
    result = _read_inspect(tmp_path / "a.json")["correct"]
    assert {*result} == {*values}
    original = _read_inspect(CASES / "inspect_yes_no.json")["correct"]
    assert (original == 1).tolist() == (result == 1).tolist()


@pytest.mark.parametrize("empty", ["", "NA", None])
def test_items_of_unknown_group_are_on_neither_side(empty: Any) -> None:
    flags = [empty if n % 5 == 0 else str(int(x == "men")) for n, x in enumerate(base()["group"])]
    table = base(muslim=flags)
    rows = [row for row in table.to_dict("records") if row["muslim"] != empty]

    def recall(flag: str) -> float:
        hits = [row["prediction"] for row in rows if row["muslim"] == flag and row["label"]]
        return float(sum(hits) / len(hits))

    options: dict[str, Any] = {"measures": "recall", "group": "muslim", "min_support": 0}
    for privileged in (None, "none"):
        result = biasbridge.gaps(table, privileged=privileged, **options)
        [gap] = result.loc[result["kind"] == "gap", "value"]
        assert gap == pytest.approx(recall("0") - recall("1"))
    result = biasbridge.gaps(table, **options).set_index("group")
    assert result.loc["rest", "value"] == pytest.approx(recall("0")), "the others' value is shown"
    assert result.loc["all", "support"] == 12, "all rows count in all"


def test_empty_cells_of_names_are_in_no_rest() -> None:
    group = ["" if n % 5 == 0 else x for n, x in enumerate(base()["group"])]
    table = base(group=group)
    known = table[table["group"] != ""].reset_index(drop=True)
    given: list[dict[str, Any]] = [{}, {"multiclass": True}, {"score": "prediction"}]
    for options in given:
        with_empty, without = (
            biasbridge.gaps(part, min_support=0, **options) for part in (table, known)
        )
        values = [part[part["kind"] == "gap"]["value"].tolist() for part in (with_empty, without)]
        assert values[0] == pytest.approx(values[1], nan_ok=True)


# ``biasbridge gaps`` on other people's predictions.

COLUMNS = ["--gold", "y", "--pred", "yhat", "--group", "who", "--privileged", "m"]


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 2, (2, 400))
    return pd.DataFrame(
        {
            "y": labels,
            "yhat": predictions,
            "who": rng.choice(["m", "f", "na", ""], 400),
            "text": "a, b",
        }
    )


@pytest.mark.parametrize(
    ("options", "column", "names"),
    [
        (["--score", "p"], "measure", ["base_rate", "recall", "fpr", *RANKINGS]),
        (["--pred", "other"], "classifier", ["yhat", "other", "other - yhat"]),
        (["--multiclass"], "subset", ["0", "1", "macro"]),
        ([], "kind", ["value", "gap", "max_difference", "ratio"]),
        (["--unprivileged", "f"], "kind", ["value", "gap"]),
    ],
)
def test_what_an_option_adds(
    data: pd.DataFrame, tmp_path: Path, options: list[str], column: str, names: list[str]
) -> None:
    more = data.assign(other=1 - data["yhat"], p=np.linspace(0, 1, 400))
    out = tmp_path / "gaps.csv"
    main([str(saved(more, tmp_path / "p.csv")), *COLUMNS, *options, "--csv", str(out)])
    assert pd.read_csv(out, dtype=str)[column].unique().tolist() == names


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "y,yhot,who\n1,1,m\n", r"no column 'yhat'; did you mean 'yhot'\?"),
        ("p.csv", "y,yhat,woh\n1,1,m\n", r"no column 'who'; did you mean 'woh'\?"),
        ("p.csv", "y,yhat,who\n1,maybe,m\n0,,f\n", r"column 'yhat' holds 'maybe' in 1 of 1 rows"),
        ("p.csv", "y,yhat,who\n1,1,m\n0,1,m\n", r"every row with a group is of group 'm'"),
        ("p.csv", "y,yhat,who\n", r"the table of predictions has no rows"),
        ("p.csv", "", r"p\.csv is empty"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / name), *COLUMNS, "--csv", str(tmp_path / "gaps.csv")])
    assert not (tmp_path / "gaps.csv").exists()


def saved(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False)
    return path


def test_columns_by_their_usual_names_need_no_option_and_a_page_is_written(
    data: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = data.rename(columns={"y": "label", "yhat": "prediction", "who": "group"})
    page = tmp_path / "page.html"
    main([str(saved(usual, tmp_path / "p.csv")), "--privileged", "m", "--report", str(page)])
    assert 'id="decision"' in page.read_text(encoding="utf-8")
    shown = capsys.readouterr().out
    assert "gap to m (positive: worse for the group)" in shown
    assert str(page) in shown


def test_many_groups_are_a_line_each_the_largest_gap_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"label": rng.integers(0, 2, 6_000)})
    table["group"] = rng.choice([f"g{i:02d}" for i in range(30)], 6_000)
    wrong = rng.random(6_000) < np.where(table["group"] == "g17", 0.5, 0.1)
    table["prediction"] = table["label"] ^ wrong
    main([str(saved(table, tmp_path / "p.csv"))])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    first = [line[0] for line in lines if line and line[0].startswith("g") and line[0] != "gap"]
    groups = [name for name in first if name != "group"]
    assert len(groups) <= 20 + 21  # under a line of all items, and alone
    assert groups[0] == "g17"
