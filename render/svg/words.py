"""Words that drawings say: short, plain, about nobody."""

from gristmill.render.draws import Draws

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
PLACES = (
    *("North", "South", "East", "West", "Coast", "Harbour", "Valley", "Hills", "Island", "Lake", "Border", "Plains"),
    *("Delta", "Forest", "Canyon", "Bay"),
)
FRUIT = ("Apple", "Banana", "Cherry", "Date", "Fig", "Grape", "Kiwi", "Lemon", "Mango", "Orange", "Peach", "Plum")
GOODS = (
    *("Bread", "Coffee", "Milk", "Rice", "Cheese", "Honey", "Salt", "Sugar", "Flour", "Oats", "Beans", "Pasta"),
    *("Soap", "Paper", "Glass", "Steel", "Wood", "Wool", "Cotton", "Leather"),
)
TEAMS = (
    *("Design", "Sales", "Research", "Finance", "Legal", "Support", "Marketing", "Logistics", "Quality", "Platform"),
    *("Security", "Planning", "Hiring", "Data", "Mobile", "Purchasing", "Archive", "Training"),
)
SUBJECTS = (
    *("Revenue", "Visitors", "Output", "Rainfall", "Costs", "Energy", "Orders", "Exports", "Harvest", "Sales"),
    *(
        "Traffic",
        "Demand",
        "Imports",
        "Emissions",
        "Attendance",
        "Downloads",
        "Members",
        "Savings",
        "Stock",
        "Water use",
    ),
)
DIMENSIONS = ("by region", "by month", "by year", "by product", "by channel", "per week", "this year", "by group")
VERBS = (
    *("Plan", "Build", "Test", "Ship", "Review", "Measure", "Learn", "Sketch", "Design", "Launch", "Repair", "Check"),
    *("Collect", "Clean", "Sort", "Pack", "Store", "Deliver", "Train", "Report"),
)
NOUNS = (
    *("order", "invoice", "sample", "file", "model", "request", "ticket", "batch", "parcel", "report", "draft", "list"),
    *("record", "image", "key", "queue", "token", "form", "sensor", "signal"),
)
SHORT = (
    *("Home", "Work", "Ideas", "Goals", "Tools", "Risks", "Costs", "Time", "Users", "Value", "Scope", "Skills"),
    *("Notes", "Health", "Travel", "Music", "Books", "Sport", "Food", "Garden", "Light", "Sound", "Space", "Energy"),
)
BIG = (
    *("HELLO", "MUSIC", "HOUSE", "OCEAN", "NIGHT", "COFFEE", "JAZZ", "SUMMER", "CINEMA", "DESIGN", "MOON", "SPRING"),
    *("MARKET", "RHYTHM", "BLOOM", "ECHO", "DRIFT", "SIGNAL", "NORTH", "WONDER", "FICTION", "MODERN", "SHINE", "FOLK"),
)
PHRASES = (
    "open every day until late",
    "an evening of new sound",
    "four nights under the stars",
    "bring a friend and a coat",
    "doors open at eight",
    "works on paper and cloth",
    "a short guide to slow living",
    "the best of the season",
    "free entry for students",
    "one city, many rooms",
    "made by hand, one by one",
    "stories from the harbour",
)
STREETS = (
    *("Mill Lane", "High Street", "Park Road", "Station Road", "Church Street", "Quay Street", "Oak Avenue", "Elm Row"),
    *(
        "Bridge Street",
        "King Street",
        "Garden Lane",
        "School Road",
        "Canal Side",
        "Market Row",
        "Hill Road",
        "Rose Lane",
    ),
)
STATIONS = (
    *("Central", "Museum", "Harbour", "Market", "Airport", "Castle", "Stadium", "Old Town", "Bridge", "Gardens"),
    *("University", "Hospital", "Lakeside", "Mill Hill", "Park", "Docks", "Cathedral", "Junction", "Opera", "Zoo"),
    *("Library", "Theatre", "Orchard", "Summit", "Canal", "Brewery", "Meadow", "Terminus"),
)
ROOMS = ("Kitchen", "Living", "Bedroom", "Bath", "Study", "Hall", "Dining", "Store", "Guest", "Laundry")
APPS = ("Mail", "Maps", "Music", "Photos", "Clock", "Notes", "Weather", "Files", "Camera", "Books", "Health", "Wallet")
SETTINGS = (
    *("Wi-Fi", "Bluetooth", "Dark mode", "Location", "Sound", "Updates", "Sync", "Backup", "Captions", "Contrast"),
    *("Airplane mode", "Auto lock", "Haptics", "Night light", "Roaming", "Alerts"),
)
TRACKS = (
    *("Blue Hour", "Paper Moon", "Low Tide", "Northern Line", "Sunday Rain", "Glass City", "Slow Dance", "Amber"),
    *("Night Bus", "Open Road", "Lanterns", "Silver Sea", "Morning Bell", "Long Way Home"),
)
BANDS = ("The Harbours", "Quiet Machines", "Green Room", "Paper Kites Club", "Mono Lake", "Night Ferry", "Small Hours")
MESSAGES = (
    *("See you at noon", "Sounds good", "On my way", "The parcel came", "Where shall we meet?", "Running late"),
    *("Thanks a lot", "Did you get the file?", "Call me later", "Dinner is ready", "Great news", "Not yet"),
    *("Meeting moved to three", "Can you check the list?", "Just left the station", "Yes, please", "Bring an umbrella"),
)
GROUPS = (
    "Garden club",
    "Flat 12",
    "Team lunch",
    "Book circle",
    "Running group",
    "Choir",
    "Market stall",
    "Night shift",
)
BRANDS = (
    *("Alder", "Nimbus", "Corvo", "Lumen", "Onda", "Quill", "Sable", "Ember", "Mosaic", "Fjord", "Hollow", "Kindle"),
    *("Merino", "Nova", "Orbis", "Pixel", "Rowan", "Solis", "Umbra", "Zephyr", "Cobalt", "Drum", "Grain", "Mono"),
)


def subject(draws: Draws) -> str:
    """A chart's title: `Rainfall by month`."""
    return f"{draws.pick(SUBJECTS)} {draws.pick(DIMENSIONS)}"


def task(draws: Draws) -> str:
    """A step of work: `Check invoice`."""
    return f"{draws.pick(VERBS)} {draws.pick(NOUNS)}"


def labels(draws: Draws, count: int) -> list[str]:
    """Names along an axis: of one kind, in their order where they have one."""
    kind = draws.integer(0, 6)
    if kind == 0 and count <= 12:
        start = draws.integer(0, 13 - count)
        return list(MONTHS[start : start + count])
    if kind == 1 and count <= 7:
        return list(DAYS[:count])
    if kind == 2:
        start = draws.integer(1990, 2024 - count)
        return [str(start + place) for place in range(count)]
    pool = (PLACES, FRUIT, GOODS, TEAMS)[kind % 4]
    return [word for word in draws.some(pool, count) if len(word) < 99][:count]
