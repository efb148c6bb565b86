"""OpenRTB's numeric codes, and the words of the catalogue for them.

For a code that is not listed the attribute is missing.
"""

DEVICE_TYPES = {
    1: "phone",  # "mobile/tablet", of requests from before there were 4 and 5
    2: "desktop",
    3: "tv",
    4: "phone",
    5: "tablet",
    6: "console",  # "connected device": consoles, sticks
    7: "set_top_box",
    8: "other",  # out of home
}

CONNECTION_TYPES = {
    1: "ethernet",
    2: "wifi",
    3: "cellular",  # of an unknown generation
    4: "2g",
    5: "3g",
    6: "4g",
    7: "5g",
}
