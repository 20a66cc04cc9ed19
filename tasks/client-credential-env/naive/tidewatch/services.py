"""The services that the harbour office runs, and where they are."""

from dataclasses import dataclass

from tidewatch.errors import UnknownService


@dataclass(frozen=True)
class Service:
    """One service; `restricted` says that its operator wants to know who is calling."""

    name: str
    base_url: str
    summary: str
    restricted: bool = False

    @property
    def credential_variable(self) -> str:
        """Name of the environment variable that holds our credential for this service."""
        return f"TIDEWATCH_{self.name.upper().replace('-', '_')}_TOKEN"


SERVICES = {
    service.name: service
    for service in (
        Service("gauges", "https://gauges.harbour.example/v2", "water levels along the quay", restricted=True),
        Service("sea-state", "https://sea-state.harbour.example/v1", "wave buoys in the roads", restricted=True),
        Service("almanac", "https://almanac.harbour.example/v1", "predicted high and low water"),
    )
}


def find_service(name: str) -> Service:
    """Look a service up by name; UnknownService lists the choices."""
    try:
        return SERVICES[name]
    except KeyError:
        choices = ", ".join(sorted(SERVICES))
        raise UnknownService(f"no service {name!r}; there are {choices}") from None
