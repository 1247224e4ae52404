"""Languages of source files by path and first line: data as code.

Names follow GitHub's linguist in lower case, with words joined by `_`. `family` says which limits hold: `code`;
`markup` (text with tags); `data`; `prose`; `build` (small scripts that build things). A path decides by the file's
whole name, then by its longest suffix; where neither is known, the first line (`#!/usr/bin/env python3`).
"""

import re
from dataclasses import dataclass
from typing import Literal

from gristmill.stages.text.code_lexis import LEXIS_NUMBERS

Family = Literal["code", "markup", "data", "prose", "build"]


@dataclass(frozen=True)
class Language:
    """`lexis` names how comments are written, `grammar` a parser of tree-sitter-language-pack ("" for none)."""

    name: str
    family: Family
    lexis: str
    grammar: str
    suffixes: tuple[str, ...]
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()


def _language(line: str) -> Language:
    name, family, lexis, grammar, suffixes, names, interpreters = (part.strip() for part in line.split("|"))
    assert lexis in LEXIS_NUMBERS and family in ("code", "markup", "data", "prose", "build"), line
    return Language(
        name, family, lexis, grammar, tuple(suffixes.split()), tuple(names.split()), tuple(interpreters.split())
    )


_TABLE = """\
ada|code|ada|ada|adb ads ada||
agda|code|haskell|agda|agda||
assembly|code|assembly|asm|s asm nasm||
awk|code|hash||awk||awk gawk mawk
batchfile|code|batch||bat cmd||
c|code|c|c|c h cats||tcc
c_sharp|code|c|csharp|cs csx||
cpp|code|c|cpp|cc cpp cxx c++ hh hpp hxx h++ ipp inl tcc tpp||
clojure|code|lisp|clojure|clj cljs cljc edn||
cmake|build|make|cmake|cmake|cmakelists.txt|
cobol|code|cobol||cob cbl cpy||
common_lisp|code|lisp|commonlisp|lisp lsp cl asd||sbcl clisp
crystal|code|ruby||cr||crystal
css|code|css|css|css||
cuda|code|c|cuda|cu cuh||
cython|code|python||pyx pxd pxi||
d|code|d|d|d di||rdmd
dart|code|c|dart|dart||dart
dockerfile|build|hash|dockerfile|dockerfile|dockerfile containerfile|
elixir|code|elixir|elixir|ex exs||elixir
elm|code|haskell|elm|elm||
emacs_lisp|code|lisp|elisp|el|.emacs|
erlang|code|erlang|erlang|erl hrl escript||escript
f_sharp|code|fsharp|fsharp|fs fsi fsx||
fish|code|shell|fish|fish||fish
fortran|code|fortran|fortran|f f77 f90 f95 f03 f08 for ftn||
gdscript|code|python|gdscript|gd||
glsl|code|c|glsl|glsl vert frag geom comp tesc tese||
go|code|go|go|go||
graphql|code|hash|graphql|graphql gql||
groovy|code|java|groovy|groovy gradle gvy|jenkinsfile|groovy
guile|code|lisp||gi||guile
hack|code|php|hack|hack hhi||
haskell|code|haskell|haskell|hs lhs hsc||runhaskell runghc
haxe|code|c|haxe|hx||
hcl|code|hcl|hcl|hcl tf tfvars nomad||
html|markup|markup|html|html htm xhtml shtml||
html_template|markup|markup||erb ejs jinja jinja2 j2 mustache hbs handlebars njk liquid twig jsp cshtml||
idris|code|haskell||idr||
ini|data|config||ini cfg conf properties desktop editorconfig|.editorconfig .gitconfig setup.cfg|
java|code|java|java|java||
javascript|code|js|javascript|js mjs cjs jsx es6||node nodejs deno bun
json|data|json|json|json jsonl geojson webmanifest topojson ipynb|.eslintrc .babelrc|
json5|data|js||json5 jsonc|.jshintrc|
julia|code|julia|julia|jl||julia
kotlin|code|java|kotlin|kt kts||
lean|code|haskell||lean||
less|code|scss||less||
llvm|code|assembly|llvm|ll||
lua|code|lua|lua|lua rockspec||lua luajit
m4|build|m4||m4 ac|configure.ac configure.in|
makefile|build|make|make|mk mak make am|makefile gnumakefile makefile.am makefile.in kbuild|make
markdown|prose|||md markdown mdx mkd qmd rmd|readme.md|
mathematica|code|ml||nb wl wls||wolframscript
matlab|code|matlab||m||octave
mercury|code|percent||moo||
meson|build|hash|meson||meson.build meson_options.txt|
mlir|code|c||mlir||
modelica|code|c||mo||
nim|code|nim|nim|nim nims nimble||
nix|code|hash|nix|nix||
objective_c|code|c|objc|mm||
ocaml|code|ml|ocaml|ml mli mll mly eliom||ocaml
pascal|code|pascal|pascal|pas pp dpr lpr inc||
perl|code|perl|perl|pl pm perl t pod||perl
php|code|php|php|php php3 php4 php5 php7 phtml||php
powershell|code|powershell|powershell|ps1 psm1 psd1||pwsh
prolog|code|percent||pro prolog plt||swipl
proto|code|c|proto|proto||
puppet|code|hash|puppet|||
purescript|code|haskell|purescript|purs||
python|code|python|python|py pyi pyw py3 wsgi gyp|sconstruct sconscript wscript|python python2 python3 pypy
qml|code|js||qml||
r|code|hash|r|r rsx|.rprofile|rscript
racket|code|lisp|racket|rkt rktd||racket
restructuredtext|prose|||rst rest||
rexx|code|c||rexx||
roff|prose|roff||1 2 3 4 5 6 7 8 9 man mdoc ms roff||
ruby|code|ruby|ruby|rb rbw rake gemspec ru podspec jbuilder|rakefile gemfile podfile vagrantfile guardfile|ruby jruby
rust|code|c|rust|rs||
sass|code|scss||sass||
scala|code|java|scala|scala sc sbt||scala
scheme|code|lisp|scheme|scm ss sld sls sps||guile chibi-scheme
scilab|code|scilab||sci sce tst||
scss|code|scss|scss|scss||
shell|code|shell|bash|sh bash zsh ksh command bats ebuild|.bashrc .profile .zshrc configure|sh bash zsh ksh dash
smalltalk|code|||st||
smt|data|lisp||smt smt2||
solidity|code|c|solidity|sol||
sparql|code|hash|sparql|sparql rq||
sql|code|sql|sql|sql ddl dml pgsql plsql psql||
stan|code|c||stan||
standard_ml|code|ml||sml sig fun||
starlark|code|python|starlark|star bazel bzl|build workspace build.bazel|
svelte|code|components|svelte|svelte||
svg|markup|markup|xml|svg||
swift|code|java|swift|swift||swift
swig|code|c||i swg swigs||
systemverilog|code|c|verilog|sv svh||
tcl|code|tcl|tcl|tcl tk tm||tclsh wish
tex|prose|tex|latex|tex sty cls ltx dtx ins bbl||
text|prose|||txt text|readme license licence copying authors changelog changes news install todo notice|
thrift|code|c|thrift|thrift||
toml|data|hash|toml|toml|pipfile|
typescript|code|js|typescript|ts mts cts||ts-node
tsx|code|js|tsx|tsx||
vala|code|c||vala vapi||
vba|code|basic||bas cls frm vba||
verilog|code|c|verilog|v vh||
vhdl|code|ada|vhdl|vhd vhdl||
vim_script|code|vim|vim|vim|.vimrc|
visual_basic|code|basic||vb vbs||
vue|code|components|vue|vue||
webassembly|code|lisp|wat|wat wast||
wgsl|code|c|wgsl|wgsl||
xml|data|markup|xml|xml xsd wsdl xaml rss atom rdf plist csproj vbproj vcxproj fsproj nuspec storyboard xib ui iml||
xslt|code|markup|xml|xsl xslt||
yacc|code|c||y yy ypp l ll||
yaml|data|hash|yaml|yaml yml|.clang-format .travis.yml|
zig|code|c|zig|zig||
csv|data||csv|csv tsv psv||
dot|data|c||dot gv||
owl|data|hash||owl ttl nt nq n3||
gettext|data|hash|po|po pot||
diff|data|||diff patch||
"""

