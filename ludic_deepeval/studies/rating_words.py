"""What a rater reads: the four questions and the page's words, in English and Chinese.

The questions ask after openness, conflict, preparation and playability in plain words (§5.7, Q1–Q4). No metric is named.
"""

from typing import Final, Literal, TypeAlias

from ludic_deepeval.studies.sample import Metric

Language: TypeAlias = Literal["en", "zh"]
Question: TypeAlias = Literal["q1", "q2", "q3", "q4"]
QUESTIONS: Final[tuple[Question, ...]] = ("q1", "q2", "q3", "q4")
TARGETS: Final[dict[Question, Metric]] = {"q1": "lpi", "q2": "pcv", "q3": "e_a", "q4": "lpi"}
ASKS_AFTER: Final[dict[Question, str]] = {
    "q1": "openness",
    "q2": "conflict",
    "q3": "preparation",
    "q4": "playability",
}
SCALE: Final = (1, 7)
WORDING: Final = 1
"""Raised whenever a question or the end of a scale is reworded: ratings of two wordings are not pooled."""

# The question, what 1 means, what 7 means.
ASKED: Final[dict[Language, dict[Question, tuple[str, str, str]]]] = {
    "en": {
        "q1": (
            "How much does this backstory leave open for play?",
            "everything is settled",
            "very much is open",
        ),
        "q2": ("How much conflict does it hold for the coming sessions?", "none", "a great deal"),
        "q3": (
            "How much would you have to make up yourself before you could run a first session from it?",
            "hardly anything",
            "nearly everything",
        ),
        "q4": ("All in all, how playable is it as it stands?", "not at all", "I could run it tonight"),
    },
    "zh": {
        "q1": ("这段背景故事给之后的游戏留下了多少未了之事？", "一切都已了结", "留下了非常多"),
        "q2": ("它为接下来的几次游戏备下了多少冲突？", "完全没有", "非常多"),
        "q3": ("要用它主持第一次游戏，你还得自己编出多少内容？", "几乎不用编", "几乎全得自己编"),
        "q4": ("总的来说，照现在这个样子，它有多适合拿来玩？", "完全不适合", "今晚就能开团"),
    },
}

PAGE: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "title": "Rating backstories",
        "intro": "You will read {count} backstories of characters for tabletop play, one at a time, and answer four questions on each, from 1 to 7. Judge each by itself, as a game master who might have to run it. There are no right answers. You know nothing of who or what wrote them, and need not guess.",
        "keeping": "Your answers stay in this browser until you save them; nothing is sent anywhere. When you are done, save the file and send it back to whoever gave you this page.",
        "keys": "With the keyboard: 1 to 7 answers the question you are at and moves to the next; n goes to the next backstory, p to the one before.",
        "you": "You are rater",
        "story": "Backstory",
        "of": "of",
        "comment": "Anything that got in the way of judging it (optional)",
        "back": "Back",
        "next": "Next",
        "save": "Save my ratings",
        "load": "Carry on from a saved file",
        "rated": "{done} of {count} rated",
        "left": "Not rated yet",
        "all": "All are rated. Save the file and send it back.",
        "saved": "Saved as {name}.",
        "loaded": "{done} of {count} taken over from the file.",
        "foreign": "That file is not one of this page: nothing was taken over.",
        "memory": "This browser keeps nothing between visits: save the file before you close the page.",
        "noscript": "This page needs JavaScript. Without it, fill in the CSV file that came with it.",
        "list": "Backstories",
        "skip": "Skip to the questions",
    },
    "zh": {
        "title": "背景故事评分",
        "intro": "你将逐篇阅读 {count} 篇桌面角色扮演游戏的人物背景故事，并就每一篇回答四个问题，从 1 到 7 打分。请设想自己可能要主持它，单独评判每一篇。没有标准答案。你不知道它们出自谁手，也不必猜。",
        "keeping": "在你保存之前，答案只留在这个浏览器里，不会发送到任何地方。全部完成后，请保存文件，并发回给把此页面交给你的人。",
        "keys": "键盘操作：按 1 到 7 回答当前问题并移到下一题；n 到下一篇，p 回上一篇。",
        "you": "评分者",
        "story": "背景故事",
        "of": "／",
        "comment": "有什么妨碍你评判的，可以写在这里（选填）",
        "back": "上一篇",
        "next": "下一篇",
        "save": "保存我的评分",
        "load": "从已保存的文件继续",
        "rated": "已评 {done} 篇，共 {count} 篇",
        "left": "尚未评分",
        "all": "已全部评完。请保存文件并发回。",
        "saved": "已保存为 {name}。",
        "loaded": "已从文件取回 {done} 篇，共 {count} 篇。",
        "foreign": "这个文件不属于本页面，没有取回任何内容。",
        "memory": "此浏览器不会保留答案：关闭页面前请先保存文件。",
        "noscript": "此页面需要 JavaScript。没有的话，请填写随附的 CSV 文件。",
        "list": "背景故事",
        "skip": "跳到问题",
    },
}
