"""The pages of signing in, which both sites have."""

from collections.abc import Sequence

from tradecounter.pages.sign_in.own_sign_ins import OwnSignInPages
from tradecounter.pages.sign_in.pages import SignInPages
from tradecounter.pages.sign_in.passwords import PasswordPages

SIGN_IN_SUBJECTS: Sequence[type] = (SignInPages, PasswordPages, OwnSignInPages)
