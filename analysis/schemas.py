"""One class for each result table, or for its rows of one task or probe.

The attributes of a class are the columns of the table, beside those of its bases.
"""

from __future__ import annotations

import inspect
import re

# docs/results.md shows this module; tests/analysis/test_schemas.py compares it with what is written
_COLUMNS = re.compile(r"^([\w, ]+) : (str|bool|int|float|list of float)$", re.MULTILINE)


def own_columns(schema: type) -> dict[str, str]:
    """Return the type of each column that a schema lists, by name."""
    return {
        name: kind
        for names, kind in _COLUMNS.findall(inspect.cleandoc(schema.__doc__ or ""))
        for name in names.split(", ")
    }


def columns(schema: type) -> dict[str, str]:
    """Return the type of each column of a schema, by name, those of its bases first."""
    bases = reversed(schema.__mro__[:-1])
    return {name: kind for base in bases for name, kind in own_columns(base).items()}


# The three tables that every results folder has, and the words drawn from posts.


class Points:
    """``points.parquet``: one row per point. Without a task it has no columns of the task.

    Attributes
    ----------
    point : str
        Hash of all steps, 16 hexadecimal digits. Equal choices and inputs give the same point
        everywhere.
    experiment, task : str
        Names. Task ``none``: no application.
    source, positive_class : str
        Where posts or documents come from; what label 1 means.
    challenge, challenge_positive_class : str
        The same of a challenge set.
    scheme, singletons : str
        Coreference: what counts as a mention; whether clusters of one mention were kept.
    classifier : str
        ``cnn``, ``linear``; of a language model ``encoder`` (frozen) or ``finetuned``; in
        coreference the resolver. A gap of a model that has several under one task is their mean,
        and the answer names them. ``task.name=NAME`` tells them apart.
    replicate : int
        Above 0: a further classifier on the same embedding and posts.
    label_method, label_direction : str
        As ``method``, of training labels: ``none``, ``resample``, ``relabel``, or
        ``linked_weat6b``, whose dose is the transmission.
    label_dose : float
        As ``dose``, of training labels.
    corpus : str
        What the embedding was trained on; ``none``: pre-trained.
    embedding : str
        ``word2vec``, ``fasttext``, or the name of a file or language model.
    contexts, pooling : str
        Language models: texts its words occur in; how tokens become a vector.
    layer : int
        Language models: hidden states used.
    random_weights : bool
        Whether a language model's weights are random.
    method, method_family : str
        ``none``, ``balance``, ``leace``, ... ([all](howto/debias.md)), or ``planting`` (corpora for
        language models); what the method shares an idea with.
    direction : str
        ``debias``, ``overbias`` or empty.
    dose : float
        In [0, 1]. A signed dose below 0 is ``overbias``.
    wordset : str
        The method's words. ``from_task``: from training posts; ``_swapped``: targets and attributes
        exchanged; ``+100@FILE``: with 100 neighbours each in those vectors.
    seed : int
        The run seed.
    stereotype, label_bias, skew, transmission : float
        What was planted, in [-1, 1] (transmission [0, 1]; in real text by ``corpus.planted``). NaN:
        nothing.
    off_target : float
        Strength of a stereotype of other words.
    sentences, posts, documents : int
        Sizes of the synthetic world.
    changed : float
        Share of words with another form.
    generated : bool
        Whether corpus or labels are synthetic.
    synthetic_mix : str
        Which of them, if only some are.
    training_steps : int
        Of a model that was stopped; 0: random.
    material, reference : str
        The model that adapters plant in; which of two reference models.
    parent_options, method_options, task_options : str
        JSON, ``STEP.OPTION``: all other options but the seed, with digests of the files read.
    word_groups : str
        Set where all queries are about men and women and the compared groups are not known to be.
    status, error : str
        ``done`` or ``failed``; why.
    refused : bool
        Whether the input was at fault.
    unit_key, parent_key, corpus_key, extrinsic_key : str
        Keys in the store: the embedding, its parent, the parent's text, its rows of
        ``extrinsic.parquet``.
    encoder_key, vectors_key, biased_key, unbiased_key : str
        Keys of a language model's encoder and word vectors, and of two reference models.
    """


