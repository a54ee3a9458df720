"""The commands that ``biasbridge check`` prints run, for each data file that the tests have."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from biasbridge.__main__ import main as command
from biasbridge.files import InputError

TESTS = Path(__file__).parent
CASES = TESTS / "cases"
COMMAND = re.compile(r": biasbridge (.+)")
SLOW = ("audit", "init")  # of vectors and models: tested with these


def data_files() -> list[Path]:
    files = [path for path in CASES.rglob("*") if path.is_file()]
    plain = [path for path in files if not (path.parent / "config.json").exists()]
    own = [TESTS / "words.yaml", TESTS / "similar.tsv", *TESTS.glob("analysis/*/*.parquet")]
    return sorted([*plain, *own])


def printed_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The commands that check prints; a refusal prints none."""
    try:
        status = command(["check", *arguments])
    except InputError:
        return []
    finally:
        printed = capsys.readouterr().out
    commands = [shlex.split(text) for text in COMMAND.findall(printed)]
    assert commands or status == 1 or "give two files" in printed
    return commands


@pytest.mark.parametrize("path", data_files(), ids=lambda path: path.name)
def test_each_command_that_check_prints_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree if path.is_dir() else shutil.copy
    copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    for words in printed_commands([path.name], capsys):
        if words[0] not in SLOW:
            plan = ["plan=true"] if words[0] == "train" else []
            assert status_of([*words, *plan]) == 0


def status_of(words: list[str]) -> object:
    """The status of a command; train exits by itself."""
    try:
        return command(words)
    except SystemExit as end:
        return end.code


