"""Templates into pages; everything a person wrote is escaped on the way."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

import sottovoce


@cache
def templates() -> Environment:
    """The page's own templates: always escaping, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("sottovoce.web.advise"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["version"] = sottovoce.__version__
    return environment


def page(template: str, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A page made from ``template``."""
    return HTMLResponse(templates().get_template(template).render(shown), status_code=status)


@cache
def asset(name: str) -> bytes:
    """A style or script of ours."""
    return files("sottovoce.web.advise").joinpath("assets", name).read_bytes()