class Intrinsic:
    """``intrinsic.parquet``: one row per score, as in the table of an audit.

    Attributes
    ----------
    point : str
        As in ``points.parquet``.
    metric, convention, query, part : str
        See [metrics](metrics.md). ``part``: which value of a metric with several.
    value, unbiased : float
        The score; the score of an embedding without the bias (NaN for measures of utility).
    scale_min, scale_max : float
        Ends of the scale.
    low, high : float
        95% percentile interval over resampled words (``resamples`` above 0).
    resampled : list of float
        The score over 200 resamples of words, the same for every embedding. NaN in a resample
        without a score; empty without ``resamples`` or a score.
    statistic : float
        ``weat``: sum of s(x) minus sum of s(y); ``sembias``: tied rows; ``same``: signed mean.
    p_value, p_low, p_high : float
        p and its bounds.
    p_method : str
        ``weat``: ``exact`` up to 40 target words, ``sampled`` beyond (99% interval). Others: ``t``,
        ``normal``, ``none``.
    tail : str
        The alternative.
    strict : bool
        Whether only larger statistics count.
    n_found, n_oov : int
        Words (pairs, rows, items) in and outside the vocabulary.
    oov, truncated : str
        Which are outside; which a convention left out.
    language : str
        Of the word sets.
    dim : int
        Length of the vectors.
    settings : str
        Language models: pooling, layer, tokens, case, ties, numbers of words and templates, items
        lost by reason.
    reason : str
        Why value or p is NaN.
    intrinsic_key : str
        The result in the store.
    vectors : str
        Audits only: the file or model.
    p, n : float
        Audits only: ``p_value``; ``n_found``.
    certificate : str
        Audits only: the [verdict](studies/certificate.md) on this metric where a gender bias was
        planted; empty where that was not measured.
    """


class Extrinsic:
    """``extrinsic.parquet``: one row per measure. The next four classes say what differs by task.

    Attributes
    ----------
    point, task : str
        As in ``points.parquet``.
    kind : str
        ``value`` of a group or of all. ``gap``: privileged minus unprivileged, reversed for ``fpr``
        and ``fnr``. On request ``max_difference`` (difference of the two groups furthest apart, in
        [0, 1]) and ``ratio`` (smallest over largest).
    measure : str
        ``base_rate`` (values only), ``precision``, ``recall``, ``f1``, ``fpr``. By
        ``gaps.measures`` also ``fnr``, ``accuracy``, ``selection_rate``, ``ece``, ``auc``,
        ``bpsn_auc``, ``bnsp_auc`` (a group's negatives against all others' positives, and the
        reverse; values only).
        ``max_difference`` and ``ratio`` also ``demographic_parity`` (of ``selection_rate``) and
        ``equalised_odds`` (the worse of recall and ``fpr``).
    subset : str
        A part of the items; empty: all.
    group : str
        Of a value the group, or ``all``.
    privileged, unprivileged : str
        Of a gap. ``rest``: everybody else; ``none``: the items in no group.
    value : float
        In [0, 1]; a gap in [-1, 1], positive: worse for the unprivileged group. NaN below
        ``gaps.min_support``.
    low, high : float
        95% interval over test items: Wilson for values; Newcombe for AUCs and gaps; Price and
        Bonett where groups share items. That of ``max_difference`` and ``ratio`` accounts for the
        maximum.
    p, p_holm, low_simultaneous, high_simultaneous : float
        p of a gap of 0; p and interval adjusted (Holm; Bonferroni) over the family: all gaps with a
        value, groups times measures, of one classifier and class.
    n_clusters : int
        Where items have clusters, how many count.
    widening : float
        The interval's width over that of single items.
    support, support_privileged, support_unprivileged : int
        Items in the denominator: predicted positives (precision), actual positives (recall,
        ``fnr``), either (F1), actual negatives (``fpr``), all (accuracy, selection and base rate),
        the smaller class (AUCs). Of a gap the smaller of two.
    majority_baseline : float
        F1 or accuracy of calling all items the same. A task whose utility is not .05 above it gets
        no verdict.
    expected_from_base_rates : float
        The gap if both groups had the pooled recall and false positive rate.
    resampled : list of float
        The gap over 200 resamples of the posts, the same for every embedding. NaN in a resample
        without support; empty for values and AUCs.
    group_by : str
        ``annotation``, or the tagger used in its place.
    coverage : float
        Share of tokens with a vector (posts: or known to a language model). The terminal warns
        below .8.
    mention_recall : float
        Coreference: share of the true mentions that were candidates.
    reason : str
        Why value is NaN; of ``max_difference`` and ``ratio`` the groups left out.
    """


