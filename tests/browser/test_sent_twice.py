"""A form that a double click sends, in a real browser."""

import psycopg
from playwright.sync_api import Browser, expect

from support.browsing import signed_in, tab_in, window
from support.orders import rows
from support.pages import customer_user
from support.service import Service

CLICK_TWICE = "button => { button.click(); setTimeout(() => button.click(), 150); }"


def test_a_double_click_makes_one_key_and_shows_it(shop: Service, browser: Browser) -> None:
    person = customer_user(shop, shop.customer().id)
    with window(browser, scripts=True) as context, tab_in(context, [shop.url], "twice") as tab:
        signed_in(tab, person, shop.url)
        tab.open(f"{shop.url}/account/developer/key/new")
        tab.page.locator("main input[name=name]").fill("ERP")
        with psycopg.connect(shop.database_url) as database:
            database.execute("lock table api_key in exclusive mode")
            tab.page.locator("main button.main").evaluate(CLICK_TWICE)
            tab.page.wait_for_timeout(500)  # milliseconds, in which the response would come to the second click
        expect(tab.page.locator("h1")).to_have_text("Your new API key")
    assert rows(shop, "select count(*) from api_key where name = 'ERP'") == [(1,)]
