"""The Jinja environment of the pages."""

from collections.abc import Callable

import jinja2

from tradecounter.page_kit.highlighting import highlighted
from tradecounter.page_kit.markdown import render_inline, render_text
from tradecounter.page_kit.static_files import static_address
from tradecounter.page_kit.values import FILTERS, plural


def page_templates(package: str) -> jinja2.Environment:
    """Return an environment with the templates of a package and the layout of all pages."""
    return _environment(jinja2.PackageLoader(package))


def subject_templates(*packages: str) -> jinja2.Environment:
    """Return an environment for the pages of a site, whose subjects are the folders of packages.

    `orders/list.html` is `orders/templates/list.html` in the package. An unknown name is an error.
    """
    environment = _environment(*(_SubjectLoader(package, ".") for package in packages))
    environment.filters |= FILTERS
    environment.globals["plural"] = plural
    return environment


class _SubjectLoader(jinja2.PackageLoader):
    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool] | None]:
        subject, _, name = template.partition("/")
        try:
            return super().get_source(environment, f"{subject}/templates/{name}")
        except jinja2.TemplateNotFound as error:
            raise jinja2.TemplateNotFound(template) from error


def _environment(*own: jinja2.BaseLoader) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([*own, jinja2.PackageLoader("tradecounter.page_kit")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"inline": render_inline, "paragraphs": render_text, "highlighted": highlighted}
    environment.globals["static"] = static_address
    return environment
