"""Without a mail server, e-mails are files: complete, named by time, one for each message."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from support.mail import deliver_mail, forget_jobs, internal_id, jobs, let_time_pass, queue_job, read_folder
from support.orders import buy
from support.people import SECRET
from support.service import MORNING, Service
from tradecounter.access.users import invite_user
from tradecounter.sites.worker import drain

CONTACT: dict[str, Any] = {"order_notifications": {"email_address": "jürgen@harbour.example"}}


def drain_into(service: Service, folder: Path) -> None:
    settings = replace(service.settings, data_dir=folder)
    service.call(lambda: drain(settings, service.database_url, service.clock))


def test_a_resent_mail_replaces_its_file(shop: Service, tmp_path: Path) -> None:
    placed = buy(shop.customer(), **CONTACT)
    order_id = internal_id(shop, placed)
    drain_into(shop, tmp_path)
    shop.clock.advance(timedelta(hours=2))
    queue_job(shop, "mail_order_confirmed", order_id=order_id)
    drain_into(shop, tmp_path)
    later = buy(shop.customer(), **CONTACT)
    drain_into(shop, tmp_path)
    shop.clock.set(MORNING)
    assert sorted(path.name for path in (tmp_path / "mail").iterdir()) == [
        f"20260616T080000Z-order-confirmed-{order_id}.eml",
        f"20260616T100000Z-order-confirmed-{internal_id(shop, later)}.eml",
    ]
    mails = read_folder(tmp_path / "mail")
    assert [placed["order_reference"] in mails[0]["Subject"], later["order_reference"] in mails[1]["Subject"]] == [
        True
    ] * 2


def test_an_invitation_and_the_mail_about_a_new_owner_replace_their_files_when_they_are_resent(
    shop: Service, tmp_path: Path
) -> None:
    customer_id, now = shop.customer().id, shop.clock.now()
    user, link_id = shop.in_transaction(
        lambda tx: invite_user(tx, customer_id, "resent@shop.example", "owner", SECRET, now)
    )
    drain_into(shop, tmp_path)
    sent = sorted(path.name for path in (tmp_path / "mail").iterdir())
    shop.clock.advance(timedelta(hours=2))
    queue_job(shop, "mail_user_invited", link_id=link_id)
    queue_job(shop, "mail_owner_added", user_id=user.id)
    drain_into(shop, tmp_path)
    shop.clock.set(MORNING)
    assert sorted(path.name for path in (tmp_path / "mail").iterdir()) == sent
    assert sent == [
        f"20260616T080000Z-owner-added-{user.id}-20260616080000.eml",
        f"20260616T080000Z-user-invited-{link_id}.eml",
    ]


def test_mail_waits_while_the_folder_is_not_writable(shop: Service, tmp_path: Path) -> None:
    (tmp_path / "mail").touch()
    buy(shop.customer(), **CONTACT)
    drain_into(shop, tmp_path)
    assert jobs(shop) == [("mail_order_confirmed", "todo", 1)]
    (tmp_path / "mail").unlink()
    let_time_pass(shop)
    drain_into(shop, tmp_path)
    assert len(read_folder(tmp_path / "mail")) == 1


def test_many_mails_are_all_sent(shop: Service) -> None:
    placed = [buy(shop.customer(), [("CABLE", 1)], **CONTACT) for _ in range(12)]
    subjects = [mail["Subject"] for mail in deliver_mail(shop)]
    assert sorted(subject.split()[1] for subject in subjects) == sorted(one["order_reference"] for one in placed)
    forget_jobs(shop)
