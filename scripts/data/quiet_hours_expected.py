#!/usr/bin/env python3
"""Writes shared/compliance/tests/data/quiet_hours_expected.csv: what the quiet-hours check must answer.

    python3 scripts/data/quiet_hours_expected.py > shared/compliance/tests/data/quiet_hours_expected.csv

Shares nothing with the Rust crate: zones by state and windows are typed here from the specification (05, 2.5), area codes come
from the second source, clocks from Python's zoneinfo, and openings are found by walking the clock instead of computing borders.
"""
import csv
import os
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

HERE = os.path.dirname(os.path.abspath(__file__))
SECOND = os.path.join(HERE, "../../shared/compliance/tests/data/area_codes_second_source.csv")

EASTERN, CENTRAL, MOUNTAIN, PACIFIC = "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"
ARIZONA, ALASKA, ALEUTIAN, HAWAII = "America/Phoenix", "America/Anchorage", "America/Adak", "Pacific/Honolulu"
ZONES = {
    EASTERN: "CT DC DE FL GA IN KY MA MD ME MI NC NH NJ NY OH PA RI SC TN VA VT WV",
    CENTRAL: "AL AR FL IA IL IN KS KY LA MI MN MO MS ND NE OK SD TN TX WI",
    MOUNTAIN: "AZ CO ID KS MT ND NE NM NV OR SD TX UT WY",
    PACIFIC: "CA ID NV OR WA",
    ARIZONA: "AZ",
    ALASKA: "AK",
    ALEUTIAN: "AK",
    HAWAII: "HI",
    "America/Puerto_Rico": "PR",
    "America/St_Thomas": "VI",
    "Pacific/Guam": "GU",
    "Pacific/Saipan": "MP",
    "Pacific/Pago_Pago": "AS",
}
STATES = sorted({state for states in ZONES.values() for state in states.split()})
TERRITORIES = {"PR", "VI", "GU", "MP", "AS"}

# Hours per weekday, Monday first. (0, 0) is closed.
WEEKS = {state: [(8, 21)] * 7 for state in STATES}
for state in "FL OK MD WA MA NJ".split():
    WEEKS[state] = [(8, 20)] * 7
for state in "CT NV".split():
    WEEKS[state] = [(9, 20)] * 7
for state in "MI MN NM".split():
    WEEKS[state] = [(9, 21)] * 7
for state in "AL LA MS".split():
    WEEKS[state] = [(8, 20)] * 6 + [(0, 0)]
WEEKS["KY"] = [(10, 21)] * 7
WEEKS["RI"] = [(9, 18)] * 5 + [(10, 17)] * 2
WEEKS["TX"] = [(9, 21)] * 6 + [(12, 21)]
WEEKS["PA"] = [(8, 21)] * 5 + [(8, 12), (8, 21)]
STRICTEST = [
    (max(WEEKS[state][day][0] for state in STATES), min(WEEKS[state][day][1] for state in STATES)) for day in range(7)
]

# Codes whose area the second source gives too narrowly; see area_codes_differences.csv.
WIDER = {"775": (PACIFIC, MOUNTAIN), "907": (ALASKA, ALEUTIAN), "928": (ARIZONA, MOUNTAIN), "930": (EASTERN, CENTRAL)}
# Codes of the second source that libphonenumber does not have in service: as good as unknown.
NOT_IN_SERVICE = {"625", "861"}
CHANGES = ["2026-03-08", "2026-11-01", "2027-03-14", "2027-11-07"]
NONE = ("00:00", "00:00")
USUAL = ("21:00", "08:00")


def area_codes():
    """Code -> list of (state, zone), of the second source."""
    codes = {}
    with open(SECOND, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["state"] not in STATES or row["code"] in NOT_IN_SERVICE:
                continue
            dst, hours = row["standard_offsets"].endswith("d"), row["standard_offsets"].rstrip("d").split()
            zones = []
            for zone in (zone for zone, states in ZONES.items() if row["state"] in states.split()):
                january, july = (datetime(2026, month, 15, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7))
                if (january != july) == dst and any(timedelta(hours=float(hour)) == january for hour in hours):
                    zones.append(zone)
            zones = WIDER.get(row["code"], zones)
            assert zones, row
            codes[row["code"]] = [(row["state"], zone) for zone in zones]
    return codes


CODES = area_codes()
UNKNOWN = [(None, zone) for zone, states in ZONES.items() if not set(states.split()) <= TERRITORIES]


def clock(text):
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)


