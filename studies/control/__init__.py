"""Power of studies: how often a link between score and gap that is planted is found."""
