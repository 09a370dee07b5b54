"""Links are shown to those who may open the page at their path, which the menu finds by its words."""

import pytest

from support.page_routes import SITES, page_routes, path_of
from tradecounter.edge.pages.menu import Navigation
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.sites.menus import OFFICE_MENU


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_the_page_at_a_path_is_that_with_the_most_words_of_its_own(site: PageSite) -> None:
    routes = page_routes(site)
    menu = Navigation(site, OFFICE_MENU, [route.operation for route in routes], sandbox=False, offers_sandbox=False)
    paths = [route.with_values("RMA-7") for route in routes if route.method == "GET"]
    assert [menu.operation_at(path) for path in paths] == [path_of(site, path) for path in paths]
    assert menu.operation_at("/nowhere/at/all") == "/nowhere/at/all"
