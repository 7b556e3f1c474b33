"""What an expert reads: the four dimensions in plain words, in English and Chinese. No weight and no metric is named."""

from typing import Final, Literal, TypeAlias

from ludic_deepeval.studies.rating_words import Language

Dimension: TypeAlias = Literal["people", "goals", "urgency", "mysteries"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("people", "goals", "urgency", "mysteries")
SYMBOLS: Final[dict[Dimension, str]] = {"people": "RTN", "goals": "MV", "urgency": "UCR", "mysteries": "TH"}
WORDING: Final = 1
"""Raised whenever a dimension or the scale is reworded."""

# A short name, and what it means.
NAMES: Final[dict[Language, dict[Dimension, tuple[str, str]]]] = {
    "en": {
        "people": (
            "People with unfinished business",
            "Living people who still want something of the character, or owe it, or fear it, and threads that tie them together.",
        ),
        "goals": ("Goals being pursued", "Clear things that the character is trying to bring about now."),
        "urgency": (
            "How urgent the open threads are",
            "Of all that is left open, how large a part will not wait: a hunter, a curse, somebody missing.",
        ),
        "mysteries": (
            "Mysteries left unexplained",
            "A few well-placed gaps that the story leaves for the table to fill.",
        ),
    },
    "zh": {
        "people": ("还有牵扯的人", "仍在世、对主角有所求、有所欠或有所惧的人，以及把他们连在一起的线索。"),
        "goals": ("正在追求的目标", "主角此刻想要办成的、明确的事。"),
        "urgency": ("未了之事有多紧迫", "在所有未了之事中，等不得的占多大一部分：追杀者、诅咒、失踪的人。"),
        "mysteries": ("没有解释的谜", "故事留给牌桌去填补的几处恰到好处的空白。"),
    },
}

STRENGTHS: Final[dict[Language, dict[int, str]]] = {
    "en": {1: "equally", 3: "somewhat more", 5: "clearly more", 7: "much more", 9: "overwhelmingly more"},
    "zh": {1: "同样重要", 3: "稍重要", 5: "明显更重要", 7: "重要得多", 9: "压倒性地重要"},
}

PAGE: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "title": "What makes a backstory playable",
        "intro": "Six times you are shown two qualities that a character's backstory can have. Say which of the two does more to make it playable for a game master, and how much more. There are no right answers, and nobody's earlier answers are shown.",
        "scale": "1 in the middle: both equally. Towards a quality: 3 somewhat more, 5 clearly more, 7 much more, 9 overwhelmingly more; the even numbers lie between.",
        "keeping": "Your answers stay in this browser until you save them; nothing is sent anywhere. When you are done, save the file and send it back to whoever gave you this page.",
        "you": "You are expert",
        "pair": "Pair",
        "of": "of",
        "save": "Save my answers",
        "load": "Carry on from a saved file",
        "answered": "{done} of {count} answered",
        "said": "{name}: {how} ({number})",
        "equal": "Both equally (1)",
        "between": "between {low} and {high}",
        "fit": "All are answered, and they fit together. Save the file and send it back.",
        "unfit": "All are answered, but they pull against each other. The one that fits the others least is pair {pair}. Look at it again, or save them as they are.",
        "saved": "Saved as {name}.",
        "loaded": "{done} of {count} taken over from the file.",
        "foreign": "That file is not one of this page: nothing was taken over.",
        "memory": "This browser keeps nothing between visits: save the file before you close the page.",
        "noscript": "This page needs JavaScript. Without it, fill in the CSV file that came with it.",
        "skip": "Skip to the pairs",
    },
    "zh": {
        "title": "什么让背景故事适合拿来玩",
        "intro": "你会六次看到人物背景故事可能具备的两种特质。请说出哪一种更能让它适合主持人拿来用，以及程度如何。没有标准答案，也不会显示别人的回答。",
        "scale": "中间的 1：两者同样重要。偏向某一边：3 稍重要，5 明显更重要，7 重要得多，9 压倒性地重要；偶数介于其间。",
        "keeping": "在你保存之前，答案只留在这个浏览器里，不会发送到任何地方。完成后请保存文件，并发回给把此页面交给你的人。",
        "you": "专家",
        "pair": "第",
        "of": "／",
        "save": "保存我的回答",
        "load": "从已保存的文件继续",
        "answered": "已答 {done} 题，共 {count} 题",
        "said": "{name}：{how}（{number}）",
        "equal": "两者同样重要（1）",
        "between": "介于“{low}”与“{high}”之间",
        "fit": "已全部答完，前后一致。请保存文件并发回。",
        "unfit": "已全部答完，但前后有些矛盾。与其他回答最不相合的是第 {pair} 题。你可以再看一下，也可以照样保存。",
        "saved": "已保存为 {name}。",
        "loaded": "已从文件取回 {done} 题，共 {count} 题。",
        "foreign": "这个文件不属于本页面，没有取回任何内容。",
        "memory": "此浏览器不会保留答案：关闭页面前请先保存文件。",
        "noscript": "此页面需要 JavaScript。没有的话，请填写随附的 CSV 文件。",
        "skip": "跳到比较",
    },
}
