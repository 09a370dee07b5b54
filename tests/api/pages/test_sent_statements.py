"""Statements and reminders that staff send from the list of debtors."""

import pytest

from support.backoffice import BackOfficeSite
from support.billing import invoiced
from support.mail import deliver_mail, plain
from support.pages import fields_of, staff_member, text_of
from support.service import Customer, Service


def test_a_statement_is_sent_as_a_pdf_file(shop: Service, office: BackOfficeSite, customer: Customer) -> None:
    finance = staff_member(shop, office.url, "finance")
    invoiced(shop, customer, ("PHONE", 1))
    assert f"/customer/{customer.id}/statement/send" in finance.get("/money?sort=-due").text
    assert "gets it by e-mail" in text_of(finance.get(f"/customer/{customer.id}/statement/send"))
    assert "The statement is sent to" in text_of(finance.sends(f"/customer/{customer.id}/statement/send"))
    [mail] = [mail for mail in deliver_mail(shop) if mail["Subject"].startswith("Statement of ")]
    [file] = list(mail.iter_attachments())
    assert file.get_content_type() == "application/pdf"
    assert str(file.get_filename()).startswith(f"statement-{customer.id}-")
    assert "66.60" in plain(mail)
    support = staff_member(shop, office.url, "support")
    assert support.send(f"/customer/{customer.id}/statement/send").status_code == 403


def test_debtors_say_when_they_were_reminded(shop: Service, office: BackOfficeSite, customer: Customer) -> None:
    finance = staff_member(shop, office.url, "finance")
    invoiced(shop, customer, ("PHONE", 1))
    assert "The last reminder" not in text_of(finance.get(f"/customer/{customer.id}/remind"))
    finance.sends(f"/customer/{customer.id}/remind")
    assert "The last reminder was sent on" in text_of(finance.get(f"/customer/{customer.id}/remind"))
    rows = finance.get("/money?sort=-due").text.split("<tr>")
    [row] = [part for part in rows if f"/customer/{customer.id}/statement" in part]
    assert "Reminded" in row


@pytest.mark.parametrize("step", ["remind", "statement/send"])
def test_a_mail_from_the_list_of_debtors_leads_back_to_the_list(
    shop: Service, office: BackOfficeSite, customer: Customer, step: str
) -> None:
    finance = staff_member(shop, office.url, "finance")
    invoiced(shop, customer, ("PHONE", 1))
    asked = finance.get(f"/customer/{customer.id}/{step}?from_debtors=true")
    assert 'href="/money" data-close' in asked.text
    sent = finance.send(f"/customer/{customer.id}/{step}", fields_of(asked))
    assert sent.headers["Location"] == "/money"
    elsewhere = finance.send(
        f"/customer/{customer.id}/{step}", fields_of(finance.get(f"/customer/{customer.id}/{step}"))
    )
    assert elsewhere.headers["Location"] == f"/customer/{customer.id}/statement"
