"""What is read of banks' files: headings, dates, amounts, and what costs a line or the whole file."""

import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import Workbook

from support.fuzzed import fuzzed
from tradecounter.kit.errors import DomainError
from tradecounter.payments.bank_file import MOST_LINES, SOURCES, BankFile, form_of_bank_file, read_bank_file
from tradecounter.payments.bank_line import BankLine, UnreadableDayError, read_day

FILES = Path(__file__).parent / "bank_files"
TODAY = date(2026, 11, 26)
PAID = date(2026, 11, 24)
# A line of each source with £1,234.50 received for invoice 10143, and one with £20.00 paid out.
LINES = {
    "Number,Date,Account,Amount,Subcategory,Memo": (
        ",24/11/2026,20-00-00 12345678,1234.50,Counter Credit,ACME LTD INV 10143",
        ",24/11/2026,20-00-00 12345678,-20.00,Bill Payment,RENT",
    ),
    "Date,Description,Amount": ('24/11/2026,ACME LTD INV 10143,"1,234.50"', "24/11/2026,RENT,-20.00"),
    "Date,Type,Description,Paid out,Paid in,Balance": (
        "24 Nov 2026,CR,ACME LTD INV 10143,,1234.50,9.00",
        "24 Nov 2026,DD,RENT,20.00,,9.00",
    ),
    "Transaction Date,Transaction Type,Sort Code,Account Number,Transaction Description,Debit Amount,Credit Amount,"
    "Balance": (
        "24/11/2026,FPI,'30-00-00,12345678,ACME LTD INV 10143,,1234.50,9.00",
        "24/11/2026,DD,'30-00-00,12345678,RENT,20.00,,9.00",
    ),
    "Transaction ID,Date,Time,Type,Name,Emoji,Category,Amount,Currency,Local amount,Local currency,Notes and #tags,"
    "Address,Receipt,Description,Category split,Money Out,Money In": (
        "tx_1,24/11/2026,09:30:00,Faster payment,ACME LTD,,,1234.50,GBP,1234.50,GBP,INV 10143,,,INV 10143,,,1234.50",
        "tx_2,24/11/2026,09:31:00,Card payment,RENT,,Bills,-20.00,GBP,-20.00,GBP,,,,RENT,,-20.00,",
    ),
    "Date,Type,Description,Value,Balance,Account Name,Account Number": (
        '24 Nov 2026,BAC,"ACME LTD , INV 10143",1234.50,9.00,SELLER,600000-12345678',
        "24 Nov 2026,D/D,RENT,-20.00,9.00,SELLER,600000-12345678",
    ),
    "Date,Description,Credit,Debit": ("24/11/2026,ACME LTD INV 10143,1234.50,", "24/11/2026,RENT,,20.00"),
    "Date,Description,Payee,Spent,Received": (
        "24/11/2026,ACME LTD INV 10143,,,1234.50",
        "24/11/2026,RENT,Landlord,20.00,",
    ),
    "Date,Type,Merchant/Description,Debit/Credit,Balance": (
        '24/11/2026,CREDIT,ACME LTD INV 10143,"£1,234.50",£9.00',
        "24/11/2026,DEBIT,RENT,-£20.00,£9.00",
    ),
    "Date,Description,Money in,Money out,Balance": (
        "24/11/2026,ACME LTD INV 10143,1234.50,,9.00",
        "24/11/2026,RENT,,20.00,9.00",
    ),
    "Date,Counter Party,Reference,Type,Amount (GBP),Balance (GBP),Spending Category,Notes": (
        "24/11/2026,ACME LTD,INV 10143,FASTER PAYMENT,1234.50,9.00,INCOME,",
        "24/11/2026,RENT,,DIRECT DEBIT,-20.00,9.00,BILLS,",
    ),
    "Date,Transaction ID,Transaction description,Reference,Paid in,Paid out,Type,Status": (
        "2026-11-24,1,ACME LTD,INV 10143,1234.50,,Transfer,Settled",
        "2026-11-24,2,RENT,,,20.00,Direct Debit,Settled",
    ),
    "*Date,*Amount,Payee,Description,Reference,Cheque No.": (
        "24/11/2026,1234.50,ACME LTD,Payment,INV 10143,",
        "24/11/2026,-20.00,Landlord,Rent,,",
    ),
}