LANGUAGES: tuple[Language, ...] = tuple(_language(line) for line in _TABLE.splitlines())
"""Every language, in no order that matters; a suffix belongs to the first that names it."""

BY_NAME: dict[str, Language] = {language.name: language for language in LANGUAGES}

_BY_SUFFIX: dict[str, Language] = {}
_BY_FILE: dict[str, Language] = {}
_BY_INTERPRETER: dict[str, Language] = {}
for _each in LANGUAGES:
    for _word in _each.suffixes:
        _BY_SUFFIX.setdefault(_word, _each)
    for _word in _each.names:
        _BY_FILE.setdefault(_word, _each)
    for _word in _each.interpreters:
        _BY_INTERPRETER.setdefault(_word, _each)

_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?([A-Za-z][A-Za-z\-]*)")
_OBJECTIVE_C = re.compile(rb"^[ \t]*(?:#import\b|@(?:interface|implementation|protocol|class|end)\b)", re.MULTILINE)
_CPP = re.compile(rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|using\s+namespace\b|public:|private:)", re.MULTILINE)
_XML = re.compile(rb"\s*<(?:\?xml|!DOCTYPE)")
_PROLOG = re.compile(rb"^[ \t]*:-|^[a-z]\w*\(.*\)\s*(?::-|\.\s*$)", re.MULTILINE)
_HEAD_BYTES = 4096