def test_two_files_of_documents_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(CASES / "predictions" / f"four_{name}.conll") for name in ("key", "res")]
    [words] = printed_commands(paths, capsys)
    assert words == ["coreference", *paths]
    assert command([*words, "--json"]) == 0
    assert '"conll"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("label,prediction,group", ["1,1,a", "0,1,b"], ""),
        ("text,class,prediction,sex", ["x y,1,1,a", "z z,0,1,b"], " --gold class --group sex"),
        ("y,prediction,g", ["1,1,a", "0,1,b"], " --gold y --group g"),
        ("y_true,y_pred,muslim", ["mild,mild,1", "bad,mild,0"],
         " --gold y_true --pred y_pred --group muslim --positive bad"),
        ("label,prediction,group", ["a,a,x", "b,a,y", "c,c,x"], " --multiclass"),
        ("gold,label,score,sex", ["0,LABEL_0,.9,f", "1,LABEL_1,.8,m", "0,LABEL_1,.7,m"],
         " --gold gold --pred label --group sex --map LABEL_0=0,LABEL_1=1"),
        ("true_label,predicted_label,sex", ["not spam,spam,f", "spam,spam,m"],
         " --gold true_label --pred predicted_label --group sex --positive spam"),
        ("Hassrede;Vorhersage;Gruppe", ["ja;nein;Frauen", "nein;nein;Männer"],
         " --gold Hassrede --pred Vorhersage --group Gruppe"),
        ("label,prediction,group", ["1,1,a;b", "0,1,b"], " --group-sep ';'"),
        ("text,label,v1,v2,women,race", ["x y,1,1,0,1,w", "z z,0,1,0,0,b"],
         " --pred v1 --pred v2 --group race"),
        ("text,label,prediction,women,black", ["x y,1,1,1,0", "z z,0,1,0,1"],
         " --group women --group black"),
        ("text,label,model_1,sex", ["x y,1,LABEL_1,f", "z z,0,LABEL_0,m", "z z,0,LABEL_1,m"],
         " --pred model_1 --group sex --map LABEL_0=0,LABEL_1=1"),
        ("label,group,score", ["1,a,.8", "0,b,.25"], " --score score --threshold 0.5"),
        ("label,group,logit", ["1,a,1.5", "0,b,-1.2"], " --score logit --threshold 0.0"),
        ("label,group,score,author", ["1,a,.8,x", "0,b,.25,y"],
         " --score score --threshold 0.5 --cluster author"),
        ("label,group,score", ["1,a,80.5", "0,b,2.5"], " --score score --threshold 50.0"),
        ("target,male,muslim,model_score", ["0.3,0.8,0.1,0.2", "0.7,0.1,0.6,0.8"],
         " --gold target --group male --group muslim --score model_score --threshold 0.5"
         " --cut 0.5"),
    ],
)  # fmt: skip
def test_a_table_of_predictions_is_for_gaps(
    header: str, rows: list[str], options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("\n".join([header, *rows * 6]) + "\n", encoding="utf-8")
    assert command(["check", str(path)]) == 0
    *_, what, line = capsys.readouterr().out.splitlines()
    kind = "scores" if " --score " in options else "predictions"
    assert what.startswith(f"{path}: {kind} ")
    assert line == f"to measure gaps: biasbridge gaps {path}{options}"
    assert command(shlex.split(line.partition(": biasbridge ")[2])) in (0, 4)


def test_one_of_two_logits_is_no_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text("label,group,logits_0,logits_1\n" + "1,a,-1.5,1.5\n0,b,2.2,1.2\n" * 6)
    assert command(["check", str(path)]) == 1
    assert "write logits_1 - logits_0 into a column X" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("header", "problem"), [("prediction,x", "the label"), ("label,prediction", "the group")]
)
def test_what_a_table_of_predictions_lacks_is_named(
    header: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text(f"{header}\n" + "1,a b\n0,c d\n" * 6, encoding="utf-8")
    assert command(["check", str(path)]) == 1
    assert f"missing: {path}: no column is recognised as {problem}" in capsys.readouterr().out


def test_versions_come_before_posts_and_need_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("text,label,v1,v2\n" + "a b,1,1,0\nc d,0,1,0\n" * 6, encoding="utf-8")
    assert command(["check", str(path)]) == 1
    missing = f"no column is recognised as the group; name it in biasbridge gaps {path} --pred v1"
    assert f"{missing} --pred v2 --group COLUMN" in capsys.readouterr().out
    path.write_text("text,label,v1\n" + "a b,1,7\nc d,0,8\n" * 6, encoding="utf-8")
    command(["check", str(path)])  # 7 and 8 are no predictions of 0 and 1
    assert f"posts {path}: 12, text 'text', label 'label'" in capsys.readouterr().out


@pytest.mark.parametrize("has_predictions", [True, False])
def test_all_groups_are_named(
    has_predictions: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = [f"g{number:02d}" for number in range(24)]
    rows = [f"a post {group}{n},{n % 2},{n % 3 % 2},{group}" for group in groups for n in range(4)]
    name = "prediction" if has_predictions else "likes"
    path = tmp_path / "p.csv"
    path.write_text("\n".join([f"text,label,{name},group", *rows]), encoding="utf-8")
    command(["check", str(path), "--language", "en"])
    printed = capsys.readouterr().out
    pattern = "groups (.*)" if has_predictions else "groups by 'group': (.*)"
    [listed] = re.findall(pattern, printed)
    names = listed.replace("4 ", "").split(", ")
    assert sorted(names) == groups


def test_check_recodes_and_names_the_nearest_label(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    rows = "hate,hate,a\nok,neutral,b\n" * 6
    path.write_text(f"label,prediction,group\n{rows}", encoding="utf-8")
    assert command(["check", str(path), "--map", "neutral=ok"]) == 0
    printed = capsys.readouterr().out
    assert "recoded cells: neutral as ok (6)" in printed
    [line] = COMMAND.findall(printed)
    assert line.endswith("--positive hate --map neutral=ok")
    assert command(shlex.split(line)) == 0
    assert command(["check", str(path), "--map", "neutrl=ok"]) == 1
    assert "did you mean 'neutral'?" in capsys.readouterr().out
    path.write_text("label,text\n" + "hate,a b\nok,c d\n" * 6, encoding="utf-8")
    with pytest.raises(InputError, match="--map recodes predictions, and "):
        command(["check", str(path), "--map", "neutral=ok"])


def test_of_two_named_labels_one_is_positive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("class,v1,v2,sex\n" + "bad,bad,ok,f\nok,ok,ok,m\n" * 6, encoding="utf-8")
    for options, end in (([], "--positive bad"), (["--positive", "ok"], "--positive ok")):
        assert command(["check", str(path), *options]) == 0
        [line] = COMMAND.findall(capsys.readouterr().out)
        assert command(shlex.split(line)) in (0, 4)  # of two versions nobody can tell
        assert f"--pred v1 --pred v2 --group sex {end}" in line


@pytest.mark.parametrize("named", [["--group", "betrifft"], []])
def test_versions_are_the_columns_with_the_labels_of_the_named_one(
    named: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    rows = [f"satz {n},{'ja' if n % 3 else 'nein'},ja,nein,{'fm'[n % 2]}" for n in range(24)]
    rows += [f"noch {n},nein,nein,ja,{'fm'[n % 2]}" for n in range(24)]
    header = "satz,toxisch,filter_alt,filter_neu,betrifft"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    assert command(["check", str(path), "--label", "toxisch", *named]) == 0
    [line] = COMMAND.findall(capsys.readouterr().out)
    assert "--gold toxisch --pred filter_alt --pred filter_neu --group betrifft" in line
    assert command(shlex.split(line)) in (0, 3, 4)


def test_posts_may_have_lists_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "posts.jsonl"
    row = {"text": "a post", "label": 1, "tags": ["a", "b"], "meta": {"id": 3}}
    lines = [json.dumps({**row, "label": n % 2}) for n in range(12)]
    path.write_text("\n".join(lines), encoding="utf-8")
    command(["check", str(path)])
    assert f"posts {path}: 12, text 'text', label 'label'; 6 0, 6 1" in capsys.readouterr().out
