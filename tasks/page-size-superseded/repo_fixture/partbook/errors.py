"""What partbook tells its users is wrong."""


class PartbookError(Exception):
    """Something that the user can put right."""


class CatalogueError(PartbookError):
    """The catalogue file cannot be used as it is."""


class UnknownPart(PartbookError):
    """No part has this number."""
