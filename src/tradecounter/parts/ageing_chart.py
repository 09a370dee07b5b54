"""The chart of what is due by age, which pages of both sites have."""

from tradecounter.billing.rules import AGES, Ageing
from tradecounter.edge.page_kit.charts import Chart, bar_chart
from tradecounter.kit.money import in_pounds


def ageing_chart(title: str, ageing: Ageing) -> Chart:
    """Return a chart with a bar for each age."""
    return bar_chart(title, [(name, getattr(ageing, age)) for age, name in AGES.items()], in_pounds, series="Due")
