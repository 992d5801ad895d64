"""The topics in English."""

from regard.corpora.smalltalk.topic import Topic, differences, sums, words

_GLAD, _SORRY = "I am glad to hear that.", "I am sorry to hear that."

NAMES = words(
    "name", "Tom", "Anna", "Mary", "John", "Alice", "Bob", "Lucy", "Peter", "Emma", "Jack", "Rose",
    "David", "Helen", "Paul", "Nina", "Mark", "Julia", "Leo", "Sarah", "Max", "Laura", "Ben",
    "Kate", "Sam",
)  # fmt: skip
COUNTRIES = words(
    "country", "China", "France", "Germany", "Italy", "Spain", "Japan", "Brazil", "Canada",
    "India", "Egypt", "Kenya", "Norway", "Poland", "Turkey", "Mexico", "Greece",
)  # fmt: skip
CITIES = words(
    "city", "London", "Paris", "Beijing", "Shanghai", "Berlin", "Rome", "Madrid", "Tokyo", "Oslo",
    "Cairo", "New York", "Moscow",
)  # fmt: skip
JOBS = words(
    "job", "a doctor", "a teacher", "a nurse", "an engineer", "a cook", "a student", "a driver",
    "a painter", "a farmer", "a singer", "an actor", "a writer", "a lawyer", "a baker",
)  # fmt: skip
FOODS = words(
    "food", "apples", "bananas", "bread", "cheese", "pasta", "honey", "rice", "noodles", "fish",
    "soup", "cake", "oranges", "eggs", "tomatoes", "chocolate", "ice cream",
)  # fmt: skip
HOBBIES = words(
    "hobby", "swimming", "dancing", "reading", "singing", "running", "cooking", "painting",
    "travelling", "fishing", "skating",
)  # fmt: skip
THINGS = words("thing", "car", "hat", "bag", "house", "coat", "bike", "cup", "door", "dog", "cat")
COLOURS = words(
    "colour", "red", "blue", "green", "yellow", "black", "white", "brown", "grey", "pink", "purple"
)
FEELINGS = tuple(
    {"feeling": feeling, "reply": reply}
    for reply, feelings in {
        _GLAD: ("happy", "well", "fine", "great", "very well", "in love", "lucky"),
        _SORRY: ("sad", "ill", "lonely", "angry", "worried", "bored", "afraid"),
        "Then have a rest.": ("tired", "sleepy"),
        "Then eat something.": ("hungry", "very hungry"),
        "Then drink something.": ("thirsty", "very thirsty"),
        "Then put on a coat.": ("cold", "freezing"),
    }.items()
    for feeling in feelings
)
WEATHER = (
    {"weather": "raining", "advice": "take an umbrella"},
    {"weather": "snowing", "advice": "put on a warm coat"},
    {"weather": "sunny", "advice": "go for a walk"},
    {"weather": "windy", "advice": "hold on to your hat"},
    {"weather": "foggy", "advice": "drive slowly"},
    {"weather": "very hot", "advice": "drink a lot of water"},
    {"weather": "very cold", "advice": "stay at home"},
)
_PARTS = words("part", "morning", "afternoon", "evening")