class ChallengePosts:
    """Rows of ``extrinsic.parquet`` with a challenge set of posts. Posts that differ in the term
    alone (one frame) are resampled together.

    Attributes
    ----------
    subset : str
        ``held_out``: the source's test posts; ``terms``: measures per word for people; else empty.
    kind : str
        Also ``term_gap``: a term against all others. ``equality_difference``: of ``fpr`` and
        ``fnr``, the sum over terms of the absolute difference from the whole (Dixon et al., 2018).
        ``flips``: the chance that the prediction changes when one term replaces another (measure
        ``prediction``).
    support : int
        Of ``flips`` the number of frames; of an equality difference the smallest of its terms.
    """


class Coreference:
    """Rows of ``extrinsic.parquet`` of coreference.

    Attributes
    ----------
    kind : str
        Also ``ratio``: F1 of the unprivileged over the privileged group (GAP's bias factor).
        ``correlation``: of the percentage of women in occupations with the preference for women's
        pronouns (Winogender).
    subset : str
        ``type1``, ``type2`` (WinoBias, synthetic set); ``held_out``: documents set aside.
    measure : str
        ``precision``, ``recall``, ``f1``: WinoBias: mean of MUC, B-cubed and CEAF-e; GAP,
        Winogender: names linked to the pronoun. ``accuracy``: pronouns linked to all their names
        and no other. ``other_recall``: other names asked about that were candidates. Held out:
        ``conll_f1``, ``conll_precision``, ``conll_recall``.
    group : str
        ``pro``, ``anti``: an occupational stereotype helps, hinders. ``male``, ``female``,
        ``neutral``: the pronoun.
    low, high : float
        Bootstrap over sentences that differ in the pronoun alone; held out: over documents; of a
        correlation Fisher's z.
    """


class Retrieval:
    """Rows of ``extrinsic.parquet`` of retrieval. A query that names no gender has documents in a
    male and a female wording.

    Attributes
    ----------
    measure : str
        ``relevance`` (kind ``value``): how often a relevant document lies nearer its query than an
        irrelevant one, in [0, 1]; by chance .5. Of gaps ``similarity``: mean over queries of the
        cosine with the male minus that with the female wording, in [-2, 2]. ``first``: share of
        queries nearer the male wording (ties half) minus .5. ``stereotype_similarity``,
        ``stereotype_first``: the same of the stereotypical minus the other wording.
    privileged, unprivileged : str
        ``male``, ``female``, positive: the male wording lies nearer; or ``stereotypical``,
        ``counter-stereotypical``.
    low, high : float
        Over queries, those of one cluster counted as one: t for means, Wilson for shares. So are
        ``support`` and ``resampled``.
    """


class LanguageModelTasks:
    """Rows of ``extrinsic.parquet`` of BBQ and of ``task=referents``, whose groups are as of
    coreference.

    Attributes
    ----------
    subset : str
        BBQ: the category; referents: as of coreference. Empty: all.
    measure : str
        BBQ: ``bbq_accuracy_ambiguous``, ``bbq_accuracy_disambiguated`` (kind ``value``); of gaps
        ``bbq_ambiguous``, ``bbq_disambiguated``: the paper's scores, in [-1, 1], positive: answers
        follow the stereotype. Referents: ``accuracy``: share of sentences where the right person is
        the likelier (gaps pro - anti, male - female); ``log_odds``: mean of log p of the right
        minus that of the wrong person, in nats, unbounded (gap pro - anti).
    support : int
        BBQ: answers, of a gap its templates (``n_clusters``).
    low, high : float
        BBQ: over templates; referents: over pairs. So is ``resampled``.
    """


