"""Statistics that know nothing of the other rooms: intervals, resampling, multiple testing."""
