#!/usr/bin/env python3
"""Writes shared/compliance/data/area_codes.csv from libphonenumber's metadata (PyPI `phonenumbers`, Apache-2.0).

    python3 -m pip install --target /tmp/pn phonenumbers==9.0.43
    python3 scripts/data/area_codes.py /tmp/pn > shared/compliance/data/area_codes.csv

A code's states are the states its prefixes are described with, its zones the zones its prefixes lie in. What the metadata
cannot know stands in BY_HAND below, each with its reason.
"""
import sys
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

sys.path.insert(0, sys.argv[1])
import phonenumbers  # noqa: E402
from phonenumbers import geodata, phonenumberutil, tzdata  # noqa: E402

# When the wheel named above was built (its newest file), or the newest row added by hand.
SOURCE_DATE = "2026-11-06"
US = {"US", "PR", "VI", "GU", "AS", "MP"}
# Names that agree to the hour since 2008: one of them, so that no place is asked twice.
SAME = {  # check_same() proves it
    "America/Juneau": "America/Anchorage",
    "America/Boise": "America/Denver",
    "America/North_Dakota/Center": "America/Chicago",
}
# (code, state, zone) the metadata lacks, (code, zone) it has wrongly. "second source": tests/data/area_codes_second_source.csv.
ADD = [
    ("364", "KY", "America/Chicago", "overlays 270, which has both zones; second source agrees"),
    ("448", "FL", "America/Chicago", "overlays 850, which has both zones; second source agrees"),
    ("458", "OR", "America/Denver", "overlays 541, which has both zones; second source agrees"),
    ("930", "IN", "America/Chicago", "overlays 812, which has both zones"),
    ("689", "FL", "America/New_York", "overlays 407, all Eastern; second source agrees"),
    ("915", "TX", "America/Chicago", "second source has both zones; the narrower window is lawful either way"),
    ("931", "TN", "America/New_York", "second source has both zones; the narrower window is lawful either way"),
]
DROP = [
    ("689", "America/Chicago", "wrong in the metadata: see above"),
    ("907", "Pacific/Honolulu", "one prefix, Unalaska, which keeps Alaska time; nowhere in Alaska keeps Hawaii's"),
]
# Codes without a place that libphonenumber does not number at all.
NO_PLACE = [
    ("456", "carrier", "inbound international; second source"),
    ("700", "carrier", "services of the long-distance carriers; second source"),
    ("710", "government", "federal government; second source"),
]
COUNTRY = {
    "AG": "Antigua and Barbuda", "AI": "Anguilla", "BB": "Barbados", "BM": "Bermuda", "BS": "Bahamas", "CA": "Canada",
    "DM": "Dominica", "DO": "Dominican Republic", "GD": "Grenada", "JM": "Jamaica", "KN": "Saint Kitts and Nevis",
    "KY": "Cayman Islands", "LC": "Saint Lucia", "MS": "Montserrat", "SX": "Sint Maarten", "TC": "Turks and Caicos Islands",
    "TT": "Trinidad and Tobago", "VC": "Saint Vincent and the Grenadines", "VG": "British Virgin Islands",
}
STATES = dict(
    line.split("=") for line in """Alabama=AL Alaska=AK Arizona=AZ Arkansas=AR California=CA Colorado=CO Connecticut=CT
Delaware=DE Florida=FL Georgia=GA Hawaii=HI Idaho=ID Illinois=IL Indiana=IN Iowa=IA Kansas=KS Kentucky=KY Louisiana=LA
Maine=ME Maryland=MD Massachusetts=MA Michigan=MI Minnesota=MN Mississippi=MS Missouri=MO Montana=MT Nebraska=NE Nevada=NV
New_Hampshire=NH New_Jersey=NJ New_Mexico=NM New_York=NY North_Carolina=NC North_Dakota=ND Ohio=OH Oklahoma=OK Oregon=OR
Pennsylvania=PA Rhode_Island=RI South_Carolina=SC South_Dakota=SD Tennessee=TN Texas=TX Utah=UT Vermont=VT Virginia=VA
Washington_State=WA West_Virginia=WV Wisconsin=WI Wyoming=WY""".split()
)
STATES = {name.replace("_", " "): state for name, state in STATES.items()} | {"Washington D.C.": "DC", "D.C.": "DC"}


def state_of(description):
    last = description.split(", ")[-1]
    return last if last in STATES.values() else STATES.get(last)


def check_same():
    start = datetime(2008, 1, 1, tzinfo=timezone.utc)
    for one, other in SAME.items():
        for hour in range(0, 24 * 365 * 20):
            at = start + timedelta(hours=hour)
            assert at.astimezone(ZoneInfo(one)).utcoffset() == at.astimezone(ZoneInfo(other)).utcoffset(), (one, at)


def main():
    described, zoned = defaultdict(set), defaultdict(set)
    for prefix, names in geodata.GEOCODE_DATA.items():
        if prefix.startswith("1") and len(prefix) >= 4 and names.get("en"):
            described[prefix[1:4]].add(names["en"])
    for prefix, zones in tzdata.TIMEZONE_DATA.items():
        if prefix.startswith("1") and len(prefix) >= 4:
            zoned[prefix[1:4]].update(SAME.get(zone, zone) for zone in zones)

    rows = []
    for number in range(200, 1000):
        code = str(number)
        sample = phonenumbers.PhoneNumber(country_code=1, national_number=number * 10**7 + 2345678)
        region, kind = phonenumberutil.region_code_for_number(sample), phonenumberutil.number_type(sample)
        if region is None:
            continue
        kinds = phonenumbers.PhoneNumberType
        if region not in US:
            rows.append((code, "abroad", COUNTRY[region], ""))
        elif kind == kinds.TOLL_FREE:
            rows.append((code, "toll_free", "", ""))
        elif kind == kinds.PREMIUM_RATE:
            rows.append((code, "premium", "", ""))
        elif kind == kinds.PERSONAL_NUMBER:
            rows.append((code, "personal", "", ""))
        else:
            states = {region} if region != "US" else {state_of(text) for text in described[code]} - {None}
            zones = zoned[code] - {zone for at, zone, _ in DROP if at == code}
            assert states and zoned[code], (code, described[code], zones)
            rows += [(code, "us", state, zone) for state in states for zone in zones]
    rows += [(code, "us", state, zone) for code, state, zone, _ in ADD]
    rows += [(code, kind, "", "") for code, kind, _ in NO_PLACE]
    assert len(rows) == len(set(rows)), "a correction repeats the metadata: remove it"

    print(f"# Area codes of country code 1, from PyPI phonenumbers {phonenumbers.__version__} (libphonenumber metadata, Apache-2.0).")
    print(f"# Source dated {SOURCE_DATE}. A code that is not here keeps the strictest window; to add one, add a row to ADD or BY_HAND in")
    print("# scripts/data/area_codes.py with the source that says so, move the date, and write the file again.")
    print("# Written by scripts/data/area_codes.py; corrections are made there, not here:")
    for code, state, zone, why in ADD:
        print(f"#   {code} also {state} {zone}: {why}")
    for code, zone, why in DROP:
        print(f"#   {code} not {zone}: {why}")
    for code, kind, why in NO_PLACE:
        print(f"#   {code} {kind}: {why}")
    print("code,kind,place,zone")
    for row in sorted(rows):
        print(",".join(row))


check_same()
main()
