"""Published collections at ``biasbridge check``: each is named, with a command that runs, or with
why there is none. The files here are made up in the forms of the collections.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from biasbridge.__main__ import main as biasbridge
from biasbridge.files import InputError
from biasbridge.user_data import COLLECTIONS, PublishedCollection
from tests.tiny_models import save_model

PEOPLE = (("male", "he"), ("female", "she"))
SAID = [f"{('he', 'she')[number % 2]} said that it is {number}" for number in range(40)]
JOBS = ("doctor", "engineer", "nurse", "teacher")
FILES = {
    "HateXplain": (
        "dataset.json",
        json.dumps(
            {
                "1_gab": {
                    "post_id": "1_gab",
                    "annotators": [{"label": "normal", "annotator_id": 1, "target": ["None"]}],
                    "rationales": [],
                    "post_tokens": ["the", "doctor"],
                }
            }
        ),
    ),
    "BBQ": (
        "Age.jsonl",
        '{"example_id": 7, "question_polarity": "neg", "context_condition": "ambig", "label": 2}\n',
    ),
    "the Gab Hate Corpus": (
        "dev.jsonl",
        "".join(
            json.dumps({"Text": text, "cv": 0, "hd": number // 2 % 2, "vo": 0, "text_id": number})
            + "\n"
            for number, text in enumerate(SAID)
        ),
    ),
    "BEC-Pro": (
        "BEC-Pro_DE.tsv",
        "\tSent_TM\tTemplate\tPerson\tGender\tProfession\tProf_Gender\n"
        + "".join(
            f"0\t[MASK] ist die {job} und nicht der {job}.\tt{job[0]}\t{who}\t{group}\t{job}"
            "\tbalanced\n"
            for job in JOBS
            for group, who in PEOPLE
        ),
    ),
    "HONEST": (
        "binary_en_template.tsv",
        "template_masked\traw\tidentity\tnumber\tcategory\ttype\n"
        + "".join(
            f"the {who} was the {job} of [M].\t[I] was the {job} of [M].\tthe {who}\tsingular"
            f"\t{group}_singular\toccupation\n"
            for job in JOBS
            for group, who in (("male", "man"), ("female", "woman"))
        ),
    ),
    "CrowS-Pairs": (
        "crows.csv",
        "sent_more,sent_less,stereo_antistereo,bias_type\n"
        + "".join(f"he is the {job},she is the {job},stereo,gender\n" for job in JOBS),
    ),
    "a table of pairs": (
        "pairs.csv",
        "stereo,anti\n" + "".join(f"he is the {job},she is the {job}\n" for job in JOBS),
    ),
    "a table of slots": (
        "slots.csv",
        "text,group,term,template\n"
        + "".join(f"[MASK] is a {{}} now.,{who},{job},now\n" for job in JOBS for who, _ in PEOPLE),
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def test_every_collection_has_a_file_here() -> None:
    assert [collection.name.partition(" (")[0] for collection in COLLECTIONS] == [*FILES]


@pytest.mark.parametrize("collection", COLLECTIONS, ids=[*FILES])
def test_a_collection_is_named_with_a_command_that_runs_or_with_why_there_is_none(
    collection: PublishedCollection, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, content = FILES[collection.name.partition(" (")[0]]
    Path(file).write_text(content, encoding="utf-8")
    status = biasbridge(["check", file])
    first, *more = capsys.readouterr().out.splitlines()
    assert first == f"{file} is {collection.name}: {collection.use}"
    if collection.kind == "posts":
        assert (status, more[0]) == (0, f"posts {file}: 40, text 'Text', label 'hd'; 20 0, 20 1")
        command = "source=csv source.path=dev.jsonl source.text=Text source.label=hd"
        assert any(command in line for line in more)
    elif collection.kind == "items":
        [line] = more
        assert (status, line[:11]) == (0, "to use it: ")
        assert ("--language de" in line) == ("_DE" in file)
        model = save_model(folder / "model", "bert", head="masked")
        words = shlex.split(line.removeprefix("to use it: biasbridge "))
        assert biasbridge([str(model) if word == "MODEL" else word for word in words]) == 0
    elif collection.kind == "answers":
        assert (status, more) == (0, ["to score a model, write its answers into a column answer"])
    else:
        assert (status, more) == (1, [])
    if collection.kind != "posts":
        with pytest.raises(InputError, match="leave it out"):
            biasbridge(["init", file])


def test_collections_beside_ones_own_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"text": text, "label": number // 2 % 2 == 0, "meta": [number]}
        for number, text in enumerate(SAID)
    ]
    Path("posts.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    for name in ("HateXplain", "HONEST"):
        Path(FILES[name][0]).write_text(FILES[name][1], encoding="utf-8")
    assert biasbridge(["check", "posts.jsonl", FILES["HONEST"][0]]) == 0
    printed = capsys.readouterr().out
    assert "posts posts.jsonl: 40, text 'text', label 'label'; 20 True, 20 False\n" in printed
    assert "biasbridge audit MODEL --items binary_en_template.tsv\n" in printed
    assert "a single run: biasbridge train " in printed
    assert biasbridge(["check", "posts.jsonl", FILES["HateXplain"][0]]) == 1
    assert "a single run: biasbridge train " in capsys.readouterr().out
