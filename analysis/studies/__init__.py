"""What is concluded from the tables of an experiment: one file each."""
