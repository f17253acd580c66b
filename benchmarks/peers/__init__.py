"""The same rod in hydrostat and in other programs: each module has `METHODS` and `prepare`."""
