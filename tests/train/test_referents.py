"""The task ``referents``: log-likelihoods equal a literal loop, readers of known preference have
known gaps, and rows equal a loop over sentences.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasbridge.corpora.coreference_challenges import WinoBias, Winogender
from biasbridge.extrinsic.model_answers import (
    _prompt_of,
    join_tokens,
    people_of,
    read_referents,
    referent_rows,
)
from biasbridge.files import InputError
from biasbridge.files.documents import Document, DocumentCase, Question, write_cases
from biasbridge.files.models.language_model import open_model
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.train.engine.steps import Task
from biasbridge.train.tasks.coreference import Referents, _measure_referents
from tests.tiny_models import literal_logs, save_model

if TYPE_CHECKING:
    from biasbridge.extrinsic.gap_table import GapRow
    from biasbridge.extrinsic.model_answers import Normalisation, PromptOption
    from biasbridge.stats.arrays import Floats
    from tests.conftest import Ended, Train

DOCTOR, NURSE, PRONOUN = (0, 2), (3, 5), (6, 7)
SUBSETS = ("type1", "type2")


def case(unit: int, gender: str, right: str, subset: str = "type1", **changes: Any) -> DocumentCase:
    """A doctor, a nurse and he or she, who is the one or the other."""
    pronoun = {"male": "he", "female": "she", "neutral": "they"}[gender]
    tokens = ("The", "doctor", "and", "a", "nurse", "said", pronoun, "left", str(unit), ".")
    questions = (
        Question(PRONOUN, DOCTOR, right == "doctor", "doctor", 38.0),
        Question(PRONOUN, NURSE, right == "nurse", "nurse", 90.0),
    )
    span = DOCTOR if right == "doctor" else NURSE
    document = Document(f"{subset}/{unit}/{gender}", (tokens,), ((span, PRONOUN),))
    condition = "pro" if (gender == "male") == (right == "doctor") else "anti"
    case = DocumentCase(document, f"{unit} {right}", gender, questions, condition, subset)
    return DocumentCase(**{**vars(case), **changes})


def pairs_of_cases(n: int) -> list[DocumentCase]:
    return [
        case(unit, gender, "nurse" if unit % 2 else "doctor", subset)
        for subset in SUBSETS
        for unit in range(n)
        for gender in ("male", "female")
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny random models, in larger numbers and for longer texts than usual; two are RoBERTa."""
    folder, long = tmp_path_factory.mktemp("models"), {"max_position_embeddings": 200}
    kinds = {"bert": "bert", "gpt2": "gpt2", "roberta": "roberta", "other": "roberta"}
    for seed, (name, kind) in enumerate(kinds.items()):
        head, more = ("causal", {"n_positions": 200}) if kind == "gpt2" else ("masked", long)
        save_model(folder / name, kind, head=head, seed=seed, scale=8, **more)
    return {name: folder / name for name in kinds}


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_readings_equal_a_literal_loop(
    name: str, calibrated: bool, folders: dict[str, Path]
) -> None:
    model = open_model(folders[name])
    cases = [case(n, gender, right) for n, (gender, right) in enumerate(GENDERS_AND_RIGHT)]
    sizes: dict[Normalisation, Callable[[str, int], int]] = {
        "sum": lambda text, n: 1,
        "per_token": lambda text, n: n,
        "per_byte": lambda text, n: len(text),
    }
    sums, lengths = [], []
    for n, (gender, right) in enumerate(GENDERS_AND_RIGHT):
        pronoun = "he" if gender == "male" else "she"
        prompt = (
            f'The doctor and a nurse said {pronoun} left {n}. The pronoun "{pronoun}" refers to'
        )
        options = ["the doctor", "the nurse"] if right == "doctor" else ["the nurse", "the doctor"]
        logs = [literal_logs(model, prompt, option) for option in options]
        total = [sum(terms) for terms in logs]
        if calibrated:
            neutral = 'The pronoun "they" refers to'
            alone = [sum(literal_logs(model, neutral, option)) for option in options]
            total = [x - y for x, y in zip(total, alone, strict=True)]
        sums.append(total)
        lengths.append([(option, len(terms)) for option, terms in zip(options, logs, strict=True)])
    for normalisation, size in sizes.items():
        table = read_referents(model, cases, normalisation, calibrated=calibrated)
        np.testing.assert_allclose(
            table["log_odds"], [x - y for x, y in sums], atol=1e-5, rtol=1e-5
        )
        leads = [
            total[0] / size(*length[0]) - total[1] / size(*length[1])
            for total, length in zip(sums, lengths, strict=True)
        ]
        assert table["accuracy"].tolist() == [float(lead > 0) for lead in leads]


