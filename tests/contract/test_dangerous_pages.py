"""The steps before which a page asks for the password or a code again."""

import pytest

from support.page_routes import page_routes
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite

OWN = {"/sign-ins/recovery-codes", "/sign-ins/second-factor", "/sign-ins/second-factor/remove"}
OFFICE = {
    "/customer/{id}/contact",  # has the address of the first owner
    "/customer/{id}/erase",
    "/customer/{id}/export",
    "/customer/{id}/key/new",
    "/customer/{id}/user/invite",
    "/import/check/{upload}/apply",
    "/import/{id}/roll-back",
    "/staff/new",
    "/staff/{id}/disable",
    "/staff/{id}/edit",
    "/staff/{id}/reset",
    "/token/new",
    "/token/{id}/revoke",
    "/webhook/new",
    "/webhook/{id}/delete",
    "/webhook/{id}/secret",
}
CUSTOMERS = {
    "/account/developer/feed/{id}/address",
    "/account/developer/key/new",
    "/account/developer/sandbox/key/new",
    "/account/developer/webhook/new",
    "/account/developer/webhook/{id}/delete",
    "/account/developer/webhook/{id}/secret",
    "/account/user/invite",
    "/account/user/{id}/role",
}


@pytest.mark.parametrize(
    ("site", "steps"), [(BACK_OFFICE, OFFICE | OWN), (ACCOUNT, CUSTOMERS | {f"/account{path}" for path in OWN})]
)
def test_dangerous_steps_ask_for_the_password_again(site: PageSite, steps: set[str]) -> None:
    asking = {route.path for route in page_routes(site) if route.operation.dangerous}
    assert asking == steps
    for route in page_routes(site):
        if route.path in steps:
            assert route.operation.dangerous, (route.method, route.path)
