"""The sentences of a reply, in English and in Chinese."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Words:
    """One language. A sentence in braces takes the player's own words; a pair is for one and for several things."""

    numbers: tuple[str, ...]
    many: str
    stop: str
    join: Callable[[Sequence[str]], str]
    listed: Callable[[Sequence[str]], str]

    thanks: str
    thanks_anyway: str
    your_character: str
    ready: str
    as_it_is: str
    works: str
    holds_together: str
    not_yet: dict[tuple[bool, bool], str]
    no_change: str
    if_you_like: str
    again: str
    nobody_yet: str

    one_person: str
    two_people: str
    more_people: str
    urgent: tuple[str, str]
    goals: tuple[str, str]
    holes: tuple[str, str]

    debt: str
    catch_up: str
    second_event: str
    another_person: str
    first_goal: str
    another_goal: str
    first_hook: str
    another_hook: str
    first_mystery: str
    another_mystery: str
    fewer_mysteries: str
    edits: dict[str, str]

    two_places: str
    back_from_death: str
    faults: dict[str, str]
    both: str
    more_places: tuple[str, str]
    mend: str

    def number(self, count: int) -> str:
        """A number in words; many, past ten."""
        return self.numbers[count] if count < len(self.numbers) else self.many

    def counted(self, pair: tuple[str, str], count: int) -> str:
        """One thing, or several with their number."""
        return pair[0] if count == 1 else pair[1].format(n=self.number(count))

    def people(self, names: list[str], who: str) -> str:
        """Whose business with the character is unfinished: by name where they are one or two."""
        if len(names) == 1:
            return self.one_person.format(a=names[0], who=who)
        if len(names) == 2:
            return self.two_people.format(a=names[0], b=names[1], who=who)
        return self.more_people.format(n=self.number(len(names)), who=who)

    def sentence(self, clauses: Sequence[str]) -> str:
        """Clauses as a sentence of their own."""
        listed = self.listed(clauses)
        return listed[:1].upper() + listed[1:] + self.stop


def _english_list(clauses: Sequence[str]) -> str:
    return ", and ".join([", ".join(clauses[:-1]), clauses[-1]]) if len(clauses) > 1 else clauses[0]


_ENGLISH: Final = Words(
    numbers=tuple("no one two three four five six seven eight nine ten".split()),
    many="many",
    stop=".",
    join=" ".join,
    listed=_english_list,
    thanks="Thank you for {who}.",
    thanks_anyway="Thank you for sending this in.",
    your_character="your character",
    ready="This is ready to play.",
    as_it_is="We can take this as it is.",
    works="What works: {works}.",
    holds_together="The past you describe holds together.",
    not_yet={
        (True, False): "What is still missing is something left open for play.",
        (False, True): "What is still missing is something that cannot wait once play begins.",
        (
            True,
            True,
        ): "What is still missing is something left open, and something that cannot wait once play begins.",
    },
    no_change="Nothing needs to change.",
    if_you_like="One idea, only if you like it:",
    again="Then send it in again; we would be glad to read it.",
    nobody_yet=(
        "There is no character in it yet that a game could begin with."
        " Tell us in a few sentences who they are, what they are after right now, and who stands in their way."
    ),
    one_person="{a} has unfinished business with {who}",
    two_people="{a} and {b} have unfinished business with {who}",
    more_people="{n} people have unfinished business with {who}",
    urgent=(
        "one thread could open the very next session",
        "{n} threads could open the very next session",
    ),
    goals=("your character has something to go after", "your character has {n} things to go after"),
    holes=("one thing is left for us to wonder about", "{n} things are left for us to wonder about"),
    debt="Your character has no active enemies; consider adding an unresolved debt that somebody is on the way to collect.",
    catch_up="The next move could be made by {npc}; consider letting them arrive, write or send somebody just before play begins.",
    second_event="A second thing of another kind, such as a deadline or a danger to somebody dear, would round it off.",
    another_person="Consider adding one more living person who was wronged, is owed something or is looking for your character.",
    first_goal="Your character is not after anything yet; consider saying what they mean to do next, and why it cannot wait.",
    another_goal="Consider giving your character one more aim to act on.",
    first_hook="Nothing in it could open the first session yet; consider ending on a knock at the door, a letter or a missing person.",
    another_hook="Consider adding one more loose end that cannot wait.",
    first_mystery="Everything in it is explained; consider leaving one question that you do not answer.",
    another_mystery="Consider leaving one more question unanswered.",
    fewer_mysteries="So many questions are open that they blur; consider answering one of them.",
    edits={
        "reopen-tie": "Everything is settled with {quote}; consider leaving something open between the two.",
        "pursue-goal": "“{quote}” is only a wish so far; consider saying what your character is doing about it.",
        "make-urgent": "“{quote}” could wait for years; consider adding a reason why it cannot.",
        "reopen-hook": "“{quote}” is already settled; consider leaving it open.",
        "blur-mystery": "“{quote}” tells us nearly everything; consider naming less.",
        "raise-immediacy": "“{quote}” is strong but not urgent; consider bringing it to the door: who wants an answer for it, and why this week?",
        "raise-gravity": "“{quote}” could weigh more; consider saying what your character stands to lose by it.",
    },
    two_places="Two places do not fit together: “{first}” and “{second}”.",
    back_from_death="{npc} is dead in the first and back in the second.",
    faults={
        "dead-then-active": "Somebody is dead in the first and back in the second.",
        "injury-vanished": "In the first your character is hurt for good, and in the second the harm is gone.",
        "age-fell": "Your character is younger in the second than in the first.",
        "item-not-held": "Something is used or lost there that your character does not have at that time.",
        "skill-not-had": "Your character can do something there that they cannot do at that time.",
    },
    both="They cannot both be true.",
    more_places=("There is one more place like this.", "There are {n} more places like this."),
    mend="If it is meant, one sentence on how it came about is enough; otherwise please change one of the two.",
)

