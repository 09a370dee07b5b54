"""The cells of a table's row get the headings of their columns as labels, which phones show."""

from markupsafe import Markup

from tradecounter.edge.page_kit.values import labelled, labels


def test_each_cell_has_the_heading_of_its_column() -> None:
    row = Markup(
        '<th scope="row">CV-320P <small>Phone</small></th>\n'
        '<td class="number">2</td>\n<td><time>Today</time></td><td>End</td>'
    )
    assert labelled(row, labels(("Product", "#Units", "Since", ""))) == (
        '<th scope="row" data-label="Product">CV-320P <small>Phone</small></th>\n'
        '<td data-label="Units" class="number">2</td>\n'
        '<td data-label="Since"><time>Today</time></td><td>End</td>'
    )


def test_a_cell_keeps_a_label_of_its_own() -> None:
    row = Markup('<td data-label="Unit price">2.00</td><td>4.00</td>')
    assert (
        labelled(row, labels(("#Unit", "#Net")))
        == '<td data-label="Unit price">2.00</td><td data-label="Net">4.00</td>'
    )


def test_what_is_in_a_heading_is_escaped() -> None:
    assert labelled(Markup("<td>1</td>"), labels(('"1" & more',))) == '<td data-label="&#34;1&#34; &amp; more">1</td>'


def test_text_that_looks_like_a_cell_is_none() -> None:
    row = Markup("<td>{}</td><td>{}</td>").format("<td>", "b")
    assert labelled(row, labels(("A", "B"))) == '<td data-label="A">&lt;td&gt;</td><td data-label="B">b</td>'
