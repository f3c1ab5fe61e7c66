from switches.registry import SwitchRegistry, UnknownSwitch


def run_command(registry: SwitchRegistry, line: str) -> str:
    verb, _, name = line.partition(" ")
    try:
        if verb == "enable":
            return f"{registry.enable(name)}: on"
        if verb == "show":
            state = "on" if registry.is_enabled(name) else "off"
            return f"{name}: {state}"
    except UnknownSwitch as unknown:
        return f"unknown switch {unknown}"
    return f"unknown command {verb}"