class Words:
    """``words.parquet``: one row per word drawn from training posts.

    Attributes
    ----------
    point, query, word : str
        ``query`` is ``from_task``; ``word`` as the posts are tokenised.
    role, stands_for : str
        X, Y: the groups; A, B: labels 0 and 1. A score above 0: the unprivileged group lies nearer
        the words of label 1.
    z, log_odds : float
        Of its side against the other, informative Dirichlet prior (Monroe et al., 2008).
    count, count_other, posts : int
        Occurrences on either side; training posts with it.
    """


class Provenance:
    """``provenance.csv``: one row per step and version of code and libraries. Several rows for one
    step are mixed versions, which terminal and report point out.

    Attributes
    ----------
    step, made_by : str
        The step, its choice.
    results : int
        Number of results.
    project, commit : str
        Version and commit (``-dirty``: with changes); empty where there was none.
    code, libraries : str
        Hash of the source; versions: ``Python 3.11.7, gensim 4.4.0``.
    """


# What the study ``correlation`` writes.


class Slice:
    """What names a slice: rows of one task, classifier, metric, convention, part, measure, subset
    and pair of groups, with one or ``all`` embeddings, queries and methods.

    A method's slice includes the controls. A model with several rows counts with the mean over what
    at least four fifths of the models have.

    Attributes
    ----------
    task, classifier, embedding, metric, convention, query, part : str
        As in ``points.parquet`` and ``intrinsic.parquet``.
    measure, subset, privileged, unprivileged, method : str
        As in ``extrinsic.parquet`` and ``points.parquet``.
    """


class Correlations(Slice):
    """``correlations.csv``: one row per slice declared before the run ([formulas](inference.md)).

    ``exploratory.csv``: all others, without ``verdict``, ``why`` and ``detectable_change``. In
    place of ``p_holm`` it has ``p``, not adjusted.

    Attributes
    ----------
    n, n_parents, n_conditions : int
        Models with score, gap and another model of their parent; parents; conditions with the
        control.
    n_lost : int
        Models without a score or a gap, failed points among them.
    gap_unmodified : float
        Mean gap of the unmodified models.
    score_low, score_high : float
        Between which scores the conditions moved the models, as measured.
    change, change_low, change_high : float
        Change of the gap over that range, with the 95% interval of the scope of the verdict: other
        doses from ten conditions on, else these runs.
    verdict, why : str
        ``rises``, ``falls``, ``at most`` (the smallest change of interest) or ``cannot tell``; the
        reason in words.
    detectable_change : float
        The change that four of five such studies detect.
    p_holm : float
        p of r_rm, adjusted over the declared slices (Holm).
    r_rm, low, high : float
        Repeated-measures correlation with its 95% interval.
    r_pearson : float
        Pearson's r over all points of the slice.
    r_given_utility : float
        r_rm with the utility of the task partialled out.
    reliability_y : float
        Share of the gap's variance within parents that is not noise of single models.
    synthetic : bool
        Whether the slice holds synthetic points.
    note : str
        Why r_rm is missing; models lost by method; pooled parts of opposite sign; reverse-scored;
        the most influential model.
    """


class Scopes(Slice):
    """``scopes.csv``: one row per declared slice and scope.

    Attributes
    ----------
    scope : str
        ``these runs``, ``other doses``, ``other word lists``, ``other methods``, ``other seeds`` or
        ``other corpora`` ([what each takes](inference.md#what-it-holds-for)).
    holds : str
        ``yes``, ``no`` or ``too few``.
    n, needed : int
        How many of what the scope counts there are, and how many it takes.
    change, change_low, change_high : float
        Change of the gap with the 95% interval of the scope.
    note : str
        Why there is no interval.
    """


