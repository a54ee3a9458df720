"""What a run is made of: subjects that are measured and tasks that they are put to, a file each."""
