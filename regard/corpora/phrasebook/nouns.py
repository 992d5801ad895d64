"""The nouns, names and pronouns: one line is one meaning in three languages."""

from dataclasses import dataclass

# English[/plural] | Chinese | measure word | French[/plural] | gender | sorts, the first the main
COMMON = """
man/men | 男人 | 个 | homme | m | person
woman/women | 女人 | 个 | femme | f | person
boy | 男孩 | 个 | garçon | m | person
girl | 女孩 | 个 | fille | f | person
child/children | 孩子 | 个 | enfant | m | person
doctor | 医生 | 位 | médecin | m | person job
teacher | 老师 | 位 | professeur | m | person job
nurse | 护士 | 位 | infirmière | f | person
student | 学生 | 个 | étudiant | m | person
singer | 歌手 | 位 | chanteuse | f | person
actor | 演员 | 位 | acteur | m | person
farmer | 农民 | 位 | agriculteur | m | person
baker | 面包师 | 位 | boulanger | m | person
cook | 厨师 | 位 | cuisinier | m | person
neighbour | 邻居 | 个 | voisin | m | person
friend | 朋友 | 个 | ami | m | person
queen | 女王 | 位 | reine | f | person
king | 国王 | 位 | roi | m | person
princess | 公主 | 位 | princesse | f | person
tourist | 游客 | 位 | touriste | m | person
engineer | 工程师 | 位 | ingénieur | m | person job
writer | 作家 | 位 | écrivain | m | person
lawyer | 律师 | 位 | avocat | m | person
dancer | 舞蹈家 | 位 | danseuse | f | person
waitress | 女服务员 | 个 | serveuse | f | person
animal | 动物 | 只 | animal | m | animal
cat | 猫 | 只 | chat | m | animal
dog | 狗 | 只 | chien | m | animal
horse | 马 | 匹 | cheval | m | animal strong
cow | 奶牛 | 头 | vache | f | animal strong
mouse/mice | 老鼠 | 只 | souris | f | animal
bird | 鸟 | 只 | oiseau | m | animal
tortoise | 乌龟 | 只 | tortue | f | animal
giraffe | 长颈鹿 | 只 | girafe | f | animal strong
elephant | 大象 | 头 | éléphant | m | animal strong
lion | 狮子 | 头 | lion | m | animal strong
monkey | 猴子 | 只 | singe | m | animal
fox | 狐狸 | 只 | renard | m | animal
wolf/wolves | 狼 | 只 | loup | m | animal
bear | 熊 | 头 | ours | m | animal strong
rabbit | 兔子 | 只 | lapin | m | animal
hen | 母鸡 | 只 | poule | f | animal
goat | 山羊 | 只 | chèvre | f | animal strong
frog | 青蛙 | 只 | grenouille | f | animal
camel | 骆驼 | 头 | chameau | m | animal strong
donkey | 驴 | 头 | âne | m | animal strong
squirrel | 松鼠 | 只 | écureuil | m | animal
ant | 蚂蚁 | 只 | fourmi | f | animal
spider | 蜘蛛 | 只 | araignée | f | animal
owl | 猫头鹰 | 只 | hibou/hiboux | m | animal
car | 汽车 | 辆 | voiture | f | vehicle
truck | 卡车 | 辆 | camion | m | vehicle
bus | 公共汽车 | 辆 | bus | m | vehicle
taxi | 出租车 | 辆 | taxi | m | vehicle
tractor | 拖拉机 | 台 | tracteur | m | vehicle
motorbike | 摩托车 | 辆 | moto | f | vehicle
ambulance | 救护车 | 辆 | ambulance | f | vehicle
bicycle | 自行车 | 辆 | vélo | m | bicycle
robot | 机器人 | 个 | robot | m | machine
street | 马路 | 条 | rue | f | road
road | 公路 | 条 | route | f | road
avenue | 大街 | 条 | avenue | f | road
path | 小路 | 条 | sentier | m | road
bridge | 桥 | 座 | pont | m | bridge
tunnel | 隧道 | 条 | tunnel | m | tunnel
river | 河 | 条 | rivière | f | stream
lake | 湖 | 个 | lac | m | stream
square | 广场 | 个 | place | f | land
field | 田野 | 片 | champ | m | land
forest | 森林 | 片 | forêt | f | wild
desert | 沙漠 | 片 | désert | m | wild
valley | 山谷 | 个 | vallée | f | wild
mountain | 山 | 座 | montagne | f | height
hill | 小山 | 座 | colline | f | height
rock | 岩石 | 块 | rocher | m | height
wall | 墙 | 面 | mur | m | barrier
fence | 栅栏 | 道 | clôture | f | barrier
house | 房子 | 座 | maison | f | building
school | 学校 | 所 | école | f | building
hospital | 医院 | 家 | hôpital/hôpitaux | m | building
library | 图书馆 | 座 | bibliothèque | f | building
museum | 博物馆 | 座 | musée | m | building
church | 教堂 | 座 | église | f | building
market | 市场 | 个 | marché | m | building
restaurant | 餐厅 | 家 | restaurant | m | building
shop | 商店 | 家 | magasin | m | building
hotel | 酒店 | 家 | hôtel | m | building
station | 火车站 | 个 | gare | f | building
castle | 城堡 | 座 | château | m | building
theatre | 剧院 | 家 | théâtre | m | building
garden | 花园 | 个 | jardin | m | garden
park | 公园 | 个 | parc | m | garden
kitchen | 厨房 | 间 | cuisine | f | room
office | 办公室 | 间 | bureau | m | room
garage | 车库 | 个 | garage | m | room
cave | 山洞 | 个 | grotte | f | cave
apple | 苹果 | 个 | pomme | f | food fruit
orange | 橙子 | 个 | orange | f | food fruit
banana | 香蕉 | 根 | banane | f | food fruit
pear | 梨 | 个 | poire | f | food fruit
cake | 蛋糕 | 个 | gâteau | m | food baked
carrot | 胡萝卜 | 根 | carotte | f | food savoury
sandwich | 三明治 | 个 | sandwich | m | food savoury
egg | 鸡蛋 | 个 | œuf | m | food savoury
tomato/tomatoes | 西红柿 | 个 | tomate | f | food fruit
biscuit | 饼干 | 块 | biscuit | m | food baked
pizza | 比萨饼 | 个 | pizza | f | food savoury
sausage | 香肠 | 根 | saucisse | f | food savoury
melon | 甜瓜 | 个 | melon | m | food fruit
lemon | 柠檬 | 个 | citron | m | food fruit
book | 书 | 本 | livre | m | text paper
letter | 信 | 封 | lettre | f | text paper
newspaper | 报纸 | 份 | journal | m | text paper
story/stories | 故事 | 个 | histoire | f | text
poem | 诗 | 首 | poème | m | text
novel | 小说 | 本 | roman | m | text paper
dictionary/dictionaries | 词典 | 本 | dictionnaire | m | text paper
film | 电影 | 部 | film | m | show
match | 比赛 | 场 | match | m | show
song | 歌 | 首 | chanson | f | sound
concert | 音乐会 | 场 | concert | m | sound
photo | 照片 | 张 | photo | f | picture
painting | 画 | 幅 | tableau | m | picture
dress | 裙子 | 条 | robe | f | clothes
shirt | 衬衫 | 件 | chemise | f | clothes
coat | 大衣 | 件 | manteau | m | clothes
jacket | 夹克 | 件 | veste | f | clothes
hat | 帽子 | 顶 | chapeau | m | accessory
scarf/scarves | 围巾 | 条 | écharpe | f | accessory
tie | 领带 | 条 | cravate | f | accessory
watch | 手表 | 块 | montre | f | accessory
table | 桌子 | 张 | table | f | furniture
chair | 椅子 | 把 | chaise | f | furniture
bed | 床 | 张 | lit | m | furniture
piano | 钢琴 | 架 | piano | m | furniture
door | 门 | 扇 | porte | f | opening
window | 窗户 | 扇 | fenêtre | f | opening
box | 盒子 | 个 | boîte | f | container
suitcase | 手提箱 | 个 | valise | f | container
bag | 包 | 个 | sac | m | container
bottle | 瓶子 | 个 | bouteille | f | container
key | 钥匙 | 把 | clé | f | tool
knife/knives | 刀 | 把 | couteau | m | tool
cup | 杯子 | 个 | tasse | f | tool
lamp | 灯 | 盏 | lampe | f | tool
computer | 电脑 | 台 | ordinateur | m | tool
phone | 手机 | 部 | téléphone | m | tool
pen | 钢笔 | 支 | stylo | m | tool
pencil | 铅笔 | 支 | crayon | m | tool
umbrella | 雨伞 | 把 | parapluie | m | tool
guitar | 吉他 | 把 | guitare | f | tool
mirror | 镜子 | 面 | miroir | m | tool
ball | 球 | 个 | ballon | m | toy
toy | 玩具 | 个 | jouet | m | toy
flower | 花 | 朵 | fleur | f | plant
tree | 树 | 棵 | arbre | m | tree
"""

