"""Readers of fields that become lists. Each wrong element is ignored and counted."""

from typing import Any

from app.openrtb.readers import LONGEST_LIST, LONGEST_TEXT, WRONG, Context, Object, Wrong
from campaigns.campaign.categories import CONTENT_1, category, with_ancestors

LONGEST_KEYWORDS = 64 * 1024


def categories(value: Any, parent: Object, context: Context) -> list[str] | Wrong:
    """Category codes of the object's taxonomy, with their parents."""
    if value is context.categories[0]:  # `site.cat` is read for two attributes
        return context.categories[1]
    codes = listed(value, context)
    if codes is None:
        return WRONG
    taxonomy = parent.get("cattax")
    number = CONTENT_1 if taxonomy is None else context.integer(taxonomy) or CONTENT_1
    texts = [code for each in codes[:LONGEST_LIST] if (code := context.text(each)) is not None]
    if len(texts) < len(codes):
        context.ignore("cat")
    found = with_ancestors([category(code, number) for code in texts])
    context.categories = value, found
    return found


def segments(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """`provider|taxonomy:segment` for each segment of each provider."""
    if not isinstance(value, list):
        return WRONG
    found: dict[str, None] = {}
    for data in value:
        listed = data.get("segment") if isinstance(data, dict) else None
        if not isinstance(listed, list):
            if not isinstance(data, dict) or listed is not None:
                context.ignore("user.data")
            continue
        start = _provider(data, context)
        for segment in listed:
            id = segment.get("id") if type(segment) is dict else None
            if type(id) is not str or not 0 < len(id) <= LONGEST_TEXT or "\0" in id:
                id = _first_text(segment, context, "id", "name")
            if id is None or len(found) >= LONGEST_LIST:
                context.ignore("user.data.segment")
            else:
                found[start + id] = None
    return list(found)


def _provider(data: Object, context: Context) -> str:
    ext = data.get("ext")
    taxonomy = context.integer(ext.get("segtax")) if isinstance(ext, dict) else None
    name = _first_text(data, context, "name", "id") or ""
    return f"{name}|{'' if taxonomy is None else taxonomy}:"


def _first_text(document: object, context: Context, *names: str) -> str | None:
    if isinstance(document, dict):
        for name in names:
            found = context.text(document.get(name))
            if found is not None:
                return found
    return None


def listed(value: Any, context: Context) -> list[Any] | None:
    """A list; a single text or number counts as a list of one."""
    if type(value) is list:
        return value
    if type(value) in (str, int, float):
        context.loose = True
        return [value]
    return None


def texts(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """Strings, each once."""
    value = listed(value, context)
    if value is None:
        return WRONG
    found = [text.strip() for each in value[:LONGEST_LIST] if (text := context.text(each))]
    return list(dict.fromkeys(filter(None, found)))


def keywords(value: Any, parent: Object, context: Context) -> list[str] | Wrong:
    """Keywords, in a list or divided by commas, in lower case."""
    if type(value) is str:
        value = value[:LONGEST_KEYWORDS].split(",")
    found = texts(value, parent, context)
    return found if isinstance(found, Wrong) else list(dict.fromkeys(map(str.lower, found)))


def codes(value: Any, _: Object, context: Context) -> list[int] | Wrong:
    """Numbers of one of OpenRTB's lists, each once."""
    value = listed(value, context)
    if value is None:
        return WRONG
    found = [context.integer(each) for each in value[:LONGEST_LIST]]
    return list(dict.fromkeys(each for each in found if each is not None and abs(each) < 2**53))


def length(value: Any, _: Object, __: Context) -> int | Wrong:
    """How many elements a list has."""
    return len(value) if isinstance(value, list) else WRONG


def systems(value: Any, _: Object, context: Context) -> list[str] | Wrong:
    """The `asi` of each node of a supply chain, in lower case."""
    if not isinstance(value, list):
        return WRONG
    found = [_first_text(node, context, "asi") for node in value[:LONGEST_LIST]]
    return list(dict.fromkeys(each.strip().lower() for each in found if each))


def sizes(value: Any, parent: Object, context: Context) -> list[str]:
    """`WxH` of a banner or a video, or of each `format` of a banner."""
    if type(value) is not list:
        size = _size(value, parent.get("h"), context)
        return [] if size is None else [size]
    found = []
    for each in value[:LONGEST_LIST]:
        width, height = (each.get("w"), each.get("h")) if type(each) is dict else (0, 0)
        if width is None and height is None:  # a ratio
            continue
        if (size := _size(width, height, context)) is not None:
            found.append(size)
    return list(dict.fromkeys(found))


def _size(width: Any, height: Any, context: Context) -> str | None:
    w, h = context.integer(width), context.integer(height)
    if w is None or h is None or not (0 < w < 2**16 and 0 < h < 2**16):
        context.ignore("imp.size")
        return None
    return f"{w}x{h}"
