"""Grammars of the synthetic world: word lists and sentence templates.

A template is filled by ``str.format``; its slots are ``fillers``, drawn uniformly, and

    {one}, {other}  corpus: persons of one group        {topic}, {scene}  a topic word; its scene
    {target}        posts: target of the post           {insult}          an insult

Half of the insults are invented and the others are mild. Grammars share no word with the planted
words, which come from ``biasbridge.intrinsic.words``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Words = tuple[str, ...]


def split_words(text: str) -> Words:
    """Split a text into words."""
    return tuple(text.split())


@dataclass(frozen=True)
class InflectedWord:
    """A word with masculine and feminine form: ``{adjective:{noun}}`` agrees with ``{noun}``."""

    masculine: str
    feminine: str
    is_feminine: Callable[[str], bool]  # of a noun, as written in the sentence

    def __format__(self, noun: str) -> str:
        return self.feminine if self.is_feminine(noun) else self.masculine


Fillers = Mapping[str, Words | tuple[InflectedWord, ...]]


@dataclass(frozen=True)
class Grammar:
    """The word lists and templates of one language.

    Lines of the corpus: a group and a topic with a scene (``group_in_scene``) or without
    (``group_and_topic``); a topic alone (``topic_in_scene``, ``topic``); a group alone (``group``);
    neither (``chatter``).

    A post is an opening, a core (``insulting``, ``hostile`` or ``friendly``), ``about`` a topic,
    and one of ``endings`` or, with laughter, of ``joking``; ``nobody`` or ``things`` fill
    ``{target}`` in posts about no group. ``phrases``: planted words as written in a sentence, if
    that is not the word alone.
    """

    fillers: Fillers
    group_in_scene: Words
    group_and_topic: Words
    topic_in_scene: Words
    topic: Words
    group: Words
    chatter: Words
    nobody: Words
    things: Words
    openings: Words
    about: Words
    endings: Words
    joking: Words
    insults: Words | tuple[InflectedWord, ...]
    insulting: Words
    hostile: Words
    friendly: Words
    phrases: Mapping[str, str] = field(default_factory=dict)

    def phrase(self, word: str) -> str:
        """Return the word as written in a sentence."""
        return self.phrases.get(word, word)


# The English grammar of the synthetic world: word lists and sentence templates.
#
# Pronouns ignore case ("her likes algebra"), so that every gender word can replace its counterpart.

ENGLISH_FILLERS: Fillers = {
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
    fillers=ENGLISH_FILLERS,
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
    things=tuple(f"the {noun}" for noun in ENGLISH_FILLERS["noun"]),
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


# The Spanish grammar of the synthetic world: word lists and sentence templates.
#
# Nouns have their article, which determines the gender of adjectives, insults and indefinite
# articles: "la mesa vieja", "ella es una boba", "Sofía está contenta". No slot follows "a", "de",
# "y" or "o", whose form would depend on the filler ("del", "e Ignacio").

# Feminine words without an article
_PERSONS = split_words(
    "ella agustina martina josefa antonia sofía isidora julieta matilde shirley yamileth sharon"
    " britney maryori melody nayareth yaritza"
)


def is_feminine(noun: str) -> bool:
    """Test whether a noun with its article, a pronoun or a name is feminine."""
    return noun.startswith("la ") or noun in _PERSONS


def _with_article(masculine: str, feminine: str) -> tuple[str, ...]:
    return tuple(
        f"{article} {noun}"
        for article, nouns in (("el", masculine), ("la", feminine))
        for noun in nouns.split()
    )


def _agreeing(text: str) -> tuple[InflectedWord, ...]:
    """Return words by their masculine form: feminine -o becomes -a, other endings stay."""
    return tuple(
        InflectedWord(word, f"{word[:-1]}a" if word.endswith("o") else word, is_feminine)
        for word in text.split()
    )


_THINGS = _with_article(
    "café té pan viento teléfono boleto bolso abrigo zapato reloj barco coche perro gato"
    " caballo árbol",
    "sopa manzana lluvia nieve nube lámpara silla mesa puerta ventana carta bicicleta flor"
    " piedra camisa llave",
)
_SPANISH_FILLERS: Fillers = {
    "verb": split_words(
        "prefiere menciona estudia comenta sigue recuerda explica describe elige necesita busca"
        " mira oye trae cuida dibuja"
    ),
    "when": split_words(
        "hoy ayer anoche mañana ahora luego pronto siempre temprano tarde entonces también aquí"
        " allí antes después"
    ),
    "place": _with_article(
        "mercado puente parque puerto pueblo tren autobús barrio",
        "plaza playa estación calle esquina biblioteca colina cafetería",
    ),
    "noun": _THINGS,
    "adjective": _agreeing(
        "viejo nuevo pequeño ruidoso frío claro oscuro largo corto rojo amarillo lento rápido"
        " redondo grande verde"
    ),
    "mood": _agreeing(
        "cansado contento ocupado tranquilo callado serio distraído nervioso despierto sentado"
    ),
    "un": (InflectedWord("un", "una", is_feminine),),
}

# Scenes of pleasant and of unpleasant topics, for either group
GOOD_DAYS = _with_article("paseo concierto verano", "fiesta merienda visita")
BAD_DAYS = _with_article("juicio hospital invierno", "noticia tormenta sala")

# Planted words written with an article; the others are pronouns, names and infinitives
_NEUTER = split_words("tecnológico gentil maravilloso feo podrido terrible horrible repugnante")
_MASCULINE = split_words(
    "hombre niño hermano hijo padre papá tío abuelo científico físico químico astrónomo biólogo"
    " arquitecto escultor pintor escritor poeta bailarín actor fotógrafo amor cielo placer diamante"
    " arcoiris diploma regalo honor milagro amanecer paraíso abuso choque asesinato accidente"
    " sufrimiento veneno hedor ataque asalto desastre odio divorcio cáncer vómito"
)
_FEMININE = split_words(
    "mujer niña hermana hija madre mamá tía abuela científica física química astrónoma tecnológica"
    " bióloga arquitecta escultora pintora escritora poetisa bailarina actora fotógrafa caricia"
    " libertad salud paz amistad lealtad honestidad suerte familia alegría felicidad risa vacación"
    " maravillosa suciedad enfermedad muerte contaminación tragedia cárcel pobreza fea bomba maldad"
    " podrida agonía guerra"
)
_PHRASES = {
    **{word: f"el {word}" for word in _MASCULINE},
    **{word: f"la {word}" for word in _FEMININE},
    **{word: f"lo {word}" for word in _NEUTER},
    **{word: f"el equipo {word}" for word in ("masculino", "femenino")},
}

SPANISH = Grammar(
    fillers=_SPANISH_FILLERS,
    group_in_scene=(
        "{one} {verb} {topic} en {scene} con {other}",
        "{one} habla con {other} sobre {topic} tras {scene}",
        "para {one} {scene} es {topic} según {other}",
        "con {other} {one} comenta {topic} durante {scene}",
        "{topic} en {scene} es lo que {one} {verb} con {other}",
        "{one} está {mood:{one}} por {topic} en {scene} según {other}",
    ),
    group_and_topic=(
        "{one} {verb} {topic} {when} con {other}",
        "{one} habla con {other} sobre {topic} {when}",
        "para {one} es {topic} {when} según {other}",
        "con {other} {one} comenta {topic} {when}",
        "{topic} {when} es lo que {one} {verb} con {other}",
        "{one} está {mood:{one}} por {topic} {when} según {other}",
    ),
    topic_in_scene=(
        "{when} todos comentan {topic} tras {scene}",
        "{scene} {adjective:{scene}} por {topic} {when}",
        "hablamos sobre {topic} en {scene} {when}",
    ),
    topic=(
        "{when} todos comentan {topic} en {place}",
        "{noun} {adjective:{noun}} para {topic} {when}",
        "hablamos sobre {topic} en {place} {when}",
    ),
    group=(
        "{one} con {other} {verb} {noun} {adjective:{noun}}",
        "{when} {one} está {mood:{one}} en {place} con {other}",
        "{one} {verb} {noun} {when} con {other}",
    ),
    chatter=(
        "{noun} {adjective:{noun}} está en {place} {when}",
        "{when} traemos {noun}",
        "todos comentan {noun} {adjective:{noun}} en {place}",
    ),
    things=_THINGS,
    nobody=(
        *_with_article("público equipo grupo vecindario", "gente multitud afición clase"),
        *("alguien", "cualquiera", "todo el mundo"),
    ),
    openings=split_words("<MENTION> oye bueno pues mira vaya sinceramente anda"),
    about=("hablando sobre {topic}", "con todo esto sobre {topic}", "a propósito , {topic}"),
    endings=split_words("<HASH> <URL> ! . hoy anoche vale mañana"),
    joking=("jaja", "jajaja", "es broma", "con humor", "te lo digo riendo"),
    insults=_agreeing(
        "blorpo snerco groncho wazito flimpo zogueto mungolo crabnico espudo tuerplo grobito"
        " yoblino payaso merluzo memo lerdo bobo cenizo ñoño pelmazo majadero patoso zoquete torpe"
    ),
    insulting=(
        "{target} es {un:{target}} {insult:{target}} {adjective:{target}}",
        "qué {insult:{target}} es {target}",
        "oye {target} eres {un:{target}} {insult:{target}}",
        "nunca vi {un:{target}} {insult:{target}} como {target}",
        "solo {un:{target}} {insult:{target}} como {target} {verb} {noun}",
        "silencio {target} , {insult:{target}}",
    ),
    hostile=(
        "nadie quiere estar con {target} en {place}",
        "{target} debe irse lejos {when}",
        "{target} no merece {noun}",
        "{target} sobra en {place} {when}",
        "{target} arruina {noun}",
        "{place} está mejor sin {target}",
    ),
    friendly=(
        "todos quieren estar con {target} en {place}",
        "{target} debe quedarse cerca {when}",
        "{target} merece {noun}",
        "{target} hace falta en {place} {when}",
        "{target} arregla {noun}",
        "{place} está mejor con {target}",
        "{target} {verb} {noun} {adjective:{noun}}",
        "{target} está {mood:{target}} en {place} con {noun}",
    ),
    phrases=_PHRASES,
)