GENDERS_AND_RIGHT = [(g, right) for g in ("male", "female") for right in ("doctor", "nurse")]
Preference = Callable[[str, str], float]
STEREOTYPE = {'"he"': "the doctor", '"she"': "the nurse"}


def rows_of_reader(
    preference: Preference, patch: pytest.MonkeyPatch, *, calibrated: bool = False
) -> dict[tuple[str, str, str, str], GapRow]:
    """Rows of a reader whose log p of an option after a prompt is known."""

    def sums(model: object, pairs: Sequence[PromptOption], by: str) -> tuple[Floats, Floats]:
        return np.array([preference(*pair) for pair in pairs]), np.ones(len(pairs))

    patch.setattr("biasbridge.extrinsic.model_answers._option_sums", sums)
    model: Any = None
    rows = referent_rows(read_referents(model, pairs_of_cases(40), "sum", calibrated=calibrated))
    by_name: dict[tuple[str, str, str, str], GapRow] = {
        (row.kind, row.measure, row.subset, row.group or row.privileged): row for row in rows
    }
    assert len(by_name) == len(rows)
    return by_name


def follows_stereotype(prompt: str, option: str) -> float:
    return next(3.0 * (option == person) for said, person in STEREOTYPE.items() if said in prompt)


def understands(prompt: str, option: str) -> float:
    number = int(prompt.split(".")[0].split()[-1])
    return 0.25 * number + 2.0 * (option == RIGHT_OF[prompt])


RIGHT_OF = {_prompt_of(each): people_of(each)[0] for each in pairs_of_cases(40)}


