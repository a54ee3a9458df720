"""A net under refactorings: what the project prints and writes, recorded as text and compared.

``python -m tests.net record FOLDER`` records this checkout, or ``--checkout`` another, in parts:
commands, sweeps, configs (with the keys of their points) and pages (of docs/runs).
``python -m tests.net compare FOLDER FOLDER`` shows what differs, file by file.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
# Names of cases, each with its commands
COMMANDS = """
help: --help; data --help; data add --help; data get --help; data info --help; data list --help;
    data verify --help; audit --help; debias --help; relate --help; certify --help; gaps --help;
    bbq --help; predict --help; coreference --help; agreement --help; correlate --help;
    effects --help; scatter --help; report --help; tsne --help; analogy --help; store ls --help;
    store gc --help; store verify --help; check --help; init --help; train --help
audit: audit vectors.vec
audit_own: audit vectors.vec --words work.yaml --metric weat ect rnsb --resamples 50 --csv
audit_conventions: audit vectors.vec --metric weat --query weat6b weat7 --convention all --verbose
audit_ranked: audit vectors.vec other.vec --metric weat mac rnsb --case lower --csv a.csv
audit_single: audit vectors.vec --metric ripa sq sembias --similarity similar.tsv --single-scores
audit_list: audit --list
audit_spanish: audit es_nfc.es.vec --words es.yaml --metric weat --language es --json a.json
audit_model: audit roberta --metric seat lpbs --query seat7 occupations --convention all --csv a.csv
audit_items: audit roberta --metric lpbs --items slots.csv --json a.json;
    audit roberta --metric crows_pairs pll --items pairs.csv --convention all --json
audit_causal: audit gpt2 --metric next_word --limit 4; audit gpt2 --metric seat --random-weights
debias: debias vectors.vec a.vec --method leace --dose 0.5; audit a.vec --metric weat --csv
debias_until: debias vectors.vec a.vec --until weat6b=0 --norms unit
debias_own: debias vectors.vec a.vec --words work.yaml --method oscar --write-words used.yaml;
    debias vectors.vec b.vec --method inlp --option rounds=2 --dose -1
debias_model: debias gpt2 erased --method leace --layer 0; audit erased --metric next_word --limit 4
gaps: gaps predictions.csv --privileged men --unprivileged women --report audit.html
gaps_files: gaps predictions.csv --csv a.csv --json a.json --write a.tex --write a.md
gaps_versions: gaps predictions.csv --pred prediction --pred v2 --changed changed.csv
    --report a.html --write a.md --write a.tex
gaps_score: gaps predictions.csv --score score --measures recall,equalised_odds,auc,ece
    --cluster author --json; gaps predictions.csv --score score --threshold .4
gaps_thresholds: gaps predictions.csv --score score --threshold all --report a.html --csv a.csv
gaps_crossed: gaps predictions.csv --cross group,race --depth 2 --compare one-vs-none
    --min-support 20 --csv a.csv --report a.html
gaps_several: gaps predictions.csv --group both --group-sep ';' --missing group;
    gaps predictions.csv --group women --group black --compare one-vs-rest,max-difference --csv
gaps_classes: gaps predictions.csv --gold kind --pred kind_v1 --multiclass --csv a.csv;
    gaps predictions.csv --gold kind --pred kind_v1 --positive bad --items 'toxic comments'
gaps_dirty: gaps group_blank.csv --missing drop; gaps long.csv; gaps quotes.tsv; gaps r_na.csv
gate: gaps predictions.csv --fail-above recall=.1,fpr=.05;
    gaps predictions.csv --fail-above recall=.3 --report a.html;
    gaps predictions.csv --pred prediction --pred v2 --fail-above recall=.3 --harm .05
predict: predict classifier posts.csv out.csv --positive toxic; gaps out.csv --csv
bbq: bbq bbq_right.jsonl; bbq bbq_list.jsonl --convention all --csv; bbq bbq_markup.jsonl --json
coreference: coreference four_key.conll four_res.conll --json a.json;
    coreference four_key.conll four_res.conll --singletons drop
