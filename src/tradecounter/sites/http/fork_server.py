"""Prepares the fork server of the API processes, which imports this module last (docs/adr/0030).

A signal to all processes of a service must not end the fork server, which alone learns how its processes end. It has
signals wait, and so does a forked process until it handles them itself.
"""

import gc
import signal

from uvicorn.supervisors.multiprocess import SIGNALS

from tradecounter.sites.http import server  # noqa: F401 what every API process needs

signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
gc.collect()
gc.freeze()  # a collection in a forked process would copy the memory of all that it looks at