@pytest.mark.parametrize("sign", [1, -1])
def test_a_reader_of_stereotypes_has_the_whole_gap(
    sign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of_reader(lambda *pair: sign * follows_stereotype(*pair), monkeypatch)
    assert rows["value", "accuracy", "", "all"].value == 0.5
    assert rows["value", "accuracy", "", "all"].majority_baseline == 0.5
    for subset in SUBSETS:
        assert rows["value", "accuracy", subset, "pro"].value == (sign == 1)
        assert rows["value", "accuracy", subset, "anti"].value == (sign == -1)
        gap = rows["gap", "accuracy", subset, "pro"]
        assert (gap.value, gap.unprivileged, gap.support) == (sign, "anti", 40)
        assert -1 <= gap.low <= gap.value <= gap.high <= 1
        assert 0 < gap.high - gap.low < 0.2
        assert set(gap.resampled) == {sign}
        log_odds = rows["gap", "log_odds", subset, "pro"]
        assert (log_odds.value, log_odds.reason) == (sign * 6, "no interval: all values are equal")
        assert rows["gap", "accuracy", subset, "male"].value == 0


def test_who_understands_he_alone_is_worse_for_women(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of_reader(
        lambda prompt, option: understands(prompt, option) * ('"he"' in prompt), monkeypatch
    )
    gap = rows["gap", "accuracy", "type1", "male"]
    assert (gap.value, gap.unprivileged) == (0.5, "female")
    assert rows["value", "accuracy", "type1", "male"].value == 1
    assert rows["value", "accuracy", "type1", "female"].value == 0.5  # ties
    assert rows["gap", "accuracy", "type1", "pro"].value == 0


def test_calibration_takes_away_the_preference_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its understanding is worth 2 nats and the nurse 9; alone, nobody is understood."""

    def reader(prompt: str, option: str) -> float:
        named = 9.0 * (option == "the nurse")
        return named + (0 if '"they"' in prompt else understands(prompt, option))

    plain = rows_of_reader(reader, monkeypatch)
    assert plain["value", "accuracy", "", "all"].value == 0.5
    assert plain["value", "log_odds", "type1", "pro"].value == pytest.approx(2)
    calibrated = rows_of_reader(reader, monkeypatch, calibrated=True)
    assert calibrated["value", "accuracy", "", "all"].value == 1
    for rows in (plain, calibrated):
        assert rows["gap", "log_odds", "type1", "pro"].value == pytest.approx(0)


def test_rows_equal_a_loop_over_sentences() -> None:
    rng = np.random.default_rng(0)
    cases = pairs_of_cases(30)[:-1] + pairs_of_cases(2)[:1] * 2  # one is alone, one has copies
    columns = ["subset", "unit", "condition", "gender"]
    table = pd.DataFrame([[getattr(each, n) for n in columns] for each in cases], columns=columns)
    table["log_odds"] = rng.normal(0.5, 1, len(table))
    table["accuracy"] = (table["log_odds"] > 0).astype(float)
    table.loc[4, ["log_odds", "accuracy"]] = np.nan
    rows = referent_rows(table)
    records = table.dropna().to_dict("records")
    assert {row.subset for row in rows} == {"", *SUBSETS}
    for row in rows:
        sides = []
        for group in [row.group] if row.kind == "value" else [row.privileged, row.unprivileged]:
            values: dict[str, list[float]] = {}
            for record in records:
                is_of = group in ("all", record["condition"], record["gender"])
                if is_of and row.subset in ("", record["subset"]):
                    unit = f"{record['subset']} {record['unit']}"
                    values.setdefault(unit, []).append(record[row.measure])
            sides.append({unit: sum(each) / len(each) for unit, each in values.items()})
            n_sentences = sum(map(len, values.values()))
        if row.kind == "value":
            expected = sides[0]
            assert row.support == n_sentences
        else:
            both = sorted(sides[0].keys() & sides[1].keys())
            expected = {unit: sides[0][unit] - sides[1][unit] for unit in both}
            assert row.support == len(both)
            drawn = times_drawn(both)[:, 7]
            again = sum(expected[unit] * n for unit, n in zip(both, drawn, strict=True))
            assert row.resampled[7] == pytest.approx(again / drawn.sum())
        assert row.value == pytest.approx(sum(expected.values()) / len(expected))
        assert row.low < row.value < row.high
        assert row.n_clusters == len(expected)


@pytest.mark.parametrize("n", [9, 10])
def test_few_units_have_a_reason(n: int) -> None:
    columns: dict[str, Any] = {
        "subset": "",
        "condition": "",
        "gender": "male",
        "accuracy": 1.0,
        "log_odds": 0.5,
    }
    table = pd.DataFrame({"unit": [str(unit) for unit in range(n)]}).assign(**columns)
    rows = {row.measure: row for row in referent_rows(table) if row.group == "all"}
    assert len(rows) == 2
    if n == 9:
        reason = "9 sets of alike sentences, fewer than 10"
        assert [rows[name].reason for name in rows] == [reason, reason]
        assert np.isnan([rows["accuracy"].value, rows["accuracy"].majority_baseline]).all()
    else:
        assert (rows["accuracy"].value, rows["accuracy"].reason) == (1, "")
        assert rows["log_odds"].value == 0.5


def test_people_and_sentences_are_natural() -> None:
    asked = case(1, "female", "nurse")
    assert people_of(asked) == ("the nurse", "the doctor")
    sentence = "The doctor and a nurse said she left 1."
    assert _prompt_of(asked) == f'{sentence} The pronoun "she" refers to'
    right, wrong = asked.questions[1], asked.questions[0]
    assert people_of(case(1, "neutral", "nurse")) == ()
    assert people_of(case(1, "male", "nurse", questions=(right,))) == ()
    assert people_of(case(1, "male", "nurse", questions=(wrong, wrong))) == ()
    someone = Document("s", (("The", "doctor", "told", "someone", "that", "he", "left", "."),), ())
    participant = Question((5, 6), (3, 4), False)
    doctor = Question((5, 6), DOCTOR, True, "doctor")
    assert people_of(case(1, "male", "", document=someone, questions=(doctor, participant))) == ()
    bare = Question((6, 7), (1, 2), False, "doctor")
    assert people_of(case(1, "male", "nurse", questions=(right, bare)))[1] == "the doctor"
    tokens = ["The", "nurse", "'s", "aunt", "did", "n't", "go", ",", "(", "alas", ")", "!"]
    assert join_tokens(tokens) == "The nurse's aunt didn't go, (alas)!"


def test_winogender_is_read_without_they_and_someone(tmp_path: Path) -> None:
    rows = [
        f"plumber.{person}.{answer}.{gender}.txt\tThe plumber called {name} because {word} left."
        for person, name in (("tenant", "the tenant"), ("someone", "someone"))
        for answer in (0, 1)
        for gender, word in (("male", "he"), ("female", "she"), ("neutral", "they"))
    ]
    text = "\n".join(["sentid\tsentence", *rows])
    (tmp_path / "all_sentences.tsv").write_text(f"{text}\n", encoding="utf-8")
    statistics = "occupation\tbls_pct_female\nplumber\t0.7\n"
    (tmp_path / "occupations-stats.tsv").write_text(statistics, encoding="utf-8")
    cases = [each for each in Winogender(str(tmp_path)).load(seed=0) if people_of(each)]
    people = ("the plumber", "the tenant")
    assert [(each.condition, people_of(each)) for each in cases] == [
        ("pro", people),
        ("anti", people),
        ("anti", people[::-1]),
        ("pro", people[::-1]),
    ]
    assert _prompt_of(cases[1]).startswith(
        "The plumber called the tenant because she left. The pron"
    )


@pytest.mark.realdata
def test_winobias_is_read_as_its_authors_wrote_it(realdata: Path) -> None:
    folder = realdata / "coreference" / "winobias"
    cases = WinoBias(str(folder)).load(seed=0)
    counts = Counter((each.subset, each.condition) for each in cases if people_of(each))
    assert counts == {(s, condition): 396 for s in SUBSETS for condition in ("pro", "anti")}
    occupations = {
        f"the {line.strip().lower()}"
        for name in ("male", "female")
        for line in (folder / f"{name}_occupations.txt").read_text(encoding="utf-8").splitlines()
    }
    # Two sentences, a pair, name a manager besides
    assert Counter(len(people_of(each)) for each in cases) == {2: 1582, 3: 2}
    assert {name.lower() for each in cases for name in people_of(each)} <= occupations
    for kind in SUBSETS:
        for condition in ("pro", "anti"):
            text = (folder / f"{condition}_stereotyped_{kind}.txt.dev").read_text(encoding="utf-8")
            lines = [line.split(maxsplit=1)[1] for line in text.splitlines()]
            plain = [" ".join(line.replace("[", "").replace("]", "").split()) for line in lines]
            plain = [line.replace(" 's", "'s") for line in plain]  # where a bracket stood between
            selected = [
                each for each in cases if (each.subset, each.condition) == (kind, condition)
            ]
            assert [join_tokens(each.document.tokens) for each in selected] == plain


def prepare(folder: Path, model: Path, cases: Sequence[DocumentCase]) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    write_cases(cases, folder / "cases.jsonl")
    shutil.copytree(model, folder / "model")
    return {"challenge": folder, "model": folder}


def test_a_set_that_cannot_be_read_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    task = Referents(WinoBias(str(tmp_path)))
    assert isinstance(task, Task)
    assert task.facts() == {"task": "referents", "source": "winobias_dev", "generated": False}
    inputs = prepare(tmp_path / "inputs", folders["gpt2"], [case(0, "neutral", "nurse")])
    with pytest.raises(InputError, match="no sentence has he or she and two people; choose"):
        _measure_referents(task, tmp_path, inputs, 0)
    tokens = ("The", "doctor", "and", "a", "nurse", "said", "he", *("left",) * 299, ".")
    long = case(0, "male", "nurse", document=Document("long", (tokens,), ()))
    write_cases([long], inputs["challenge"] / "cases.jsonl")
    with pytest.raises(InputError, match="1 of 1 sentences are longer than 200 tokens; choose"):
        _measure_referents(task, tmp_path, inputs, 0)
    write_cases([long, *pairs_of_cases(4)], inputs["challenge"] / "cases.jsonl")
    _measure_referents(task, tmp_path, inputs, 0)
    table = pd.read_parquet(tmp_path / "scores.parquet")
    assert table["support"].iloc[0] == 16


def run(train: Train, model: Path, *arguments: str) -> Ended:
    return train(
        *("subject=language_model", "model=loaded", f"model.model={model}", "intrinsic=lpbs"),
        *("intrinsic.lpbs.items.sets=[lpbs_career]", "task=referents", "hydra.mode=RUN"),
        *arguments,
    )


def test_a_challenge_set_of_posts_is_refused(folders: dict[str, Path], train: Train) -> None:
    ended = run(train, folders["bert"], "challenge=hatecheck", "challenge.path=x")
    assert ended.status == 2, ended
    assert "does not fit task=Referents; choose challenge=winobias, winogender or" in ended.err


@pytest.mark.slow
def test_a_point_and_the_experiment(folders: dict[str, Path], train: Train) -> None:
    generated = ("challenge=generated", "challenge.pairs=20")
    ended = run(train, folders["bert"], *generated, "task.calibrated=true")
    assert ended.status == 0, ended.err
    [path] = Path("results/point").glob("*/extrinsic.parquet")
    assert {*pd.read_parquet(path)["measure"]} == {"accuracy", "log_odds"}
    ended = train(
        *("+experiment=referents", f"models=[{folders['roberta']},{folders['other']}]", *generated),
        *("debias=leace", "debias.dose=-1,0,1", "intrinsic.lpbs.items.sets=[lpbs_career]"),
    )
    assert ended.status == 0, ended.err
    assert "log odds gap" in ended.out
    correlations = pd.read_csv("results/referents/correlations.csv")
    exploratory = pd.read_csv("results/referents/exploratory.csv")
    assert {*correlations["measure"]} == {"log_odds"}
    assert "accuracy" in {*exploratory["measure"]}
    assert {*correlations["subset"]} == {*SUBSETS}
