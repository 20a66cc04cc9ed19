"""Steps that look after the units: temperature, frost, doors."""

from coldroom.registry import step
from coldroom.store import Store

THICK_FROST_MM = 4


@step("mark units that are warmer than their limit")
def probe(store: Store) -> list[str]:
    lines = []
    for unit in store.units:
        unit.warm = unit.temp_c > unit.limit_c
        if unit.warm:
            lines.append(f"probe: {unit.name} is {unit.temp_c - unit.limit_c:.1f} degrees too warm")
    return lines or ["probe: all units within their limits"]


@step("clear thick frost")
def defrost(store: Store) -> list[str]:
    frosted = [unit for unit in store.units if unit.frost_mm >= THICK_FROST_MM]
    lines = [f"defrost: {unit.name}, {unit.frost_mm} mm" for unit in frosted]
    for unit in frosted:
        unit.frost_mm = 0
    return lines or ["defrost: nothing to clear"]


@step("mend doors with a worn gasket")
def reseal(store: Store) -> list[str]:
    worn = [unit for unit in store.units if unit.gasket == "worn"]
    for unit in worn:
        unit.gasket = "good"
    return [f"reseal: {unit.name}" for unit in worn] or ["reseal: all doors are tight"]
