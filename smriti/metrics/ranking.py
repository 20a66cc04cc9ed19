"""Retrieval metrics of one question, over distinct source ids in rank order."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from smriti.errors import UsageError

MAX_K = 100


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its cutoff. Its full name, `str(metric)`, is its identity and parses back."""

    name: str
    k: int | None = None

    def __post_init__(self) -> None:
        if self.name not in (UNCUT if self.k is None else CUT):
            raise UsageError(_unknown(str(self)))
        if self.k is not None:
            _check(self.k)

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    def __call__(self, ranked: Sequence[str], gold: Collection[str]) -> float | None:
        """Score one question's distinct source ids, best first; None where it has no gold evidence."""
        return UNCUT[self.name](ranked, gold) if self.k is None else CUT[self.name](ranked, gold, self.k)


def parse(name: str) -> Metric:
    """Read `mrr` or `<name>@<k>`, such as `recall_all@5`; UsageError for an unknown name or a k outside 1…100."""
    if name in UNCUT:
        return Metric(name)
    stated = re.fullmatch(r"([a-z_]+)@(-?[0-9]+)", name)
    # A second spelling of the same cutoff would be a second identity of the same metric.
    if stated is None or str(int(stated[2])) != stated[2]:
        raise UsageError(_unknown(name))
    return Metric(stated[1], int(stated[2]))


def distinct(source_ids: Iterable[str]) -> list[str]:
    """Keep the first, best-ranked occurrence of each source id."""
    return list(dict.fromkeys(source_ids))


def ceiling(metric: Metric, gold_sizes: Iterable[int]) -> float | None:
    """Return the mean that a perfect ranking earns over questions with so many gold sources each.

    Questions without gold are left out, as they are of every mean; None where all are.
    """
    sizes = list(gold_sizes)
    perfect = {size: metric(gold, gold) for size in set(sizes) if (gold := [str(rank) for rank in range(size)])}
    known = [value for size in sizes if (value := perfect.get(size)) is not None]
    return math.fsum(known) / len(known) if known else None


def precision(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Share of the first k slots that hold gold: |ranked[:k] ∩ gold| / k.

    A slot that was left unused counts as a miss. k: 1…100. No gold: None.
    Source: Buckley and Voorhees, Retrieval system evaluation, in TREC (2005); ir_measures `P@k`.
    """
    hits = _hits(ranked, gold, k)
    return None if hits is None else sum(hits) / k


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Share of the gold that the first k slots hold: |ranked[:k] ∩ gold| / |gold|.

    The denominator is all gold, never what could be found. k: 1…100. No gold: None.
    Source: Buckley and Voorhees, as above; ir_measures `R@k`.
    """
    hits = _hits(ranked, gold, k)
    return None if hits is None else sum(hits) / len(set(gold))


def recall_all(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 where the first k slots hold all of the gold, else 0: [gold ⊆ ranked[:k]].

    Cannot be 1 where there is more gold than k. k: 1…100. No gold: None (the official script says 1).
    Source: Wu et al., LongMemEval (ICLR 2025), `recall_all@k`.
    """
    hits = _hits(ranked, gold, k)
    return None if hits is None else float(sum(hits) == len(set(gold)))


def hit(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 where the first k slots hold any gold, else 0: [ranked[:k] ∩ gold ≠ ∅].

    k: 1…100. No gold: None (the official script says 0).
    Source: Wu et al., LongMemEval (ICLR 2025), `recall_any@k`; ir_measures `Success@k`.
    """
    hits = _hits(ranked, gold, k)
    return None if hits is None else float(any(hits))


def ndcg(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Discounted gain over its ideal: Σ_{r≤k} rel_r/log2(r+1), divided by the same of all gold ranked first.

    rel_r is 1 where rank r holds gold, else 0; the ideal has min(k, |gold|) terms. k: 1…100. No gold: None.
    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20 (2002), with the
    discount log2(r+1) of trec_eval; ir_measures `nDCG@k`.
    """
    return _gain_over_ideal(ranked, gold, k, lambda rank: 1 / math.log2(rank + 1))


def ndcg_longmemeval(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """NDCG as LongMemEval's script has it: (rel_1 + Σ_{2≤r≤k} rel_r/log2(r)) over the same of all gold ranked first.

    Ranks 1 and 2 weigh the same. For comparison with published figures only. Equal to the official `ndcg_any@k` where
    documents are distinct and hold all gold: that script takes its ideal from the documents. k: 1…100. No gold: None.
    Source: Wu et al., LongMemEval (ICLR 2025), src/retrieval/eval_utils.py.
    """
    return _gain_over_ideal(ranked, gold, k, lambda rank: 1 / math.log2(max(rank, 2)))


def mrr(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """One over the rank of the first gold, in all that was returned: 1/r; 0 where none was.

    One question's share of the mean; no cutoff. No gold: None.
    Source: Voorhees, The TREC-8 question answering track report (1999); ir_measures `RR`.
    """
    wanted = _wanted(ranked, gold)
    if not wanted:
        return None
    return next((1 / rank for rank, source_id in enumerate(ranked, 1) if source_id in wanted), 0.0)


CUT: dict[str, Callable[[Sequence[str], Collection[str], int], float | None]] = {
    "precision": precision,
    "recall": recall,
    "recall_all": recall_all,
    "hit": hit,
    "ndcg": ndcg,
    "ndcg_longmemeval": ndcg_longmemeval,
}
"""The metrics that are named with a cutoff, `<name>@<k>`."""

UNCUT: dict[str, Callable[[Sequence[str], Collection[str]], float | None]] = {"mrr": mrr}
"""The metrics that are named without one."""


def _gain_over_ideal(
    ranked: Sequence[str], gold: Collection[str], k: int, discount: Callable[[int], float]
) -> float | None:
    hits = _hits(ranked, gold, k)
    if hits is None:
        return None
    gain = math.fsum(discount(rank) for rank, found in enumerate(hits, 1) if found)
    return gain / math.fsum(discount(rank) for rank in range(1, min(k, len(set(gold))) + 1))


def _hits(ranked: Sequence[str], gold: Collection[str], k: int) -> list[bool] | None:
    """Tell of each of the first k ranks that were filled whether it holds gold; None where there is no gold."""
    _check(k)
    wanted = _wanted(ranked, gold)
    return [source_id in wanted for source_id in ranked[:k]] if wanted else None


def _wanted(ranked: Sequence[str], gold: Collection[str]) -> frozenset[str]:
    if len(set(ranked)) != len(ranked):
        raise ValueError("a source id is ranked twice; metrics are over distinct(source_ids)")
    return frozenset(gold)


def _check(k: int) -> None:
    if not 1 <= k <= MAX_K:
        raise UsageError(f"k is {k}; expected a whole number from 1 to {MAX_K}")


def _unknown(name: str) -> str:
    forms = {cut: f"{cut}@<k>" for cut in CUT} | {uncut: uncut for uncut in UNCUT}
    near = difflib.get_close_matches(name.partition("@")[0], forms, n=1)
    hint = f" Did you mean {forms[near[0]]!r}?" if near else ""
    return f"metric {name!r} is not known.{hint} Known are {', '.join(forms.values())}, with k from 1 to {MAX_K}."
