"""Guides as HTML."""

from tradecounter.edge.page_kit.markdown import render_document

LINKS = {"GET /event": "/docs#listEvents"}


def test_code_that_names_an_operation_leads_to_it() -> None:
    page = render_document("# Title\n\nRead `GET /event`.", LINKS)
    assert 'Read <a href="/docs#listEvents"><code>GET /event</code></a>.' in page.body


def test_code_in_a_link_stays_a_part_of_that_link() -> None:
    page = render_document("# Title\n\nRead [`GET /event`](#events) and `GET /event`.", LINKS)
    assert 'Read <a href="#events"><code>GET /event</code></a> and <a href="/docs#listEvents">' in page.body