agreement: agreement posts.csv
correlate: correlate transfer_retrieval --csv a.csv
correlate_table: correlate models.csv --x weat --y gap --by task --parent seed
    --condition method,dose --csv; correlate sesari_2022.csv --x weat3 --y weat4
effects: effects transfer_retrieval --csv a.csv
scatter: scatter transfer_retrieval --out a.svg; scatter models.csv --x weat --y gap --out a.json;
    scatter models.csv --x dose --y gap --row task --mark line --out a.html
report: report hatespeech_es_migrants --out a.html; report predictions.csv --out b.html
tsne: tsne vectors.vec other.vec --out a.json --iterations 250
analogy: analogy vectors.vec he him she
check: check posts.csv vectors.vec work.yaml; check predictions.csv; check work.yaml;
    check four_key.conll four_res.conll; check bbq_list.jsonl; check slots.csv roberta
init: init posts.csv vectors.vec work.yaml; train --config-dir . +experiment=mine plan=true;
    train +experiment=mine --cfg job
study: train +experiment=hatespeech_en hydra.mode=RUN debias=attract_repel debias.dose=0.1
    corpus.sentences=2000 size.dim=8 size.epochs=1 source.posts=800 classifier=linear;
    store ls; store ls vectors; store verify; store gc --dry-run; store gc
plan: train +experiment=hatespeech_en plan=true; train debias=balance --help
data: data; data info davidson2017 en_tweets_open; data get paper001_open --dry-run;
    data get davidson2017; data verify
python: python api.py
mistakes: audti; audit no.vec; audit vectors.vec --metric waet; audit posts.csv;
    debias vectors.vec vectors.vec --method hard; debias vectors.vec a.vec --method lease;
    gaps work.yaml; gaps predictions.csv --gold y; gaps predictions.csv --privileged man;
    gaps predictions.csv --fail-above recal=.1; correlate predictions.csv; effects .; report no;
    scatter models.csv --x weat --y gab --out a.svg; bbq predictions.csv;
    coreference four_key.conll work.yaml; tsne vectors.vec --out a.doc; check no.csv;
    predict roberta posts.csv out.csv; init work.yaml; data get nothing; store ls; certify waet;
    relate roberta --task bbq; train +experiment=hatespech_en; train debias=lease; train seed=0,1
"""
SWEEPS = """
link: +experiment=hatespeech_en SMALL source=generated seed=0,1 debias=balance,attract_repel
    debias.dose=0,0.1 labels=linked labels.transmission=0,0.5
    'task.name=link_${labels.transmission}'
spanish: +experiment=hatespeech_es_gender SMALL seed=0,1 embedding=word2vec
coreference: +experiment=coreference_link corpus.sentences=3000 size.dim=16 seed=0,1
    corpus.stereotype=-0.8,0,0.8 resolver.epochs=2 resolver.patience=2
retrieval: +experiment=transfer_retrieval TINY corpus.stereotype=0,1 seed=20,21
    debias=leace,random_direction debias.dose=-1,0,1
erasers: +experiment=erasers_link SMALL seed=0,1 debias.dose=-1,0,1
models: +experiment=models_link TINY corpus.stereotype=0,1 seed=0,1
"""
SIZES = {
    r"^(\w+): ": r"\1: train.py hydra.launcher.n_jobs=1 ",
    "SMALL": "corpus.sentences=3000 size.dim=16 size.epochs=2 source.posts=2000",
    "TINY": "corpus.sentences=4000 model.steps=40 model.until_learned=false model.dim=16"
    " model.heads=2 model.inner=32",
}
API = """
from biasbridge import audit, changed_items, correlate, debias, gaps, gate, plot, read_results

scores = audit("vectors.vec", "work.yaml")
moved = debias("vectors.vec", "work.yaml", until=0)
table = gaps("predictions.csv", privileged="men")
rows = read_results("transfer_retrieval")
result = gate("predictions.csv", {"recall": 0.1, "fpr": 0.05})
print(result.verdict, result.sentence, result.facts())
changed = changed_items("predictions.csv", pred=["prediction", "v2"])
for each in (scores, moved.attrs["scores"], table, rows, changed, correlate("transfer_retrieval")):
    print(each.to_csv(), each.attrs)
