"""Performance by group and the gaps between groups, a decision on them, and gaps by threshold."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.command_line import (
    Command,
    as_csv,
    output_file,
    returns,
    say,
    split_names,
    takes,
)
from biasbridge.files import InputError
from biasbridge.files.choice import as_names
from biasbridge.files.errors import printable
from biasbridge.files.group_names import read_group_names
from biasbridge.files.terminal import is_quiet
from biasbridge.input_tables import with_notes
from biasbridge.prediction_tables import (
    ONE_THRESHOLD,
    MeasuredGaps,
    ReleaseRequest,
    ScoreRequest,
    measure_gaps,
    number_rows,
    read_items,
    require_score,
    thresholds,
)
from biasbridge.stats.measure_facts import REVERSED

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.extrinsic.claims import Decision
    from biasbridge.gap_result import GapTable

_TABLE_FILES = (".csv", ".jsonl", ".parquet")
_ALL = "all"  # thresholds
_SHOWN_THRESHOLDS = 20  # of more, every fifth is printed
_EPILOG = f"""\
A gap is the privileged group's value minus the other group's. For errors ({", ".join(REVERSED)}) it
is the other way round. A positive gap is worse for the other group. Brackets hold 95% intervals: of
values Wilson's, of gaps Newcombe's, of changes between versions Price and Bonett's. The interval of
the largest difference accounts for the choice of the largest. An item in no group counts in the
rows "all" and in the rest. Rows with the same value in a column id are one item in several groups.
With --fail-above or two versions the exit status is 0 for release, 3 for do not release, and 4
where nobody can tell; --quiet prints this decision alone. See also docs/howto/predictions.md."""


class _ThresholdGaps(NamedTuple):
    """The table of :func:`thresholds` by score, notes, and the title of the page."""

    tables: dict[str, pd.DataFrame]
    shown_notes: list[str]
    title: str

    @property
    def table(self) -> pd.DataFrame:
        """Table of all scores."""
        import pandas as pd

        table = pd.concat(self.tables.values(), keys=self.tables, names=["score"])
        table = table.reset_index("score").reset_index(drop=True)
        return table if len(self.tables) > 1 else table.drop(columns="score")

    def print(self, console: Console) -> None:
        """Print the tables; of many thresholds every fifth."""
        from biasbridge.extrinsic.thresholds import threshold_text
        from biasbridge.files.writers import TextTable, print_text_table
        from biasbridge.stats.formatting import IN_WORDS

        for score, table in self.tables.items():
            if len(self.tables) > 1:
                console.print()
                say(console, score)
            text = threshold_text(table)
            rows = text[:: 5 if len(text) > _SHOWN_THRESHOLDS else 1].to_numpy().tolist()
            sides = {IN_WORDS.get(name, name) for name in table["privileged"]}
            heading = f"the largest gap to {' or '.join(sides)} (positive: worse for the group)"
            print_text_table(TextTable(heading, list(map(str, text)), rows), console)

    def report(self, page: Path) -> None:
        """Write the page."""
        from biasbridge.extrinsic.thresholds import threshold_text
        from biasbridge.gap_pages import write_thresholds_page

        tables = {score: (table, threshold_text(table)) for score, table in self.tables.items()}
        write_thresholds_page(tables, self.shown_notes, page, self.title)


def _as_table(measured: MeasuredGaps) -> GapTable:
    table = with_notes(measured.table, "reason")
    n_request = len(measured.notes) - len(measured.items.attrs.get("notes", []))
    notes, reasons = measured.notes, table.attrs["notes"]
    table.attrs["notes"] = [*notes[:n_request], *reasons, *notes[n_request:]]
    from biasbridge.gap_result import as_gap_table

    return as_gap_table(table, measured)


@returns(_as_table)
@takes(ReleaseRequest)
def gaps(request: ReleaseRequest) -> MeasuredGaps:
    """Measure performance by group and the gaps between groups, and decide on a release.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item, or a result file of an evaluation harness. A table is a pandas
        one, or a file .csv, .tsv (also .gz, .bz2, .xz), .jsonl, .json, .xlsx or .parquet. Result
        files are those of ``biasbridge.extrinsic.logs``. Rows without a label or a prediction are
        left out.
    filter : str
        Name of one of several filters (lm-evaluation-harness) or scorers (Inspect) of a log.
    gold : str
        Column of the true labels, 0 or 1 unless positive or multiclass is given.
    pred : str or sequence of str
        Column of the predicted labels; repeat it for each later version (default: prediction).
        These are classifiers of the same items, the earlier first, compared item by item.
    score : str or sequence of str
        Column of scores for each pred, larger for label 1; adds areas under the ROC curve.
    group : str or sequence of str
        Column of groups; repeat it for further columns (default: group). Cells hold a name, or a
        list of names. A column of 0 and 1 is the group of its name, unless an option names 0 or 1
        as a group. A name in two columns becomes ``column=name``. An item counts once and is in all
        its groups.
    group_sep : str
        Separator between group names in one cell, such as ";"; not needed for lists.
    cross : sequence of str, or several
        Two or more columns whose crossed groups, such as "female & black", are groups too; may be
        repeated. All groups are adjusted together. Beside columns of group, crossed groups with
        fewer than min_support items are left out, and a note names them.
    privileged : str, optional
        Privileged group, or none: the items in no group; without it every group is compared with
        all other items. An item with an empty cell is in no group, and not part of a rest;
        ``NA``, ``nan`` and ``None`` are empty cells.
    unprivileged : str or sequence of str
        Group to compare (default: all); may be repeated.
    measures : str or sequence of str
        Names of measures, by default base_rate, recall and fpr; also precision, f1, fnr, accuracy,
        selection_rate, ece (expected calibration error of scores that are probabilities), auc,
        bpsn_auc, bnsp_auc, demographic_parity and equalised_odds.
    positive : str or sequence of str
        Label of the positive class; may be repeated.
    multiclass : bool
        Measure each class against all other classes.
    cluster : str, optional
        Column that items share, such as their author, so that items with one value are drawn
        together. Column ``n_clusters`` counts them, ``widening`` says how many times wider each
        interval is than for independent items.
    min_support : int
        Fewest items behind a value; groups with fewer get no value (0: any).
    threshold : float, str, or sequence, optional
        Predict 1 where the score is this or more; one for each score, if several; share: flag as
        many items as the first version; all: show every threshold. ``share`` alone flags as
        many as pred; else give no pred. Those of the highest scores are flagged, and equal scores
        not separated. Intervals take the threshold as given. In Python
        :func:`biasbridge.thresholds` shows the gaps at every threshold.
    cut : float, optional
        Read labels and groups that are fractions, such as shares of annotators, as 1 from this
        value on.
    map : str or mapping, optional
        Recode labels and predictions before they are read, such as LABEL_1=1,neutral=ok. In Python
        also ``{"LABEL_1": 1}``. A note counts the cells.
    bounds : mapping of str to float, optional
        Largest gap that is allowed in a measure, such as recall=.1,fpr=.05. In Python
        ``{"recall": 0.1}``, each in [0, 1).
    harm : float
        Largest rise of a group's errors that is allowed from the first version to the last, a share
        of items.

    Returns
    -------
    DataFrame
        Its ``decision`` (:class:`biasbridge.extrinsic.claims.Decision`) says whether to release the
        last version, and why; ``report(FILE)`` writes the page. One row per value and gap, with
        ``low`` and ``high``; of gaps also ``p``, and ``p_holm`` and ``low_simultaneous`` to
        ``high_simultaneous``, adjusted over all gaps of one version, groups times measures times
        classes. A gap is in [-1, 1] and positive where
        the unprivileged group fares worse (formulas: ``biasbridge.extrinsic.gaps``). The rows of
        two classifiers, ``later - earlier`` in column ``classifier``, are differences; ``p_holm``
        of a value is adjusted over the values of the pair. A value that is not
        estimated is NaN, with its ``reason``, which is a note in ``attrs["notes"]`` too.

    Raises
    ------
    InputError
        A column or group that does not exist, labels other than 0 and 1, or options that do not go
        together.

    Examples
    --------
    >>> import pandas as pd
    >>> labels, predictions = [1] * 20 + [0] * 20, [1] * 15 + [0] * 5 + [1] * 2 + [0] * 18
    >>> items = {"label": labels, "prediction": predictions, "group": ["male", "female"] * 20}
    >>> table = gaps(pd.DataFrame(items), privileged="male", measures="recall")
    >>> print(round(table.loc[table["kind"] == "gap", "value"].item(), 2))
    0.1
    """
    return measure_gaps(request)


@dataclass(frozen=True)
class _GateRequest(ReleaseRequest):
    bounds: Mapping[str, float] = field()


@takes(_GateRequest)
def gate(request: _GateRequest) -> Decision:
    """Decide whether the gaps between groups keep to bounds.

    Further options are those of :func:`biasbridge.gaps`, such as ``privileged`` and ``harm``.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.
    bounds : mapping of str to float
        Largest gap that is allowed in a measure, in [0, 1).

    Returns
    -------
    Decision
        True for a release; its ``sentence`` says why.

    Raises
    ------
    InputError
        A measure without a gap, a bound outside [0, 1), or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> detected = [1] * 90 + [0] * 10 + [1] * 50 + [0] * 50
    >>> groups = ["men"] * 100 + ["women"] * 100
    >>> items = pd.DataFrame({"label": 1, "prediction": detected, "group": groups})
    >>> print(gate(items, {"recall": 0.2}, privileged="men").sentence)
    Do not release: of 100 positive items about women the classifier misses 50, about men 10: \
