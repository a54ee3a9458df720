"""Posts of a task: checks before a run, and the steps that load, tag and classify them and measure
gaps on test posts or challenge sets.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.corpora.protocols import WITHOUT_TEXT, CheckedSource
from biasbridge.extrinsic.protocols import required_input, tagger_in_language
from biasbridge.files import InputError, nearest
from biasbridge.files.language import (
    UNDETERMINED,
    guess_language,
    language_of,
    require_one_language,
)
from biasbridge.train.engine.device import one_thread
from biasbridge.train.engine.scores import open_needed, write_encodings

if TYPE_CHECKING:
    from biasbridge.corpora.protocols import PostChallenge, Source
    from biasbridge.debias.base import S, StepBuilder
    from biasbridge.extrinsic.gap_table import GapRow
    from biasbridge.extrinsic.gaps import Gaps
    from biasbridge.extrinsic.protocols import Classifier, Tagger
    from biasbridge.files.models.encoder import Encodes
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.train.engine.steps import DataReport, Inputs


POSTS, CHALLENGE = "posts", "challenge"  # names of steps with a source's posts, and a challenge set
_WORD = r"\p{L}[\p{L}\p{M}]*"


def check_posts(source: Source, groups: Tagger | None, gaps: Gaps | None) -> None:
    """Read the posts to find errors; None: no words mark groups, or the gaps are of other posts."""
    if not isinstance(source, CheckedSource):
        return
    posts = source.check()
    if source.grouped:
        if gaps is not None:
            _require_groups(f"source={source.name}", gaps, sorted({*posts["group"].dropna()}))
        return
    words_language = language_of(groups)
    if groups is None or words_language == UNDETERMINED or language_of(source) != UNDETERMINED:
        return
    tokens = (token for text in posts["text"] for token in str(text).lower().split())
    guess = guess_language(tokens)
    if guess not in (UNDETERMINED, words_language):
        posts_are = f"the posts of source={source.name} appear to be in {guess!r}"
        words_are = f"groups={groups.name} are words of {words_language!r}"
        raise InputError(
            f"{posts_are}, and {words_are}; give language={guess}, or {words_language} if not"
        )


def check_challenge(challenge: PostChallenge, gaps: Gaps) -> None:
    """Read the challenge set. Raises ``InputError`` as it does, and for a group without posts."""
    groups = sorted({*challenge.posts(seed=0)["group"].dropna()})
    _require_groups(f"challenge={challenge.name}", gaps, groups)


def _require_groups(posts: str, gaps: Gaps, available: Sequence[str]) -> None:
    pair = zip(("privileged", "unprivileged"), gaps.named, strict=False)
    for name, group in (*pair, *(("groups", group) for group in gaps.groups)):
        if group not in available:
            problem = f"gaps.{name}={group}: no post of {posts} has that group"
            listed = f"there are {', '.join(available)}"
            raise InputError(f"{problem}{nearest(group, available)}; {listed}")


def require_language_of_source(source: Source, challenge: PostChallenge) -> None:
    """Raise ``InputError`` for a challenge set in another language than the posts."""
    posts = {f"source={source.name}": source, f"challenge={challenge.name}": challenge}
    require_one_language(posts, "choose a challenge set in the language of the posts")


def groups_in_language(groups: Tagger, source: Source) -> Tagger:
    """Return the tagger, with built-in words of the posts' language if it uses words."""
    tagger = tagger_in_language(groups, language_of(source))
    languages = {f"source={source.name}": source, f"groups={tagger.name}": tagger}
    require_one_language(
        languages, "choose groups in the language of the posts, such as groups=gender_es"
    )
    return tagger


def describe_text_problems(posts: pd.DataFrame) -> list[str]:
    """Return warnings of missing and repeated texts, and of copies that give a label away."""
    from biasbridge.analysis.naming import with_count  # slow to import

    lines = []
    if n_empty := int(posts.attrs.get(WITHOUT_TEXT, 0)):
        lines.append(f"left out: {with_count(n_empty, 'post')} without text")
    is_test = posts["split"] == "test"
    if n_repeated := int(posts["text"].duplicated().sum()):
        n_on_both_sides = len({*posts.loc[is_test, "text"]} & {*posts.loc[~is_test, "text"]})
        texts = with_count(n_on_both_sides, "text") if n_on_both_sides else "no text"
        lines.append(
            f"{with_count(n_repeated, 'duplicate post')}; {texts} in both training and test data"
        )
    keys = _text_keys(posts["text"])
    learned = keys[~is_test]
    is_near = keys[is_test].isin(learned) & ~posts["text"][is_test].isin(posts["text"][~is_test])
    if n_near := int(is_near.sum()):
        differ = "differ from a training post in case, marks and numbers only"
        lines.append(f"{with_count(n_near, 'test post')} {differ}")
    return lines


