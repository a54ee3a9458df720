"""Steps, the store, points and sweeps: how a run is planned, built and finished."""