class Joined(Points, Intrinsic, Extrinsic):
    """The joined table of ``biasbridge correlate FOLDER`` and ``biasbridge scatter FOLDER``.

    It has one row per point, score and gap.

    Attributes
    ----------
    x, x_low, x_high, y, y_low, y_high : float
        Score and gap with 95% intervals; without a task the score is ``value``.
    x_resampled, y_resampled : list of float
        Both over the same resamples. ``read_results(FOLDER, resamples=True)`` reads them. Without
        them intervals lack the sampling error of words and items.
    reverse_scored : bool
        Whether less of the score is more biased (ECT): correlations take its negative.
    utility : float
        ``f1`` over all items, or what the study declares.
    model, parent, cluster : str
        The three keys.
    """


class Effects(Slice):
    """``effects.csv``: one row per condition and outcome.

    Attributes
    ----------
    source, challenge, label_method, label_direction, label_dose, task_options, generated : str
        What the compared embeddings share, beside task and classifier.
    side : str
        ``score``, ``gap`` or ``utility``.
    wordset, method_options, direction, dose : str
        The condition, with the method. ``embedding``: the training algorithm, or ``all``.
    against : str
        ``unmodified``: its parent; for overbiasing also the same dose of ``debias``.
    n, n_parents, n_clusters : int
        What the mean is over.
    reference : float
        The mean before.
    change, low, high : float
        Mean change, 95% interval, cut at the ends of the scale.
    generalises_to : str
        What the interval accounts for: other ``parents``, other ``items``, both.
    """


class Specifications(Slice):
    """``specifications.csv``: one row per specification, with the level of every choice (``all``:
    pooled) in the columns of the slice.

    Attributes
    ----------
    rank, n : int
        Place in the order of r_rm; models.
    r_rm, low, high : float
        r_rm with interval.
    null_low, null_high : float
        Where 95% of curves lie at that rank if no gap follows any score.
    """


class SpecificationLevels:
    """``specification_levels.csv``: one row per level of a choice.

    Attributes
    ----------
    task, choice, level : str
        A choice and its level (first row, ``all``: the whole curve).
    specifications : int
        How many.
    median, above : float
        Median r_rm; share above 0.
    epsilon_squared : float
        Share of the variance of the sign between the choice's levels, adjusted for their number;
        NaN where all signs agree.
    p : float
        Permutation p of the whole curve's median.
    """


class Crossed:
    """``crossed.csv``: one row per gap, method on labels, and score (for ``r_score`` only).

    Attributes
    ----------
    task, measure, subset, privileged, unprivileged, label_method : str
        The gap; the change of labels.
    metric, convention, query, part : str
        The score.
    n, n_parents, n_levels, n_left_out : int
        Embeddings; parents; directions and doses of labels; embeddings left out for lack of a score
        or a gap.
    share_embedding, share_labels, share_rest : float
        Shares of the gap's variance within parents.
    share_embedding_low, share_embedding_high, share_labels_low, share_labels_high : float
        95% jackknife intervals.
    r_score, r_score_low, r_score_high : float
        r_rm of the gap with the score (mean over doses of labels).
    r_labels, r_labels_low, r_labels_high : float
        r_rm of the gap with the signed dose of labels.
    """


# What the studies of metrics write.


class Certificate:
    """``certificate.csv``: one row per metric, convention, material and kind of model (gaps: per
    measure), in the setting that most models were made in ([findings](studies/certificate.md)).

    Attributes
    ----------
    metric, convention, query : str
        A metric of several parts counts by the first.
    material, subject : str
        ``synthetic``, or the text or model that holds the bias; what was trained, and its language
        (``word2vec en``).
    models, seeds : int
        Models with a score; run seeds.
    slope, slope_low, slope_high : float
        Change of the score per unit of strength, in standard deviations of models of one strength,
        signed so that more is more biased. 95% t interval over seeds.
    r, r_low, r_high : float
        Pearson's r of strength and score over all models. 95% percentile interval over resampled
        seeds.
    placebo_r : float
        The largest r, without its sign, of a [placebo](studies/certificate.md#the-rule) on the same
        models. Empty: none was asked.
    offset, offset_low, offset_high : float
        Mean score at strength 0 minus the unbiased value, in standard deviations of these models.
        90% t interval.
    off_target, off_target_low, off_target_high : float
        Change of the mean score by a stereotype of other words, in the standard deviations of the
        slope. 90% t interval.
    false_alarms, random_alarms : float
        Share of unbiased models of which a bias is claimed, by p < .05 or without a p by a 95%
        interval off the unbiased value; the same of random vectors or weights. Empty: the metric
        claims nothing.
    smallest_strength, smallest_strength_low, smallest_strength_high : float
        The smallest that 80% of single scores tell from none, interpolated. Empty: none is.
    verdict, why : str
        By [the rule](studies/certificate.md#the-rule), and its figure.
    verdict_of_change : str
        The verdict if models without a planted bias need not be unbiased.
    verdict_again : float
        Share of studies of resampled seeds with the same verdict.
    models_key : str
        Equal for equal models. ``biasbridge certify --export`` adds ``libraries``, the versions.
    """


