"""Which metric finds a planted bias, and whether a study sees a planted link."""