# What is never counted here: no measure word, no plural.
MASS = """
bread | 面包 | - | pain | m | edible natural
meat | 肉 | - | viande | f | edible natural
rice | 米饭 | - | riz | m | edible natural
fish | 鱼 | - | poisson | m | edible natural
cheese | 奶酪 | - | fromage | m | edible natural
chocolate | 巧克力 | - | chocolat | m | edible
salad | 沙拉 | - | salade | f | edible
water | 水 | - | eau | f | drink natural
milk | 牛奶 | - | lait | m | drink natural
tea | 茶 | - | thé | m | drink
coffee | 咖啡 | - | café | m | drink
beer | 啤酒 | - | bière | f | drink
juice | 果汁 | - | jus | m | drink
music | 音乐 | - | musique | f | melody
"""

NAMES = """
Tom | 汤姆 | - | Tom | m | person
Paul | 保罗 | - | Paul | m | person
Peter | 彼得 | - | Pierre | m | person
Henry | 亨利 | - | Henri | m | person
Louis | 路易 | - | Louis | m | person
Anna | 安娜 | - | Anna | f | person
Mary | 玛丽 | - | Marie | f | person
Lucy | 露西 | - | Lucie | f | person
Julia | 朱莉娅 | - | Julia | f | person
Emma | 艾玛 | - | Emma | f | person
"""

