"""The specifications of the papers' robots: their numbers, with where they come from. They do not need JAX."""