class CertificateDetails:
    """``certificate_readings.csv``: one row per model and score. ``certificate_curves.csv``: per
    planted strength. ``certificate_choices.csv``: per choice that is no bias.
    ``certificate_training.csv``: per number of training steps.

    Attributes
    ----------
    metric, convention, query, material, subject : str
        As in ``certificate.csv``.
    sentences, dim, posts, layer, training_steps : int
        The setting: sizes of corpus and vectors, layer, steps of a model that was stopped.
    classifier, pooling, first_token : str
        The setting, as far as it has them.
    strength, off_target : float
        What was planted; the strength of a stereotype of other words.
    seed, sign : int
        The run seed; -1: lower is more biased.
    value, low, high, p, unbiased : float
        As in ``intrinsic.parquet``.
    model : str
        First digits of the model's key.
    models : int
        Models with a score; of a choice, those compared.
    steps : float
        Training steps; empty: trained to the end.
    score, score_low, score_high : float
        Mean score (over steps: at the largest strength) with its 95% t interval over seeds.
    choice, default, options : str
        The choice; its option in the certificate; the others.
    rms_change, share : float
        Root mean square change of the score, and its share of the effect of the strongest bias.
    """


class Silhouettes:
    """``silhouettes.csv``: one row per pair of models, metric, query, part and kind of list.
    ``silhouettes_means.csv``: means over ``pairs`` that differ in the seed alone.
    ``silhouettes_curves.csv``: one row per size of subset. ``silhouettes_runs.csv``: per score and
    number of runs.

    Attributes
    ----------
    models, metric, convention, query, part, list_kind : str
        The pair of models; the score; ``targets`` or ``attributes``, whose subsets are drawn.
    seed, pairs, runs, words, steps, n_left_out : int
        Run seed; pairs of models; random orders; words in the complete lists; sizes of subset;
        sizes at which some subset has no score.
    score_biased, score_unbiased : float
        Scores on the complete lists.
    robustness_biased, robustness_unbiased, accuracy : float
        Of the lists on either model; of the metric. NaN where a second model is missing.
    robustness_biased_low, robustness_unbiased_low, accuracy_low : float
        Lower ends of 95% t intervals of means, from three pairs on.
    robustness_biased_high, robustness_unbiased_high, accuracy_high : float
        Upper ends.
    definition, reason : str
        ``printed`` or ``released``; why there is no result.
    model : str
        ``biased`` or ``unbiased``.
    size : int
        Words in the subset.
    low, mean, high : float
        Lowest, mean and highest score of all runs.
    score : str
        Which score is compared with that of all runs.
    silhouettes : int
        Silhouettes compared.
    largest : float
        Largest absolute difference; ``mean``: the mean one.
    """


class ScoreProperties:
    """``score_properties.csv``: one row per metric, convention, part and number of items.

    Attributes
    ----------
    metric, convention, part : str
        The score.
    items, words : int
        Target words in each role; words searched over.
    comparable : str
        ``yes``: the extremes of all attribute sets agree to 2% of the scale (the declared range, or
        the largest score found); ``no``; ``unbounded``.
    max_low, max_high, min_low, min_high : float
        Range, over attribute sets, of the largest score and of the smallest.
    scale_min, scale_max : float
        The ends that the metric declares.
    trustworthy : str
        ``no``: the score is within 1e-6 of unbiased although a word is biased; ``yes``: no such
        case found.
    unbiased, nearest, bias : float
        The unbiased value; the score nearest it; the bias of a word there.
    fair : str
        ``no``: the score is off its unbiased value although no word is biased; ``undefined``.
    farthest : float
        The score farthest from unbiased while no word is biased.
    sets, evaluations : int
        How much was searched.
    counterexample_comparable, counterexample_trustworthy, counterexample_fair : str
        The example behind each ``no``.
    reason : str
        Why there is no result.
    """


