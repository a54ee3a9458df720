"""How terms that fill a slot are compared: within or between texts, two groups or more."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import torch

from biasbridge import audit
from biasbridge.corpora.items import BecPro, Honest
from biasbridge.files import InputError
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.models.items import (
    Item,
    ItemSet,
    _fill_templates,
    _parse_fillers,
    read_items,
)
from biasbridge.intrinsic.models.slot_metrics import LogProbabilityBias, NextWord, PlantedBias
from biasbridge.intrinsic.registry import MODEL_METRICS
from tests.intrinsic.models.tables import Table, given, table_model
from tests.tiny_models import save_model

if TYPE_CHECKING:
    from biasbridge.intrinsic.score import Score


COLUMNS = ("Sent_TM", "Template", "Person", "Gender", "Profession", "Prof_Gender")
PEOPLE = {"male": ("Er", "Unser Bruder"), "female": ("Sie", "Unsere Schwester", "Eine Frau")}
PROFESSIONS = {"male": ("Maler", "Koch", "Mechaniker"), "female": ("Malerin", "Frisörin", "Amme")}
TEMPLATES = ("<person> ist heute {}.", "<person> will {} werden.")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    """A tiny random model in larger numbers than usual, so that likelihoods differ."""
    return open_model(save_model(tmp_path_factory.mktemp("bert"), "bert", head="masked", scale=8))


def german_rows(people: Mapping[str, Iterable[str]] = PEOPLE) -> list[dict[str, str]]:
    """Rows in the columns of BEC-Pro: the profession agrees with the person."""
    return [
        dict(zip(COLUMNS, (*text, person, gender, profession, "male"), strict=True))
        for gender, persons in people.items()
        for person in persons
        for profession in PROFESSIONS[gender]
        for template in TEMPLATES
        for text in [(template.format(profession).replace("<person>", "[MASK]"), template)]
    ]


def written(path: Path, rows: list[dict[str, str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, delimiter="\t")
        table.writeheader()
        table.writerows(rows)
    return str(path)


def literal_score(model: LanguageModel, rows: Iterable[Mapping[str, str]]) -> float:
    """Mean over men minus mean over women of log p(person | TM) - log p(person | TAM), a text and
    a mask at a time; texts with a token that the model does not know, and long ones, left out.
    """
    tokenizer: Any = model.tokenizer
    result: dict[str, dict[str, list[float]]] = {
        "male": defaultdict(list),
        "female": defaultdict(list),
    }
    for row in rows:
        person, profession = row["Person"], row["Profession"]
        before, _, after = row["Sent_TM"].partition("[MASK]")
        text = before + person + after.replace("[MASK]", person)
        encoded = tokenizer(text, return_offsets_mapping=True)
        ids = encoded["input_ids"]
        spans = encoded["offset_mapping"]
        at = text.index(profession, len(before) + len(person))
        of_person = tokens_in(spans, len(before), len(before) + len(person))
        of_profession = tokens_in(spans, at, at + len(profession))
        unknown = tokenizer.unk_token_id in {ids[n] for n in (*of_person, *of_profession)}
        if unknown or len(ids) > model.longest:
            continue
        one, both = (
            log_p(model, ids, of_person, hidden)
            for hidden in (of_person, [*of_person, *of_profession])
        )
        result[row["Gender"]][person].append(one - both)
    men, women = (
        np.mean([np.mean(logs) for logs in result[gender].values()])
        for gender in ("male", "female")
    )
    return float(men - women)


def tokens_in(spans: list[tuple[int, int]], start: int, end: int) -> list[int]:
    return [n for n, (a, b) in enumerate(spans) if a < end and b > start]


def log_p(model: LanguageModel, ids: list[int], positions: list[int], hidden: list[int]) -> float:
    """The sum of log p of the tokens at some places, others hidden by masks."""
    tokenizer: Any = model.tokenizer
    shown = [tokenizer.mask_token_id if n in hidden else token for n, token in enumerate(ids)]
    opened: Any = model.model
    with torch.no_grad():
        logits = opened(input_ids=torch.tensor([shown])).logits[0].double().log_softmax(dim=-1)
    return float(sum(logits[n, ids[n]] for n in positions))


def scored(
    model: LanguageModel, items: ItemSet, metric: str = "lpbs", by: str = "default"
) -> Score:
    [row] = MODEL_METRICS[metric].by_convention(by, items=given(items)).score(model, seed=0)
    return row


def test_texts_of_one_group_each_are_compared_between_texts(
    bert: LanguageModel, tmp_path: Path
) -> None:
    rows = german_rows()
    [items] = BecPro(written(tmp_path / "made.tsv", rows)).load()
    assert (items.name, items.language) == ("bec_pro_de_male", "de")
    row = scored(bert, items)
    expected = literal_score(bert, rows)
    assert abs(expected) > 1e-4
    assert row.value == pytest.approx(expected, rel=1e-3, abs=2e-5)
    assert "compared=between texts" in row.settings
    assert (row.n_found, row.n_oov, row.p_method) == (len(rows), 0, "exact")


def test_texts_of_both_groups_are_compared_within_texts(bert: LanguageModel) -> None:
    """Log p less the mean of the text; the same loop, for every person is in every text."""
    rows = [
        {**row, "Sent_TM": template.format("Koch").replace("<person>", "[MASK]")}
        | {"Profession": "Koch", "Gender": gender, "Person": person}
        for gender in ("male", "female")
        for person in PEOPLE[gender][:2]
        for template in TEMPLATES
        for row in [{"Template": template}]
    ]
    items = ItemSet("within", "de", items=tuple(item_of(row) for row in rows))
    row = scored(bert, items)
    assert row.value == pytest.approx(literal_score(bert, rows), rel=1e-3, abs=2e-5)
    assert "compared=within texts" in row.settings


def item_of(row: Mapping[str, str]) -> Item:
    text, person = row["Sent_TM"], row["Person"]
    of = (row["Gender"], person, row["Template"])
    return Item(text, *of, fills=True, attribute=row["Profession"])


def test_every_lost_item_counts_with_its_reason(bert: LanguageModel, tmp_path: Path) -> None:
    """No z is in the vocabulary: six texts of one person."""
    rows = german_rows({**PEOPLE, "male": (*PEOPLE["male"], "Herr Zacharias")})
    [items] = BecPro(written(tmp_path / "made.tsv", rows)).load()
    row = scored(bert, items)
    assert (row.n_found, row.n_oov, row.oov) == (len(rows) - 6, 6, "Herr Zacharias")
    assert "lost, unknown to the model=6" in row.settings
    table = audit((bert.model, bert.tokenizer), metrics="lpbs", items=tmp_path / "made.tsv")
    language, lost, compared, meaning = table.attrs["notes"]
    assert "made.tsv: assuming language 'de'" in language
    of = "lpbs bec_pro_de_male"
    assert lost == f"{of}: 6 of {len(rows)} items lost, unknown to the model"
    assert compared.startswith(f"{of} compares different texts")
    assert meaning.startswith(f"lpbs: {of.removeprefix('lpbs ')} ")
    assert row.value == pytest.approx(literal_score(bert, rows), rel=1e-3, abs=2e-5)


HE_SHE = {"male": ("he", "him"), "female": ("she", "her")}
WORDS = ("he", "him", "she", "her", "is", "a", "nurse", "cook", "maid", "guard")
LOGS = {"he": 0.1, "him": 0.2, "she": 0.4, "her": 0.05}


def nurses(unknown: str = "") -> tuple[LanguageModel, ItemSet]:
    """The four pronouns in one text; one of them outside the vocabulary."""
    vocabulary = [word for word in WORDS if word != unknown]
    table: Table = {("_", "is", "a", "nurse"): {w: p for w, p in LOGS.items() if w != unknown}}
    return table_model(vocabulary, table), ItemSet(
        "one", "en", items=_fill_templates(HE_SHE, {"t": "{} is a nurse"})
    )


def test_texts_with_more_of_one_group_do_not_shrink_the_difference() -> None:
    """Every man is e times as likely as every woman in both texts: a difference of 1."""
    likely = {word: 0.05 * (math.e if word in HE_SHE["male"] else 1) for word in LOGS}
    table: Table = {("_", "is", "a", "nurse"): likely, ("_", "is", "a", "cook"): likely}
    nurse = _fill_templates({"male": ("he",), "female": ("she", "her")}, {"n": "{} is a nurse"})
    cook = _fill_templates({"male": ("he", "him"), "female": ("she",)}, {"c": "{} is a cook"})
    row = scored(table_model(WORDS, table), ItemSet("uneven", "en", items=(*nurse, *cook)))
    assert row.value == pytest.approx(1, abs=1e-6)


def test_a_text_whose_other_group_is_unknown_is_lost() -> None:
    """Women alone in a second text would count as 0 there."""
    model, items = nurses("him")
    more = _fill_templates({"male": ("him",), "female": ("she", "her")}, {"u": "{} is a cook"})
    row = scored(model, ItemSet("two", "en", items=(*items.items, *more)))
    women = (math.log(LOGS["she"]) + math.log(LOGS["her"])) / 2
    assert row.value == pytest.approx(math.log(LOGS["he"]) - women, abs=1e-6)
    assert "lost, alone in their text=2" in row.settings
    assert "lost, unknown to the model=2" in row.settings
    assert (row.n_found, row.n_oov) == (3, 4)


@pytest.mark.parametrize(("alone", "compared"), [(1, "within texts"), (2, "between texts")])
def test_more_than_half_of_the_items_decide(alone: int, compared: str) -> None:
    """Two items of three, and two of four, stand in a text of both groups."""
    items = [
        Item(f"[MASK] is a {word}", group, term, word, fills=True, attribute=word)
        for group, term, word in (("male", "he", "nurse"), ("female", "she", "nurse"))
    ]
    for term, word in (("him", "cook"), ("her", "maid"))[:alone]:
        group = "male" if term == "him" else "female"
        items.append(Item(f"[MASK] is a {word}", group, term, word, fills=True, attribute=word))
    row = scored(table_model(WORDS, {}), ItemSet("some", "en", items=tuple(items)))
    assert f"compared={compared}" in row.settings
    assert row.n_found == (2 if alone == 1 else 4)


@pytest.mark.parametrize(
    ("groups", "by", "told"),
    [
        ({"male": ("he", "him")}, "default", "of one group, male"),
        ({"male": ("he",), "female": ("zoe",)}, "default", "no text of group female"),
        (None, "without_prior", "terms of one group each"),
    ],
)
def test_what_cannot_be_compared_has_no_value(
    groups: dict[str, tuple[str, ...]] | None, by: str, told: str
) -> None:
    model, _ = nurses()
    texts = {"t": "{} is a nurse"}
    items = _fill_templates(groups or {"male": ("he",)}, texts)
    if groups is None:
        items = tuple(item._replace(attribute="nurse") for item in items)
        items = (*items, Item("[MASK] is a cook", "female", "she", "u", True, attribute="cook"))
        assert not scored(model, ItemSet("between", "en", items=items)).reason
    row = scored(model, ItemSet("none", "en", items=items), by=by)
    assert math.isnan(row.value)
    assert told in row.reason


NAMES = {
    "men": [f"m{letter}" for letter in "abcdefgh"],
    "women": [f"w{letter}" for letter in "abcdefgh"],
}


def test_disco_leaves_out_templates_of_one_group() -> None:
    """Two words depend on the group in the one template that both groups have; two templates of
    one group each, as where the adjective agrees, are no templates without bias.
    """
    fills = {"men": ("cook", "run"), "women": ("sew", "run")}
    table: Table = {
        (name, verb, "_"): dict(zip(fills[group], (0.4, 0.3), strict=True))
        for group, names in NAMES.items()
        for name in names
        for verb in ("likes", "buena", "bueno")
    }
    both = _fill_templates(
        {group: tuple(names) for group, names in NAMES.items()}, {"l": "{} likes [MASK]"}
    )
    own = {"men": "{} bueno [MASK]", "women": "{} buena [MASK]"}
    alone = tuple(
        item
        for group, text in own.items()
        for item in _fill_templates({group: tuple(NAMES[group])}, {text: text})
    )
    people = [name for names in NAMES.values() for name in names]
    model = table_model([*people, "likes", "buena", "bueno", "cook", "run", "sew"], table)
    metric = MODEL_METRICS["disco"]
    sets = (ItemSet("all", "es", items=(*both, *alone)), ItemSet("alone", "es", items=alone))
    row, none = metric.by_convention(items=given(*sets), top=2).score(model, seed=0)
    assert row.value == 2
    assert (row.n_found, row.n_oov) == (16, 16)
    assert "lost, alone in their template=16" in row.settings
    assert math.isnan(none.value)
    assert "no template" in none.reason


@pytest.mark.slow
@pytest.mark.realdata
def test_bec_pro_in_german(bert: LanguageModel, realdata: Path) -> None:
    path = realdata / "models/bec_pro/BEC-Pro_DE.tsv"
    sets = {items.name: items for items in BecPro(str(path)).load()}
    assert list(sets) == [f"bec_pro_de_{name}" for name in ("male", "female", "balanced")]
    assert {items.language for items in sets.values()} == {"de"}
    rows = pd.read_csv(path, sep="\t", dtype=str)
    for typed in ("male", "balanced"):
        own = rows[rows["Prof_Gender"] == typed].to_dict("records")
        row = scored(bert, sets[f"bec_pro_de_{typed}"])
        assert row.value == pytest.approx(literal_score(bert, own), rel=1e-3, abs=2e-5)  # type: ignore[arg-type]
        assert abs(row.value) > 1e-4
        assert row.n_found + row.n_oov == 1800
        assert "compared=between texts" in row.settings


@pytest.mark.slow
@pytest.mark.realdata
def test_every_text_of_bec_pro_in_english_is_of_both_groups(
    bert: LanguageModel, realdata: Path
) -> None:
    """Its file masks "man" in "manager" too, so that ten texts stood alone."""
    for items in BecPro(str(realdata / "models/bec_pro/BEC-Pro_EN.tsv")).load():
        assert items.language == "en"
        assert all(item.text.count("[MASK]") == 1 for item in items.items)
        groups: dict[str, set[str]] = {}
        for item in items.items:
            groups.setdefault(item.text, set()).add(item.group)
        assert {len(names) for names in groups.values()} == {2}
        row = scored(bert, items)
        assert "compared=within texts" in row.settings
        assert row.n_found + row.n_oov == 1800


@pytest.mark.realdata
def test_honest_in_spanish(bert: LanguageModel, realdata: Path) -> None:
    """Spanish templates agree with the gender: most are of one group."""
    path = realdata / "models/honest/binary_es_template.tsv"
    items = Honest(str(path)).load()[0]
    assert (items.name, items.language) == ("honest_binary_es", "es")
    table = pd.read_csv(path, sep="\t", dtype=str).drop_duplicates()
    groups = table.groupby("raw")["category"].nunique()
    alone = int((table["raw"].map(groups) == 1).sum())
    row = scored(bert, items, "disco")
    assert alone > 300
    assert f"lost, alone in their template={alone}" in row.settings
    assert (row.n_found, row.n_oov) == (len(table) - alone, alone)


# More than two groups of terms or fillers: each against the others, by literal loops.

GROUPS: dict[str, tuple[str, ...]] = {
    "a": ("nurse", "teacher", "baker", "clerk", "guard"),
    "b": ("doctor", "engineer", "mason", "waiter", "tailor"),
    "c": ("market", "office", "hospital", "family", "home"),
}
PHRASES = {"that": "the {} said that [MASK]", "and": "a {} and [MASK]", "as": "a {} as [MASK]"}
PHRASES |= {"the": "by the {} with [MASK]", "or": "{} or [MASK]"}
THREE_FILLERS = ("he", "she", "woman")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LanguageModel]:
    heads = {"bert": "masked", "gpt2": "causal"}
    return {
        head: open_model(save_model(tmp_path_factory.mktemp(name), name, head=head))
        for name, head in heads.items()
    }


def two_group_score(
    metric: type[LogProbabilityBias | NextWord],
    model: LanguageModel,
    groups: Mapping[str, tuple[str, ...]],
    fillers: tuple[str, str],
) -> tuple[float, float]:
    """The score and p of two groups and two fillers."""
    items = ItemSet("two", "en", items=_fill_templates(groups, PHRASES), fillers=(fillers,))
    [row] = metric(items=given(items)).score(model, seed=0)
    assert not row.part
    return row.value, row.p_value


@pytest.mark.parametrize(("metric", "head"), [(LogProbabilityBias, "masked"), (NextWord, "causal")])
def test_each_group_of_terms_is_held_against_all_others(
    metric: type[LogProbabilityBias | NextWord], head: str, models: dict[str, LanguageModel]
) -> None:
    items = ItemSet("three", "en", items=_fill_templates(GROUPS, PHRASES), fillers=(("he", "she"),))
    rows = metric(items=given(items)).score(models[head], seed=0)
    assert [row.part for row in rows] == [f"{name} against the others" for name in GROUPS]
    for row, name in zip(rows, GROUPS, strict=True):
        rest = tuple(term for other in GROUPS if other != name for term in GROUPS[other])
        pooled = {name: GROUPS[name], "rest": rest}
        value, p = two_group_score(metric, models[head], pooled, ("he", "she"))
        assert row.value == pytest.approx(value, abs=1e-6)
        assert row.p_value == pytest.approx(p)
        assert row.n_found == 75
        assert row.low < row.high


@pytest.mark.parametrize(("metric", "head"), [(LogProbabilityBias, "masked"), (NextWord, "causal")])
def test_each_filler_is_held_against_the_mean_of_the_others(
    metric: type[LogProbabilityBias | NextWord], head: str, models: dict[str, LanguageModel]
) -> None:
    two = {name: GROUPS[name] for name in "ab"}
    items = ItemSet("fillers", "en", items=_fill_templates(two, PHRASES), fillers=(THREE_FILLERS,))
    rows = metric(items=given(items)).score(models[head], seed=0)
    assert [row.part for row in rows] == [f"{word} against the others" for word in THREE_FILLERS]
    score = {
        pair: two_group_score(metric, models[head], two, pair)[0]
        for pair in combinations(THREE_FILLERS, 2)
    }
    score |= {(second, first): -value for (first, second), value in score.items()}
    for row, word in zip(rows, THREE_FILLERS, strict=True):
        others = [score[word, other] for other in THREE_FILLERS if other != word]
        assert row.value == pytest.approx(np.mean(others), abs=1e-5)
        assert 0 <= row.p_value <= 1
        assert "fillers=he/she/woman" in row.settings
    assert sum(row.value for row in rows) == pytest.approx(0, abs=1e-5)


def test_several_groups_and_fillers_are_crossed(models: dict[str, LanguageModel]) -> None:
    items = ItemSet("both", "en", items=_fill_templates(GROUPS, PHRASES), fillers=(THREE_FILLERS,))
    rows = LogProbabilityBias(items=given(items)).score(models["masked"], seed=0)
    assert len({row.part for row in rows}) == 9
    assert rows[0].part == "he against the others; a against the others"
    standardised = LogProbabilityBias.by_convention("effect_size", items=given(items))
    assert all(np.isfinite(row.value) for row in standardised.score(models["masked"], seed=0))
    assert "more than two fillers" in PlantedBias.reason_against(items)
    assert not items.paired


def test_a_row_of_fillers_has_a_word_for_every_group(tmp_path: Path) -> None:
    assert _parse_fillers(["he/she/they", "him/her/them"])[1] == ("him", "her", "them")
    text = "text,group,term,template,fillers\n[MASK] met {},a,nurse,,he/she/they\n"
    path = tmp_path / "mine.csv"
    path.write_text(text + "[MASK] met {},a,doctor,,he/she\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"row 2 of .* has 2 fillers, row 1 3"):
        read_items(path)
