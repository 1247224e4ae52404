"""Registers of Python modules: what stands above and below a definition.

No digits, no empty lines, no invented names.
"""

from gristmill.synth.registers import Register

LIBRARY = Register(
    "library module",
    "clause",
    (0, 1, 2, 3, 4, 5, 6, 7),
    (
        '"""Shared defaults of the order desk, kept apart from its handlers."""\n',
        "# Part of the pricing package; import from here and nowhere else.\nimport logging\n",
        '"""Models without behaviour: whatever acts on them lives in services."""\nimport typing\n',
        "from __future__ import annotations\n# moved out of core.py when that file grew too long\n",
        '"""Internal. Names may come and go between releases."""\n__all__ = ()\n',
        "# Licence: see the file COPYING at the top of this tree.\n# Its authors are those of AUTHORS.\n",
        '"""Compatibility layer for plug-ins written against the first interface."""\nimport warnings\n',
        "import functools\nimport operator\n# helpers first, definitions below\n",
    ),
    (
        "\ndef describe(thing):\n    return getattr(thing, '__doc__', '') or 'nothing to say'",
        "\nif __name__ == '__main__':\n    raise SystemExit('this file is not a program')",
        "\ndef snapshot(source):\n    return dict(vars(source))",
        "\n# end of the public part of this file",
        "\ndef register(plugin, table):\n    table[plugin.__name__] = plugin\n    return plugin",
        "\ndef _noop(*args, **kwargs):\n    del args, kwargs",
        "\nVERSION_OF_THIS_FILE = 'kept by the release script'",
        "\ndef same(left, right):\n    return left is right or left == right",
    ),
)

TESTS = Register(
    "test helper",
    "clause",
    (8, 9, 10, 11, 12, 13, 14, 15),
    (
        '"""Stand-ins for the warehouse, used by the integration suite."""\nimport pytest\n',
        "# fixtures that more than one suite needs\nimport contextlib\n",
        '"""Regression for the outage in spring: do not simplify."""\n',
        "import unittest\nfrom unittest import mock\n",
        "# generated once from the staging tables, then edited by hand\n",
        '"""Golden objects. A failing comparison means that a model changed."""\nimport copy\n',
        "import random\nrandom.seed('the same every night')\n",
        "# slow suite only; the quick one has doubles\nimport os\n",
    ),
    (
        "\ndef teardown_module(module):\n    del module",
        "\n@contextlib.contextmanager\ndef frozen(clock):\n    yield clock",
        "\ndef check(found, wanted):\n    assert found == wanted, (found, wanted)",
        "\nclass Recorder(list):\n    def __call__(self, event):\n        self.append(event)",
        "\nSKIP_REASON = 'needs the mail server of the office'",
        "\ndef fresh(thing):\n    return copy.deepcopy(thing)",
        "\ndef in_random_order(items):\n    return random.sample(items, len(items))",
        "\n# nothing below this line is collected",
    ),
)

SETTINGS = Register(
    "settings module",
    "field",
    (0, 1, 2, 3, 4, 5, 6, 7),
    (
        "# settings/base.py: read first, before any override\n",
        "# settings/production.py -- ask {person} before you edit this\n",
        '"""Values for the branch in {place}, loaded when the service starts."""\n',
        "# layer on top of the defaults of the site, written on {date}\n",
        "import os\nDEBUG = bool(os.environ.get('DEBUG'))\n",
        "# secrets are elsewhere; what is here may be read by everybody\n",
        '"""Feature switches and limits, one team a section."""\nOWNER = \'{person}\'\n',
        "# imported by manage.py and by the worker in {place}\n",
    ),
    (
        "\nLANGUAGES = ('en', 'fr', 'de')",
        "\nTIME_ZONE = 'UTC'  # never the local one",
        "\ndef override(name, value):\n    globals()[name] = value",
        "\nLOG_LEVEL = os.environ.get('LOG_LEVEL', 'info') if 'os' in globals() else 'info'",
        "\nMAINTAINER = '{person}'",
        "\n# the next section belongs to the team in {place}",
        "\nCACHE = dict(backend='memory', shared=False)",
        "\nassert __name__ != '__main__', 'settings are imported, not run'",
    ),
)

SCRIPTS = Register(
    "script",
    "clause",
    (0, 2, 4, 6, 9, 11, 13, 15),
    (
        "#!/usr/bin/env python\n# one-off for {person}, kept because it was needed twice\n",
        "#!/usr/bin/python\nimport sys\nimport json\n",
        '"""Usage: run me from the root of the tree, without arguments."""\nimport pathlib\n',
        "# cell copied from the notebook of {person}, {date}\n",
        "# migration step, safe to repeat\nimport argparse\n",
        '"""Prints a report for the meeting in {place}."""\nimport csv\n',
        "try:\n    import ujson as json\nexcept ImportError:\n    import json\n",
        "# cron runs this at {time}; mails go to {person}\nimport subprocess\n",
    ),
    (
        "\nprint('done', file=sys.stderr) if 'sys' in globals() else print('done')",
        "\nfor line in open('/dev/null'):\n    print(line.strip())",
        "\nparser = None  # options were dropped in the rewrite",
        "\nwith open('report.txt', 'a') as report:\n    report.write('one more run')",
        "\ndef main(argv):\n    return len(argv)",
        "\nraise SystemExit",
        "\n# TODO({person}): delete after the move to {place}",
        "\nresult = sorted(globals(), key=str.lower)",
    ),
)

CODE = (LIBRARY, TESTS, SETTINGS, SCRIPTS)
