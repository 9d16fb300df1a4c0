"""Words that prompts are made of. Tables only.

To have other prompts, change these or give the recipe a file; a template names its blanks in braces.
"""

from __future__ import annotations


def _parts(text: str, between: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split(between))


TOPICS = _parts(
    """
    rain, glaciers, volcanoes, deserts, rivers, coral reefs, moonlight, the northern lights, earthquakes, tides,
    rainbows, thunderstorms, snow, fog, mountains, caves, islands, waterfalls, the seasons, the water cycle,
    gravity, magnets, electricity, light, sound, heat, friction, atoms, molecules, metals, plastics, glass, rust,
    fire, ice, salt, acids, crystals, the periodic table, radio waves, lasers, mirrors, lenses, batteries, engines,
    bridges, elevators, clocks, bicycles, trains, aeroplanes, sailing boats, submarines, rockets, satellites,
    telescopes, microscopes, compasses, maps, calendars, paper, ink, books, libraries, newspapers, letters,
    languages, alphabets, proverbs, riddles, jokes, poems, fairy tales, theatre, films, photography, painting,
    sculpture, pottery, weaving, knitting, carpentry, cooking, baking bread, cheese, chocolate, coffee, tea, honey,
    apples, oranges, bananas, potatoes, tomatoes, onions, rice, beans, spices, soup, breakfast, picnics, gardens,
    trees, mushrooms, moss, seeds, roots, leaves, roses, bees, ants, butterflies, spiders, beetles, snails,
    earthworms, frogs, snakes, turtles, crocodiles, owls, penguins, crows, swallows, bats, mice, cats, dogs, foxes,
    wolves, bears, elephants, whales, dolphins, sharks, octopuses, horses, cows, sheep, dinosaurs, fossils,
    evolution, cells, blood, bones, muscles, the heart, the lungs, the brain, sleep, dreams, memory, teeth, the
    sense of smell, exercise, running, swimming, football, chess, card games, puzzles, music, singing, drums,
    violins, pianos, dance, festivals, birthdays, weddings, friendship, neighbours, families, grandparents, schools,
    teachers, homework, examinations, museums, castles, pyramids, cathedrals, lighthouses, markets, shops, money,
    banks, taxes, insurance, prices, trade, factories, farms, fishing, mining, forests, recycling, drinking water,
    sewers, solar panels, wind turbines, traffic, buses, cities, villages, architecture, democracy, elections, laws,
    courts, treaties, borders, passports, explorers, pirates, knights, ancient Rome, ancient Egypt, the Vikings, the
    Renaissance, the printing press, the steam engine, the telephone, the internet, computers, keyboards,
    programming, computer viruses, passwords, search engines, artificial intelligence, robots, statistics,
    probability, fractions, prime numbers, triangles, circles, symmetry, infinity, zero, codes and ciphers, honesty,
    patience, courage, curiosity, boredom, happiness, fear, luck, time, holidays, camping, packing a suitcase, job
    interviews, meetings, volunteering, public speaking, a healthy diet, first aid, the common cold, vaccines
    """,
    ",",
)

TASKS = _parts(
    """
    reverses a string | counts the vowels in a text | finds the largest number in a list | adds up the digits of a
    number | tells whether a word is a palindrome | sorts a list of names | removes duplicates from a list | merges
    two dictionaries | converts Celsius to Fahrenheit | computes a factorial | tells whether a year is a leap year |
    reads a file line by line | finds the second smallest number | counts how often each word occurs | tells whether
    a number is prime | returns the intersection of two lists | flattens a nested list | rotates a list by n places
    | finds a word in a text | computes the average of a list | turns a number into binary | validates an email
    address | shuffles a deck of cards | rolls two dice | computes the greatest common divisor | checks whether
    brackets are balanced | implements a stack | implements a queue | searches a sorted list | draws a triangle of
    stars | capitalises each word | splits a bill | generates a random password | computes compound interest |
    transposes a matrix | parses a date | counts down to zero
    """,
    "|",
)

PEOPLE = _parts(
    """
    a teacher and a pupil | two old friends | a doctor and a patient | a shopkeeper and a customer | a father and a
    daughter | a journalist and a scientist | two strangers on a train | a farmer and a traveller | a librarian and
    a child | a guide and a tourist | two colleagues at lunch | a king and his cook
    """,
    "|",
)

PLACES = _parts(
    """
    a quiet harbour | a small village in the mountains | a crowded station | an old library | the edge of a forest |
    a school | a market in summer | a ship in a storm | a kitchen at night | a town without clocks | an empty museum
    | the last house
    """,
    "|",
)

