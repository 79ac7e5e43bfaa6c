async def test_sources_are_closed_together(tmp_path: Path) -> None:
    closing = anyio.Event()
    closed: list[str] = []

    class Slow(Place):
        """One that ends once the other is told to end too."""

        @asynccontextmanager
        async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
            async with super().opened(changed):
                yield
            if self.name == "first":
                closing.set()
            with anyio.fail_after(10):
                await closing.wait()
            closed.append(self.name)

    async with Session([Slow("first"), Slow("second")], workspace=tmp_path, store=False):
        pass
    assert sorted(closed) == ["first", "second"]
