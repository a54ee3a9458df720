"""The registry's tables agree with each other, with the configurations and with the atlas."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from biasbridge.files import InputError
from biasbridge.files.data import registry as module
from biasbridge.files.data.registry import (
    _HERE,
    _HUB_TARGET,
    RAW,
    collected_requests,
    data_folder,
    data_path,
    find_sets,
    groups,
    registry,
    required_requests,
    sets_of,
)

ROOT = Path(__file__).resolve().parents[3]
SETS = [*registry().values()]
FILES = [(dataset, file) for dataset in SETS for file in dataset.files]
REASONS = {"results/stereoset_published.csv": "gathered from the file of atlas_stereoset by hand"}
N_DIGITS = {"sha256": 64, "gitblob": 40, "sha1": 40, "md5": 32, "commit": 40}


def test_each_name_has_files_and_each_file_a_name() -> None:
    described = yaml.safe_load((_HERE / "datasets.yaml").read_text(encoding="utf-8"))["sets"]
    listed = {row["name"] for row in module._rows("registry.tsv")}  # noqa: SLF001
    assert {*described} == listed
    recipes = yaml.safe_load((_HERE / "recipes.yaml").read_text(encoding="utf-8"))["corpora"]
    assert {*recipes} == {row["corpus"] for row in module._rows("recipes.tsv")}  # noqa: SLF001
    assert not listed & {*recipes}
    assert len(SETS) == len(listed) + len(recipes)
    assert all(dataset.files for dataset in SETS)


def test_each_file_of_a_recipe_is_a_source_once() -> None:
    for dataset in SETS:
        if dataset.recipe:
            targets = [
                target for source in dataset.recipe["sources"] for target in source["targets"]
            ]
            assert sorted(targets) == sorted(file.target for file in dataset.files), dataset.name
            assert all(source["targets"] for source in dataset.recipe["sources"]), dataset.name


def test_digests_and_sizes_are_well_formed() -> None:
    for dataset, file in FILES:
        for name, digest in [*file.checks.items(), *file.member_checks.items()]:
            assert re.fullmatch(rf"[0-9a-f]{{{N_DIGITS[name]}}}", digest), (
                dataset.name,
                name,
                digest,
            )
        assert file.n_bytes is None or file.n_bytes > 0
        assert not file.member_checks or file.member
        assert ("commit" not in file.checks) or dataset.kind in ("model", "hub data")


def test_all_but_a_few_downloads_are_checked() -> None:
    without = [dataset.name for dataset, file in FILES if not (file.by_user or file.own_checks)]
    assert without == [
        *("fasttext-crawl-300d-2M-subword", "numberbatch-en-19.08"),
        *("fasttext-sbwc-es", "word2vec-sbw-es", "fasttext-suc-es"),
        *("google/electra-base-generator", "xlnet/xlnet-base-cased", "openai-community/openai-gpt"),
        *("tdavidson/hate_speech_offensive", "uclanlp/wino_bias", "stanfordnlp/sentiment140"),
    ]


def test_targets_stay_in_the_folder_and_are_of_one_set() -> None:
    owners: dict[str, str] = {}
    for dataset, file in FILES:
        path = PurePosixPath(file.target)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert not any(part.startswith(".") for part in path.parts)
        if file.target != _HUB_TARGET and not dataset.recipe:
            owner = owners.setdefault(file.target, dataset.name)
            assert dataset.name.startswith(owner), file.target  # keywords alone of hateval2019
    for dataset in SETS:
        targets = {file.target for file in dataset.files}
        for target in targets:  # add tells them apart by their beginnings
            assert not any(o != target and o.startswith(target) for o in targets), target
            if target.endswith("/") and not dataset.recipe:
                assert len(targets) == 1


def test_addresses_are_pinned_or_checked() -> None:
    for dataset, file in FILES:
        for address in file.addresses:
            assert re.match("https?://", address), (dataset.name, address)
            if address.startswith(RAW):
                assert re.match(r"[\w.-]+/[\w.-]+/[0-9a-f]{40}/.", address.removeprefix(RAW))
        assert file.by_user or file.addresses, dataset.name


def test_what_is_not_downloaded_says_how_to_ask() -> None:
    """The grades of the issue: what its owners restrict comes from them to the user."""
    restricted = {dataset.name for dataset, file in FILES if file.by_user}
    assert restricted == {dataset.name for dataset in SETS if dataset.ask}
    assert restricted == {
        *("hateval2019", "founta2018", "ontonotes5", "atlas_biased_rulers"),
        *("goldfarb_tarrant_founta", "goldfarb_tarrant_tweets_en", "goldfarb_tarrant_tweets_es"),
        *("word2vec-google-news-300 (original)", "en_tweets", "es_tweets", "en_wiki_plots_plus"),
    }
    copies = [a for dataset, file in FILES if dataset.name == "hateval2019" for a in file.addresses]
    assert not any("cicl2018" in address for address in copies)


def test_each_set_has_its_words() -> None:
    for dataset in SETS:
        assert dataset.what
        assert dataset.licence
        assert dataset.citation or dataset.name in ("en_tweets", "es_tweets", "en_wiki_plots_plus")
        assert not re.search(
            r"[\n\t]", dataset.what + dataset.licence + dataset.citation + dataset.note
        )
        re.compile(dataset.line)


def test_groups_name_registered_sets() -> None:
    assert len(groups()["sesari2022"]) == 15
    assert {each.kind for each in find_sets("schroeder2024")} == {"model"}
    assert len(groups()["schroeder2024"]) == 10
    for names in groups().values():
        assert {*names} <= {*registry()}
        assert len({*names}) == len(names)
    assert not {*groups()} & {*registry()}


def configured() -> list[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("conf/**/*.yaml"))
    return sorted({*re.findall(r"\$\{data:([^}]+)\}", text)})


@pytest.mark.parametrize("relative", configured())
def test_all_that_configurations_read_has_a_set(relative: str) -> None:
    assert sets_of(relative)


def test_configurations_read_real_data() -> None:
    assert len(configured()) >= 18


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/atlas/*.yaml")), ids=lambda path: path.stem)
def test_all_that_the_atlas_reads_has_a_set_or_is_beside_it(path: Path) -> None:
    table = yaml.safe_load(path.read_text(encoding="utf-8"))["table"]
    assert (path.parent / table).exists() or sets_of(table) or table in REASONS


@pytest.mark.parametrize(
    ("relative", "names"),
    [
        ("hatespeech/davidson2017.csv", ["davidson2017"]),
        ("hatespeech/davidson2017.csv.xz", ["davidson2017"]),
        ("hatespeech/davidson", []),
        ("coreference/winobias", ["winobias"]),
        ("coreference/winobias/", ["winobias"]),
        ("coreference/ontogum/GUM_*.conll", ["ontogum"]),
        ("corpora/en_tweets_open.txt.xz", ["en_tweets_open"]),
        ("corpora/en_tweets.txt.xz", ["en_tweets"]),
        ("", []),
        ("../hatespeech/davidson2017.csv", []),
    ],
)
def test_sets_of(relative: str, names: list[str]) -> None:
    assert [dataset.name for dataset in sets_of(relative)] == names


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no data 'davidson'; did you mean 'davidson2017'\?"):
        find_sets("davidson")
    assert [dataset.name for dataset in find_sets("gap")] == ["gap"]
    assert len(find_sets("sesari2022")) == 15


def test_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("BIASBRIDGE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "biasbridge" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "biasbridge" / "data"


def test_a_missing_path_ends_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(tmp_path))
    for relative, end in [
        ("hatespeech/davidson2017.csv", "; run biasbridge data get davidson2017"),
        ("hatespeech/hateval2019", "Then run biasbridge data add hateval2019 FILE"),
        ("coreference/ontogum/GUM_*.conll", "; run biasbridge data get ontogum"),
        ("my/own.csv", "; give another path, or put it there"),
    ]:
        with pytest.raises(InputError) as refusal:
            data_path(relative)
        assert str(refusal.value).endswith(end)
    with collected_requests() as requested, required_requests():
        assert data_path("a") == str(tmp_path / "a")
    assert requested == ["a"]
    (tmp_path / "b.csv").touch()
    assert data_path("b.csv.xz") == str(tmp_path / "b.csv")
    assert data_path("*.csv") == str(tmp_path / "*.csv")
