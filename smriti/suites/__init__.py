"""What is run: each suite turns a manifest into cases, and a case into evidence."""
