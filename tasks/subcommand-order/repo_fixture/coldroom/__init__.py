"""Night-time upkeep of the cold store."""