def read(text: str | bytes, form: str = "CSV", **renamed: str) -> BankFile:
    content = text.encode() if isinstance(text, str) else text
    return read_bank_file(content, form, TODAY, renamed)  # type: ignore[arg-type]


def one(text: str) -> BankLine:
    [line] = read(text).lines
    return line


def rejected(text: str | bytes, **renamed: str) -> str:
    with pytest.raises(DomainError) as error:
        read(text, **renamed)
    return error.value.message


@pytest.mark.parametrize("headings", sorted({source.headings for source in SOURCES}))
def test_the_files_of_uk_banks_and_ledgers_are_read(headings: str) -> None:
    received, paid = read("\r\n".join([headings, *LINES[headings]]) + "\r\n").lines
    assert (received.received_on, received.pounds, received.error) == (PAID, Decimal("1234.50"), None)
    assert 10143 in received.numbers
    assert "ACME LTD" in received.reference
    assert received.reference.count("10143") == 1
    assert (paid.pounds, paid.is_received) == (Decimal("-20.00"), False)


def test_a_file_without_headings_is_read_as_hsbc_writes_it() -> None:
    file = read('24/11/2026,ACME INV 10143,"1,234.50"\n24/11/2026,RENT,-20.00\n')
    assert [line.pounds for line in file.lines] == [Decimal("1234.50"), Decimal("-20.00")]


def test_the_lines_of_a_file_that_went_wrong_before() -> None:
    def of(name: str) -> BankFile:
        content = (FILES / name).read_bytes()
        return read_bank_file(content, form_of_bank_file(name, content), TODAY)

    [comma] = of("bank-decimal-comma.csv").lines
    assert comma.pounds is None
    assert "not pounds and pence: '0,75'" in str(comma.error)
    [thousands] = of("bank-unquoted-thousands.csv").lines
    assert (thousands.number, thousands.pounds, thousands.error) == (2, None, "it has 4 cells under 3 headings")
    assert thousands.reference == "INV 10143,24/11/2026,1,234.56"
    [year] = of("bank-year-26.csv").lines
    assert (year.received_on, year.error) == (None, "the date '24/11/0026' is before 2000")
    [utf16] = of("bank-utf16.csv").lines
    assert (utf16.pounds, utf16.numbers, utf16.error) == (Decimal("0.09"), [10143], None)
    for name, why in (("bank-open-quote.csv", "line 2: not CSV"), ("bank-two-amounts.csv", "'amount' appears twice")):
        with pytest.raises(DomainError, match=why):
            of(name)


@pytest.mark.parametrize("heading", ["Amount (GBP)", "AMOUNT GBP", "Money in (£)", "Paid In £", "Received (GBP)"])
def test_a_heading_for_money_may_name_the_currency(heading: str) -> None:
    assert one(f"date,reference,{heading}\n2026-11-24,INV 10143,5.00\n").pounds == Decimal("5.00")


def test_two_columns_for_the_amount_are_rejected_by_name_unless_one_is_mapped() -> None:
    text = "Date,Amount,Value,Reference\n24/11/2026,1.00,2.00,x\n"
    assert "columns 'Amount' and 'Value' are both amount" in rejected(text)
    assert read(text, Value="amount").lines[0].pounds == Decimal("2.00")
    assert "there is no column 'Val' to map" in rejected(text, Val="amount")


def test_headings_that_nobody_knows_are_mapped() -> None:
    text = "Valuta,Received by us,What for\n24/11/2026,5.00,INV 1\n"
    assert "there is no column for the date" in rejected(text)
    found = read(text, Valuta="date", **{"received BY us": "amount", "What for": "reference"})
    assert found.columns == {"date": "Valuta", "amount": "Received by us", "reference": "What for"}
    assert found.lines[0].pounds == Decimal("5.00")


