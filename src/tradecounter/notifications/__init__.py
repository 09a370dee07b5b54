"""Mail to customers and to support, sent by jobs that were queued with what it tells of (specification, section 6).

`jobs.py` names the jobs; `letters.py` says what each mail holds and who gets it, `queries.py` reads it, `templates/`
words it, `mail.py` makes a message of it; a `Post` of `post.py` carries it: to a mail server or into a folder.
"""