NAMES = _parts(
    "Mara, Tobias, Ines, Rafael, Nora, Jakub, Lena, Omar, Freya, Chen, Aisha, Pavel, Rosa, Emil, Yuki, Samuel", ","
)
LANGUAGES = ("French", "Spanish", "German", "Italian", "Portuguese")
CODE = ("Python", "Python", "JavaScript", "Java", "C")
THINGS = ("apples", "books", "coins", "chairs", "tickets", "stamps", "marbles", "eggs", "pencils", "bottles")

SENTENCES = (
    "Many people think about {topic} every day without noticing it.",
    "A long time ago, nobody knew much about {topic}.",
    "My sister wrote a report on {topic} last week.",
    "There are two common mistakes people make about {topic}.",
    "Experts do not agree on everything about {topic}.",
    "What children ask about {topic} is often the hardest to answer.",
    "In some countries {topic} matters more than in others.",
    "A good book about {topic} was published last year.",
    "The museum in our town has a whole room on {topic}.",
    "It takes patience to learn about {topic}, but it is worth the time.",
    "The teacher brought pictures of {topic} to the lesson.",
    "Because of {topic}, the meeting began an hour late.",
)

KINDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "explanation": (
        6,
        (
            "What should everybody know about {topic}?",
            "Explain {topic} in simple words.",
            "Explain {topic} to somebody who has never heard of it.",
            "How did people first come to understand {topic}?",
            "Why does {topic} matter?",
            "What is the difference between {topic} and {other}?",
            "What do {topic} and {other} have in common?",
            "Tell me about {topic}.",
            "Describe {topic} in one paragraph.",
            "What is a common misunderstanding about {topic}?",
            "Is there a connection between {topic} and {other}?",
            "Give an example that makes {topic} easy to understand.",
        ),
    ),
    "story": (
        3,
        (
            "Write a short story about {topic} that takes place in {place}.",
            "Tell a story in which {name} learns something about {topic}.",
            "Write the opening of a novel: {name} arrives at {place}.",
            "Write a fable about {topic} with a moral at the end.",
            "Invent a legend that explains {topic}.",
            "Write a diary entry of {name}, who is thinking about {topic}.",
            "Write a poem about {topic}.",
        ),
    ),
    "list": (
        3,
        (
            "List five facts about {topic}.",
            "Give me {small} tips about {topic}.",
            "List {small} questions that a beginner asks about {topic}.",
            "What are the advantages and disadvantages of {topic}?",
            "Make a plan for learning about {topic} in a week.",
            "Name {small} words that go with {topic}, one on each line.",
            "Write a quiz of {small} questions about {topic}, with answers.",
            "What do I need for a school project on {topic}? Make a list.",
        ),
    ),
    "code": (
        3,
        (
            "Write a {code} function that {task}.",
            "Write a {code} function that {task}, and explain how it works.",
            "Show me a short {code} program that {task}.",
            "How do I write a function in {code} that {task}? Give an example of its use.",
        ),
    ),
    "arithmetic": (
        2,
        (
            "What is {a} + {b}?",
            "What is {a} - {b}?",
            "What is {small} times {b}? Explain each step.",
            "{name} has {a} {things} and buys {b} more. How many are there now?",
            "{name} shares {a} {things} among {small} friends. How many does each get?",
            "Add {a} and {b}, then double the result. Show your work.",
            "Which is larger, {a} or {b}, and by how much?",
        ),
    ),
    "summary": (
        2,
        (
            "Summarise this text in one sentence: {passage}",
            "What is the main point of the following text? {passage}",
            "Rewrite this text for children: {passage}",
            "Make this text shorter: {passage}",
        ),
    ),
    "translation": (
        1,
        (
            "Translate into {language}: {sentence}",
            "How do you say this in {language}? {sentence}",
            "Say this in other words: {sentence}",
            "Correct this sentence if it needs it: {sentence}",
        ),
    ),
    "dialogue": (
        2,
        (
            "Write a dialogue between {people} about {topic}.",
            "Write a short conversation in which {people} disagree about {topic}.",
            "Write a polite email to {name} about {topic}.",
            "Write a letter in which {name} asks for advice about {topic}.",
        ),
    ),
}
"""Kind → how often it is drawn, and its templates."""

BEGINNINGS = (
    "The most important thing about {topic} is",
    "{name} had never thought about {topic} until",
    "A short history of {topic}. In the beginning,",
    "Once upon a time, in {place}, there lived",
    "There are three reasons why {topic}",
    "In this article we look at {topic} and",
    "Question: What is known about {topic}?\nAnswer:",
    "The difference between {topic} and {other} is that",
    "def ",
    "It was late when {name} came to {place}, and",
    "Chapter 1\n\n{name} was",
    "A recipe for a good day: first,",
)
"""Of texts to be continued, for targets without a chat template, and now and then for those with one."""