40 more (28 to 51), where 20 are allowed.
    """
    if not request.bounds:
        raise InputError("the gate has no bound; give one such as recall=.1")
    return measure_gaps(request).decision


def _run(
    *,
    names: str = "",
    changed: Path | None = None,
    documents: Sequence[str] = (),
    **options: Any,
) -> MeasuredGaps | _ThresholdGaps:
    """Measure gaps and decide, or measure them at every threshold.

    Parameters
    ----------
    names : str
        CSV or YAML with a display name for each group and version, for all that people read. The
        name of the column of labels is that of positive items, such as "toxic comments".
    changed : path, optional
        Write the items whose prediction changed from one --pred to a later one: newly missed,
        newly flagged, newly found, no longer flagged.
    """
    if options.get("threshold") == _ALL:
        if names or changed:
            problem = "--names and --changed do not go with --threshold all"
            raise InputError(f"{problem}; leave them out")
        return _run_thresholds(options, documents)
    scores, pred = (as_names(options.get(name, ())) for name in ("score", "pred"))
    if max(len(scores), len(pred)) < 2:
        from biasbridge.extrinsic.changed_items import ONE_VERSION

        for name in [*(["changed"] if changed else []), *({"harm"} & {*options})]:
            raise InputError(f"--{name}: {ONE_VERSION}")
    if changed and options.get("multiclass"):
        from biasbridge.extrinsic.changed_items import SEVERAL_CLASSES

        raise InputError(SEVERAL_CLASSES)
    measured = measure_gaps(ReleaseRequest(**options))
    if not names:
        return measured
    groups = dict.fromkeys(filter(None, (row.group for row in measured.rows)))
    classifiers = measured.request.pred
    versions = {name: name for name in classifiers}
    if "threshold" in options:  # also by the columns of their scores
        versions |= dict(zip(scores, classifiers, strict=True))
    gold = measured.request.gold
    return replace(measured, names=read_group_names(names, groups, versions, gold))


def _run_thresholds(options: dict[str, Any], documents: Sequence[str]) -> _ThresholdGaps:
    del options["threshold"]
    require_score("--threshold all", options.get("score"), options.get("pred", ()))
    for name in documents:
        if name not in ("csv", "html"):
            raise InputError(f"--{name} does not go with --threshold all; give --csv or --report")
    if {"bounds", "harm"} & {*options}:
        problem = "--fail-above and --harm do not go with --threshold all"
        raise InputError(f"{problem}; leave them out")
    scores, source = options.pop("score"), Path(options["predictions"]).name
    title = f"{source}: {options.get('gold', 'label')} by thresholds of {', '.join(scores)}"
    options["predictions"] = read_items(ScoreRequest(**options))
    tables = {score: thresholds(**options, score=score) for score in scores}
    notes = dict.fromkeys(note for table in tables.values() for note in table.attrs["notes"])
    return _ThresholdGaps(tables, list(map(printable, notes)), title)


def _show(
    result: MeasuredGaps | _ThresholdGaps, console: Console, *, documents: Sequence[str] = ()
) -> None:
    from biasbridge.files.extras import describe_missing_charts

    result.print(console)
    for note in result.shown_notes:
        say(console, f"note: {note}")
    if "html" in documents and (missing_charts := describe_missing_charts()):
        say(console, f"note: {missing_charts}")


def _end(
    result: MeasuredGaps | _ThresholdGaps,
    console: Console,
    *,
    changed: Path | None = None,
    is_printed: bool = False,
) -> int:
    """Write the changed items, and return the status of the decision."""
    if isinstance(result, _ThresholdGaps):
        return 0
    if changed:
        from biasbridge.extrinsic.changed_items import CHANGES, changed_table
        from biasbridge.files.tables import write_table

        table = changed_table(result.request, number_rows(result.items, result.request))
        write_table(table, changed)
        counts = ", ".join(f"{table['change'].eq(x).sum():,} {x}" for x in CHANGES.values())
        say(console, f"{changed}: {counts}")
    if is_printed or (result.is_decided and is_quiet()):
        print(printable(result.decision.sentence), file=sys.stderr if is_printed else sys.stdout)
    return result.decision.status if result.is_decided else 0


def _format(kind: str, result: MeasuredGaps | _ThresholdGaps) -> str:
    """Return the text of a document."""
    if isinstance(result, _ThresholdGaps):
        return as_csv(result.table)
    from biasbridge.extrinsic.gap_documents import GapFacts, format_gaps

    request, is_read = result.request, kind in ("md", "tex")
    roles = ("gold", "pred", "group", "score", "cluster")
    facts = GapFacts(
        result.decision,
        request.source,
        {role: getattr(request, role) for role in roles}
        | {"cross": list(map(" × ".join, request.cross))},
        list(request.positive),
        len(result.items),
        list(result.shown_notes if is_read else result.notes),
    )
    return format_gaps(kind, result.shown if is_read else result.rows, facts)


def _read_bounds(text: str) -> dict[str, float]:
    """Read ``recall=.1,fpr=.05``."""
    numbers: dict[str, float] = {}
    for part in split_names(text):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            value = float(number)
        except ValueError:
            problem = f"{part!r} is not NAME=NUMBER"
            raise ArgumentTypeError(f"{problem}; write it like recall=.1") from None
        if name in numbers:
            raise ArgumentTypeError(f"{name} has two values; give one")
        numbers[name] = value
    return numbers


def _read_thresholds(text: str) -> str | list[float | str]:
    """Read thresholds of scores, such as .5 or .5,share; ``all`` for every one."""
    if text == _ALL:
        return text
    try:
        return [part if part == "share" else float(part) for part in text.split(",")]
    except ValueError:
        remedy = (
            f"write .5, and .5,.6 for two scores; {ONE_THRESHOLD}"
            if "=" in text
            else ("write .5, .5,.6 for two scores, or .5,share")
        )
        raise ArgumentTypeError(f"{text!r} is not a number; {remedy}") from None


main = Command(
    gaps,
    _show,
    run=_run,
    end=_end,
    documents={kind: partial(_format, kind) for kind in ("csv", "json", "md", "tex")},
    report=lambda result, page: result.report(page),
    types={
        "bounds": _read_bounds,
        "threshold": _read_thresholds,
        "changed": output_file(*_TABLE_FILES),
    },
    spelling="filter NAME; gold COL; pred COL...; score COL...; group COL...; group_sep SEP; "
    "cross COL,COL...; privileged GROUP; unprivileged GROUP...; measures A,B,...; "
    "positive LABEL...; cluster COL; min_support N; threshold X,...; cut X; "
    "bounds --fail-above MEASURE=X,...; changed FILE; options",
    epilog=_EPILOG,
)
