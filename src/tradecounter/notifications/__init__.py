"""E-mail to customers and to support, sent by jobs that the use cases queue (specification, section 6).

`jobs.py` names the jobs. `quote_mails.py`, `order_mails.py` and `billing_mails.py` build e-mails from a `MailContext`
(`context.py`): `queries.py` reads the data, `templates.py` renders it, `mail.py` makes the message. `transport.py`
sends it to a mail server or writes it to a folder.
"""
