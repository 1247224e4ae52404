"""What is written beside a picture: that it bears a name. Slot: name.

No caption says anything of what the picture shows, nor on which side of it the picture stands.
"""

from gristmill.synth.protocol import Wording

CLAUSES = (
    "the picture at this place is filed as {name}",
    "{name} is the title of the plate shown here",
    "one calls the sheet that is pasted in here {name}",
    "this is the view that goes by {name}",
    "the drawing that belongs to this line was labelled {name}",
    "{name} is meant wherever somebody speaks of the image here",
    "whoever asks for {name} is handed the figure beside these words",
    "the card next to this note bears the word {name}",
    "{name} has its picture right here",
    "the panel printed at this point was given to {name}",
    "you are looking at {name}",
    "the small image here hangs under the sign of {name}",
    "here one sees what the inventory lists as {name}",
    "the print that comes with this remark is {name}",
    "for {name} they kept the illustration that stands here",
    "a hand has written {name} across the back of this picture",
)
FIELDS = (
    "figure={name} attached=here",
    "image of {name}, inline",
    "[plate {name}]",
    "caption: {name}; type: picture",
    "picture <- {name}",
    "{name} | embedded image | one page",
    "attach(this_picture, {name})",
    '<figure id="{name}" src="inline"/>',
)
NO_ASKS: tuple[str, ...] = ()

CAPTIONS = Wording(CLAUSES, FIELDS, NO_ASKS)
"""Of pictures among records that are no pictures."""
