"""Whatever a form in parts and its file contain, the form is taken or rejected, and a rejected one changes nothing."""

import gc
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.backoffice import BackOfficeSite
from support.fuzzed import damaged, fuzzed
from support.pages import Person, customer_user
from support.stored import stored

pytestmark = pytest.mark.long

BOUNDARY = b"----Boundary7"
PIECES = [
    b"\r\n", b"\n", b"\r", b"--", b"----Boundary7", b"\r\n------Boundary7--\r\n", b"\r\n------Boundary7\r\n",
    b"\x00", b"\xff",
    b'"', b";", b"=", b"Content-Disposition: form-data; name=", b'; filename="../../x.csv"',
    b"; filename*=UTF-8''%e2%82",
    b'; filename=""', b"Content-Type: application/zip\r\n", b"Content-Transfer-Encoding: base64\r\n",
    b"Content-Length: 5\r\n",
    b'name="kind"', b'name="file"', b'name="once"', b"sku,available", b"PHONE,1e9", b"PK\x03\x04", b"\xef\xbb\xbf",
    b"a" * 9000,
    b"X: y\r\n" * 300,
]  # fmt: skip
pieces = st.sampled_from(PIECES) | st.binary(max_size=6)


class Form(NamedTuple):
    """A form with a file: where it is sent, its other fields, and a good file."""

    path: str
    fields: dict[str, str]
    name: str
    file: bytes

    def body(self) -> bytes:
        parts = [
            b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (BOUNDARY, *map(str.encode, pair))
            for pair in self.fields.items()
        ]
        head = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\nContent-Type: text/csv\r\n\r\n'
        last = head % (BOUNDARY, self.name.encode()) + self.file + b"\r\n--" + BOUNDARY + b"--\r\n"
        return b"".join([*parts, last])


OF_STAFF = [
    Form("/import", {"kind": "stock"}, "stock.csv", b"sku,available\nPHONE,7\n"),
    Form(
        "/import", {"kind": ""}, "prices.jsonl", b'{"price_list": "default", "sku": "PHONE", "single_unit_cost": 5}\n'
    ),
    Form("/payment/import", {"once": ""}, "bank.csv", b"date,amount,reference\n2026-06-15,10.00,INV 1\n"),
]
OF_CUSTOMERS = [
    Form(
        "/account/new-order",
        {"do": "", "items-0-sku": "PHONE", "items-0-quantity": "1"},
        "list.csv",
        b"sku,quantity\nPHONE,2\n",
    )
]
types = st.sampled_from([b"multipart/form-data; boundary=" + BOUNDARY] * 12) | damaged(
    b"multipart/form-data; boundary=" + BOUNDARY,
    st.sampled_from([b'"', b";", b"charset=utf-7", b"boundary=", b",", b" ", b"\xe9", b"=", b"x" * 300]),
)


def sent(person: Person, database_url: str, form: Form, body: bytes, media_type: bytes) -> None:
    headers = {"Sec-Fetch-Site": "same-origin", "Content-Type": media_type.decode("latin-1").strip() or "x"}
    before = stored(database_url)
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    response = person.http.post(form.path, content=body, headers=raw)
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert stored(database_url) == before


@pytest.fixture(scope="module")
def buyer(office: BackOfficeSite) -> Person:
    return customer_user(office.service, office.service.customer().id)


@fuzzed(150)
@given(st.data(), types)
def test_a_damaged_upload_of_staff_is_taken_or_rejected_without_a_trace(
    sam: Person, office: BackOfficeSite, data: st.DataObject, media_type: bytes
) -> None:
    form = data.draw(st.sampled_from(OF_STAFF))
    sent(sam, office.service.database_url, form, data.draw(damaged(form.body(), pieces)), media_type)


@fuzzed(100)
@given(st.data(), types)
def test_a_damaged_upload_of_a_customer_is_taken_or_rejected_without_a_trace(
    buyer: Person, office: BackOfficeSite, data: st.DataObject, media_type: bytes
) -> None:
    form = data.draw(st.sampled_from(OF_CUSTOMERS))
    sent(buyer, office.service.database_url, form, data.draw(damaged(form.body(), pieces)), media_type)


def test_a_file_of_a_field_that_the_form_has_not_is_given_back(sam: Person, buyer: Person) -> None:
    for person, forms in ((sam, OF_STAFF), (buyer, OF_CUSTOMERS)):
        for form in forms:
            body = form.body().replace(b'name="file"', b'name="other"')
            headers = {
                "Sec-Fetch-Site": "same-origin",
                "Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}",
            }
            assert person.http.post(form.path, content=body, headers=headers).status_code < 500
    gc.collect()  # pytest raises the warning about a file that was left open


def test_the_undamaged_uploads_are_taken(sam: Person, buyer: Person) -> None:
    for person, forms in ((sam, OF_STAFF), (buyer, OF_CUSTOMERS)):
        for form in forms:
            headers = {
                "Sec-Fetch-Site": "same-origin",
                "Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}",
            }
            response = person.http.post(form.path, content=form.body(), headers=headers)
            assert response.status_code in {200, 303}, response.text