def test_lines_above_the_headings_are_left_out_unless_they_may_be_payments() -> None:
    above = '"Account Name:","Current"\n"Account Balance:","£1,234.56"\n\n'
    [line] = read(f"{above}Date,Description,Paid in,Paid out\n24 Nov 2026,INV 1,5.00,\n").lines
    assert (line.number, line.pounds) == (5, Decimal("5.00"))
    text = "24/11/2026,1.00,INV 1\nDate,Amount,Reference\n24/11/2026,5.00,x\n"
    assert "line 1 may be a payment" in rejected(text)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    "text",
    [
        'date,amount,reference\n2026-11-24,5.00,"INV 1\n2026-11-24,7.00,INV 2"\n',
        'date,amount,reference\n2026-11-24,5.00,"INV 1\n2026-11-24,7.00,"\n2026-11-24,7.00,INV 2\n',
        'date,amount,reference\n2026-11-24,5.00,"INV 1\n',
        'date,amount,reference\n2026-11-24,5.00,"INV" 1\n',
        'date,amount,"reference\n2026-11-24,5.00,x"\n',
        "",
        "\n\n",
        "a,b\n1,2\n",
        "date,amount\n2026-11-24,5.00\n",
        "date,amount,reference,date\n",
        "date,amount,reference\n" + "2026-11-24,5.00,x\n" * (MOST_LINES + 1),
    ],
)
def test_a_file_whose_structure_cannot_be_trusted_is_rejected(text: str) -> None:
    assert rejected(text).startswith("file: ")


def test_a_line_break_inside_a_text_is_a_space() -> None:
    [line] = read('date,amount,reference\n2026-11-24,5.00,"INV 1\nthank you"\n').lines
    assert (line.reference, line.error) == ("INV 1 thank you", None)


@pytest.mark.parametrize(
    "written",
    ["2026-11-24", "24/11/2026", "24/11/26", "24-11-2026", "24 Nov 2026", "24-Nov-26", "24 november 2026",
     "2026-11-24 09:30", "2026-11-24T09:30:00.123Z", "24/11/2026 09:30:15", "2026-11-23T23:30:00-05:00",
     "2026-11-24 9:05Z", "2026-11-24, 10:00+0000", "23/11/2026 23:30-05:00", "25 Nov 2026, 0:30+0100"],
)  # fmt: skip
def test_days_are_read_as_banks_write_them(written: str) -> None:
    assert read_day(written, TODAY) == PAID


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("24/11/0026", "before 2000"),
        ("1999-12-31", "before 2000"),
        ("27/11/2026", "after today"),
        ("24/11/99", "after today"),
        ("11/24/2026", "does not exist: there is no month 24"),
        ("2026-02-30", "'2026-02-30' does not exist: February 2026 has 28 days"),
        ("31/11/26", "'31/11/26' does not exist: November 2026 has 30 days"),
        ("31 Nov 2026 10:00Z", "November 2026 has 30 days"),
        ("24/11/0000", "there is no year 0"),
        ("24 Foo 2026", "is not YYYY-MM-DD"),
        ("\uff12\uff14/11/2026", "is not YYYY-MM-DD"),
        ("24/11-2026", "is not YYYY-MM-DD"),
        ("", "no date"),
    ],
)
def test_other_days_are_not_read(written: str, why: str) -> None:
    with pytest.raises(UnreadableDayError, match=why):
        read_day(written, TODAY)


@pytest.mark.parametrize(
    "written",
    [
        "12,50",
        "1.234,50",
        "1 234.50",
        "1_0",
        "1e3",
        "0.005",
        "(5.00)",
        "€5.00",
        "5.00 CR",
        "\uff11\uff12",
        "NaN",
        "--5",
        "x",
    ],
)
def test_amounts_that_are_not_pounds_and_pence_are_not_read(written: str) -> None:
    line = one(f'date,amount,reference\n2026-11-24,"{written}",x\n')
    assert line.pounds is None
    assert str(line.error).startswith("the amount is not pounds and pence")
    assert line.amount_written == written


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_comma_in_an_amount_is_not_read_where_it_may_be_a_decimal_comma(separator: str) -> None:
    lines = (
        f"sep={separator}",
        separator.join(("date", "amount", "reference")),
        f"2026-11-24{separator}1,234{separator}x",
    )
    line = one("\n".join(lines))
    assert (line.pounds, "decimal comma" in str(line.error)) == (None, True)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("5.00,1.00,,GBP", "its amounts differ"),
        ("5.00,5.00,5.00,GBP", "both received and paid out"),
        (",-5.00,,GBP", "has a minus sign"),
        (",,,GBP", "it has no amount"),
        ("5.00,,,EUR", "the currency is 'EUR', not GBP"),
        ("1000000000000.00,,,GBP", "'1000000000000.00' is too large"),
        (",0.00,2000000000000.00,GBP", "'2000000000000.00' is too large"),
    ],
)
def test_columns_that_contradict_each_other_are_not_read(row: str, why: str) -> None:
    line = one(f"date,reference,amount,money in,money out,currency\n2026-11-24,x,{row}\n")
    assert line.pounds is None
    assert why in str(line.error)


