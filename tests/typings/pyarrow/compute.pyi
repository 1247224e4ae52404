"""pyarrow.compute makes its functions at import from a registry, so a type checker sees none of them."""

from typing import Any

def __getattr__(name: str) -> Any: ...
