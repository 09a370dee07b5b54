"""Parts of pages that come later, and charts, in a real Chromium."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from playwright.sync_api import Browser, expect

from support.billing import invoiced, number_of
from support.browsing import Tab, signed_in, tab_in, window
from support.demo_sites import DemoSites
from support.pages import customer_user, staff_member
from support.service import Service

_TWO_LINES = 30  # pixels
_ONE_LINE_OF_FIELDS = 110  # pixels, with their labels and the frame
_TEXTS = """[...document.querySelectorAll(".bars dt, .bars dd")].map(element => {
    const range = document.createRange();
    range.selectNodeContents(element.matches("dd") ? element.lastChild : element);
    const box = range.getBoundingClientRect();
    return [box.left, box.right, box.top, box.bottom];
})"""


@pytest.fixture
def tab(browser: Browser, sites: DemoSites, request: pytest.FixtureRequest) -> Iterator[Tab]:
    with window(browser) as context, tab_in(context, [sites.office.url], request.node.name) as found:
        signed_in(found, staff_member(sites.service, sites.office.url, "administrator"), sites.office.url)
        yield found


def test_a_page_keeps_its_title_when_parts_of_others_come_into_it(tab: Tab, sites: DemoSites) -> None:
    tab.open(f"{sites.office.url}/payment")
    expect(tab.page.get_by_role("link", name="Saved views")).to_be_visible()
    expect(tab.page).to_have_title("Payments · Back office")
    tab.page.get_by_role("link", name="Record a payment").click()
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    expect(tab.page).to_have_title("Payments · Back office")


@pytest.mark.parametrize("width", [390, 1024, 1280])
@pytest.mark.parametrize("path", ["/", "/money"])
def test_the_names_and_amounts_of_a_chart_do_not_overlap(tab: Tab, sites: DemoSites, path: str, width: int) -> None:
    tab.resize(width)
    tab.open(sites.office.url + path)
    tab.run('document.querySelectorAll("details.folds").forEach(part => { part.open = true; })')
    texts = tab.run(_TEXTS)
    assert len(texts) == 10  # five ages with their amounts
    for one, other in combinations(texts, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


@pytest.mark.parametrize("path", ["/order", "/money", "/customer", "/goods-in"])
def test_a_list_is_a_table_on_paper(tab: Tab, sites: DemoSites, path: str) -> None:
    tab.resize(680)  # the width of A4 between its margins
    tab.open(sites.office.url + path)
    tab.page.emulate_media(media="print")
    displays = (
        "[...document.querySelector('table.cards tbody tr').children].map(cell => getComputedStyle(cell).display)"
    )
    assert set(tab.run(displays)) <= {"table-cell", "none"}
    assert not tab.is_too_wide


def test_a_list_stays_in_its_order_when_a_filter_changes(tab: Tab, sites: DemoSites) -> None:
    tab.open(f"{sites.office.url}/order")
    tab.page.get_by_role("link", name="Total").press("Enter")
    tab.page.wait_for_url("**sort=total**")
    expect(tab.page.get_by_role("link", name="Total")).to_be_focused()
    tab.page.get_by_label("Status").select_option("Invoiced")
    tab.page.wait_for_url("**status=Invoiced**")
    assert "sort=total" in tab.page.url
    expect(tab.page.locator("#results th[aria-sort=ascending]")).to_have_text("Total")


@pytest.mark.parametrize("width", [1024, 1280])
@pytest.mark.parametrize("path", ["/order", "/invoice", "/payment", "/audit"])
def test_the_filters_of_a_list_take_one_line_until_more_are_asked_for(
    tab: Tab, sites: DemoSites, path: str, width: int
) -> None:
    tab.resize(width)
    tab.open(sites.office.url + path)
    folded = tab.page.locator(".more-filters input").first
    expect(folded).to_be_hidden()
    assert tab.run("document.getElementById('filters').offsetHeight") < _ONE_LINE_OF_FIELDS
    tab.page.get_by_text("More filters").press("Enter")
    expect(folded).to_be_visible()


@pytest.mark.parametrize(("width", "rows"), [(1280, [4, 3]), (390, [2, 2, 2, 1])])
def test_figures_fill_their_rows(tab: Tab, sites: DemoSites, width: int, rows: list[int]) -> None:
    tab.resize(width)
    tab.open(sites.office.url)
    boxes = tab.run(
        "[...document.querySelectorAll('.tile')].map(tile => tile.getBoundingClientRect()).map(b => [b.top, b.right])"
    )
    ends = {round(top): round(right) for top, right in boxes}  # of the last figure in each row
    assert [sum(round(top) == row for top, _ in boxes) for row in sorted(ends)] == rows
    assert len(set(ends.values())) == 1


@pytest.mark.parametrize("width", [1280, 1440])
def test_what_can_be_done_with_a_debtor_is_on_one_line(tab: Tab, sites: DemoSites, width: int) -> None:
    tab.resize(width)
    tab.open(f"{sites.office.url}/money")
    heights = tab.run("[...document.querySelectorAll('.steps')].map(steps => steps.getBoundingClientRect().height)")
    assert heights
    assert max(heights) < _TWO_LINES


def test_the_sum_of_ticked_invoices_follows_after_the_form_has_come_back(shop: Service, browser: Browser) -> None:
    customer = shop.customer()
    numbers = [number_of(shop, invoiced(shop, customer)) for _ in range(2)]
    person = customer_user(shop, customer.id, "accounts")
    with window(browser, scripts=True) as context, tab_in(context, [shop.url], "sums") as tab:
        signed_in(tab, person, shop.url)
        page = tab.page
        tab.open(f"{shop.url}/account/invoice/remittance")
        said = page.locator("[data-sum]")
        page.locator(f"input[value='{numbers[0]}']").check()
        expect(said).to_contain_text("1 invoice, £")
        page.get_by_label("Amount paid").fill("much")
        page.get_by_role("button", name="Tell us").click()
        expect(page.locator(".wrong").first).to_be_visible()
        expect(said).to_contain_text("1 invoice, £")
        page.locator(f"input[value='{numbers[1]}']").check()
        expect(said).to_contain_text("2 invoices, £")
