"""Would a study see a link between score and gap? Studies of data in which one is planted."""
