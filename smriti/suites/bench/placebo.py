"""Unrelated memory, as many words as the real one: what text alone does to an agent."""

from __future__ import annotations

import random

NOTES = (
    "The herb bed behind the kitchen is watered before eight in the morning and left alone when rain is forecast.",
    "Granny's plum cake wants the stones left out, a pinch of salt and forty minutes on the middle shelf.",
    "The ferry to the island leaves from the north pier in winter and from the south pier once the clocks change.",
    "Bicycle tyres in the cellar are pumped up on the first weekend of the month, the red one a little harder.",
    "The choir meets in the old school on Thursdays, and the altos bring the tea that week.",
    "Tomatoes do better along the southern wall than in the glasshouse, whatever the neighbour says.",
    "The spare key hangs behind the barometer, and the barometer has been wrong since the storm.",
    "Long walks along the canal are best started from the mill, where the path is dry even in March.",
    "The piano is tuned after the heating season, never before, by the woman from the music shop.",
    "Blue paint for the garden gate is kept in the shed with the lid taped down against the frost.",
    "On market days the baker sells out of rye bread by ten, so somebody goes early.",
    "The telescope stays outdoors for half an hour before anyone looks through it.",
    "Wool blankets are aired on a windy day and folded with cedar chips between them.",
    "The chess club plays in the library annex and returns the clocks to the second drawer.",
    "Soup stock is frozen in small jars that are filled no further than the shoulder.",
)


def placebo_notes(words: int, seed: str) -> list[str]:
    """Return notes of exactly `words` words in all, drawn from the seed; empty for 0."""
    chance = random.Random(seed)  # noqa: S311  # a choice of texts, no secret
    notes: list[str] = []
    left = words
    while left > 0:
        taken = chance.choice(NOTES).split()[:left]
        notes.append(" ".join(taken))
        left -= len(taken)
    return notes
