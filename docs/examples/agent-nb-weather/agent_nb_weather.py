"""A plugin for agent_nb with one of each: a vendor, a tool, a command and a rule."""

from agent_nb import ConfigError, plugins, tool


@tool
def forecast(city: str) -> str:
    """The weather of tomorrow in a city."""
    return f"In {city}: sunny, 21 °C."


class NoImages(plugins.Rules):
    """Prompts about the weather take no images."""

    source = "agent-nb-weather"

    def options(self, options):
        if options.images:
            raise ConfigError("Weather notebooks take no images: leave out -i.")
        return options


class Weather(plugins.Plugin):
    def vendors(self):
        return [
            plugins.Vendor(
                name="breeze",
                title="Breeze",
                base_url="http://127.0.0.1:8000/v1",
                local=True,
                price_id="free",
            )
        ]

    def tools(self):
        return {"weather": [forecast]}

    def commands(self):
        return [plugins.Command("forecast CITY", "The weather of tomorrow in a city.", self.show)]

    def show(self, notebook: plugins.Notebook, city: str) -> str:
        return forecast(city or "Lyon")

    def rules(self, cell):
        return NoImages() if "weather" in cell.tags else None


plugin = Weather()