def is_open(places, quiet, at):
    start, end = map(clock, quiet)
    for state, zone in places:
        local = at.astimezone(ZoneInfo(zone))
        minute = local.hour * 60 + local.minute
        opens, closes = (WEEKS[state] if state else STRICTEST)[local.weekday()]
        if not opens * 60 <= minute < closes * 60:
            return False
        if start < end and start <= minute < end:
            return False
        if start > end and (minute >= start or minute < end):
            return False
    return True


def next_half_hour(at):
    return at + timedelta(minutes=30 - at.minute % 30)


def walk(places, quiet, at, wanted, limit):
    """The first instant from `at` on at which open is `wanted`. All borders lie on half hours."""
    latest = at + limit
    while is_open(places, quiet, at) != wanted:
        at = next_half_hour(at)
        if at > latest:
            return None
    return at


def show(at):
    return at.strftime("%Y-%m-%dT%H:%MZ") if at else ""


def row(phone, profile, quiet, at, places, basis):
    at = at.astimezone(timezone.utc)
    opens = walk(places, quiet, at, True, timedelta(days=8))
    closes = walk(places, quiet, opens, False, timedelta(days=2)) if opens else None
    state, zone = profile or ("", "")
    print(",".join([phone, state, zone, *quiet, show(at), str(opens == at).lower(), show(opens), show(closes), basis]))


def borders(day, zone, week):
    """One minute before and at both borders of that local day; of the federal window when the law closes all day."""
    opens, closes = week[day.weekday()]
    if (opens, closes) == (0, 0):
        opens, closes = 8, 21
    for hour in (opens, closes):
        # The wall time first, then its instant: arithmetic on aware times would skip the change of the clocks.
        at = datetime(day.year, day.month, day.day, hour, tzinfo=ZoneInfo(zone)).astimezone(timezone.utc)
        yield at - timedelta(minutes=1)
        yield at


def day_of(text, ahead=0):
    return datetime.fromisoformat(text) + timedelta(days=ahead)


print("# Written by scripts/data/quiet_hours_expected.py. Quiet hours of the casino: from, to; equal ones mean none.")
print("phone,profile_state,profile_zone,quiet_from,quiet_to,at,open,opens_at,closes_at,basis")
first_code = {}
for code, places in sorted(CODES.items(), reverse=True):
    first_code[places[0][0]] = code

# Every state in every zone it has, by profile: the Sundays on which clocks change, and the days after in 2026.
for zone, states in ZONES.items():
    for state in states.split():
        phone = f"+1{first_code[state]}5550100"
        days = [day_of(change) for change in CHANGES] + [day_of(change, 1) for change in CHANGES[:2]]
        if WEEKS[state][5] != WEEKS[state][4]:
            days += [day_of(change, -1) for change in CHANGES]
        for day in days:
            for at in borders(day, zone, WEEKS[state]):
                row(phone, (state, zone), NONE, at, [(state, zone)], "profile")

# Every area code on an ordinary Tuesday, at the borders of its first place.
for code, places in sorted(CODES.items()):
    state, zone = places[0]
    for at in borders(day_of("2026-06-16"), zone, WEEKS[state]):
        row(f"+1{code}5550101", None, USUAL, at, places, "area_code")

# Codes of two zones, hour for hour over both changes of 2026 and the day after.
for code in ("208", "270", "448", "458", "605", "850", "907", "928"):
    for change in CHANGES[:2]:
        for hour in range(0, 48, 2):
            at = day_of(change).replace(tzinfo=timezone.utc) + timedelta(hours=hour)
            row(f"+1{code}5550102", None, USUAL, at, CODES[code], "area_code")

# No place: toll-free, Canada, Jamaica, codes nobody has.
for code in ("800", "416", "876", "999", *sorted(NOT_IN_SERVICE)):
    for change in CHANGES:
        for ahead in (-2, -1, 0, 2):
            for hour in (0, 17, 18, 19, 20, 21, 22, 23):
                at = day_of(change, ahead).replace(tzinfo=timezone.utc) + timedelta(hours=hour)
                row(f"+1{code}5550103", None, USUAL, at, UNKNOWN, "unknown")

# Quiet hours of casinos: over midnight, within the day, wider than the law, never open.
for quiet in (("20:00", "10:00"), ("12:00", "14:00"), ("23:00", "06:00"), ("06:00", "22:00"), ("00:00", "09:30")):
    for code in ("860", "850", "808"):
        for hour in range(0, 48, 2):
            at = datetime(2026, 10, 31, tzinfo=timezone.utc) + timedelta(hours=hour)
            row(f"+1{code}5550104", None, quiet, at, CODES[code], "area_code")
