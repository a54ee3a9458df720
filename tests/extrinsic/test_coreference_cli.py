"""``biasbridge coreference`` on other people's files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from biasbridge.commands.coreference import main
from biasbridge.extrinsic.coreference.scorer import METRICS, score
from biasbridge.files import InputError
from biasbridge.files.documents import Document, write_documents
from tests.write_conll import write_conll

KEY = Document("a", (("The", "nurse", "told", "him", "she", "left"),), (((0, 2), (4, 5)),))
LONE = replace(KEY, clusters=(((0, 2), (4, 5)), ((3, 4),)))
MORE = replace(KEY, name="b", clusters=(((3, 4), (4, 5)),))


@pytest.fixture
def key(tmp_path: Path) -> str:
    write_conll([KEY, MORE], tmp_path / "key.conll")
    return str(tmp_path / "key.conll")


def response(key: str, *documents: Document) -> str:
    path = Path(key).with_name("response.jsonl")
    write_documents(documents, path)
    return str(path)


def test_table(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([key, response(key, MORE, LONE)])
    out = capsys.readouterr().out
    rows = {
        row.split("│")[1].strip(): row.split("│")[2:5] for row in out.splitlines() if "│" in row
    }
    assert len(rows) == len(METRICS)
    assert [cell.strip() for cell in rows["mention detection"]] == ["80.00", "100.00", "88.89"]
    assert [cell.strip() for cell in rows["MUC"]] == ["100.00"] * 3
    assert "key 4 mentions in 2 clusters" in out
    assert "response 5 mentions in 3 clusters" in out


def test_json(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([key, response(key, MORE, LONE), "--json"])
    shown = json.loads(capsys.readouterr().out)
    expected = score([(KEY, LONE), (MORE, MORE)])
    assert shown["documents"] == 2
    assert shown["singletons"] == "keep"
    assert shown["scores"] == {name: row._asdict() for name, row in expected.items()}


def test_singletons_dropped_from_both_sides(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([key, response(key, MORE, LONE), "--singletons", "drop", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert {row["f1"] for row in shown["scores"].values()} == {1.0}


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (
            [KEY],
            "the key has document b part 0, the response does not; .*1 of 2 documents are missing",
        ),
        (
            [KEY, MORE, replace(KEY, name="c")],
            "the response has document c part 0, the key does not",
        ),
        ([KEY, replace(MORE, part=1)], "did you mean 'document b part 1'"),
        ([KEY, MORE, MORE], "the response has document b part 0 twice"),
        (
            [replace(KEY, sentences=(("The", "nurse", "told", "her", "she", "left"),)), MORE],
            "document a part 0, token 3: the key has 'him', the response has 'her'",
        ),
        (
            [KEY, replace(MORE, sentences=(*MORE.sentences, (".",)))],
            "document b part 0, token 6: the key has ended, the response has '.'",
        ),
    ],
)
def test_other_documents_or_tokens(key: str, documents: list[Document], message: str) -> None:
    with pytest.raises(InputError, match=message):
        main([key, response(key, *documents)])


def test_faults_are_refused_or_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.conll"
    path.write_text("#begin document (a)\n0\tw\t(1)\n1\tw\t(1)\n2\tw\t(2\n#end document\n")
    with pytest.raises(InputError, match="line 4"):
        main([str(path), str(path)])
    main([str(path), str(path), "--mend", "--json"])
    captured = capsys.readouterr()
    assert captured.err.count("mended: ") == 2
    assert json.loads(captured.out)["scores"]["muc"]["f1"] == 1
