"""What the warehouse does all day, with the number of clicks."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.billing import pdf_text
from support.browsing import signed_in, tab_in, window
from support.jobs import WAYS, Job, Record, Way, job
from support.orders import buy, dispatch, level, rows, sell, shipments
from support.pages import staff_member
from tradecounter.returns.handle_returns import open_return
from tradecounter.returns.wire import ReturnedUnits, ReturnRequest


def scan(work: Job, text: str) -> None:
    """Scan a label into the search box, as a scanner does: it types the text and Enter."""
    work.fill(work.field("Find anything"), text)
    work.page.keyboard.press("Enter")


@WAYS
def test_ten_orders_are_dispatched_with_two_clicks_and_the_last_scan(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Ten orders by {way}")
    names = [buy(customer)["order_reference"] for _ in range(10)]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order?customer_id={customer.id}", way, record_property, 2) as work:
        work.click(work.page.get_by_label("All on this page"))
        expect(work.page.get_by_text("10 chosen")).to_be_visible()
        work.click(work.button("Dispatch"))
        expect(work.page.locator("input[name=orders-0-tracking_number]")).to_be_focused()
        work.page.wait_for_load_state("networkidle")
        work.page.keyboard.type(names[3].lower())  # from its picking list; the list is of the latest first
        work.page.keyboard.press("Enter")
        expect(work.page.get_by_label(f"Tracking number of {names[3]}")).to_be_focused()
        expect(work.page.locator("input[name=orders-0-tracking_number]")).to_have_value("")
        work.reach(work.page.locator("input[name=orders-0-tracking_number]"))
        for number in range(10):
            work.page.keyboard.type(f"PARCEL-{number}")
            work.page.keyboard.press("Enter")
        expect(work.page.get_by_text("10 orders dispatched")).to_be_visible()
    orders = [customer.get(f"/order/{name}").json() for name in names]
    assert {order["status"] for order in orders} == {"Dispatched"}
    assert len({order["shipping"][0]["tracking_number"] for order in orders}) == 10


@WAYS
def test_a_delivery_is_booked_in_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"COMES-{way}", 10)
    office.service.must_load("incoming", [{"sku": sku, "incoming": 8, "expected_on": "2026-07-01"}])
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/goods-in?query={sku}", way, record_property, 2) as work:
        work.fill(work.page.get_by_label(f"Units of {sku} that are there"), "8")
        work.click(work.button("Book in"))
        expect(work.page.get_by_text("8 units of 1 product booked in.")).to_be_visible()


@WAYS
def test_scans_of_a_delivery_are_added_up_in_its_row_and_booked_in_with_one_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    ean = {"keyboard": "5000000000012", "touch": "5000000000029"}[way]
    sku, other = (sell(office.service, f"SCANNED-{n}-{way}", ean=ean if n else None) for n in (1, 0))
    for each in (sku, other):
        office.service.must_load("incoming", [{"sku": each, "incoming": 3, "expected_on": "2026-07-01"}])
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/goods-in?query={way}", way, record_property, 1) as work:
        box, echo = work.page.get_by_label("Count by scanning a SKU or EAN"), work.page.locator(".scan-echo")
        expect(box).to_be_focused()
        for code in (ean, sku.lower(), "NOT-HERE", ean):
            work.page.keyboard.type(code)
            work.page.keyboard.press("Enter")
            expect(echo).to_contain_text("is not in this list" if code == "NOT-HERE" else sku)
        expect(echo).to_have_text(f"{sku}: 3 of 3 units")
        expect(work.page.get_by_label(f"Units of {sku} that are there")).to_have_value("3")
        work.click(work.button("Book in"))
        expect(work.page.get_by_text("3 units of 1 product booked in.")).to_be_visible()
    assert level(office.service, sku)[0] == 3


def test_scans_are_counted_after_an_error_too(office: BackOfficeSite, browser: Browser) -> None:
    sku = sell(office.service, "SCANNED-AGAIN")
    office.service.must_load("incoming", [{"sku": sku, "incoming": 3, "expected_on": "2026-07-01"}])
    person = staff_member(office.service, office.url, "warehouse")
    with window(browser) as context, tab_in(context, [office.url], "scans-again") as tab:
        signed_in(tab, person, office.url)
        tab.open(f"{office.url}/goods-in?query={sku}")
        units = tab.page.get_by_label(f"Units of {sku} that are there")
        units.fill("many")
        tab.page.get_by_role("button", name="Book in").click()
        expect(tab.page.locator(".problems")).to_be_focused()
        units.fill("1")
        tab.page.get_by_label("Count by scanning a SKU or EAN").fill(sku)
        tab.page.keyboard.press("Enter")
        expect(tab.page.locator(".scan-echo")).to_have_text(f"{sku}: 2 of 3 units")
        expect(units).to_have_value("2")


@WAYS
def test_scans_are_counted_in_lines_and_entered_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    one, other = (sell(office.service, f"COUNTED-{n}-{way}", available=9) for n in (1, 2))
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/count-sheet/return", way, record_property, 2) as work:
        for code in (one, one, other, "12"):
            work.page.keyboard.type(code)
            work.page.keyboard.press("Enter")
        expect(work.page.locator(".scan-echo")).to_have_text(f"{other}: 12 units")
        work.click(work.button("Show the differences"))
        expect(work.page.get_by_text("2 products have another number.")).to_be_visible()
        work.click(work.button("Set the stock to these numbers"))
        expect(work.page.get_by_text("The count is entered: 2 products had another number.")).to_be_visible()
    assert [level(office.service, sku)[0] for sku in (one, other)] == [2, 12]


@WAYS
def test_picking_lists_of_three_orders_are_printed_as_one_file_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Three lists by {way}")
    names = [buy(customer, [("CABLE", units)])["order_reference"] for units in (1, 2, 3)]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/order", way, record_property, 2) as work:
        work.fill(work.field("Customer"), str(customer.id))
        work.page.keyboard.press("Enter")
        expect(work.page.get_by_role("checkbox", name=re.compile("^Choose"))).to_have_count(3)
        work.click(work.field("All on this page"))
        expect(work.page.get_by_text("3 chosen")).to_be_visible()
        with work.page.context.expect_page() as opened:
            work.click(work.button("Picking lists"))
        opened.value.wait_for_url("**/order/many/picking-list?**")
        address = urlsplit(opened.value.url)
        opened.value.close()
    printed = person.get(f"{address.path}?{address.query}")
    assert printed.headers["Content-Type"] == "application/pdf"
    text = pdf_text(printed.content)
    assert all(name in text for name in names)


@WAYS
def test_two_orders_are_picked_by_scans_alone_which_say_what_does_not_belong_there(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    ean = {"keyboard": "5000000000036", "touch": "5000000000043"}[way]
    phone = sell(office.service, f"TAKE PHONE {way}", available=9, ean=ean)
    cable = sell(office.service, f"TAKE-CABLE-{way}", available=9)
    office.service.must_load("stock", [{"sku": phone, "available": 9, "location": "A-1"}])
    customer = office.service.customer(company=f"Picked by {way}")
    names = [buy(customer, items)["order_reference"] for items in ([(phone, 2)], [(phone, 1), (cable, 4)])]
    person = staff_member(office.service, office.url, "warehouse")
    path = f"/order/many/pick?order={names[0]}&order={names[1]}"
    with job(browser, person, office.url, path, way, record_property, 0) as work:
        echo = work.page.locator(".scan-echo")

        def scans(code: str, said: str) -> None:
            work.page.keyboard.type(code)
            work.page.keyboard.press("Enter")
            expect(echo).to_contain_text(said)

        scans(ean, f"{phone}: 1 of 2 units for {names[0]}.")
        work.page.reload()  # the browser remembers it
        expect(work.page.get_by_text("1 of 2", exact=True)).to_be_visible()
        scans("NOT-HERE", "NOT-HERE is not in this list.")
        scans(phone.lower(), f"{phone}: 2 of 2 units for {names[0]}. Next: A-1, {phone}.")
        scans(ean, f"{phone}: 1 of 1 unit for {names[1]}. Next: no place, {cable}.")
        scans(ean, f"{phone}: only 1 is wanted. Put the rest back.")
        scans(cable, f"{cable}: 1 of 4 units")
        scans("4", f"{cable}: 4 of 4 units for {names[1]}. All is picked.")
        expect(work.page.get_by_text("All is picked.", exact=True)).to_be_visible()
        expect(work.link("Dispatch")).to_be_focused()
        work.page.keyboard.press("Enter")
        expect(work.page.get_by_role("button", name="Record 2 shipments")).to_be_visible()


# What Chromium on Linux lacks: a camera, and its reader of bar codes, which sees what the test shows it. The question
# whether the page may use the camera is open until the test says so.
_CAMERA = """
window.shown = [];
window.formats = ["ean_13"];
window.streams = [];
window.permission = Promise.resolve();
navigator.mediaDevices.getUserMedia = async () => {
  await window.permission;
  streams.push(document.createElement("canvas").captureStream());
  return streams.at(-1);
};
window.live = () => streams.flatMap((each) => each.getTracks()).filter((track) => track.readyState === "live").length;
HTMLMediaElement.prototype.play = async () => {};
window.BarcodeDetector = class {
  static async getSupportedFormats() { return window.formats; }
  async detect() { return window.shown.map((rawValue) => ({ rawValue })); }
};
"""


def test_the_camera_of_a_phone_counts_each_unit_that_it_is_shown_once(office: BackOfficeSite, browser: Browser) -> None:
    ean = "5000000000081"
    sku = sell(office.service, "SEEN", ean=ean)
    office.service.must_load("incoming", [{"sku": sku, "incoming": 3, "expected_on": "2026-07-01"}])
    person = staff_member(office.service, office.url, "warehouse")
    with window(browser) as context, tab_in(context, [office.url], "camera") as tab:
        signed_in(tab, person, office.url)
        tab.open(f"{office.url}/goods-in?query={sku}")
        expect(tab.page.locator("[data-camera]")).to_be_hidden()  # a browser that reads no bar codes offers nothing
        tab.page.add_init_script(_CAMERA)
        tab.page.reload()
        tab.page.get_by_role("button", name="Use the camera").click()
        expect(tab.page.get_by_label("What the camera sees")).to_be_visible()
        echo, more = tab.page.locator(".scan-echo"), tab.page.get_by_role("button", name="One more of the same")
        expect(more).to_be_hidden()

        def show(*codes: str) -> None:
            tab.page.evaluate("codes => { shown = codes; }", codes)

        for _ in range(2):  # it is the same unit, also when it was out of sight
            show(ean)
            expect(echo).to_have_text(f"{sku}: 1 of 3 units")
            tab.page.wait_for_timeout(1500)
            expect(echo).to_have_text(f"{sku}: 1 of 3 units")
            show()
            tab.page.wait_for_timeout(1500)
        more.click()
        expect(echo).to_have_text(f"{sku}: 2 of 3 units")
        show("5000000000098")
        expect(echo).to_contain_text("5000000000098 is not in this list.")
        show(ean)
        expect(echo).to_have_text(f"{sku}: 3 of 3 units")
        more.click()
        expect(echo).to_have_text(f"{sku}: 4 of 3 units")
        expect(echo).to_have_class(re.compile("error"))  # more than what comes is said to be wrong
        tab.page.get_by_role("button", name="Stop the camera").click()
        expect(tab.page.get_by_label("What the camera sees")).to_be_hidden()
        assert tab.page.evaluate("live()") == 0


def test_a_camera_that_is_stopped_before_it_runs_does_not_run(office: BackOfficeSite, browser: Browser) -> None:
    person = staff_member(office.service, office.url, "warehouse")
    with window(browser) as context, tab_in(context, [office.url], "camera-stopped") as tab:
        signed_in(tab, person, office.url)
        tab.page.add_init_script(_CAMERA)
        tab.open(f"{office.url}/count-sheet/return")
        camera = tab.page.locator("[data-camera]")
        tab.page.evaluate("() => { permission = new Promise((done) => { window.permit = done; }); }")
        for _ in range(3):  # on, off, on: the question is still open
            camera.click()
        tab.page.evaluate("permit()")
        expect(tab.page.get_by_label("What the camera sees")).to_be_visible()
        tab.page.wait_for_function("streams.length === 2")
        assert tab.page.evaluate("live()") == 1
        camera.click()
        assert tab.page.evaluate("live()") == 0
        tab.page.evaluate("formats = []")
        camera.click()
        expect(camera).to_have_text("This browser's camera reads no codes")
        assert tab.page.evaluate("streams.length") == 2


@WAYS
def test_the_code_on_a_box_leads_to_the_line_of_its_serial_numbers(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    ean = {"keyboard": "5000000000050", "touch": "5000000000067"}[way]
    plug, router = (
        sell(office.service, f"LEAD-{way}", available=5),
        sell(office.service, f"LED-{way}", available=5, ean=ean),
    )
    customer = office.service.customer(company=f"Led by {way}")
    name = buy(customer, [(plug, 1), (router, 2)])["order_reference"]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order/{name}/dispatch", way, record_property, 0) as work:
        boxes = work.field("Serial numbers")
        expect(boxes.first).to_be_focused()
        for label in (ean, f"SN-{way}-8", ean, f"SN-{way}-9", f"LED-BY-{way}"):  # the last one is the courier's
            work.page.keyboard.type(label)
            work.page.keyboard.press("Enter")
        expect(work.page.locator(".flash")).to_have_text("The shipment is recorded.")
    order = customer.get(f"/order/{name}").json()
    assert [[unit["serial_number"] for unit in item["serial_numbers"]] for item in order["items"]] == [
        [],
        [f"SN-{way}-8", f"SN-{way}-9"],
    ]


@WAYS
def test_the_label_of_a_courier_is_scanned_before_the_serial_numbers_without_a_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Label first by {way}")
    dispatch(service, buy(customer), tracking_number=f"{way}/1001")  # so that its shape is known
    router, plug = (sell(service, f"{kind}-{way}", available=5) for kind in ("ADSL", "LEAD"))
    name = buy(customer, [(router, 2), (plug, 4)])["order_reference"]
    person = staff_member(service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order/{name}/dispatch", way, record_property, 0) as work:
        for label in (f"{way}/2002", f"SN-{way}-21", f"SN-{way}-22"):
            work.page.keyboard.type(label)
            work.page.keyboard.press("Enter")
        expect(work.field("Tracking number (optional)")).to_have_value(f"{way}/2002")
        expect(work.field("Serial numbers").nth(1)).to_be_focused()
        work.page.keyboard.press("Enter")  # the plugs have none
        expect(work.button("Record the shipment")).to_be_focused()
        work.page.keyboard.press("Enter")
        expect(work.page.locator(".flash")).to_have_text("The shipment is recorded.")
    order = customer.get(f"/order/{name}").json()
    assert [shipping["tracking_number"] for shipping in order["shipping"]] == [f"{way}/2002"]
    assert [[unit["serial_number"] for unit in item["serial_numbers"]] for item in order["items"]] == [
        [f"SN-{way}-21", f"SN-{way}-22"],
        [],
    ]


@WAYS
def test_a_first_label_that_looks_like_no_other_is_said_to_be_the_couriers_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"New courier of {way}")
    name = buy(customer)["order_reference"]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order/{name}/dispatch", way, record_property, 2) as work:
        work.page.keyboard.type(f"new+courier+{way}")
        work.page.keyboard.press("Enter")
        work.click(work.button("It is the courier's label"))
        expect(work.field("Tracking number (optional)")).to_have_value(f"new+courier+{way}")
        work.click(work.button("Record the shipment"))
        expect(work.page.locator(".flash")).to_have_text("The shipment is recorded.")
    order = customer.get(f"/order/{name}").json()
    assert [shipping["tracking_number"] for shipping in order["shipping"]] == [f"new+courier+{way}"]
    assert order["items"][0]["serial_numbers"] == []


@WAYS
def test_serial_numbers_that_look_like_a_label_are_none_once_there_is_one_or_one_is_given_back(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service, of = office.service, {"keyboard": "8", "touch": "9"}[way]
    customer = service.customer(company=f"Twelve digits by {way}")
    begin = "1" * (10 if way == "keyboard" else 13)  # another shape for each way: serial numbers that are stored end it
    earlier, label, first, second, third = (f"{begin}{of}{number}" for number in range(5))
    dispatch(service, buy(customer), tracking_number=earlier)
    name = buy(customer, [(sell(service, f"DIGITS-{way}", available=5), 3)])["order_reference"]
    person = staff_member(service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order/{name}/dispatch", way, record_property, 1) as work:
        box, tracking = work.field("Serial numbers"), work.field("Tracking number (optional)")

        def scans(*texts: str) -> None:
            for text in texts:
                work.page.keyboard.type(text)
                work.page.keyboard.press("Enter")

        expect(work.button("It is a serial number")).to_be_hidden()
        scans(first, second)
        expect(tracking).to_have_value(first)
        expect(box).to_have_value(f"{second}\n")  # there is a tracking number: it is no label
        work.click(work.button("It is a serial number"))
        expect(tracking).to_have_value("")
        expect(box).to_have_value(f"{second}\n{first}\n")
        expect(box).to_be_focused()
        expect(work.button("It is a serial number")).to_be_hidden()
        scans(third)
        expect(box).to_have_value(f"{second}\n{first}\n{third}\n")
        expect(tracking).to_be_focused()
        scans(label)
        expect(work.page.locator(".flash")).to_have_text("The shipment is recorded.")
    order = customer.get(f"/order/{name}").json()
    assert [shipping["tracking_number"] for shipping in order["shipping"]] == [label]
    assert {unit["serial_number"] for unit in order["items"][0]["serial_numbers"]} == {first, second, third}


@WAYS
def test_a_part_of_an_order_leaves_with_its_serial_numbers_with_one_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    router, cable = (sell(office.service, f"{kind}-{way}", 10, available=5) for kind in ("ROUTER", "PLUG"))
    customer = office.service.customer(company=f"In part by {way}")
    name = buy(customer, [(router, 3), (cable, 1)])["order_reference"]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 1) as work:
        scan(work, name)
        work.click(work.link("Dispatch"))
        router_units, cable_units = (work.page.get_by_label(re.compile(rf"^Units \(of {n}\)")) for n in (3, 1))
        work.fill(router_units, "2")
        work.fill(cable_units, "")
        expect(work.page.get_by_text("0 of 2 scanned")).to_be_visible()
        work.reach(work.field("Serial numbers").first)
        for label in (f"SN-{way}-1", f"SN-{way}-2", f"PART-{way}"):  # the last one is the courier's
            work.page.keyboard.type(label)
            work.page.keyboard.press("Enter")
        expect(work.page.locator(".flash")).to_have_text("The shipment is recorded.")
        expect(work.page.locator(".heading .badge")).to_have_text("Part dispatched")
    order = customer.get(f"/order/{name}").json()
    assert [shipping["tracking_number"] for shipping in order["shipping"]] == [f"PART-{way}"]
    assert [[unit["serial_number"] for unit in item["serial_numbers"]] for item in order["items"]] == [
        [f"SN-{way}-1", f"SN-{way}-2"],
        [],
    ]
    assert (level(office.service, router), level(office.service, cable)) == ((2, 1, 0), (4, 1, 0))


@WAYS
def test_a_wrong_tracking_number_is_corrected_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Wrong label by {way}")
    placed = buy(customer)
    dispatch(office.service, placed, tracking_number=f"WRONG-{way}")
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        scan(work, f"WRONG-{way}")
        work.click(work.link("Correct"))
        work.fill(work.field("Tracking number"), f"RIGHT-{way}")
        work.click(work.button("Correct it"))
        expect(work.page.locator(".flash")).to_have_text("The shipment is corrected.")
        expect(work.page.locator(".entry code")).to_have_text(f"RIGHT-{way}")
    [shipping] = customer.get(f"/order/{placed['order_reference']}").json()["shipping"]
    assert shipping["tracking_number"] == f"RIGHT-{way}"


@WAYS
def test_a_shipment_that_never_left_is_taken_back_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"STAYED-{way}", 10, available=4)
    customer = office.service.customer(company=f"Never left by {way}")
    placed = buy(customer, [(sku, 3)])
    dispatch(office.service, placed)
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        scan(work, placed["order_reference"])
        work.click(work.link("Take back"))
        work.fill(work.field("Reason"), "The van was full")
        work.click(work.button("Take it back"))
        expect(work.page.locator(".flash")).to_have_text("The shipment is taken back. The customer gets an e-mail.")
        expect(work.page.get_by_text("Nothing is dispatched yet.")).to_be_visible()
    assert shipments(office.service, placed) == []
    assert level(office.service, sku) == (1, 3, 0)
    assert customer.get(f"/order/{placed['order_reference']}").json()["status"] == "Awaiting dispatch"


@WAYS
def test_a_return_is_received_in_part_for_sale_and_in_part_for_scrap_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    sku = sell(service, f"BACK-{way}", 10, available=3)
    customer = service.customer(company=f"Came back by {way}")
    placed = buy(customer, [(sku, 3)])
    dispatch(service, placed)
    [(item,)] = rows(service, "select id from order_line where order_id = %s", placed["order_id"])
    request, now = ReturnRequest([ReturnedUnits(item, 3, [])], "Not needed"), service.clock.now()
    number = service.in_transaction(lambda tx: open_return(tx, placed["order_reference"], request, now))
    person = staff_member(service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        scan(work, number)
        work.click(work.link("Receive"))
        work.fill(work.field("Scrap"), "1")
        expect(work.field("Restock")).to_have_value("2")
        work.click(work.button("Receive these units"))
        expect(work.page.locator(".flash")).to_have_text("All units are received.")
        units = work.page.get_by_role("region", name="Units").locator("tbody td")
        expect(units).to_have_text(["3", "2", "1", "0", "0", ""])  # the last ones: to credit, still expected, serials
    assert level(service, sku) == (2, 0, 0)
    received = "select restocked, scrapped from return_line u join order_return r on r.id = u.return_id"
    assert rows(service, received + " where r.order_id = %s", placed["order_id"]) == [(2, 1)]


@WAYS
def test_the_stock_of_a_product_with_two_broken_units_is_adjusted_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"BROKEN-{way}", 10, available=9)
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        scan(work, sku)
        work.click(work.link("Adjust the stock"))
        work.fill(work.field("Or more or less"), "-2")
        work.fill(work.field("Reason"), "Fell from the shelf")
        work.click(work.button("Adjust the stock"))
        expect(work.page.locator(".flash")).to_have_text(f"{sku}: 7 on hand, 7 available.")
    assert level(office.service, sku) == (7, 0, 0)


@WAYS
def test_a_product_is_put_on_a_shelf_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"AWAY-{way}", 10, available=9)
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        scan(work, sku)
        work.click(work.page.get_by_role("link", name="none Place"))
        work.fill(work.field("New place (optional)"), "D-02-3")
        work.click(work.button("Adjust the stock"))
        expect(work.page.locator(".flash")).to_contain_text("Its place is D-02-3.")


@WAYS
def test_a_place_is_counted_from_its_sheet_with_four_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    place, service = f"Z-{way}", office.service
    here, missing = (sell(service, f"{name}-{way}", 10) for name in ("HERE", "MISSING"))
    stock = [{"sku": sku, "available": units, "location": place} for sku, units in ((here, 6), (missing, 5))]
    service.must_load("stock", stock)
    person = staff_member(service, office.url, "warehouse")
    with job(browser, person, office.url, "/goods-in", way, record_property, 4) as work:
        work.click(work.link("Count sheet"))
        work.fill(work.field("Place begins with"), place)
        work.page.keyboard.press("Enter")
        expect(work.page.locator("#results tbody tr")).to_have_count(2)
        work.click(work.link("Enter a count"))
        work.fill(work.field("What you counted"), f"{here} 6\n{missing} 3")
        work.click(work.button("Show the differences"))
        expect(work.page.locator(".outcome tbody tr")).to_have_text(re.compile(rf"{missing}\s*5\s*3\s*-2"))
        expect(work.page.locator(".outcome")).to_be_focused()  # the next step is one press of the tab key away
        assert level(service, missing) == (5, 0, 0)
        work.click(work.button("Set the stock to these numbers"))
        expect(work.page.locator(".flash")).to_have_text("The count is entered: 1 product had another number.")
    assert (level(service, here), level(service, missing)) == ((6, 0, 0), (3, 0, 0))


@WAYS
def test_the_order_that_waits_longest_for_a_product_is_opened_with_one_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"AWAITED-{way}", 10)
    customer = office.service.customer(company=f"Waits by {way}")
    first, then = (buy(customer, [(sku, units)])["order_reference"] for units in (2, 1))
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, "/", way, record_property, 1) as work:
        scan(work, sku)
        waiting = work.page.get_by_role("region", name="Orders that wait for stock").locator("tbody tr")
        expect(waiting.locator("th")).to_have_text([first, then])
        work.click(waiting.get_by_role("link", name=first))
        expect(work.page.locator("h1")).to_have_text(first)
        expect(work.page.get_by_role("region", name="Items")).to_contain_text(sku)
    assert level(office.service, sku) == (0, 0, 3)
