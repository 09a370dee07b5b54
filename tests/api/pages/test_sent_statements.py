"""Statements and reminders that staff send from the list of debtors."""

from datetime import timedelta

import pytest

from support.backoffice import BackOfficeSite
from support.billing import invoiced, number_of, pay_in, pdf_text
from support.mail import deliver_mail, plain, shown
from support.orders import at, rows
from support.pages import fields_of, staff_member, text_of
from support.service import Customer, Service
from tradecounter.db.transaction import Transaction
from tradecounter.notifications.billing_mails import statement
from tradecounter.notifications.context import MailContext, MailSettings
from tradecounter.notifications.mail import Mail


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


def test_a_statement_is_drawn_when_the_transaction_that_has_read_it_has_ended(shop: Service) -> None:
    customer = shop.customer()
    invoiced(shop, customer, ("PHONE", 1))
    settings = MailSettings.from_settings(shop.settings)

    async def mail_of(tx: Transaction) -> Mail:
        mail = await statement(MailContext(tx, settings, shop.clock.now()), customer_id=customer.id, asked=0)
        assert mail is not None
        assert list(mail.message.iter_attachments()) == []
        return mail

    mail = shop.in_transaction(mail_of)
    mail.attach_drawing()
    [file] = list(mail.message.iter_attachments())
    assert "66.60" in pdf_text(file.get_content())


def test_a_customer_with_money_on_the_account_is_not_asked_to_pay_it(
    shop: Service, office: BackOfficeSite, customer: Customer
) -> None:
    staff, bank = office.caller("billing:write"), {"seller_bank": "Sort code 11-22-33"}
    first, second = (number_of(shop, invoiced(shop, customer, ("PHONE", 1))) for _ in range(2))
    pay_in(shop, customer, "76.60", first)
    staff.post(f"/api/customer/{customer.id}/remind")
    [mail] = [mail for mail in deliver_mail(shop, **bank) if mail["Subject"].startswith("Unpaid invoices of ")]
    for text in (" ".join(plain(mail).split()), shown(mail)):
        assert "Amount due £66.60 Paid in advance, on your account £10.00" in text
        assert "How to pay" in text
    pay_in(shop, customer, "70.00", second)
    staff.post(f"/api/customer/{customer.id}/statement/send")
    [mail] = [mail for mail in deliver_mail(shop, **bank) if mail["Subject"].startswith("Statement of ")]
    [file] = list(mail.iter_attachments())
    for text in (plain(mail), shown(mail), pdf_text(file.get_content())):
        assert "\N{MINUS SIGN}£13.40" in text
        assert "How to pay" not in text


def test_debtors_say_when_they_were_reminded(shop: Service, office: BackOfficeSite, customer: Customer) -> None:
    finance = staff_member(shop, office.url, "finance")
    invoiced(shop, customer, ("PHONE", 1))
    assert "The last reminder" not in text_of(finance.get(f"/customer/{customer.id}/remind"))
    finance.sends(f"/customer/{customer.id}/remind")
    assert "The last reminder was sent on" in text_of(finance.get(f"/customer/{customer.id}/remind"))
    parts = finance.get("/money?sort=-due").text.split("<tr>")
    [row] = [part for part in parts if f"/customer/{customer.id}/statement" in part]
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


def test_several_debtors_are_reminded_at_once_and_each_says_what_came_of_it(
    shop: Service, office: BackOfficeSite
) -> None:
    finance = staff_member(shop, office.url, "finance")
    late, later, paid = (shop.customer(company=f"Reminded {name}", term_days=7) for name in ("A", "B", "C"))
    with at(shop, shop.clock.now() - timedelta(days=30)):
        for customer in (late, later):
            invoiced(shop, customer, ("PHONE", 1))
    assert f'name="customer" value="{late.id}" form="many"' in finance.get("/money").text
    asked = finance.get("/money/remind", params={"customer": [str(late.id), str(later.id), str(late.id)]})
    assert asked.status_code == 200, text_of(asked)
    fields = fields_of(asked)
    assert [asked.text.count(f'name="customer" value="{each.id}"') for each in (late, later, paid)] == [1, 1, 0]
    assert asked.text.count(" checked>") == 2
    sent = text_of(finance.send("/money/remind", fields | {"customer": [str(late.id), str(later.id), str(paid.id)]}))
    assert "2 reminders sent" in sent
    assert f"customer {paid.id} has no unpaid invoices" in sent.lower()
    assert text_of(finance.get("/money")).count("Reminded") >= 2
    mails = (
        "select count(*) from procrastinate_jobs where task_name = 'mail_debtor_reminded'"
        " and (args->>'customer_id')::bigint = any(%s)"
    )
    assert rows(shop, mails, [late.id, later.id]) == [(2,)]
    again = finance.get("/money/remind", params={"customer": [str(late.id), str(later.id)]}).text
    assert f'name="customer" value="{late.id}"' in again
    assert " checked>" not in again, "both were reminded today"


def test_who_owes_but_is_not_overdue_is_not_among_several_debtors(shop: Service, office: BackOfficeSite) -> None:
    finance = staff_member(shop, office.url, "finance")
    early = shop.customer(company="Owes In Time", term_days=30)
    invoiced(shop, early, ("PHONE", 1))
    page = text_of(finance.get("/money/remind", params={"customer": [str(early.id)]}))
    assert "Nothing of theirs is overdue now." in page


def test_a_reminder_of_several_debtors_wants_at_least_one(shop: Service, office: BackOfficeSite) -> None:
    finance = staff_member(shop, office.url, "finance")
    for response in (finance.get("/money/remind"), finance.send("/money/remind")):
        assert (response.status_code, response.headers["Location"]) == (303, "/money")
    page = finance.sends("/money/remind").text
    assert '<p class="flash warn" role="status">Nobody is reminded: tick 1 to 50 debtors first.</p>' in page
    many = finance.get("/money/remind", params={"customer": [str(number) for number in range(1, 52)]})
    assert (many.status_code, many.headers["Location"]) == (303, "/money")
    assert staff_member(shop, office.url, "support").send("/money/remind").status_code == 403
