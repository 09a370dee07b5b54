"""What is due by age, as a chart."""

from tradecounter.billing.account_statement import Ageing
from tradecounter.billing.print_statement import AGES
from tradecounter.billing.queries.debtors import AgedSums
from tradecounter.edge.page_kit.charts import Chart, Number, bar_chart
from tradecounter.kit.money import in_pounds, in_whole_pounds


def ageing_chart(title: str, ageing: Ageing | AgedSums) -> Chart:
    """Return a chart with a bar for each age."""
    data = [(name, getattr(ageing, age)) for age, name in AGES.items()]
    return bar_chart(title, data, pounds, series="Due", named=_whole_pounds)


def _whole_pounds(amount: Number) -> str:
    return in_whole_pounds(amount)  # type: ignore[arg-type]  # as in `pounds`


def pounds(amount: Number) -> str:
    """Return an amount as text."""
    return in_pounds(amount)  # type: ignore[arg-type]  # the amounts of these charts are decimals
