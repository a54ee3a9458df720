"""What the slots of one's own texts are filled with: from the file, the options or the language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from biasbridge import audit
from biasbridge.commands.audit import main
from biasbridge.corpora.items import UserItems, user_items
from biasbridge.debias.erasers import _item_examples
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.models.items import read_items
from biasbridge.intrinsic.models.probe import _examples_of
from biasbridge.model_debiasing import read_items as items_for_debiasing
from tests.tiny_models import save_model

HEADER = "text,group,term,template\n"
GERMAN = HEADER + (
    "[MASK] ist nicht der {},male,Arzt,\n[MASK] ist nicht der {},male,Boss,\n"
    "[MASK] ist nicht die {},female,Dame,\n[MASK] ist nicht die {},female,Hebamme,\n"
)
CASES = Path(__file__).parent / "cases" / "vectors"
UNKNOWN = HEADER + "[MASK] arbeitet als {},male,Koch,\n[MASK] arbeitet als {},female,Amme,\n"


@pytest.fixture(scope="module")
def cased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model that tells Er from er, in larger numbers than usual."""
    folder = tmp_path_factory.mktemp("model") / "cased"
    return save_model(folder, "roberta", head="masked", scale=8)


def write(folder: Path, text: str, name: str = "mine.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def literal_score(folder: Path, text: str, fillers: tuple[str, str]) -> float:
    """Men minus women of log p(first)/p(first, term masked) less the same of the second."""
    model = open_model(folder)
    means: dict[str, list[float]] = {"male": [], "female": []}
    for line in text.splitlines()[1:]:
        template, group, term, _ = line.split(",")
        one, other = (log_ratio(model, template, term, filler) for filler in fillers)
        means[group].append(one - other)
    return float(np.mean(means["male"]) - np.mean(means["female"]))


def log_ratio(model: LanguageModel, template: str, term: str, filler: str) -> float:
    tokenizer: Any = model.tokenizer
    opened: Any = model.model
    text = template.replace("[MASK]", filler).replace("{}", term)
    encoded = tokenizer(text, return_offsets_mapping=True)
    ids, spans = encoded["input_ids"], encoded["offset_mapping"]
    start = text.index(term, len(filler))
    of_filler = [n for n, (a, b) in enumerate(spans) if a < len(filler) and b > a]
    of_term = [n for n, (a, b) in enumerate(spans) if a < start + len(term) and b > start]
    logs = []
    for hidden in (of_filler, of_filler + of_term):
        shown = [tokenizer.mask_token_id if n in hidden else token for n, token in enumerate(ids)]
        with torch.no_grad():
            logits = opened(input_ids=torch.tensor([shown])).logits[0].log_softmax(dim=-1)
        logs.append(sum(float(logits[n, ids[n]]) for n in of_filler))
    return logs[0] - logs[1]


def test_german_texts_are_filled_with_german_pronouns(cased: Path, tmp_path: Path) -> None:
    """A capital at the beginning of a text; the file's name says nothing."""
    path = write(tmp_path, GERMAN)
    table = audit(cased, metrics="lpbs", items=path)
    expected, english = (
        literal_score(cased, GERMAN, pair) for pair in (("Er", "Sie"), ("he", "she"))
    )
    assert abs(expected - english) > 2e-3
    assert table["value"].item() == pytest.approx(expected, abs=2e-4)
    assert table["language"].item() == "de"
    note = "assuming language 'de'; give the language if it is another"
    assert table.attrs["notes"][0].endswith(note)
    given = audit(cased, metrics="lpbs", items=path, language="de")
    assert not any("assuming" in note for note in given.attrs["notes"])


@pytest.mark.parametrize("way", ["option", "python", "column"])
def test_fillers_are_those_given(
    cased: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    text = GERMAN
    if way == "column":
        head, *rows = GERMAN.splitlines()
        text = "\n".join([f"{head},fillers", *(f"{row},der Mann/die Frau" for row in rows)])
    path = write(tmp_path, text)
    pair = [] if way == "column" else ["der Mann/die Frau"]
    if way == "option":
        options = ["--metric", "lpbs", "--items", path, "--fillers", *pair, "--json"]
        assert main([str(cased), *options]) == 0
        [row] = json.loads(capsys.readouterr().out)
        value, language = row["value"], row["language"]
    else:
        table = audit(cased, metrics="lpbs", items=path, fillers=pair)
        value, language = table["value"].item(), table["language"].item()
    expected = literal_score(cased, GERMAN, ("Der Mann", "Die Frau"))
    assert value == pytest.approx(expected, abs=2e-4)
    assert language == "de"


@pytest.mark.parametrize(
    ("language", "start", "inside"),
    [
        ("en", ("He", "She"), ("he", "she")),
        ("es", ("Él", "Ella"), ("él", "ella")),
        ("de", ("Er", "Sie"), ("er", "sie")),
        ("it", ("Lui", "Lei"), ("lui", "lei")),
        ("ru", ("Он", "Она"), ("он", "она")),
        ("hr", ("On", "Ona"), ("on", "ona")),
    ],
)
def test_a_capital_begins_a_text(
    tmp_path: Path, language: str, start: tuple[str, str], inside: tuple[str, str]
) -> None:
    text = HEADER + "[MASK] x {},a,nurse,\nx {} x [MASK],b,guard,\n"
    items = read_items(write(tmp_path, text), language)
    assert [items.fillers_of(item) for item in items.items] == [(start,), (inside,)]
    assert items.paired[0].stereo == f"{start[0]} x nurse"
    assert {each.group for each in _examples_of(items)} == {*inside}


@pytest.mark.parametrize("fillers", ["", "he/she"])
def test_given_fillers_get_the_capital_of_those_of_the_language(fillers: str) -> None:
    """A model with both ``he`` and ``He``; the value is that of the table of cases."""
    model, items = CASES / "models" / "bert_cased", str(CASES / "slots.csv")
    table = audit(str(model), metrics="lpbs", items=items, fillers=fillers or ())
    assert table["value"].item() == pytest.approx(-0.676, abs=5e-4)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("[MASK] met a {}", ["Der Mann", "Die Frau"]),
        ("A {} left. [MASK] slept", ["Der Mann", "Die Frau"]),
        ('A {} left!" “[MASK] slept', ["Der Mann", "Die Frau"]),
        ("¿[MASK] met a {}?", ["Der Mann", "Die Frau"]),
        ("A {}, [MASK] slept", ["der Mann", "die Frau"]),
        ("Well... [MASK] met a {}", ["der Mann", "die Frau"]),
        ("A {} of 1.5 m [MASK] met", ["der Mann", "die Frau"]),
    ],
)
@pytest.mark.parametrize("in_column", [True, False])
def test_a_word_that_begins_a_sentence_has_a_capital(
    tmp_path: Path, text: str, filled: list[str], in_column: bool
) -> None:
    table = pd.DataFrame([{"text": text, "group": "a", "term": "nurse", "template": "t"}])
    pair = "der Mann/die Frau"
    (table.assign(fillers=pair) if in_column else table).to_csv(tmp_path / "a.csv", index=False)
    items = read_items(tmp_path / "a.csv", "de", () if in_column else (pair,))
    [pairs] = items.fillers_of(items.items[0])
    assert [*pairs] == filled


