"""The printed form."""

from quillbill.invoice import Invoice
from quillbill.money import format_amount

WIDTH = 72


def printed(invoice: Invoice) -> list[str]:
    """Lay an invoice out, one string a line, none wider than WIDTH."""
    title = "Credit note" if invoice.is_credit_note else "Invoice"
    rows = [f"{title} {invoice.number}".ljust(WIDTH - 10) + invoice.date.isoformat(), invoice.customer, "-" * WIDTH]
    for line in invoice.lines:
        rows.append(f"{line.quantity:>6} x {line.text[:34]:<34} {format_amount(line.unit_price):>12}  {format_amount(line.net):>12}")
    rows.append("-" * WIDTH)
    if invoice.shipping:
        rows += [_sum("Subtotal", format_amount(invoice.subtotal)), _sum("Shipping", format_amount(invoice.shipping))]
    rows.append(_sum("Total", format_amount(invoice.total)))
    return rows


def _sum(label: str, amount: str) -> str:
    return label + f"{amount:>{WIDTH - len(label)}}"