def language_of(path: str, head: bytes) -> Language | None:
    """The language of a file; `head` are its first bytes (4,096 are enough). None when nothing tells."""
    name = path.rpartition("/")[2].lower()
    if name.count(".") > 1 or name.startswith("makefile."):
        name = name.removesuffix(".in").removesuffix(".tmpl").removesuffix(".template").removesuffix(".dist")
    found = _BY_FILE.get(name) or _BY_FILE.get(name.partition(".")[0] if name.startswith("dockerfile.") else "")
    suffix = name.rpartition(".")[2] if "." in name else ""
    found = found or _BY_SUFFIX.get(suffix)
    if found is None:
        match = _SHEBANG.match(head)
        found = _BY_INTERPRETER.get(match[1].decode().lower()) if match else None
    return _told_apart(found, suffix, head[:_HEAD_BYTES]) if found else None


def _told_apart(found: Language, suffix: str, head: bytes) -> Language:
    """Suffixes of several languages, by what stands at the start."""
    if suffix in ("m", "h") and _OBJECTIVE_C.search(head):
        return BY_NAME["objective_c"]
    if suffix == "h" and _CPP.search(head):
        return BY_NAME["cpp"]
    if suffix == "ts" and _XML.match(head):
        return BY_NAME["xml"]
    if suffix == "pl" and _PROLOG.search(head) and b"use strict" not in head:
        return BY_NAME["prolog"]
    if suffix == "cls" and b"\\" in head[:200] and b"Attribute VB" not in head:
        return BY_NAME["tex"]
    return found


_VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|jspm_packages|vendors?|third[-_]?party|3rd[-_]?party|externals?|"
    r"site-packages|dist-packages|\.?v?env/(?:lib|bin|include|Scripts)|\.tox|\.eggs|[^/]+\.egg-info|[^/]+\.dist-info|"
    r"Godeps/_workspace|Pods|Carthage|\.yarn/(?:releases|plugins)|__pycache__|\.gradle|\.m2|\.cargo/registry)/"
    r"|[-.]min\.(?:js|css|mjs)$|[-.]bundle\.js$"
    r"|(?:^|/)(?:jquery(?:-\d[\d.]*)?|jquery[-.]ui[^/]*|bootstrap(?:\.bundle)?|angular(?:-[\w.]+)?|d3(?:\.v\d+)?|"
    r"modernizr[^/]*|require|underscore|backbone|lodash|moment|prototype|mootools[^/]*|highcharts[^/]*)\.js$"
    r"|(?:^|/)(?:bootstrap|font-awesome|normalize|animate)\.css$"
    r"|(?:^|/)(?:gradlew(?:\.bat)?|mvnw(?:\.cmd)?|config\.(?:guess|sub)|ltmain\.sh|libtool\.m4|install-sh|depcomp|"
    r"compile|missing|aclocal\.m4|ez_setup\.py|get-pip\.py|versioneer\.py|bootstrap-buildout\.py|waf)$",
    re.IGNORECASE,
)


def is_vendored(path: str) -> bool:
    """Whether a path says that the file is a copy of somebody else's (after linguist's vendor.yml)."""
    return _VENDORED.search(path) is not None
