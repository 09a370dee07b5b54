"""Checking and applying an import file in a real browser, with scripts and without."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.backoffice import BackOfficeSite
from support.browsing import signed_in, tab_in, window
from support.orders import sell
from support.pages import staff_member


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_a_file_is_checked_and_applied(office: BackOfficeSite, browser: Browser, tmp_path: Path, scripts: bool) -> None:
    sku = sell(office.service, f"BROWSED-{scripts}", available=5)
    file = tmp_path / "stock.csv"
    file.write_text(f"sku,available\n{sku},12\n")
    person = staff_member(office.service, office.url, "catalogue")
    with window(browser, scripts=scripts) as context, tab_in(context, [office.url], "import") as tab:
        signed_in(tab, person, office.url)
        tab.open(f"{office.url}/import")
        tab.page.locator("input[type=file]").set_input_files(file)
        tab.page.get_by_role("button", name="Check the file").click()
        expect(tab.page.locator("h1")).to_have_text("stock.csv")
        expect(tab.page.get_by_role("region", name="What would change")).to_contain_text("5 → 12")
        check = tab.page.url
        tab.open(f"{check}/apply")
        for address in (f"{check}/apply", check):
            tab.open(address)
            assert not scripts or all_errors(tab) == []
            tab.resize(1280)
        tab.page.get_by_role("button", name="Apply 1 change").click()
        expect(tab.page.locator("h1")).to_contain_text("stock")
        expect(tab.page.locator(".flash")).to_have_text("stock.csv is applied. It can be rolled back.")