def test_a_term_that_fills_a_text_is_spelt_as_in_its_row(tmp_path: Path) -> None:
    items = read_items(write(tmp_path, HEADER + "{} met us,a,he,\n{} met us,a,She,\n")).items
    assert [item.sentence for item in items] == ["he met us", "She met us"]


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (UNKNOWN, [], "language is unknown: give --language, --fillers A/B or a column"),
        (UNKNOWN, ["--language", "tr"], "'tr' has no default ones: give --fillers A/B or a column"),
        (GERMAN, ["--fillers", "Er"], "'Er': give two words with a slash"),
        (GERMAN, ["--fillers", "Er/Er"], "two words"),
        (GERMAN, ["--fillers", "Er/Sie/Er"], "two words"),
        (GERMAN, ["--fillers", "Er/Sie/Es", "Ihn/Sie"], "a word for every group in each"),
        (HEADER + "{} ist nicht da,a,Er,\n", ["--fillers", "Er/Sie"], "without a slot for fillers"),
        ("stereo,anti\nhe is,she is\n", ["--fillers", "Er/Sie"], "without a slot for fillers"),
    ],
)
def test_slots_without_fillers_are_refused_in_a_line(
    cased: Path, tmp_path: Path, text: str, options: list[str], told: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=told) as refusal:
        main([str(cased), "--metric", "lpbs", "--items", path, *options])
    assert "\n" not in str(refusal.value)


def test_fillers_of_nothing_or_given_twice_are_refused(cased: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give --items"):
        main([str(cased), "--fillers", "Er/Sie"])
    column = "text,group,term,template,fillers\n[MASK] ist {},a,Koch,,er/sie\n"
    path = write(tmp_path, column)
    assert read_items(path, "tr").fillers == (("er", "sie"),)
    with pytest.raises(InputError, match="remove it or the other"):
        audit(cased, metrics="lpbs", items=path, fillers="Er/Sie")
    with pytest.raises(InputError, match=r"row 2 of .* has no fillers"):
        read_items(write(tmp_path, f"{column}[MASK] ist {{}},b,Amme,,\n"))
    honest = "template_masked\traw\tidentity\tcategory\ttype\nhe is [M]\t[I] is [M]\the\tmale\tx\n"
    with pytest.raises(InputError, match="is honest, which takes no fillers"):
        user_items(write(tmp_path, honest, "honest.tsv"), None, ["Er/Sie"])


def test_metrics_without_fillers_take_any_language(cased: Path, tmp_path: Path) -> None:
    text = HEADER + "{} arbeitet als [MASK],male,Koch,\n{} arbeitet als [MASK],female,Amme,\n"
    table = audit(cased, metrics="disco", items=write(tmp_path, text))
    assert table["value"].notna().all()
    assert table["language"].item() == "und"


def test_an_eraser_is_not_fitted_on_english_fillers(cased: Path, tmp_path: Path) -> None:
    encoder = Encoder(open_model(cased))
    source = items_for_debiasing(write(tmp_path, UNKNOWN))
    assert isinstance(source, UserItems)
    with pytest.raises(InputError, match="language is unknown"):
        _item_examples(encoder, source.load(), ("pairs",))
    german = UserItems(write(tmp_path, GERMAN)).load()
    assert _item_examples(encoder, german, ("pairs",)).description == "4 of 4 pairs, mine"


@pytest.mark.parametrize(
    ("name", "language"),
    [("x.csv", "und"), ("x_DE.csv", "de"), ("es_x.csv", "es"), ("der.csv", "und")],
)
def test_a_language_that_texts_do_not_tell_is_that_of_the_name(
    tmp_path: Path, name: str, language: str
) -> None:
    assert read_items(write(tmp_path, UNKNOWN, name)).language == language
    assert read_items(write(tmp_path, GERMAN, name)).language == "de"
    assert read_items(write(tmp_path, GERMAN, name), "it").language == "it"
