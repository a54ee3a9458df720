"""A mistake at the command line is answered by one line and status 2, at once, and leaves nothing
behind.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from biasbridge.__main__ import main
from biasbridge.commands import COMMANDS
from biasbridge.files import InputError
from biasbridge.files.errors import run_cli
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.words import load_query
from biasbridge.train.cli.composing import compose_point
from biasbridge.train.cli.sweep import _check_input

PRETRAINED = "embedding=pretrained embedding.path=own.vec"
POSTS = f"train {PRETRAINED} source=csv source.path=posts.csv"
DEBIAS = "debias own.vec out.vec --direction debias"
LONG = "a" * 5_000
# The command, and what its answer holds
MISTAKES = [
    # Data of one's own
    ("debias own.vec own.vec --direction debias", "is read, and would be overwritten"),
    ("debias own.vec other.vec --direction debias", "--force to replace it"),
    ("debias own.vec new/out.vec --direction debias", "there is no folder new"),
    (f"{POSTS} source.path=spanish.csv", "appear to be in 'es'"),
    (f"{POSTS} language=hr", "not in 'hr', which has"),
    (f"train {PRETRAINED} source=none language=fr", "no built-in query in 'fr'"),
    (f"train {PRETRAINED} source=none intrinsic.weat.words=absent.yaml", "no such file"),
    (f"{POSTS} source.text=tekst", "did you mean 'text'?"),
    (f"{POSTS} source.label=text", "labels beyond 0 and 1"),
    (f"{POSTS} source.group=label", "no post of source=posts has that group"),
    (f"{POSTS} source.path=wide.csv", "needs posts of both classes"),
    ("train +experiment=hatespeech_en source=csv source.path=posts.csv", "corpus=generated"),
    (f"{POSTS} +experiment=hatespeech_en source.text=x", "no column"),
    ("audit own.vec --metric weat --words bare.yaml", "has no B"),
    ("store ls", "is not a store"),
    (f"{DEBIAS} --until weat6b", "give QUERY=VALUE"),
    (f"{DEBIAS} --query weat6b --until weat6b=9", "does not reach 9"),
    ("train debias=balanse", "did you mean 'balance'?"),
    ("train seed=x", "give a whole number"),
    ("train debais=hard", "unknown config key 'debais'; did you mean 'debias'?"),
    ("train debias.dosse=1", "unknown config key 'dosse'; did you mean 'dose'?"),
    ("train figures.formats=[gif]", "each item one of svg, pdf, png"),
    ("train figures.width=wide", "figures.width='wide': give one of page, column"),
    ("train figures=png", "figures.formats=[svg,png]"),
    ("bbq absent", "no such file: absent"),
    ("predict model absent.csv out.csv", "no such file: absent.csv"),
    ("train +experiment=hatespeech_em", "did you mean 'hatespeech_en'?"),
    ("train debias=balance debias.dose=2", "from 0 to 1"),
    ("train embedding.dim=0", "of at least 1"),
    ("audit absent.vec", "no such file"),
    ("debias absent.vec out.vec --direction debias", "no such file"),
    ("correlate absent", "no such file"),
    ("audit own.vec --words bare.yaml --metric ect --query bare2", "did you mean 'bare'?"),
    # Others
    ("audti", "did you mean 'audit'?"),
    ("check posts.csv spanish.csv", "are both posts"),
    ("check bare.csv", "name it with --label"),
    ("debias own.vec out.vec --until zero", "or a number for WEAT of the words"),
    ("check posts.csv --text t", "has no column 't'"),
    ("init posts.csv --name a-b", "give letters, digits and underscores"),
    ("audit own.vec --metric waet", "did you mean 'weat'?"),
    ("audit own.vec --query weat77", "did you mean 'weat7'?"),
    ("audit own.vec --convention calisken", "did you mean 'caliskan'?"),
    ("audit own.vec --words broken.yaml", "is not valid YAML"),
    ("audit own.vec --metric", "expected at least one argument"),
    ("audit posts.csv --metric weat", "holds no word vectors"),
    ("debias own.vec out.vec", "give --direction"),
    (f"{DEBIAS} --dose 2", "from 0 to 1"),
    ("debias own.vec out.vec --attract absent.txt", "no such file"),
    (f"{DEBIAS} --expand -1", "of at least 0"),
    ("gaps posts.csv --gold g --pred label --group text --privileged a", "no column 'g'"),
    ("scatter posts.csv --x a --y label --out a.svg", "no column 'a'"),
    ("gaps absent.csv --gold a --gold b", "--gold is given twice; give it once"),
    # What is to be written is looked at before what is to be read, which is not there
    ("gaps absent.csv --csv .", "cannot write .: it is a folder; give the name of a file"),
    ("gaps posts.csv --csv ./posts.csv", "is the input file"),
    ("audit own.vec --csv own.vec", "the name must end in .csv"),
    ("correlate posts.csv --out posts.csv", "is the input file"),
    ("gaps absent.csv --csv x.json", "cannot write x.json: the name must end in .csv"),
    ("gaps absent.csv --csv /dev/null", "it is a pipe or device; give the name of a file"),
    ("gaps absent.csv --csv posts.csv/x.csv", "is not a folder that can be written"),
    ("gaps absent.csv --report .", "cannot write .: the name must end in .html"),
    ("report absent --out x.tex", "cannot write x.tex: the name must end in .html"),
    ("audit absent.vec --csv .", "it is a folder"),
    ("audit absent.vec --json x.csv", "the name must end in .json"),
    ("certify absent --export .", "it is a folder"),
    ("correlate absent.csv --x a --y b --out .", "it is a folder"),
    ("effects absent --out .", "it is a folder"),
    ("scatter absent.csv --x a --y b --out .", "the name must end in .svg"),
    ("tsne absent.vec --out .", "the name must end in .svg"),
    ("report absent", "no such file"),
    ("tsne own.vec --out a.doc", "a.doc"),
    ("train corpus=text corpus.path=absent.txt source=none", "absent.txt"),
    ("train embedding=transformers embedding.model=. source=none", "'.' has no config.json; give"),
    ("train overwrite=allways", "did you mean 'always'?"),
    ("train words=file words.file=absent.yaml debias=balance", "no such file"),
    # Names that are too long for a file
    *(
        (command.format(LONG), "too long; give a")
        for command in (
            *("audit {}", "gaps {}", "check {}", "debias {} a.vec", "correlate {}", "report {}"),
            *("bbq {}", "certify {}", "train embedding={}", "train +experiment={}"),
            *("train store.dir={}", "gaps a.csv --csv {}.csv"),
        )
    ),
]


def prepare(folder: Path) -> None:
    """Write the files that the mistakes are about."""
    english = [f"{who} does it at the office {how}" for who in ("he", "she") for how in "abc"]
    spanish = [f"{who} lo hace en la casa {how}" for who in ("él", "ella") for how in "abc"]
    for name, texts in (("posts", english), ("spanish", spanish)):
        lines = [f"{text},{number % 2}" for number, text in enumerate(texts * 20)]
        (folder / f"{name}.csv").write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    (folder / "wide.csv").write_text("text,label\nhola,1\n", encoding="utf-16")
    (folder / "bare.csv").write_text("text\nhello\n", encoding="utf-8")
    (folder / "bare.yaml").write_text("bare: {X: [he], Y: [she], A: [office]}\n", encoding="utf-8")
    (folder / "broken.yaml").write_text("mine: {X: [he\n", encoding="utf-8")
    query = load_query("gender_union").lowered()
    words = list(dict.fromkeys(word for role in "XYAB" for word in query[role].words))
    vectors = np.random.default_rng(0).normal(size=(len(words), 10)).astype(np.float32)
    for name in ("own", "other"):
        save_vectors(keyed(words, vectors), folder / f"{name}.vec")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    prepare(folder)
    return folder


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_mistake_in_the_first_cell_is_answered_before_others_are_composed(folder: Path) -> None:
    posts = ["source=csv", f"source.path={folder / 'posts.csv'}", "source.text=tekst"]
    point = compose_point([*posts, "embedding=pretrained", f"embedding.path={folder / 'own.vec'}"])
    points = iter([point, point])
    with pytest.raises(InputError, match="has no column 'tekst'"):
        _check_input(points, Console(quiet=True))
    assert next(points) is point


@pytest.mark.parametrize(("command", "answer"), MISTAKES, ids=[each[0][:60] for each in MISTAKES])
def test_a_mistake(
    command: str,
    answer: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(sys, "argv", ["biasbridge", *command.split()])
    before = files_in(folder)
    with pytest.raises(SystemExit) as stop:
        run_cli(main)
    out, error = capsys.readouterr()
    assert (stop.value.code, out) == (2, ""), error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert answer in error
    assert files_in(folder) == before


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"train"}))
def test_an_unknown_option_is_bad_input(command: str) -> None:
    with pytest.raises(InputError, match=f"; biasbridge {command} --help"):
        main([command, "--nonsense"])
