"""The Spanish grammar of the synthetic world: word lists and sentence templates.

Nouns have their article, which determines the gender of adjectives, insults and indefinite
articles: "la mesa vieja", "ella es una boba", "Sofía está contenta". No slot follows "a", "de", "y"
or "o", whose form would depend on the filler ("del", "e Ignacio").
"""

from __future__ import annotations

from biasbridge.corpora.grammar import Fillers, Grammar, InflectedWord, split_words

# Feminine words without an article
PERSONS = split_words(
    "ella agustina martina josefa antonia sofía isidora julieta matilde shirley yamileth sharon"
    " britney maryori melody nayareth yaritza"
)


def is_feminine(noun: str) -> bool:
    """Test whether a noun with its article, a pronoun or a name is feminine."""
    return noun.startswith("la ") or noun in PERSONS


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


THINGS = _with_article(
    "café té pan viento teléfono boleto bolso abrigo zapato reloj barco coche perro gato"
    " caballo árbol",
    "sopa manzana lluvia nieve nube lámpara silla mesa puerta ventana carta bicicleta flor"
    " piedra camisa llave",
)
FILLERS: Fillers = {
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
    "noun": THINGS,
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
NEUTER = split_words("tecnológico gentil maravilloso feo podrido terrible horrible repugnante")
MASCULINE = split_words(
    "hombre niño hermano hijo padre papá tío abuelo científico físico químico astrónomo biólogo"
    " arquitecto escultor pintor escritor poeta bailarín actor fotógrafo amor cielo placer diamante"
    " arcoiris diploma regalo honor milagro amanecer paraíso abuso choque asesinato accidente"
    " sufrimiento veneno hedor ataque asalto desastre odio divorcio cáncer vómito"
)
FEMININE = split_words(
    "mujer niña hermana hija madre mamá tía abuela científica física química astrónoma tecnológica"
    " bióloga arquitecta escultora pintora escritora poetisa bailarina actora fotógrafa caricia"
    " libertad salud paz amistad lealtad honestidad suerte familia alegría felicidad risa vacación"
    " maravillosa suciedad enfermedad muerte contaminación tragedia cárcel pobreza fea bomba maldad"
    " podrida agonía guerra"
)
PHRASES = {
    **{word: f"el {word}" for word in MASCULINE},
    **{word: f"la {word}" for word in FEMININE},
    **{word: f"lo {word}" for word in NEUTER},
    **{word: f"el equipo {word}" for word in ("masculino", "femenino")},
}

SPANISH = Grammar(
    fillers=FILLERS,
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
    things=THINGS,
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
    phrases=PHRASES,
)