for chart in (plot.gaps(table), plot.audit(scores), plot.scatter(rows, colour="method")):
    print(chart.to_json(indent=1))
"""
COPIED = """
docs/runs/transfer_retrieval docs/runs/hatespeech_es_migrants docs/atlas/sesari_2022.csv
tests/similar.tsv tests/cases/*/*
"""
VOLATILE = {  # from run to run, or with the commit
    r"\b[0-9a-f]{40}\b": "COMMIT",
    r"\b20\d\d-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?(\.\d+)?)?\b": "DATE",
    r"(?m)^stderr: (after \d|.*\d/\d+ \[).*\n": "",  # progress
    r"\babout [\d.]+ (s|min|h)\b": "about TIME",
    r" *(<1|\d+) (s|min) │": " TIME │",
    r" *[\d.]+ kB\b": " SIZE",
}
UNRECORDED = re.compile(r"(^|/)((home|data|store|points|__pycache__)/|provenance\.csv$)")
TEXTS = {".csv", ".html", ".json", ".md", ".tex", ".txt", ".vec", ".yaml"}


def write_inputs(folder: Path, checkout: Path) -> None:
    """Write small files of every kind that commands read, the same for any checkout."""
    import torch
    import transformers

    from tests.tiny_models import SMALL, save_model, word_pieces

    rng, n = np.random.default_rng(0), 400
    label, race = rng.integers(0, 2, n), rng.choice(["black", "white"], n)
    group = rng.choice(["men", "women", "others", ""], n, p=[0.45, 0.4, 0.1, 0.05])
    is_wrong = rng.random((2, n)) < np.where(group == "women", [[0.3], [0.35]], [[0.15], [0.1]])
    v1, v2 = np.where(is_wrong, 1 - label, label)
    items = {"id": range(n), "label": label, "prediction": v1, "v2": v2, "group": group}
    items |= {"race": race, "both": [*map(";".join, zip(group, race, strict=True))]}
    items |= {"women": (group == "women") * 1, "black": (race == "black") * 1}
    items |= {"kind": np.where(label, rng.choice(["bad", "worse"], n), "fine")}
    items |= {"kind_v1": np.where(v1, "bad", "fine"), "author": rng.integers(0, 90, n)}
    items |= {"score": (0.6 * v1 + 0.4 * rng.random(n)).round(3)}
    is_male = (group == "men") ^ (rng.random(n) < 0.1)
    who, how = np.where(group == "men", "he", "she"), np.where(label, "awful", "nice")
    text = [f"{a} is {b} at work {i}" for i, (a, b) in enumerate(zip(who, how, strict=True))]
    posts = {"text": text, "label": label, "group": np.where(is_male, "male", "female")}
    weat = rng.random(80)
    models = {"seed": np.repeat(range(4), 20), "method": ["a", "b"] * 40, "weat": weat}
    models |= {"dose": [*np.repeat(range(5), 4)] * 4, "task": ["t1", "t1", "t2", "t2"] * 20}
    models |= {"gap": weat / 9 + rng.normal(size=80) / 99}
    for name, table in (("predictions", items), ("posts", posts), ("models", models)):
        pd.DataFrame(table).to_csv(folder / f"{name}.csv", index=False)
    lists = (ROOT / "intrinsic" / "wordsets").glob("[bgsw]*.yaml")
    words = re.findall(r"\w{2,}", " ".join(path.read_text("utf-8") for path in sorted(lists)))
    for name in ("vectors", "other"):
        rows = [[word, *rng.normal(size=10).round(4)] for word in dict.fromkeys(words)]
        pd.DataFrame(rows).to_csv(folder / f"{name}.vec", sep=" ", header=False, index=False)
    (folder / "api.py").write_text(API, encoding="utf-8")
    for path in (path for name in COPIED.split() for path in ROOT.glob(name)):
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, folder / path.name)
    save_model(folder / "roberta", "roberta", head="masked")
    save_model(folder / "gpt2", "gpt2", head="causal")
    torch.manual_seed(0)
    labels: Any = {"id2label": {0: "fine", 1: "toxic"}}
    config = transformers.AutoConfig.for_model("bert", **SMALL, **labels)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder / "classifier")
    word_pieces().save_pretrained(folder / "classifier")


def write_configs(folder: Path) -> None:
    """Write the configuration and the keys of each command that the files of ``conf`` show.

    The biasbridge that is imported is that of the recorded checkout.
    """
    from biasbridge.train.cli import CONF, command, composing
    from biasbridge.train.engine.point import plan_point
    from biasbridge.train.engine.steps import SharedSteps
    from biasbridge.train.engine.store import Step, Store

    def list_keys(options: Namespace) -> Iterator[str]:
        read = command.read_command(options)
        composer, planned = composing.Composer(read.hydra), SharedSteps()
        steps: dict[str, Step] = {}
        for cell in composer.list_cells(read):
            plan = plan_point(composer.read(cell).point, Store(folder / "store"), planned)
            yield f"{plan.key} {' '.join(cell)}"
            steps |= plan.steps
        yield from (f"{key} {step.label}" for key, step in steps.items())
        firsts = {step.label: step.recipe() for step in reversed(steps.values())}
        yield from (json.dumps(recipe) for recipe in firsts.values())

    files = sorted(path for group in ("experiment", "sweep") for path in (CONF / group).iterdir())
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    for line in dict.fromkeys(re.findall(r"# python train\.py((?: \+?[\w.]+=[^\s:]+)+)", text)):
        name = ",".join(line.split()).replace("+", "").replace("/", "_")
        options, shown = command.read_options(line.split()), StringIO()
        options.cfg, keys, missing = "job", list[str](), True
        with redirect_stdout(shown), command.hydra_started():
            command.show_config(options)
        (folder / f"{name}.yaml").write_text(shown.getvalue(), encoding="utf-8")
        while missing:
            missing = False
            try:
                with command.hydra_started():
                    keys = [*list_keys(options)]
            except command.INPUT_ERRORS as error:
                keys = [command.one_line(error)]
                named = re.match(r"(?:not in \S+: |no such file: \S+?/data/)([^;]+)", keys[0])
                names = named[1].split(", ") if named else []
                missing = any(write_stand_in(folder / "data" / name) for name in names)
        (folder / f"{name}.txt").write_text("\n".join(keys), encoding="utf-8")


def write_stand_in(path: Path) -> bool:
    """Write a file or folder of others, of whose content keys have a digest, if none is there."""
    is_missing = not path.exists()
    if is_missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        row = f"0\t0\t0\t0\t1\t{path.name}\t{path.name}\n"  # also a row of STS-B
        path.write_text(row, encoding="utf-8") if path.suffix else path.mkdir()
    return is_missing


def run(words: Sequence[str], folder: Path, checkout: Path) -> str:
    """Run a command in a folder with the code of a checkout; return its status and output."""
    python = checkout / ".venv" / "bin" / "python"
    doors = {"train.py": [str(checkout / "train.py")], "python": []}
    door = [*doors[words[0]], *words[1:]] if words[0] in doors else ["-m", "biasbridge", *words]
    environment = {k: v for k, v in os.environ.items() if "BIASBRIDGE" not in k}
    environment |= {"PYTHONPATH": str(checkout), "BIASBRIDGE_DATA": str(folder / "data")}
    environment |= dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(folder / "home"))
    environment |= {"BIASBRIDGE_OFFLINE": "1", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [str(python if python.exists() else sys.executable), *door],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = "".join(f"stderr: {line}\n" for line in done.stderr.splitlines() if line.strip())
    return f"$ {shlex.join(words)}\nstatus {done.returncode}\n{done.stdout}{errors}\n"


def as_text(path: Path) -> str:
    """Return a file as text: Parquet as CSV with every digit, and a digest of figures."""
    if path.suffix == ".parquet":
        table = pd.read_parquet(path).astype(object)
        table = table.map(lambda x: digest(x.tolist()) if isinstance(x, np.ndarray) else x)
        return str(table.to_csv(index=False))
    if path.suffix in TEXTS:
        return path.read_text(encoding="utf-8", errors="replace")
    return f"sha256 {digest(path.read_bytes())}\n"


def digest(content: object) -> str:
    """Return the SHA-256 of bytes, or of what an object prints as."""
    data = content if isinstance(content, bytes) else repr(content).encode()
    return hashlib.sha256(data).hexdigest()[:32]


def normalise(text: str, *places: Path) -> str:
    """Replace what is volatile, break long lines, and keep of libraries in a page the digest."""
    for place in places:
        text = text.replace(str(place), "PLACE")
    for pattern, name in VOLATILE.items():
        text = re.sub(pattern, name, text)
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if len(line) > 2000:
            is_library = line.count("return") > 100
            lines[i] = digest(line) if is_library else re.sub(r"(?<=[,>}])", "\n", line)
    return "\n".join(lines) + "\n"


def copy_docs(folder: Path, checkout: Path) -> None:
    """Copy the pages and their scripts, so that these write into the copy."""
    shutil.copytree(checkout / "docs", folder / "docs")


PARTS: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "commands": (COMMANDS, write_inputs),
    "sweeps": (SWEEPS, lambda folder, checkout: None),
    "configs": (f"all: python {shlex.quote(__file__)} configs .", lambda folder, checkout: None),
    "pages": ("runs: python docs/runs/pages.py; python docs/runs/record.py", copy_docs),
}


def record(part: str, out: Path, checkout: Path) -> None:
    """Record the cases of a part: a folder each, with what was printed and every file written."""
    if (out / part).exists():
        raise SystemExit(f"{out / part} exists; give another folder")
    table, prepare = PARTS[part]
    for short, long in SIZES.items() if part == "sweeps" else ():
        table = re.sub(short, long, table, flags=re.MULTILINE)
    with TemporaryDirectory(prefix="net-") as work:
        inputs, folder = Path(work, "inputs"), Path(work, "case")
        inputs.mkdir()
        prepare(inputs, checkout)
        for name, commands in re.findall(r"(?ms)^(\w+): (.*?)(?=^\w+: |\Z)", table):
            shutil.copytree(inputs, folder)
            (folder / "home").mkdir()
            before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
            lines = map(shlex.split, re.split(r";\s", commands))
            texts = {"terminal.txt": "".join(run(words, folder, checkout) for words in lines)}
            for path in sorted(filter(Path.is_file, folder.rglob("*"))):
                inside = path.relative_to(folder).as_posix()
                if before.get(path) != path.stat().st_mtime_ns and not UNRECORDED.search(inside):
                    texts[inside] = as_text(path)
            for inside, text in texts.items():
                target = out / part / name / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(normalise(text, folder, checkout, ROOT), encoding="utf-8")
            shutil.rmtree(folder)


def compare(*folders: Path) -> Iterator[str]:
    """Yield the name of each recorded file, and how it differs between two folders."""
    files = [{p.relative_to(f): p for p in f.rglob("*") if p.is_file()} for f in folders]
    for name in sorted({*files[0], *files[1]}):
        a, b = (f[name].read_text("utf-8").splitlines() if name in f else [] for f in files)
        differences = [*difflib.unified_diff(a, b, lineterm="", n=1)][2:]
        yield "\n".join([f"{'differs' if differences else 'equal  '} {name}", *differences[:200]])


def main() -> int:
    """Record or compare; return 1 where something differs."""
    parser = ArgumentParser(prog="python -m tests.net", description=__doc__)
    parser.add_argument("action", choices=("record", "compare", "configs"))
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--checkout", type=Path, default=ROOT)
    parser.add_argument("--part", choices=PARTS, action="append")
    options = parser.parse_args()
    if options.action == "configs":  # in the interpreter of a checkout
        write_configs(*options.folders)
    if options.action == "record":
        for part in options.part or PARTS:
            start = os.times()
            record(part, options.folders[0], options.checkout.resolve())
            seconds = [end - begin for end, begin in zip(os.times(), start, strict=True)]
            print(f"{part}: {seconds[4]:.0f} s, of processors {sum(seconds[:4]):.0f}", flush=True)
    if options.action != "compare":
        return 0
    lines = [*compare(*options.folders)]
    n_different = sum(line.startswith("differs") for line in lines)
    print(*lines, f"{len(lines)} files, {n_different} differ", sep="\n")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
