"""Things of everyday life by kind: knowledge that tasks with hidden labels take for granted.

No word stands in the beginnings and endings that records are worded with, and none under two kinds.
"""

from collections.abc import Mapping

KINDS: Mapping[str, tuple[str, ...]] = {
    "fruit": ("pear", "plum", "cherry", "mango", "apricot"),
    "metal": ("zinc", "nickel", "tungsten", "titanium", "platinum"),
    "bird": ("heron", "magpie", "falcon", "sparrow", "penguin"),
    "fish": ("salmon", "trout", "mackerel", "halibut", "sardine"),
    "wood": ("birch", "willow", "maple", "poplar", "cypress"),
    "blossom": ("tulip", "daisy", "violet", "orchid", "poppy"),
    "tool": ("hammer", "chisel", "pliers", "screwdriver", "wrench"),
    "instrument": ("violin", "trumpet", "clarinet", "harp", "oboe"),
    "vehicle": ("tractor", "tram", "bicycle", "lorry", "scooter"),
    "garment": ("scarf", "jacket", "trousers", "mittens", "apron"),
    "insect": ("beetle", "wasp", "dragonfly", "moth", "cricket"),
    "furniture": ("sofa", "wardrobe", "armchair", "cupboard", "bookcase"),
    "drink": ("cocoa", "lemonade", "cider", "espresso", "buttermilk"),
    "gem": ("ruby", "sapphire", "emerald", "opal", "topaz"),
    "weather": ("drizzle", "hail", "sleet", "thunder", "blizzard"),
    "dwelling": ("cottage", "villa", "igloo", "bungalow", "palace"),
}
KIND_OF: Mapping[str, str] = {word: kind for kind, words in KINDS.items() for word in words}
