"""What surrounds an arm: shapes to touch, and the contact with them and between arms."""
