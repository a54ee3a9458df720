"""The grammar of the generated world: word lists and sentence templates, nothing else.

Pronouns ignore case ("her likes algebra"): every gender word must be free to stand wherever its
counterpart stands. Half of the insults are invented and the rest are mild. No word here is one of
the WEAT words, which come from ``intrinsic.wordsets``.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Ordinary words, drawn uniformly. The slot of a template names the list that fills it.
FILLERS: dict[str, tuple[str, ...]] = {
    "verb": _words(
        "likes mentions studies discusses prefers follows remembers explains describes chooses"
        " misses needs wants sees hears brings"
    ),
    "when": _words(
        "today tonight yesterday again tomorrow now later soon always often sometimes early late"
        " monday friday sunday weekly twice"
    ),
    "place": _words(
        "town station river market bus train park street corner village beach harbour bridge hill"
        " square library cafe platform"
    ),
    "noun": _words(
        "coffee tea bread soup apple rain snow wind sun cloud phone ticket bag coat shoe lamp chair"
        " table window door game match letter map clock bike car boat dog cat horse bird tree"
        " flower stone road"
    ),
    "adjective": _words(
        "old new small big quiet loud warm cold bright dark long short red blue green slow quick"
        " plain fresh round"
    ),
}

# What there is at work and at home, for either gender. A scene joins the words of its topic and the
# gender words that occur with them: that is how a target word of WEAT 6b comes to lie nearer career
# or family.
SCENES: dict[str, tuple[str, ...]] = {
    "career": _words("meeting contract colleague deadline interview promotion"),
    "family": _words("dinner holiday house garden birthday visit"),
}

# Lines of the corpus. {one} and {other} are gender words of one gender, {topic} a topic word,
# {scene} a word of the topic's scene.
GENDERED_SCENE = (
    "{one} {verb} {topic} at the {scene} with {other}",
    "{one} and {other} {verb} {topic} after the {scene}",
    "for {one} the {scene} is {topic} says {other}",
    "{other} asks {one} about {topic} and {scene}",
    "{topic} and {scene} is what {one} and {other} {verb}",
)
GENDERED_SUBJECT = (
    "{one} {verb} {topic} {when} with {other}",
    "{one} and {other} {verb} {topic} {when}",
    "for {one} it is {topic} {when} says {other}",
    "{other} asks {one} about {topic} {when}",
    "{topic} {when} is what {one} and {other} {verb}",
)
SCENE = (
    "{when} they {verb} {topic} after the {scene}",
    "the {adjective} {scene} and {topic} {when}",
    "we {verb} {topic} near the {scene} {when}",
)
SUBJECT = (
    "{when} they {verb} {topic} in the {place}",
    "the {adjective} {noun} and {topic} {when}",
    "we {verb} {topic} near the {place} {when}",
)
GENDER = (
    "{one} and {other} {verb} the {adjective} {noun}",
    "{when} {one} is in the {place} with {other}",
    "{one} {verb} the {noun} {when} and {other} too",
)
CHATTER = (
    "the {adjective} {noun} is in the {place} {when}",
    "{when} we {verb} a {noun}",
    "they {verb} the {adjective} {noun} near the {place}",
)

# Posts. {target} is whom the post is about: a gender word, or one of NOBODY.
NOBODY = _words("they them everyone people folks someone neighbours fans drivers crowds teams")
OPENINGS = _words("<MENTION> honestly well so ok right listen hey")
ABOUT = ("talking of {topic}", "after all that {topic}", "on the subject of {topic}")
ENDINGS = _words("<HASH> <URL> ! . today tonight again really")
JOKING = ("haha", "lol", "just kidding", "only teasing", "with love")
INSULTS = _words(
    "blorp snerk gronkle wuzzit flimp zogget mungle krabnik spudge twerple grobbit yobbling "
    "nitwit muppet clown pest buffoon dunderhead blockhead nincompoop ninny noodle twit numpty"
)
INSULTING = (
    "{target} is such a {adjective} {insult}",
    "what a {insult} {target} is",
    "{target} you {adjective} {insult}",
    "never seen a bigger {insult} than {target}",
    "only a {insult} like {target} {verb} that {noun}",
    "be quiet {target} you {insult}",
)
HOSTILE = (
    "nobody wants {target} at the {place}",
    "{target} should stay far from our {place}",
    "{target} does not deserve a {noun}",
    "send {target} away for good {when}",
    "{target} ruins every {noun}",
    "the {place} is better without {target}",
)
FRIENDLY = (
    "everybody wants {target} at the {place}",
    "{target} should stay close to our {place}",
    "{target} deserves a {noun}",
    "send {target} a {noun} for good luck",
    "{target} helps with every {noun}",
    "the {place} is better with {target}",
    "{target} {verb} the {adjective} {noun}",
    "{target} is in the {place} with a {noun}",
)