def test_money_paid_out_in_another_currency_is_left_aside() -> None:
    assert not one("date,reference,amount,currency\n2026-11-24,x,-5.00,EUR\n").is_received


def test_a_workbook_and_json_lines_are_read_too() -> None:
    book, file = Workbook(), io.BytesIO()
    book.active.append(["Date", "Amount", "Reference"])
    book.active.append([PAID, 1234.5, "INV 10143"])
    book.save(file)
    rows = [{"date": "2026-11-24", "amount": 1234.5, "reference": "INV 10143"}, {"date": 5}, []]
    json_lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    found = [*read(file.getvalue(), "XLSX").lines, *read(json_lines, "JSON Lines").lines]
    good = [line for line in found if line.error is None]
    assert [(line.pounds, line.received_on, line.numbers) for line in good] == [(Decimal("1234.50"), PAID, [10143])] * 2
    assert [line.number for line in found] == [2, 1, 2, 3]


def test_equal_lines_are_numbered_and_the_form_of_a_date_makes_no_other_line() -> None:
    first, second, third = read(
        "date,amount,reference\n24/11/2026,5,A b\n2026-11-24,5.00,a  B\n2026-11-24,5.00,c\n"
    ).lines
    assert first.identity == second.identity != third.identity
    assert [line.occurrence for line in (first, second, third)] == [1, 2, 1]


def test_a_line_of_a_day_to_come_is_the_same_line_once_the_day_has_come() -> None:
    text = "date,amount,reference\n27/11/2026,5,A\n"
    [later] = read_bank_file(text.encode(), "CSV", date(2026, 11, 27)).lines
    assert (one(text).error is None, later.error) == (False, None)
    assert one(text).identity == later.identity


def test_an_invoice_number_far_behind_in_a_text_is_read_whole() -> None:
    padding = "x" * 293
    line = one(f"date,amount,reference\n2026-11-24,5.00,{padding} 10143 10144\n")
    assert line.numbers == [10143, 10144]


def test_a_payers_name_holds_no_invoice_number_and_names_the_payer_later() -> None:
    line = one("date,amount,payee,reference\n2026-11-24,5.00,360 Networks,INV 10143\n")
    assert (line.numbers, line.payer_text) == ([10143], "360 networks")
    assert one("date,amount,reference\n2026-11-24,5.00,REF\n").payer_text == ""


def test_a_line_of_a_json_file_is_stored_as_it_is_written_if_it_cannot_be_read() -> None:
    good, *bad = read(
        '{"Date":"24/11/2026","Amount":5,"Memo":"INV 10143"}\n[]\n{"when":1}\n{"when":2}\n'
        '{"date":"2026-11-24","amount":true}\n{"amount":5,"Amount":7}\n{"amount":1e999}\n',
        "JSON Lines",
    ).lines
    assert (good.pounds, good.received_on, good.numbers, good.error) == (Decimal(5), PAID, [10143], None)
    assert [line.reference for line in bad] == [
        "[]",
        '{"when":1}',
        '{"when":2}',
        '{"date":"2026-11-24","amount":true}',
        '{"amount":5,"Amount":7}',
        '{"amount":1e999}',
    ]
    assert all(line.error for line in bad)
    assert len({line.identity for line in bad}) == len(bad)


