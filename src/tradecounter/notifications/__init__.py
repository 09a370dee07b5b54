"""E-mail to customers and to support, sent by jobs that the use cases queue (specification, section 6).

`jobs.py` names the jobs. The files `*_mails.py` build e-mails from a `MailContext` (`context.py`), which also renders
their templates: `queries.py` reads the data, `mail.py` makes the message. `transport.py` sends it to a mail server or
writes it to a folder.
"""
