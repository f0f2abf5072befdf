"""When messages go to the page: news before words, and nothing by itself that nobody would see."""

import asyncio

from agent_nb.events import TextDelta, ToolStarted, UsageUpdated
from agent_nb.messages import Usage
from agent_nb.notebook.live.sender import ENOUGH, Pace


def words(text: str = "bread ", variant: int = 0) -> TextDelta:
    return TextDelta(run_id="r", seq=1, at=0.0, variant=variant, text=text)


NEWS = ToolStarted(run_id="r", seq=1, at=0.0, call_id="c", name="n", title="t")


class Post:
    """Paces that begin to wait at the same moment; `went` is the order in which they flush."""

    def __init__(self, *names: str) -> None:
        self.went: list[str] = []
        self._flushed = asyncio.Event()
        self.paces = {name: Pace(lambda name=name: self._flush(name)) for name in names}

    def _flush(self, name: str) -> None:
        self.paces[name].sent()
        self.went.append(name)
        self._flushed.set()

    async def begun(self) -> "Post":
        for pace in self.paces.values():
            pace.tell(words())
        await self.until(len(self.paces))
        self.went.clear()
        return self

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(5):
            while len(self.went) < count:
                self._flushed.clear()
                await self._flushed.wait()
        return self.went


async def test_the_first_words_of_anything_go_at_once():
    post = Post("one")
    post.paces["one"].tell(words())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert post.went == ["one"]


async def test_news_overtake_words_that_gather():
    post = await Post("words", "news", "other variant").begun()
    post.paces["words"].tell(words())
    post.paces["news"].tell(words())
    post.paces["news"].tell(NEWS)
    post.paces["other variant"].tell(words(variant=1))
    assert await post.until(3) == ["news", "other variant", "words"]


async def test_many_words_need_not_wait_for_more():
    post = await Post("few", "many").begun()
    post.paces["few"].tell(words())
    post.paces["many"].tell(words("b" * ENOUGH))
    assert await post.until(2) == ["many", "few"]


async def test_a_guess_at_the_usage_sends_nothing():
    post = await Post("guess", "words").begun()
    guess = UsageUpdated(run_id="r", seq=1, at=0.0, usage=Usage(), cost=None, estimated=True)
    post.paces["guess"].tell(guess)
    post.paces["words"].tell(words())
    assert await post.until(1) == ["words"]