def test_lines_of_which_the_amounts_contradict_each_other_are_different_lines() -> None:
    first, second = read("date,reference,money in,money out\n2026-11-24,x,5,7\n2026-11-24,x,5,8\n").lines
    assert (first.amount_written, second.amount_written) == ("5 and 7", "5 and 8")
    assert first.identity != second.identity


cells = st.sampled_from(["24/11/2026", "5.00", "INV 10143", "-5", "1,234.50", "x;y", "£", "\x00", "  ", ""]) | st.text(
    st.characters(exclude_characters='"\r\n', exclude_categories=["Cs"]), max_size=12
)


@pytest.mark.sweep
@fuzzed(200)
@given(st.lists(st.lists(cells, min_size=1, max_size=6), max_size=8), st.sampled_from([",", ";", "\t"]))
def test_no_line_of_a_file_is_lost(rows: list[list[str]], separator: str) -> None:
    headings = separator.join(("date", "amount", "reference"))
    written = [separator.join(row) for row in rows]
    kept = [line for line in written if any(cell.strip() for cell in line.split(separator))]
    found = read("\n".join([headings, *written])).lines
    assert [line.number for line in found] == [at for at, line in enumerate(written, start=2) if line in kept]
    assert all(line.error or (line.pounds is not None and line.received_on is not None) for line in found)


@pytest.mark.parametrize(
    "text",
    [
        'date,amount,reference,notes\n24/11/2026,5,"INV 1\n24/11/2026,7,INV 2"\n',
        'number,date,amount,memo\n,24/11/2026,5,"INV 1\n",24/11/2026,7,INV 2\n',
        'date,amount,reference\n24/11/2026,5,"INV 1\n24/11/2026",7,INV 2\n',
        '24/11/2026,INV 1,5.00\n24/11/2026,"INV 2,5.00\n24/11/2026,INV 3",7.00\n',
        'date,amount,reference,"notes\n24/11/2026,5,INV 1"\n24/11/2026,7,INV 2,\n',
    ],
)
def test_a_quote_that_takes_in_the_next_line_is_rejected(text: str) -> None:
    with pytest.raises(DomainError, match="a quote is not closed"):
        read(text)


quotes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=4)


@pytest.mark.sweep
@fuzzed(300)
@given(quotes, st.sampled_from([",", ";"]), st.booleans(), st.integers(0, 2))
@example(quoted=[(0, 0), (0, 3), (0, 3), (1, 0)], separator=",", is_numbered=True, left_out=1)
def test_quotes_in_wrong_places_join_no_lines(
    quoted: list[tuple[int, int]], separator: str, is_numbered: bool, left_out: int
) -> None:
    headings = "date,amount,reference,notes,more"
    lines = [",".join(f"24/11/2026,{at + 5}.00,INV {at},a,b".split(",")[: 5 - left_out]) for at in range(4)]
    if is_numbered:
        headings, lines = f"number,{headings}", [f",{line}" for line in lines]
    for line, place in quoted:
        lines[line] = f'{lines[line][:place]}"{lines[line][place:]}'
    try:
        found = read("\n".join([headings, *lines, ""]).replace(",", separator)).lines
    except DomainError:
        return  # the file is rejected
    assert [line.number for line in found] == [2, 3, 4, 5]


def test_the_cells_of_a_workbook_are_read_as_it_shows_them_or_not_at_all() -> None:
    book, file = Workbook(), io.BytesIO()
    for row in (
        ["Date", "Amount", "Reference"],
        [PAID, 1.5, 10143],
        [PAID, 0.5, "INV 10143"],
        [PAID, "=1+1", "INV 10143"],
        [PAID, PAID, "INV 10143"],
        [PAID, 2.5, PAID],
        [PAID, True, "INV 10143"],
        [PAID, 3.5, "INV 10143"],
    ):
        book.active.append(row)
    book.active["B3"].number_format = "0%"
    book.active["B8"].number_format = "[$\u20ac-407]0.00"
    book.save(file)
    good, *bad = read(file.getvalue(), "XLSX").lines
    assert (good.pounds, good.received_on, good.numbers, good.error) == (Decimal("1.50"), PAID, [10143], None)
    assert [line.number for line in bad if line.error] == [3, 4, 5, 6, 7, 8]