def _text_keys(texts: pd.Series[str]) -> pd.Series[str]:
    """Return the words of each text in lower case, without marks and numbers, or else the text."""
    import regex  # an extra, as all that a run needs

    words = regex.compile(_WORD)
    distinct = {text: " ".join(words.findall(text.lower())) or text for text in texts.unique()}
    return texts.map(distinct)


def copies_of_cases(posts: pd.DataFrame, cases: pd.DataFrame) -> pd.Series[bool]:
    """Return which training posts repeat a challenge post, and would give its label away."""
    is_copy = _text_keys(posts["text"]).isin(_text_keys(cases["text"]))
    return is_copy & posts["split"].ne("test")


def describe_groups(posts: pd.DataFrame, group_source: str, gaps: Gaps, report: DataReport) -> None:
    """Add the size of each group to a report, and groups too small for a gap."""
    counts = posts["group"].value_counts()
    listed = ", ".join(f"{count} {name}" for name, count in counts.items())
    report.lines.append(f"groups by {group_source}: {listed}")
    positive = posts.loc[posts["label"] == 1, "group"].value_counts()
    min_support = gaps.min_support
    for name in gaps.named or map(str, counts.index):
        sizes = (
            f"group {name!r} has {counts.get(name, 0)} posts, {positive.get(name, 0)} labelled 1"
        )
        remedy = f"a gap needs {min_support} (gaps.min_support)"
        if counts.get(name, 0) < max(1, min_support) and gaps.named:
            report.problems.append(f"{sizes}; {remedy}")
        elif positive.get(name, 0) < min_support:
            report.warnings.append(f"{sizes}; {remedy}")


def build_posts(steps: StepBuilder[S], source: Source, groups: Tagger | None) -> S:
    """Return the step with the posts, grouped by the source or by a given tagger."""
    posts = steps(POSTS, source, _load_posts)
    if source.grouped or groups is None:
        return posts
    return steps("tagged", groups, _tag_posts, {"posts": posts})


