"""The Jinja environment of the pages."""

from collections.abc import Callable
from functools import cache

import jinja2

from tradecounter.edge.page_kit.highlighting import highlighted
from tradecounter.edge.page_kit.markdown import render_inline, render_text
from tradecounter.edge.page_kit.page import static_address
from tradecounter.edge.page_kit.values import FILTERS
from tradecounter.kit.text import plural


@cache
def page_templates(package: str) -> jinja2.Environment:
    """Return an environment with the templates of a package and the layout of all pages."""
    return _environment(jinja2.PackageLoader(package))


@cache
def site_templates(site: str) -> jinja2.Environment:
    """Return an environment for the pages of a site, `staff` or `account`, with all slices' templates for it.

    `orders/list.html` is `orders/pages/templates/staff/list.html`, or `…/both/…`. An unknown name is an error.
    """
    environment = _environment(_SliceLoader(site), _SliceLoader("both"))
    environment.filters |= FILTERS
    environment.globals["plural"] = plural
    return environment


class _SliceLoader(jinja2.PackageLoader):
    def __init__(self, folder: str) -> None:
        super().__init__("tradecounter", ".")
        self._folder = folder

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool] | None]:
        subject, _, name = template.partition("/")
        try:
            return super().get_source(environment, f"{subject}/pages/templates/{self._folder}/{name}")
        except jinja2.TemplateNotFound as error:
            raise jinja2.TemplateNotFound(template) from error


def _environment(*own: jinja2.BaseLoader) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([*own, jinja2.PackageLoader("tradecounter.edge.page_kit")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"inline": render_inline, "paragraphs": render_text, "highlighted": highlighted}
    environment.globals["static"] = static_address
    return environment
