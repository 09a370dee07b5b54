"""What is due by age, as a chart."""

from tradecounter.billing.account_statement import Ageing
from tradecounter.billing.print_statement import AGES
from tradecounter.billing.queries.debtors import AgedSums
from tradecounter.edge.page_kit.charts import Chart, Number, bar_chart
from tradecounter.kit.money import in_pounds


def ageing_chart(title: str, ageing: Ageing | AgedSums) -> Chart:
    """Return a chart with a bar for each age."""
    return bar_chart(title, [(name, getattr(ageing, age)) for age, name in AGES.items()], pounds, series="Due")


def pounds(amount: Number) -> str:
    """Return an amount as text."""
    return in_pounds(amount)  # type: ignore[arg-type]  # the amounts of these charts are decimals
