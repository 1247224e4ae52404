"""Registers: the ways in which people and machines write a fact down, as beginnings and endings of a record.

A record is beginning + core + ending. Cores belong to a family (`protocol.Wording`): clauses for the registers of
prose, fields for those of machines. Beginnings and endings hold no digit but in `{date}` and `{time}`, and no word
that could be taken for an invented name. `{person}` and `{place}` are ordinary words.
"""

from dataclasses import dataclass
from typing import Literal

CoreKind = Literal["clause", "field"]


@dataclass(frozen=True)
class Register:
    """`cores` are the indices of the family's clauses or fields that it uses: as many as beginnings and endings."""

    name: str
    kind: CoreKind
    cores: tuple[int, ...]
    leads: tuple[str, ...]
    tails: tuple[str, ...]


PROSE = Register(
    "prose",
    "clause",
    (0, 1, 2, 3, 4, 5, 6, 7),
    (
        "By the time {person} closed the office in {place}, it was settled that ",
        "According to the minutes that {person} kept, ",
        "Nobody who lived in {place} at the time disputes that ",
        "It rained all morning, and {person} wrote down that ",
        "A footnote in the yearly report of the guild says that ",
        "When the shutters went up on {date}, everybody knew that ",
        "The old clerk still tells visitors to the mill how ",
        "Among the papers found under the stairs, one states that ",
    ),
    (
        ", and the matter was closed before supper.",
        "; two witnesses signed the page below.",
        ", as far as the surviving copies show.",
        ", which surprised no one at the harbour.",
        "; the ink has faded but can be read.",
        ", a point that later editors left alone.",
        ", and {person} filed the sheet without a word.",
        "; nothing further was added that week.",
    ),
)

CHAT = Register(
    "chat",
    "clause",
    (8, 9, 10, 11, 12, 13, 14, 15),
    (
        "[{time}] <{person}> quick note before lunch: ",
        "{person} ({time}): sorry, late to the thread, but ",
        "<{person}> you asked me this morning, so here it is: ",
        "{time} {person}: pinned for everybody in here, ",
        "[{person}] just heard from the people downstairs that ",
        "{person} wrote at {time}: hey all, fyi ",
        "({time}) {person} >> once more for the record, ",
        "**{person}** to the whole channel: ok so ",
    ),
    (
        " :) ping me if that reads wrong",
        " -- will post the scan later today",
        ", thanks for waiting so long folks",
        " (checked it twice this time)",
        ", no need to reply to this",
        " and that is all i know",
        ", can somebody pin this message?",
        "; brb, the kettle is boiling",
    ),
)

LETTER = Register(
    "letter",
    "clause",
    (0, 1, 2, 3, 8, 9, 10, 11),
    (
        "Dear {person}, I hope the move went well. You should know that ",
        "My dear friend, before the post leaves I must say that ",
        "To {person}, in haste and with greetings from us all: ",
        "Dear Sir or Madam, with reference to your question of {date}, ",
        "My dear {person}, the garden is in flower, and ",
        "{place}, {date}. To our partners abroad: we confirm that ",
        "Hello {person}, thank you for the parcel. As for the other thing, ",
        "To the members of the board: please take note that ",
    ),
    (
        ". Yours truly, {person}",
        ". With warm regards to your family, {person}",
        ". Please burn this page once read.",
        ". I remain, as ever, your servant {person}",
        ". Write soon and tell me of {place}.",
        ". Kindly answer by return of post.",
        ". P.S. The cat sends her love too.",
        ". Until we meet again in spring, {person}",
    ),
)

COMMENT = Register(
    "code comment",
    "clause",
    (4, 5, 6, 7, 12, 13, 14, 15),
    (
        "# Note for whoever looks after this next: ",
        "// reviewed by {person} on {date} without changes; ",
        "/* Background, as told in the design thread: ",
        "-- remark kept from the first migration: ",
        "# TODO({person}): move this to the wiki. For now, ",
        "# Context for the test below, in short: here ",
        ";; kept as it stood in the original listing: ",
        "// Do not remove, the audit relies on it: ",
    ),
    (
        " (see the ticket for the why).",
        ", hence the odd constant further down.",
        "; the parser never looks at this line.",
        " -- {person}, on the day after the outage",
        ", so keep both branches in step.",
        "; covered by the suite that runs at night.",
        ". Drop it once the importer is rewritten.",
        ", and no, it cannot be computed here.",
    ),
)

