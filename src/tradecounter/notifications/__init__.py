"""Mail to customers and to support, sent by jobs that were queued with what it tells of (specification, section 6).

`jobs.py` names the jobs. `quote_mails.py`, `order_mails.py` and `billing_mails.py` say what each mail holds and who
gets it, with what `letters.py` gives them. `queries.py` reads it, `templates/` words it, `mail.py` makes a message of
it. A `Post` of `post.py` carries it: to a mail server or into a folder.
"""