CITIES = """
Paris | 巴黎 | - | Paris | m | city
London | 伦敦 | - | Londres | m | city
Beijing | 北京 | - | Pékin | m | city
Shanghai | 上海 | - | Shanghai | m | city
Rome | 罗马 | - | Rome | m | city
Berlin | 柏林 | - | Berlin | m | city
Geneva | 日内瓦 | - | Genève | m | city
Tokyo | 东京 | - | Tokyo | m | city
"""


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun, name or pronoun; ``kind`` is common, mass, name or pronoun."""

    name: str
    english: tuple[str, str]  # singular, plural
    chinese: str
    measure: str
    french: tuple[str, str]
    gender: str  # of the French word, and of the person
    sorts: tuple[str, ...]
    kind: str
    slot: int = 2  # of the verb: 0 I, 1 you, 2 he she it, 3 we, 4 they


def _english_plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith("eau") else "s")


def _read(table: str, kind: str) -> tuple[Noun, ...]:
    nouns = []
    for line in table.strip().splitlines():
        english, chinese, measure, french, gender, sorts = line.split(" | ")
        one, _, many = english.partition("/")
        un, _, plusieurs = french.partition("/")
        nouns.append(
            Noun(
                one,
                (one, many or _english_plural(one)),
                chinese,
                measure,
                (un, plusieurs or _french_plural(un)),
                gender,
                tuple(sorts.split()),
                kind,
            )
        )
    return tuple(nouns)


COMMON_NOUNS = _read(COMMON, "common")
MASS_NOUNS = _read(MASS, "mass")
PERSON_NAMES = _read(NAMES, "name")
CITY_NAMES = _read(CITIES, "name")
PRONOUNS = tuple(
    Noun(english, (english, english), chinese, "-", (french, french), gender, sorts, kind, slot)
    for english, chinese, french, gender, slot in (
        ("I", "我", "je", "m", 0),
        ("you", "你", "tu", "m", 1),
        ("he", "他", "il", "m", 2),
        ("she", "她", "elle", "f", 2),
        ("we", "我们", "nous", "m", 3),
        ("they", "他们", "ils", "m", 4),
    )
    for sorts, kind in ((("person",), "pronoun"),)
)
NOUNS = {noun.name: noun for noun in (*COMMON_NOUNS, *MASS_NOUNS, *PERSON_NAMES, *CITY_NAMES)}
NOUNS |= {noun.name: noun for noun in PRONOUNS}


def nouns_of(sorts: tuple[str, ...], kind: str = "common") -> tuple[Noun, ...]:
    """The nouns of one kind that have one of these sorts, in the order of the lexicon."""
    return tuple(n for n in NOUNS.values() if n.kind == kind and any(s in sorts for s in n.sorts))