TOPICS = (
    Topic(
        "hello", ("Hello.", "Hi.", "Hey.", "Hi there.", "Hello there."), "Hello, nice to see you."
    ),
    Topic("day", ("Good {part}.", "Good {part} to you."), "Good {part}!", (_PARTS,)),
    Topic(
        "how",
        (
            "How are you?",
            "Hi, how are you?",
            "Hello, how are you?",
            "How are you today?",
            "How are you doing?",
            "Hi, how are you doing?",
            "How is it going?",
            "How do you feel?",
            "Hey, how are you?",
            "Hello, how are you today?",
        ),
        "I am fine, thank you.",
        weight=2,
    ),
    Topic(
        "feeling",
        ("I am {feeling}.", "I feel {feeling}.", "I am {feeling} today."),
        "{reply}",
        (FEELINGS,),
        ("How do I feel?", "How am I?", "How did I say I feel?"),
        "You are {feeling}.",
        "You have not told me how you feel.",
        weight=2,
    ),
    Topic(
        "name",
        ("My name is {name}.", "I am {name}.", "Call me {name}.", "Hi, I am {name}."),
        "Nice to meet you, {name}.",
        (NAMES,),
        ("What is my name?", "Do you remember my name?", "Who am I?"),
        "Your name is {name}.",
        "I do not know your name yet.",
        weight=3,
    ),
    Topic(
        "country",
        ("I am from {country}.", "I come from {country}.", "I was born in {country}."),
        "{country} must be beautiful.",
        (COUNTRIES,),
        ("Where am I from?", "Where do I come from?", "Which country am I from?"),
        "You are from {country}.",
        "You have not told me where you are from.",
        weight=2,
    ),
    Topic(
        "job",
        ("I am {job}.", "I work as {job}.", "My job is to be {job}."),
        "It must be nice to be {job}.",
        (JOBS,),
        ("What is my job?", "What do I do?", "What do I work as?"),
        "You are {job}.",
        "You have not told me what you do.",
        weight=2,
    ),
    Topic(
        "food",
        ("I like {food}.", "I love {food}.", "My favourite food is {food}."),
        "I like {food} too.",
        (FOODS,),
        ("What do I like to eat?", "What is my favourite food?", "Which food do I like?"),
        "You like {food}.",
        "You have not told me what you like to eat.",
        weight=2,
    ),
    Topic(
        "hobby",
        ("My hobby is {hobby}.", "I enjoy {hobby}.", "I like {hobby} a lot."),
        "Is {hobby} difficult?",
        (HOBBIES,),
        ("What is my hobby?", "What do I enjoy?"),
        "Your hobby is {hobby}.",
        "You have not told me your hobby.",
    ),
    Topic(
        "taste",
        ("Do you like {food}?", "Do you eat {food}?"),
        "I have never tried {food}.",
        (FOODS,),
    ),
    Topic(
        "weather",
        (
            "It is {weather} in {city}.",
            "In {city} it is {weather}.",
            "It is {weather} here in {city}.",
        ),
        "Then {advice}.",
        (WEATHER, CITIES),
        ("What is the weather like?", "How is the weather?", "What did I say about the weather?"),
        "It is {weather} in {city}.",
        "I cannot see the weather from here.",
        weight=3,
    ),
    Topic(
        "colour",
        ("My {thing} is {colour}.", "I have a {colour} {thing}.", "I bought a {colour} {thing}."),
        "A {colour} {thing} is nice.",
        (COLOURS, THINGS),
        ("What colour is my {thing}?", "Which colour does my {thing} have?"),
        "Your {thing} is {colour}.",
        "I do not know the colour of your {thing}.",
        weight=3,
    ),
    Topic(
        "plus",
        ("What is {a} plus {b}?", "How much is {a} plus {b}?", "Can you add {a} and {b}?"),
        "{a} plus {b} is {c}.",
        (sums(10),),
        ("What was the result?", "How much was it?", "Can you say the number again?"),
        "It was {c}.",
        "We have not calculated anything.",
        weight=3,
    ),
    Topic(
        "minus",
        ("What is {a} minus {b}?", "How much is {a} minus {b}?", "Can you take {b} from {a}?"),
        "{a} minus {b} is {c}.",
        (differences(10),),
        ("What was the result?", "How much was it?", "Can you say the number again?"),
        "It was {c}.",
        "We have not calculated anything.",
        weight=2,
    ),
    Topic(
        "you",
        ("What is your name?", "What are you called?", "Do you have a name?", "Who are you?"),
        "My name is Regard.",
        weight=2,
    ),
    Topic("from", ("Where are you from?", "Where do you come from?"), "I live in this computer."),
    Topic("age", ("How old are you?", "When were you born?"), "I am quite young."),
    Topic(
        "robot",
        ("Are you a robot?", "Are you human?", "Are you a person?", "What are you?"),
        "I am a small program.",
    ),
    Topic("can", ("What can you do?", "What do you know?"), "I can talk a little and add numbers."),
    Topic(
        "help", ("Can you help me?", "I need help.", "Help me, please."), "Of course, what is it?"
    ),
    Topic(
        "speak",
        ("Which languages do you speak?", "Do you speak Chinese?", "Do you speak English?"),
        "I speak English and Chinese.",
    ),
    Topic("sleep", ("Do you sleep?", "Are you tired?", "Do you ever rest?"), "No, I never sleep."),
    Topic("doing", ("What are you doing?", "What do you do?"), "I am talking with you."),
    Topic("joke", ("Tell me a joke.", "Do you know a joke?"), "I only know one, and it is me."),
    Topic(
        "thanks",
        ("Thank you.", "Thanks.", "Thanks a lot.", "Thank you very much."),
        "You are welcome.",
    ),
    Topic("sorry", ("Sorry.", "I am sorry.", "Excuse me."), "No problem."),
    Topic("yes", ("Yes.", "Sure.", "Of course.", "All right.", "OK."), "Very good."),
    Topic("no", ("No.", "Not really.", "I do not think so."), "That is all right."),
    Topic(
        "bye",
        ("Goodbye.", "Bye.", "See you.", "See you tomorrow.", "I have to go."),
        "Goodbye, see you soon.",
    ),
    Topic("night", ("Good night.", "I am going to bed."), "Good night, sleep well."),
)
