"""A rule for the products that a search finds never changes others."""

from decimal import Decimal
from functools import partial

import pytest

from support.importing import Importer
from tradecounter.imports.change_prices import PriceChange, ruled_prices


def test_a_rule_with_a_search_is_refused_where_nothing_can_be_searched(importer: Importer) -> None:
    wanted = PriceChange(query="phone", raise_percent=Decimal(5))
    with pytest.raises(TypeError, match="needs the catalogue in memory"):
        importer.change_by(partial(ruled_prices, wanted=wanted, memory=None))
