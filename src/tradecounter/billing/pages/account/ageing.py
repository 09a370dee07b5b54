"""What is due by age, as a chart with its table."""

from decimal import Decimal

from tradecounter.billing.account_statement import Ageing
from tradecounter.billing.print_statement import AGES
from tradecounter.edge.page_kit.charts import Chart, bar_chart
from tradecounter.edge.page_kit.values import money


def ageing_chart(ageing: Ageing) -> Chart:
    """Return a bar for each age of what is due, by days past the due date."""
    data = [(words, getattr(ageing, name)) for name, words in AGES.items()]
    return bar_chart("Due by age", data, lambda amount: money(Decimal(amount)), series="Due")
