"""Pictures of products, uploaded in their form."""

import base64
import struct
import zlib
from pathlib import Path

import httpx2
import psycopg
import pytest

from support.backoffice import BackOfficeSite
from support.orders import rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Service
from tradecounter.products.pictures import LARGEST_PICTURE

FORM = "/product-form"
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////////////"
    "////wgALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAAAF//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QAFBAB"
    "AAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oACAEBAAAAEH//xAAUEAEAAAAAAAAAAAAA"
    "AAAAAAAA/9oACAEBAAE/EH//2Q=="
)  # progressive, with several scans


@pytest.fixture
def manager(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "catalogue")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 20, height: int = 10, *, rows_there: int | None = None) -> bytes:
    lines = b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height if rows_there is None else rows_there))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def upload(person: Person, sku: str, content: bytes, name: str = "front.png") -> httpx2.Response:
    fields = fields_of(person.get(f"{FORM}?sku={sku}"), where=lambda name: name not in {"categories", "picture"})
    return person.http.post(
        FORM,
        data=fields,
        files={"picture": (name, content, "image/png")},
        headers={"Sec-Fetch-Site": "same-origin"},
    )


def images_of(shop: Service, sku: str) -> list[str]:
    [(images,)] = rows(shop, "select images from product where sku = %s", sku)
    return [image["url"] for image in images]


def test_a_picture_is_served_to_everybody_at_an_address_that_never_changes(shop: Service, manager: Person) -> None:
    sku = sell(shop, "PICTURED-1")
    webp = Path("src/tradecounter/edge/page_kit/static/account.webp").read_bytes()
    for content, media_type in ((png(), "image/png"), (webp, "image/webp"), (JPEG, "image/jpeg")):
        assert upload(manager, sku, content).status_code == 303
        path = images_of(shop, sku)[-1].partition("/picture/")
        served = httpx2.get(f"{shop.url}/picture/{path[2]}?api-key=bad", headers={"X-Api-Key": "bad"})
        assert served.content == content
        assert served.headers["Content-Type"] == media_type
        assert "immutable" in served.headers["Cache-Control"]
        assert served.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in served.headers["Content-Security-Policy"]
    assert len(images_of(shop, sku)) == 3
    upload(manager, sku, png())
    assert len(images_of(shop, sku)) == 3, "the same picture is there once"
    assert rows(shop, "select count(*) from picture") == [(3,)]


def test_a_picture_that_a_browser_has_is_not_read_again(shop: Service, manager: Person) -> None:
    sku = sell(shop, "PICTURED-3")
    upload(manager, sku, png(21))
    address = f"{shop.url}/picture/{images_of(shop, sku)[0].partition('/picture/')[2]}"
    tag = httpx2.get(address).headers["ETag"]
    with psycopg.connect(shop.database_url, autocommit=True) as owner:
        owner.execute("revoke select on picture from current_user")
        owner.execute("grant select (digest, media_type) on picture to current_user")
        assert httpx2.get(address, headers={"If-None-Match": tag}).status_code == 304
        assert httpx2.get(address, headers={"If-None-Match": '"other"'}).status_code != 304
        owner.execute("grant select on picture to current_user")
    assert httpx2.get(address, headers={"If-None-Match": '"other"'}).content == png(21)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "is not a whole PNG, JPEG or WebP picture"),
        (b"GIF89a" + bytes(40), "is not a whole PNG, JPEG or WebP picture"),
        *(
            (each, "is not a whole PNG, JPEG or WebP picture")
            for each in (
                png() + b"<script>alert(1)</script>",
                png() + b"PK\x03\x04" + png()[-12:],
                JPEG + b"PK\x03\x04\xff\xd9",
                png()[:-4],
                JPEG[:-2],
            )
        ),
        (png(5000, 1), "must have at most 4,096 pixels on each side"),
        (png(4000, 4000, rows_there=1), "is damaged, or no picture"),
        (JPEG[:2] + JPEG[-2:] + bytes(60), "is not a whole PNG, JPEG or WebP picture"),
        (JPEG[:20] + b"\xff\xda\0\2" + bytes(30) + JPEG[-2:], "is damaged, or no picture"),
        (b"RIFF" + struct.pack("<I", 52) + b"WEBPVP8 " + bytes(44), "is damaged, or no picture"),
        (b"\x89PNG\r\n\x1a\n" + bytes(LARGEST_PICTURE), "is larger than 2 MB"),
    ],
    ids=[
        "svg",
        "gif",
        "with a script behind it",
        "a second end",
        "a second end of a JPEG",
        "cut off",
        "JPEG cut off",
        "too wide",
        "bomb",
        "no picture",
        "no frame",
        "no size",
        "too large",
    ],
)
def test_a_hostile_file_is_no_picture(shop: Service, manager: Person, content: bytes, said: str) -> None:
    sku = sell(shop, "PICTURED-2")
    answer = upload(manager, sku, content)
    assert answer.status_code == 400
    assert said in text_of(answer)
    assert "form-picture-error" in answer.text
    assert images_of(shop, sku) == []


def test_pictures_are_shown_ordered_and_removed_in_the_form(
    shop: Service, office: BackOfficeSite, manager: Person
) -> None:
    sku = sell(shop, "PICTURED-4")
    for width in (31, 32, 33):
        upload(manager, sku, png(width))
    first, second, third = images_of(shop, sku)
    page = manager.get(f"{FORM}?sku={sku}")
    for address in (first, second, third):
        path = "/picture/" + address.partition("/picture/")[2]
        assert f'src="{path}"' in page.text
        assert httpx2.get(office.url + path).headers["Content-Type"] == "image/png"
    fields = fields_of(page, where=lambda name: name not in {"categories", "picture"})
    manager.sends(FORM, fields | {"pictures-1-remove": "true", "pictures-2-place": "1", "pictures-0-place": "2"})
    assert images_of(shop, sku) == [third, first]
    [(images,)] = rows(shop, "select images from product where sku = %s", sku)
    assert [image["is_primary"] for image in images] == [True, False]


def test_a_form_with_an_error_says_that_the_picture_was_not_saved(shop: Service, manager: Person) -> None:
    sku = sell(shop, "PICTURED-5")
    fields = fields_of(manager.get(f"{FORM}?sku={sku}"), where=lambda name: name not in {"categories", "picture"})
    answer = manager.http.post(
        FORM,
        data=fields | {"name": ""},
        files={"picture": ("front.png", png(), "image/png")},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    assert answer.status_code == 400
    assert "Choose the file again: it was not saved" in text_of(answer)
    assert images_of(shop, sku) == []


def test_an_unknown_picture_is_not_found(shop: Service) -> None:
    for name in ("0" * 64 + ".png", "..%2fsecret", "0.svg"):
        assert httpx2.get(f"{shop.url}/picture/{name}").status_code == 404
