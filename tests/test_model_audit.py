"""Audits of language models: one's own items, names, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import transformers

from biasbridge import audit
from biasbridge.commands.audit import main
from biasbridge.files import InputError
from biasbridge.intrinsic.models.items import read_items
from tests.tiny_models import save_model

HEADER = "text,group,term,template\n"
SLOTS = HEADER + (
    "[MASK] is a nurse,women,nurse,\n[MASK] is a doctor,men,doctor,\n"
    "[MASK] was a {},women,teacher,\n[MASK] was a {},men,engineer,\n"
)
PAIRS = "stereo,anti,group\nthe nurse said she,the nurse said he,a\na woman said,a man said,b\n"


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("one") / "tiny", "bert", head="masked")


def write(folder: Path, text: str, name: str = "mine.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_slot_asks_for_fillers_where_the_text_has_its_term(tmp_path: Path) -> None:
    rows = "{} is a Nurse,a,nurse,\n[MASK] met {},a,guard,\n{} met the man,a,a guard,\n"
    items = read_items(write(tmp_path, HEADER + rows)).items
    assert [item.fills for item in items] == [False, False, True]
    assert [item.text for item in items] == [
        "[MASK] is a Nurse",
        "[MASK] met guard",
        "[MASK] met the man",
    ]
    assert [item.template for item in items] == ["{} is a {}", "[MASK] met {}", "{} met the man"]
    for bad, told in (
        ("no slot,a,nurse,\n", "needs one slot"),
        ("{} and {},a,nurse,\n", "needs one slot"),
        ("{} is,,nurse,\n", "has no group"),
    ):
        with pytest.raises(InputError, match=told):
            read_items(write(tmp_path, HEADER + bad))


def test_templates_of_own_items_are_what_terms_share(masked: Path, tmp_path: Path) -> None:
    table = audit(masked, metrics="lpbs", items=write(tmp_path, SLOTS))
    assert "terms=4; templates=2" in table["settings"].item()
    assert table[["vectors", "n", "n_oov"]].to_numpy().tolist() == [["tiny", 4, 0]]


def test_terms_that_fill_a_text_alone_are_compared_with_nothing(
    masked: Path, tmp_path: Path
) -> None:
    alone = "{} is here,women,nurse,\n{} is there,men,doctor,\n"
    table = audit(masked, metrics="lpbs", items=write(tmp_path, HEADER + alone))
    assert table["value"].isna().all()
    assert "texts have terms of one group each" in table["reason"].item()


def test_pairs_whose_difference_is_unknown_are_lost_and_parts_count_their_own(
    masked: Path, tmp_path: Path
) -> None:
    unknown = "the zz said,the zzz said,a\n"  # no z in the vocabulary
    table = audit(masked, metrics=["pll", "aul"], items=write(tmp_path, PAIRS + unknown))
    of_all = table[table["part"] == ""]
    assert of_all["n"].tolist() == [2, 2]
    assert of_all["oov"].tolist() == ["pair 3", "pair 3"]
    assert table.loc[table["part"] == "b", "n"].tolist() == [1, 1]
    assert table.loc[table["part"] == "b", "low"].isna().all()
    ties = audit(masked, metrics="aul", items=write(tmp_path, PAIRS), convention="kaneko")
    assert ties["p"].isna().all(), "ties count as anti: there is no fair coin to test against"


def test_models_of_one_name_are_told_apart(
    masked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "tiny"
    other.mkdir()
    for path in masked.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    items = write(tmp_path, PAIRS)
    both = audit([str(masked), str(other)], metrics="pll", items=items)
    assert {*both["vectors"]} == {str(masked), str(other)}
    assert main([str(masked), str(other), "--metric", "pll", "--items", items, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["vectors"] for row in rows} == {str(masked), str(other)}
    assert {"metric", "convention", "query", "value", "low", "high", "p", "n"} <= rows[0].keys()


def test_conventions_stand_side_by_side(masked: Path, tmp_path: Path) -> None:
    items = write(tmp_path, PAIRS)
    table = audit(masked, metrics="crows_pairs", items=items, convention="all")
    found = table.loc[table["part"] == "", ["convention", "value"]].set_index("convention")["value"]
    assert found.notna().all()
    of_masked = {"default", "nangia", "bias_bench", "kaneko", "biased_rulers", "salazar"}
    assert {*found.index} == of_masked, "those of causal models do not apply"
    named = audit(masked, metrics="crows_pairs", items=items, convention="lm_eval")
    assert "needs a causal model" in named["reason"].item()


def test_a_loaded_model_is_what_its_class_is(masked: Path, tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(masked)
    bare = transformers.AutoModel.from_pretrained(masked)  # its config names a head
    table = audit((bare, tokenizer), metrics="pll", items=write(tmp_path, PAIRS))
    assert "no head" in table["reason"].item()


def test_random_weights_say_nothing_of_what_was_planted(masked: Path, tmp_path: Path) -> None:
    items = write(tmp_path, PAIRS)
    own, drawn = (
        audit(masked, metrics="aula", items=items, random_weights=random)["value"]
        for random in (False, True)
    )
    assert drawn.notna().all(), "attention is read with random weights too"
    assert own.notna().all()


def test_what_does_not_go_together_is_refused_in_a_line(masked: Path, tmp_path: Path) -> None:
    items = write(tmp_path, PAIRS)
    for arguments, told in (
        ([str(masked), "--items", items, "--query", "occupations"], "not both"),
        ([str(masked), "--metric", "pll", "--case", "lower"], "--case applies to word vectors"),
        ([items, "--metric", "lpbs"], "lpbs measures language models, unlike mine.csv: give a"),
        ([str(tmp_path), "--metric", "lpbs"], "neither vectors nor a model: .* has config.json"),
        ([str(tmp_path)], "neither vectors nor a model: .* a model's folder has config.json"),
        (["absent", "--metric", "seat"], "no such file or folder: absent$"),
        (["absent"], "no such file: absent$"),
        ([f"{items[:-5]}.csv", "--metric", "seat"], r"folder: .*min\.csv; did you mean 'mine.csv'"),
        ([str(masked), "--metric", "plll"], "did you mean 'pll'"),
        ([str(masked), "--metric", "pll", "--items", items, "--convention", "x"], "no convention"),
    ):
        with pytest.raises(InputError, match=told):
            main(arguments)
    with pytest.raises(InputError, match="words applies to word vectors"):
        audit(masked, {"X": ["he"]}, items=items)
    bare = save_model(tmp_path / "bare", "bert")
    with pytest.raises(InputError, match=r"is an encoder \(BertModel\) and has no head; give a"):
        main([str(bare), "--metric", "pll", "--items", items])