_CHINESE: Final = Words(
    numbers=tuple("零 一 两 三 四 五 六 七 八 九 十".split()),
    many="好几",
    stop="。",
    join="".join,
    listed="，".join,
    thanks="谢谢你投来{who}的故事。",
    thanks_anyway="谢谢你的投稿。",
    your_character="你的角色",
    ready="这个角色可以直接开玩了。",
    as_it_is="照现在这样就可以用。",
    works="写得好的地方：{works}。",
    holds_together="你写的往事前后说得通。",
    not_yet={
        (True, False): "还缺一样：留给游戏去解的东西。",
        (False, True): "还缺一样：一开场就等不得的事。",
        (True, True): "还缺两样：留给游戏去解的东西，和一开场就等不得的事。",
    },
    no_change="不用再改什么。",
    if_you_like="还有一个想法，供你参考：",
    again="改好后欢迎再投，我们很想读到。",
    nobody_yet="这里面还没有一个可以拿来开场的角色。请用几句话告诉我们：他是谁，眼下想要什么，又是谁挡在他前面。",
    one_person="{a}和{who}之间还有事没了结",
    two_people="{a}、{b}都和{who}有事没了结",
    more_people="有{n}个人和{who}之间还有事没了结",
    urgent=("有一条线索可以直接拉开第一场戏", "有{n}条线索可以直接拉开第一场戏"),
    goals=("角色有自己正在追的目标", "角色有{n}个自己正在追的目标"),
    holes=("还留着一个让人惦记的谜", "还留着{n}个让人惦记的谜"),
    debt="你的角色眼下没有敌人；不妨加上一笔没还清的债，讨债的人已经在路上。",
    catch_up="不妨让{npc}先走一步：在开场前找上门来，捎来一封信，或者派来一个人。",
    second_event="再添一件别样的急事，比如一个期限，或者亲近的人遇了险，就更好了。",
    another_person="不妨再添一个活着的人：受过委屈的，等着还债的，或者正在找你的角色的。",
    first_goal="你的角色还没有想做的事；不妨写写接下来打算做什么，又为什么等不得。",
    another_goal="不妨再给角色一个正要去做的目标。",
    first_hook="眼下还没有能拉开第一场戏的事；不妨以一阵敲门声、一封信或一个失踪的人收尾。",
    another_hook="不妨再留一个等不得的线头。",
    first_mystery="样样都说明白了；不妨留下一个不作答的问题。",
    another_mystery="不妨再留一个不作答的问题。",
    fewer_mysteries="悬着的问题太多，反而看不清；不妨解开其中一个。",
    edits={
        "reopen-tie": "和{quote}的事已经全了结了；不妨在两人之间留一点没说完的。",
        "pursue-goal": "“{quote}”还只是个愿望；不妨写写角色正在为它做什么。",
        "make-urgent": "“{quote}”再等几年也无妨；不妨加一个等不得的理由。",
        "reopen-hook": "“{quote}”已经了结了；不妨让它悬着。",
        "blur-mystery": "“{quote}”几乎全说破了；不妨少点几个名字。",
        "raise-immediacy": "“{quote}”很有分量，只是还不急；不妨让它找上门来：有谁要为它讨个说法，又为什么偏偏是这几天？",
        "raise-gravity": "“{quote}”的分量还可以再重些；不妨写写角色会为它失去什么。",
    },
    two_places="有两处对不上：“{first}”和“{second}”。",
    back_from_death="前一处{npc}已经死了，后一处又出现了。",
    faults={
        "dead-then-active": "前一处人已经死了，后一处又出现了。",
        "injury-vanished": "前一处说伤再也好不了，后一处伤却不见了。",
        "age-fell": "后一处的年纪反而比前一处小。",
        "item-not-held": "那里用掉或丢掉的东西，当时并不在角色手里。",
        "skill-not-had": "那里用上的本事，角色当时并不会。",
    },
    both="这两处不可能都是真的。",
    more_places=("这样的地方还有一处。", "这样的地方还有{n}处。"),
    mend="如果是有意为之，添一句交代缘由就够了；不然请改动其中一处。",
)

WORDS: Final[dict[str, Words]] = {"en": _ENGLISH, "zh": _CHINESE}
