"""What differs between the two sites with pages: addresses, cookies and names."""

from msgspec import Struct

from tradecounter.edge.people import Site


class PageSite(Struct, frozen=True):
    """A site with pages. Paths begin below the site's base URL."""

    name: Site
    title: str
    home: str
    cookie: str
    flash_cookie: str

    @property
    def root(self) -> str:
        """The path that the paths of all pages begin with."""
        return "" if self.home == "/" else self.home

    @property
    def sign_in(self) -> str:
        """The page at which a person signs in; its parameter `next` is where to go then."""
        return f"{self.root}/sign-in"

    @property
    def ask_again(self) -> str:
        """The page that asks for the password again, with `next` as above."""
        return f"{self.root}/sign-in/again"

    @property
    def sign_out(self) -> str:
        """Where the form that signs out is sent."""
        return f"{self.root}/sign-out"

    @property
    def sign_ins(self) -> str:
        """The page of a person's own sign-ins, password and second factor."""
        return f"{self.root}/sign-ins"


# Ports share a cookie jar, so the names differ. `__Host-` cookies are for the whole host and never sent by another.
BACK_OFFICE = PageSite("staff", "Back office", "/", "__Host-tradecounter-staff", "__Host-tradecounter-staff-flash")
ACCOUNT = PageSite(
    "account", "Your account", "/account", "__Host-tradecounter-account", "__Host-tradecounter-account-flash"
)
