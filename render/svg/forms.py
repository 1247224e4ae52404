"""Other texts of the same drawing."""

from gristmill.render.protocol import Code


def code_forms(code: Code) -> dict[str, str]:
    return {}