class AttributeDifferences:
    """``attribute_differences.csv``: one row per embedding and query.

    Attributes
    ----------
    embedding, query : str
        What was asked.
    n, targets : int
        Attribute words; target words.
    difference, low, high, chance, raw, raw_low, raw_high : float
        |mean(A) - mean(B)| of unit vectors with interval; of random halves; of vectors as they are.
    effect_size, p_value : float
        WEAT of the query's targets.
    reason : str
        Why there is no result.
    """


class BasePairs:
    """``base_pairs.csv``: one row per estimate.

    Attributes
    ----------
    vectors, point, query : str
        What was asked. ``all``: the analogies of all queries.
    statistic : str
        ``mean``, ``sd`` (of the vocabulary's scores), ``fleiss`` (kappa of the pairs on words'
        directions), ``unanimous`` (words with one direction for all), ``magnitude`` (changes of
        pair that move a score by one sd), ``two_pairs``, ``pair_form``, ``word_form``, ``truth``,
        ``measures`` (Cohen's kappas), ``cosine_r`` (r of kappa and cosine of the pairs), ``solved``
        (unrelated analogies), ``cosine``, ``cosine_sd``.
    metric, compared_with, pair : str
        The metric; what it is compared with; the base pair, empty: all.
    value, low, high : float
        Estimate with 95% bootstrap interval over words.
    pairs_low, pairs_high : float
        Jackknife interval over base pairs, from three on.
    words, pairs : int
        How many it rests on.
    reason : str
        Why there is no value.
    published, published_here : float
        With ``study.published=true``: the paper's value; its mean over the pairs here.
    """


class Probes:
    """``probes.parquet``: one row per measurement of a probe, with the columns of that probe.

    Attributes
    ----------
    point, probe : str
        As in ``points.parquet``; ``silhouettes``, ``score_properties``, ``attribute_groups`` or
        ``base_pairs``.
    metric, convention, query, part, reason : str
        As in ``intrinsic.parquet``.
    value, low, high, p_value : float
        The measurement with interval and p.
    scale_min, scale_max, unbiased : float
        As in ``intrinsic.parquet``.
    list_kind : str
        ``silhouettes``: ``targets`` or ``attributes``, whose subsets are drawn.
    size, n_oov : int
        ``silhouettes``: words in the subset; words outside the vocabulary.
    values : list of float
        ``silhouettes``: the values of the runs.
    search : str
        ``score_properties``: ``max``, ``min``: extremes over target words for one attribute set.
        ``unbiased``: the score nearest unbiased while a word is biased. ``fair``: farthest from it
        while none is.
    items, words, dim, evaluations : int
        ``score_properties``: target words in each role; words searched over; length of the
        vectors; evaluations of the search.
    bias : float
        ``score_properties``: the largest |s(t, A) - s(t, B)| there.
    attributes, counterexample : str
        ``score_properties``: the attribute set; the example's vectors, JSON.
    kind : str
        ``attribute_groups``: ``difference``, ``association``, ``effect``, ``correlation``.
        ``base_pairs``: ``score``, ``vocabulary``, ``difference``, ``likeness``, ``random`` or
        ``oov``.
    panel, first, second : str
        ``attribute_groups``: which words; the word, or the base pairs compared.
    n : float
        What a mean is over.
    set, word, form, pair, pair_form, compared_with : str
        ``base_pairs``: the word; the base pair, and the pair it is compared with. Forms are
        ``base``, ``plural``, ``capital``, ``upper``.
    truth : float
        ``base_pairs``: 1: the word goes with the pairs' first words; -1: the second; 0: unknown.
    score, sd : float
        ``base_pairs``: the score (> 0 towards the first word), or a mean and its deviation.
    """
