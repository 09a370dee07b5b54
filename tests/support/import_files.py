"""Import files on the staff's pages: sent, checked and applied."""

import httpx2

from support.pages import Person, text_of

SENT = {"once": ""}  # a form without fields of its own


def upload(person: Person, content: str | bytes, name: str = "stock.csv", kind: str = "") -> httpx2.Response:
    headers = {"Sec-Fetch-Site": "same-origin"}
    return person.http.post("/import", files={"file": (name, content)}, data={"kind": kind}, headers=headers)


def checked(
    person: Person, content: str | bytes, name: str = "stock.csv", kind: str = ""
) -> tuple[str, httpx2.Response]:
    """The path and the page of a file that was checked."""
    sent = upload(person, content, name, kind)
    assert sent.status_code == 303, text_of(sent)
    path = sent.headers["Location"]
    return path, finished(person, path)


def finished(person: Person, path: str) -> httpx2.Response:
    page = person.get(path)
    while "every 1s" in page.text:
        page = person.get(path)
    return page


def applied(person: Person, path: str) -> str:
    """The path of the import after a file was applied."""
    sent = person.send(f"{path}/apply", SENT)
    assert sent.status_code == 303, text_of(sent)
    while not (found := sent.headers["Location"].removeprefix("/import/")).isdigit():
        sent = person.get(path)
        if sent.status_code == 200:
            sent.headers["Location"] = path
    return f"/import/{found}"
