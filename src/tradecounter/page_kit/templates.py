"""The Jinja environment of the pages."""

import jinja2

from tradecounter.page_kit.highlighting import highlighted
from tradecounter.page_kit.markdown import render_inline, render_text
from tradecounter.page_kit.static_files import static_address


def page_templates(package: str) -> jinja2.Environment:
    """Return an environment with the templates of a package and the layout of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("tradecounter.page_kit")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"inline": render_inline, "paragraphs": render_text, "highlighted": highlighted}
    environment.globals["static"] = static_address
    return environment
