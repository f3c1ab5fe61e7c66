from switches.names import canonical_name


class UnknownSwitch(Exception):
    pass


class SwitchRegistry:
    def __init__(self, names: list[str]) -> None:
        self._enabled = {name: False for name in names}

    def enable(self, name: str) -> str:
        canonical = self._known(name)
        self._enabled[canonical] = True
        return canonical

    def is_enabled(self, name: str) -> bool:
        return self._enabled[self._known(name)]

    def _known(self, name: str) -> str:
        canonical = canonical_name(name)
        if canonical not in self._enabled:
            raise UnknownSwitch(canonical)
        return canonical