TABLE = Register(
    "table",
    "field",
    (0, 1, 2, 3, 4, 5, 6, 7),
    (
        "| {date} | entry checked by {person} before noon | ",
        "row copied from the second sheet of {person} | ",
        "{place} office, morning shift, counter by the door\t{time}\t",
        "sheet four, upper half, in the hand of {person}; ",
        "| line as found in the {place} register | ",
        "extract of the bound volume kept for {place}, ",
        "{date},{time},desk of {person},lower tray,",
        "|| carried over from the last page || ",
    ),
    (
        " | counted by hand | no remark |",
        "\tclosed by the evening shift\t-",
        "; right column was left empty, and on purpose",
        " || to be carried forward to the next page ||",
        ", stamped, bound with the others",
        " | second reader was {person} of the evening shift |",
        ",approved,the paper copy lies in the cellar",
        " | source: the grey folder in {place} |",
    ),
)

LOG = Register(
    "log",
    "field",
    (0, 1, 2, 3, 4, 5, 6, 7),
    (
        "{date}T{time}Z INFO intake worker accepted: ",
        "{time} DEBUG [main] {person} submitted form with ",
        "{date} {time} audit: record stored on node {place}; ",
        "level=info service=clerk user={person} msg=written ",
        "<{date}> NOTICE queue drained, last item was ",
        "{time} journal[{place}]: replayed after restart: ",
        "[{date} {time}] TRACE step committed by {person}: ",
        "kernel-less host {place} says: event seen, ",
    ),
    (
        " status=ok retries=none",
        " (queue empty, going to sleep)",
        "; checksum matches the stored one",
        " trace kept for the auditors of {place}",
        ", flushed to disk without delay",
        " by=batch owner={person}",
        " -- end of event, nothing pending",
        "; next poll after the usual pause",
    ),
)

CONFIGURATION = Register(
    "configuration",
    "field",
    (0, 1, 2, 3, 4, 5, 6, 7),
    (
        "# set by the night import from {place}\n",
        "; {person} changed this on {date}, see the log\n",
        "[overrides.{place}]\n",
        "# default of the site, do not copy elsewhere\n",
        "// generated from the spreadsheet of {person}\n",
        "-- applied at {time} by the deploy job\n",
        "# layer three: values that {person} asked for\n",
        "<!-- read once when the service starts -->\n",
    ),
    (
        "\n# keep until the audit is over",
        "\nowner = {person}, team of the harbour",
        "  # checked against the paper form",
        "\nreload = never, restart the service instead",
        "\n; end of the block for {place}",
        "  // see the runbook before you touch it",
        "\nvisible_to = everybody with a desk",
        "\n# (the line above wins over older ones)",
    ),
)

REGISTERS = (PROSE, CHAT, LETTER, COMMENT, TABLE, LOG, CONFIGURATION)

ASK_LEADS = (
    "Question for anybody who has read the whole of the above with some care: ",
    "Here is something to work out from what stands in the pages so far, all of them: ",
    "{person} leans back, closes the folder and asks the others around the desk: ",
    "[{time}] <{person}> can one of you help me out before I go home tonight: ",
    "Exercise. Use only what was written before this line, never what you happen to know: ",
    "-- query of the auditors, filed {date}, to be settled from the records alone --\n",
    "Dear reader, one small thing remains to be told before the next chapter begins: ",
    "# check that the release script waits for, see the notes scattered over the tree\n# ",
)
ASK_TAILS = (
    "?\nThe pieces are far apart; put them together first.\nAnswer:",
    "? Give nothing but the result, without a word about how it came about.\nResult:",
    "? A single word or number will do for the form that must be sent.\nReply:",
    "? Thanks a lot in advance, I really could not find it myself!\n<clerk>",
    "? Look up each part where it was said, combine, then write.\nSolution:",
    "?\n# nobody may guess here, the line is compared with the truth\nanswer =",
    "? Please put it on the dotted line and hand the sheet back.\nYours:",
    "? (exact value, as the later steps of the job depend on it)\n=>",
)

PEOPLE = ("Ada", "Bela", "Chen", "Dina", "Emil", "Fatou", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena", "Milo")
PLACES = ("Arles", "Bergen", "Cork", "Delft", "Essen", "Faro", "Ghent", "Halle", "Ivrea", "Jena", "Kiel", "Lund")
