"""Steps that look after the crates."""

from collections import Counter

from coldroom.registry import step
from coldroom.store import Store


@step("take empty crates away")
def sweep(store: Store) -> list[str]:
    before = len(store.crates)
    store.crates = [crate for crate in store.crates if crate.kg > 0]
    return [f"sweep: {before - len(store.crates)} empty crates"]


@step("number the crates that have no number")
def label(store: Store) -> list[str]:
    number = max((crate.number or 0 for crate in store.crates), default=0)
    lines = []
    for crate in store.crates:
        if crate.number is None:
            number += 1
            crate.number = number
            lines.append(f"label: {number} for {crate.product} in {crate.unit}")
    return lines or ["label: every crate has its number"]


@step("count the crates of each product")
def inventory(store: Store) -> list[str]:
    count = Counter(crate.product for crate in store.crates)
    return [f"inventory: {product} {count[product]}" for product in sorted(count)] or ["inventory: no crates"]