def _load_posts(source: Source, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``posts.parquet``; column ``group_by``: where the groups come from."""
    posts = source.load(seed=seed)
    posts = posts.assign(group_by="annotation") if source.grouped else posts
    posts.to_parquet(out / "posts.parquet")


def _tag_posts(tagger: Tagger, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``posts.parquet`` with a group for each post."""
    tagged = tagger.tag(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    tagged.assign(group_by=f"tagger: {tagger.description}").to_parquet(out / "posts.parquet")


def load_challenge(challenge: PostChallenge, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``posts.parquet`` with ids that no source uses."""
    posts = challenge.posts(seed=seed)
    posts.assign(id="challenge " + posts["id"]).to_parquet(out / "posts.parquet")


def predict(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``predictions.parquet``, one row per post."""
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    predicted = _predict(classifier, posts, posts["text"], inputs, seed)
    predicted.assign(group_by=posts["group_by"].iloc[0]).to_parquet(out / "predictions.parquet")


def predict_challenge(classifier: Classifier, out: Path, inputs: Inputs, seed: int) -> None:
    """Write predictions of challenge and test posts; no copy of the challenge is trained on."""
    from biasbridge.extrinsic.crossval import read_posts

    source_posts = read_posts(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    source_posts["split"] = source_posts["split"].replace("all", "train")
    cases = read_posts(pd.read_parquet(inputs["challenge"] / "posts.parquet").assign(split="test"))
    source_posts["in_training"] &= ~copies_of_cases(source_posts, cases)
    posts = pd.concat([source_posts, cases], ignore_index=True).drop(columns="group")
    predicted = _predict(classifier, posts, cases["text"], inputs, seed)
    predicted.to_parquet(out / "predictions.parquet")


def encode_posts(source: Source, out: Path, inputs: Inputs, seed: int) -> None:
    """Write the vectors of the posts and of a challenge set's posts."""
    from biasbridge.extrinsic.crossval import read_posts, texts_as_written

    encoder = open_needed("encoder", inputs)
    for name in sorted(inputs.keys() - {"encoder"}):
        posts = pd.read_parquet(inputs[name] / "posts.parquet")
        encoder.encode(texts_as_written(read_posts(posts)))
    write_encodings(encoder, out)


def _predict(
    classifier: Classifier, posts: pd.DataFrame, texts: Iterable[str], inputs: Inputs, seed: int
) -> pd.DataFrame:
    """Return the predictions with the ``coverage`` of ``texts``."""
    model = open_needed(required_input(classifier), inputs)
    with one_thread():
        predicted = classifier.predict(posts, model, seed=seed)
    vocabulary = model.key_to_index if hasattr(model, "key_to_index") else ModelVocabulary(model)
    return predicted.assign(coverage=coverage(texts, vocabulary))


class ModelVocabulary:
    """Vocabulary of a language model or encoder: words whose tokens it all knows, as written or in
    lower case.
    """

    def __init__(self, model: Encodes | LanguageModel) -> None:
        self._knows = cache(model.knows)

    def __contains__(self, word: object) -> bool:
        return self._knows(str(word)) or self._knows(str(word).lower())


def coverage(texts: Iterable[str], vocabulary: Container[str]) -> float:
    """Return the share of tokens in the vocabulary; NaN without tokens."""
    tokens = [token for text in texts for token in text.split()]
    n_found = sum(token in vocabulary for token in tokens)
    return n_found / len(tokens) if tokens else math.nan


def measure_gaps(gaps: Gaps, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: measures per group and signed gaps, with intervals and support."""
    from biasbridge.extrinsic.gap_table import gap_table  # slow to import

    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet").set_index("id")
    posts = posts.loc[predicted["id"]].reset_index()
    # Posts are identified by text: ids change with the seed
    predictions = predicted.drop(columns="id").assign(resampled_by=posts["text"].to_numpy())
    if "cluster" in posts:
        predictions = _with_units(predictions, posts, "cluster")
    columns = [name for name in ("group_by", "coverage") if name in predicted]
    table = gap_table(predictions, gaps).assign(
        **{name: predicted[name].iloc[0] for name in columns}
    )
    table.to_parquet(out / "scores.parquet")


def measure_challenge(gaps: Gaps, out: Path, inputs: Inputs, seed: int) -> None:
    """Write measures and gaps of the challenge set, and measures of test posts (``held_out``)."""
    from biasbridge.extrinsic.counterfactual import term_rows
    from biasbridge.extrinsic.gap_table import as_table, gap_rows

    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    cases = pd.read_parquet(inputs["challenge"] / "posts.parquet").set_index("id")
    is_case = predicted["id"].isin(cases.index)
    rows = _held_out(predicted[~is_case], gaps)
    posts = cases.loc[predicted.loc[is_case, "id"]].reset_index()
    predictions = predicted[is_case].reset_index(drop=True).drop(columns="id")
    predictions = predictions.assign(group=posts["group"], resampled_by=posts["text"])
    if "frame" in posts:
        predictions = _with_units(predictions, posts, "frame").assign(frame=posts["frame"])
    if "cluster" in posts:
        predictions = _with_units(predictions, posts, "cluster")
    if "term" in posts:
        predictions["term"] = posts["term"]
    rows += gap_rows(predictions, gaps)
    if "term" in posts:
        rows += term_rows(predictions, gaps)
    table = as_table(rows).assign(group_by="annotation", coverage=predicted["coverage"].iloc[0])
    table.to_parquet(out / "scores.parquet")


def _with_units(predictions: pd.DataFrame, posts: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return predictions whose posts of one frame or cluster are resampled together, and in the
    same way for every embedding; those without one are units by themselves.
    """
    names = column + " " + posts[column].astype(str)
    units = names.where(posts[column] != "", posts["text"]).to_numpy()
    return predictions.assign(resampled_by=units, unit=units)


def _held_out(predicted: pd.DataFrame, gaps: Gaps) -> list[GapRow]:
    from biasbridge.extrinsic.gap_table import value_rows
    from biasbridge.extrinsic.gaps import CRITERIA
    from biasbridge.extrinsic.predictions import read_grouped_predictions

    if predicted.empty:
        return []
    ungrouped = predicted.drop(columns="id").assign(group=None)
    measures = tuple(name for name in gaps.measures if name not in CRITERIA)
    values_only = replace(gaps, measures=measures, compare=(), groups=(), at="threshold")
    rows = value_rows(read_grouped_predictions(ungrouped, values_only), values_only)
    return [row._replace(subset="held_out") for row in rows]
