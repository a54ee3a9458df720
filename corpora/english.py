"""The English grammar of the synthetic world: word lists and sentence templates.

Pronouns ignore case ("her likes algebra"), so that every gender word can replace its counterpart.
"""

from __future__ import annotations

from biasbridge.corpora.grammar import Fillers, Grammar, split_words

FILLERS: Fillers = {
    "verb": split_words(
        "likes mentions studies discusses prefers follows remembers explains describes chooses"
        " misses needs wants sees hears brings"
    ),
    "when": split_words(
        "today tonight yesterday again tomorrow now later soon always often sometimes early late"
        " monday friday sunday weekly twice"
    ),
    "place": split_words(
        "town station river market bus train park street corner village beach harbour bridge hill"
        " square library cafe platform"
    ),
    "noun": split_words(
        "coffee tea bread soup apple rain snow wind sun cloud phone ticket bag coat shoe lamp chair"
        " table window door game match letter map clock bike car boat dog cat horse bird tree"
        " flower stone road"
    ),
    "adjective": split_words(
        "old new small big quiet loud warm cold bright dark long short red blue green slow quick"
        " plain fresh round"
    ),
}

# Scenes of career and of family, for either gender
AT_WORK = split_words("meeting contract colleague deadline interview promotion")
AT_HOME = split_words("dinner holiday house garden birthday visit")

ENGLISH = Grammar(
    fillers=FILLERS,
    group_in_scene=(
        "{one} {verb} {topic} at the {scene} with {other}",
        "{one} and {other} {verb} {topic} after the {scene}",
        "for {one} the {scene} is {topic} says {other}",
        "{other} asks {one} about {topic} and {scene}",
        "{topic} and {scene} is what {one} and {other} {verb}",
    ),
    group_and_topic=(
        "{one} {verb} {topic} {when} with {other}",
        "{one} and {other} {verb} {topic} {when}",
        "for {one} it is {topic} {when} says {other}",
        "{other} asks {one} about {topic} {when}",
        "{topic} {when} is what {one} and {other} {verb}",
    ),
    topic_in_scene=(
        "{when} they {verb} {topic} after the {scene}",
        "the {adjective} {scene} and {topic} {when}",
        "we {verb} {topic} near the {scene} {when}",
    ),
    topic=(
        "{when} they {verb} {topic} in the {place}",
        "the {adjective} {noun} and {topic} {when}",
        "we {verb} {topic} near the {place} {when}",
    ),
    group=(
        "{one} and {other} {verb} the {adjective} {noun}",
        "{when} {one} is in the {place} with {other}",
        "{one} {verb} the {noun} {when} and {other} too",
    ),
    chatter=(
        "the {adjective} {noun} is in the {place} {when}",
        "{when} we {verb} a {noun}",
        "they {verb} the {adjective} {noun} near the {place}",
    ),
    nobody=split_words(
        "they them everyone people folks someone neighbours fans drivers crowds teams"
    ),
    things=tuple(f"the {noun}" for noun in FILLERS["noun"]),
    openings=split_words("<MENTION> honestly well so ok right listen hey"),
    about=("talking of {topic}", "after all that {topic}", "on the subject of {topic}"),
    endings=split_words("<HASH> <URL> ! . today tonight again really"),
    joking=("haha", "lol", "just kidding", "only teasing", "with love"),
    insults=split_words(
        "blorp snerk gronkle wuzzit flimp zogget mungle krabnik spudge twerple grobbit yobbling "
        "nitwit muppet clown pest buffoon dunderhead blockhead nincompoop ninny noodle twit numpty"
    ),
    insulting=(
        "{target} is such a {adjective} {insult}",
        "what a {insult} {target} is",
        "{target} you {adjective} {insult}",
        "never seen a bigger {insult} than {target}",
        "only a {insult} like {target} {verb} that {noun}",
        "be quiet {target} you {insult}",
    ),
    hostile=(
        "nobody wants {target} at the {place}",
        "{target} should stay far from our {place}",
        "{target} does not deserve a {noun}",
        "send {target} away for good {when}",
        "{target} ruins every {noun}",
        "the {place} is better without {target}",
    ),
    friendly=(
        "everybody wants {target} at the {place}",
        "{target} should stay close to our {place}",
        "{target} deserves a {noun}",
        "send {target} a {noun} for good luck",
        "{target} helps with every {noun}",
        "the {place} is better with {target}",
        "{target} {verb} the {adjective} {noun}",
        "{target} is in the {place} with a {noun}",
    ),
)
