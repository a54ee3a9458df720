"""Challenge sets: sentences with a pronoun whose antecedent is known, and the gaps between those
that a stereotype helps and those that it hinders, and between pronouns of either gender.
"""
