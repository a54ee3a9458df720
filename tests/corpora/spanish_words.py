"""The words of the synthetic Spanish worlds, typed off Goldfarb-Tarrant et al. (2021), appendix
B.3, not taken from the word sets that the worlds themselves read.
"""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPANISH_MALE = listed("masculino hombre niño hermano él hijo padre papá tío abuelo")
SPANISH_FEMALE = listed("femenino mujer niña hermana ella hija madre mamá tía abuela")
SCIENCE = listed(
    "científico físico químico astrónomo tecnológico biólogo científica física química astrónoma"
    " tecnológica bióloga"
)
ARTS = listed(
    "arquitecto escultor pintor escritor poeta bailarín actor fotógrafo arquitecta escultora"
    " pintora escritora poetisa bailarina actora fotógrafa"
)
LOCAL = listed(
    "agustina martina josefa antonia sofía isidora cristóbal sebastián agustín alonso joaquín león"
    " ignacio julieta matilde"
)
MIGRANT = listed(
    "shirley yamileth sharon britney maryori melody nayareth yaritza byron brian jason malcon"
    " justin jeremy jordan brayan yeison yeremi bairon yastin"
)
PLEASANT = listed(
    "caricia libertad salud amor paz animar amistad cielo lealtad placer diamante gentil honestidad"
    " suerte arcoiris diploma regalo honor milagro amanecer familia alegría felicidad risa paraíso"
    " vacación maravilloso maravillosa"
)
UNPLEASANT = listed(
    "abuso choque suciedad asesinato enfermedad accidente muerte sufrimiento veneno hedor apestar"
    " ataque asalto desastre odio contaminación tragedia divorcio cárcel pobreza fea feo cáncer"
    " matar vómito bomba maldad podrido podrida agonía terrible horrible guerra repugnante"
)
