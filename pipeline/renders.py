"""What a recipe renders, loaded: the domain objects behind each `render:`, their families checked.

In: a `Recipe`. Out: the domains of each dataset that is rendered; RecipeErrors carry the line of the domain. Loading
starts no engine; `refuse_lacking` tries each on its probe picture.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gristmill.manifests.errors import EngineMissingError, GristmillError, RecipeError
from gristmill.pipeline.recipe import DatasetSpec, Recipe, RenderOrigin
from gristmill.pipeline.recipe_render import Rendered
from gristmill.pipeline.suggest import did_you_mean
from gristmill.render import domains
from gristmill.render.make import vocabulary
from gristmill.render.protocol import Domain
from gristmill.render.record import source_of


@dataclass(frozen=True)
class LoadedRender:
    """A domain that a dataset is made by, and the families that take turns; none for existing files."""

    rendered: Rendered
    domain: Domain
    families: tuple[str, ...]

    @property
    def source(self) -> str:
        """The `source` of its records."""
        return source_of(self.domain.name)


def resolve_renders(recipe: Recipe) -> dict[str, tuple[LoadedRender, ...]]:
    """Dataset with `render:` -> its domains. Raises RecipeError."""
    found: dict[str, tuple[LoadedRender, ...]] = {}
    for dataset in recipe.datasets:
        if isinstance(dataset.origin, RenderOrigin):
            loaded = tuple(_loaded(recipe, dataset, rendered) for rendered in dataset.origin.domains)
            _refuse_twins(dataset, loaded)
            found[dataset.name] = loaded
    return found


def _loaded(recipe: Recipe, dataset: DatasetSpec, rendered: Rendered) -> LoadedRender:
    what = f"datasets.{dataset.name}.render.{rendered.domain}"
    try:
        domain = domains.load(rendered.domain, recipe.base_dir)
    except GristmillError as error:
        raise RecipeError(f"{what}: {error.what}", rendered.where, error.value, error.remedy) from error
    if rendered.patterns:
        return LoadedRender(rendered, domain, ())
    known = domain.families()
    for name in rendered.families:
        if name not in known:
            where = rendered.key_where["families"]
            raise RecipeError(f"{what}.families: no such family", where, name, did_you_mean(name, known))
    return LoadedRender(rendered, domain, rendered.families or known)


def _refuse_twins(dataset: DatasetSpec, loaded: Iterable[LoadedRender]) -> None:
    seen: set[str] = set()
    for one in loaded:
        if one.domain.name in seen:
            what = f"datasets.{dataset.name}.render: two domains of one name"
            raise RecipeError(what, one.rendered.where, one.domain.name, "make two datasets of them")
        seen.add(one.domain.name)


def refuse_lacking(dataset: DatasetSpec, loaded: Iterable[LoadedRender]) -> None:
    """Raise EngineMissingError, at the line of the domain, where one of its engines does not work here."""
    for one in loaded:
        try:
            domains.require_engines(one.domain)
        except EngineMissingError as error:
            what = f"datasets.{dataset.name}.render: {error.what}"
            remedy = "; or ".join(filter(None, (error.remedy, f"take {one.rendered.domain} out of the recipe")))
            raise EngineMissingError(what, one.rendered.where, error.value, remedy) from error


def described(loaded: Iterable[LoadedRender]) -> dict[str, Any]:
    """The origin step of a dataset: what was asked of each domain and what made it, its rules and reasons."""
    params: dict[str, Any] = {}
    rules: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    for one in loaded:
        params[one.rendered.domain] = {**one.rendered.plain(), **domains.identity(one.domain)}
        rules += [{**vars(rule), "of": one.source} for rule in one.domain.rules()]
        words += [{**vars(word), "of": one.source} for word in vocabulary(one.domain)]
    return {"step": "render", "stage": "render", "version": 1, "params": params, "rules": rules, "vocabulary": words}
