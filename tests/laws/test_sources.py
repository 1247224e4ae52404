"""Laws of sources, over every source that is registered."""

from gristmill.pipeline.sources import catalogue
from tests.laws.corpora import named_sources


def test_the_recipes_of_the_laws_name_every_source() -> None:
    assert set(catalogue.SOURCES) == named_sources()
