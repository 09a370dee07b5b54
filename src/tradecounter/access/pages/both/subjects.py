"""The pages of signing in, which both sites have."""

from collections.abc import Sequence

from tradecounter.access.pages.both.own_sign_ins import OwnSignInPages
from tradecounter.access.pages.both.passwords import PasswordPages
from tradecounter.access.pages.both.sign_in import SignInPages

SIGN_IN_SUBJECTS: Sequence[type] = (SignInPages, PasswordPages, OwnSignInPages)
