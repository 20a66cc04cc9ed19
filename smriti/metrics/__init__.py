"""Pure functions from records to figures. Formulas and names are those of the README's glossary."""
