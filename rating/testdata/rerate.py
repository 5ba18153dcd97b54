"""Rates days by docs/rating.md, and by nothing else.

    python3 rerate.py < cases.json

A case is a day, an account, its usage of a rate name and a price list, as in
vectors.json. What is printed is the rows of each case, in the same order.
"""

import json
import sys
from calendar import isleap, monthrange
from datetime import datetime, timedelta, timezone
from fractions import Fraction

DAY = timedelta(days=1)
OPEN = 10**30


def rounded(x, places):
    """Half to even, as Fraction rounds."""
    return Fraction(round(x * 10**places), 10**places)


def text(x):
    """A decimal without an exponent and without trailing zeros."""
    digits = str(abs(x.numerator) * 10**18 // x.denominator).rjust(19, "0")
    whole, places = digits[:-18], digits[-18:].rstrip("0")
    return ("-" if x < 0 else "") + whole + ("." + places if places else "")


def instant(s):
    return datetime.fromisoformat(s.replace("Z", "+00:00")).astimezone(timezone.utc)


# Which rates apply.

def tier(rate):
    if rate["rateType"] not in ("graduated", "volume"):
        return 0, OPEN
    return rate.get("tierStart", 0), rate.get("tierEnd") or OPEN


def price_of(day, account, name, rates):
    date = day.date().isoformat()
    valid = [r for r in rates if r["rateName"] == name and r["startDate"] <= date
             and (not r.get("endDate") or date < r["endDate"])]
    for owner in (account, ""):
        chosen = []
        for r in sorted((r for r in valid if r.get("accountId", "") == owner), key=lambda r: -r["rateId"]):
            start, end = tier(r)
            if all(end <= s or e <= start for s, e in map(tier, chosen)):
                chosen.append(r)
        if chosen:
            return sorted(chosen, key=lambda r: tier(r)[0])
    return []


# The price of a day.

def day_price(rate, day):
    amount = Fraction(rate["amount"])
    if rate["period"] == "hour":
        return 24 * amount
    if rate["period"] == "day":
        return amount
    if rate["period"] == "month":
        k, n = day.day, monthrange(day.year, day.month)[1]
    else:
        k, n = day.timetuple().tm_yday, 366 if isleap(day.year) else 365
    return rounded(amount * k / n, 12) - rounded(amount * (k - 1) / n, 12)


# Who has how many units, and when.

def lives_of(usage, end):
    lives = {}
    for u in sorted(usage, key=lambda u: instant(u["occurredAt"])):
        at, item = instant(u["occurredAt"]), u["billingItemId"]
        life = lives.get(item)
        if at >= end or (life is None) != (u["eventAction"] == "start") or life and life[-1][2]:
            continue
        lives.setdefault(item, []).append((at, u["currentCount"], u["eventAction"] == "stop"))
    return dict(sorted(lives.items(), key=lambda kv: (kv[1][0][0], kv[0])))  # the order of ordinals


def units_at(life, at):
    return ([n for when, n, _ in life if when <= at] or [0])[-1]


def due(rate, o, q, c):
    """How many times the amount is due for q units behind o others, c in all."""
    start, end = tier(rate)
    kind, size = rate["rateType"], rate.get("packageSize", 0)
    if kind == "unit":
        return q
    if kind == "flat":
        return 1 if o == 0 and q > 0 else 0
    if kind == "graduated":
        return max(min(o + q, end) - max(o, start), 0)
    if kind == "volume":
        return q if start <= c < end else 0
    return -(-(o + q) // size) - -(-o // size)


def segments(rate, lives, item, begin, end):
    changes = {at for life in lives.values() for at, _, _ in life if begin < at < end}
    cuts = sorted({begin, end} | changes)
    for at, until in zip(cuts, cuts[1:]):
        o = c = 0
        for other, life in lives.items():
            if other == item:
                o = c
            c += units_at(life, at)
        n = due(rate, o, units_at(lives[item], at), c)
        if n > 0:
            yield at, until, n


def widened(rate, lives, item, day):
    """The segments that the day bears, after the minimum period."""
    minimum, end = rate.get("minimumPeriod", ""), day + DAY
    if minimum == "month":
        month = day.replace(day=1)
        touches = list(segments(rate, lives, item, month, end))
        if not touches or touches[0][0] < day:
            return []
        at, _, n = touches[0]
        return [(at, (month + 32 * DAY).replace(day=1), n)]
    found = list(segments(rate, lives, item, day, end))
    step = {"": None, "hour": timedelta(hours=1), "day": DAY}[minimum]
    if step is None:
        return found
    steps = [(day + k * step, day + (k + 1) * step) for k in range(DAY // step)]
    most = [(a, b, max((n for s, e, n in found if s < b and a < e), default=0)) for a, b in steps]
    return [s for s in most if s[2] > 0]


# What it costs.

def rate_day(case):
    day = instant(case["day"] + "T00:00:00Z")
    old = case["rule"] == "rating-1"
    places = 6 if old else 18
    lives = lives_of(case["usage"], day + DAY)
    rows = []
    for rate in price_of(day, case["account"], case["rateName"], case["rates"]):
        for item, life in lives.items():
            borne = widened(rate, lives, item, day)
            if not borne:
                continue
            price, cost, unit_days = day_price(rate, day), Fraction(0), Fraction(0)
            exact = lambda at: Fraction((min(at, day + DAY) - day) // timedelta(microseconds=1), 86_400_000_000)
            for begin, end, n in borne:
                shown = rounded(exact(end), places) - rounded(exact(begin), places)
                cost += n * price * (shown if old else exact(end) - exact(begin))
                unit_days += n * shown
                later = day + DAY
                while later < end:  # the rest of a month, at the prices of its days
                    cost, unit_days, later = cost + n * day_price(rate, later), unit_days + n, later + DAY
            before = [n for at, n, _ in life if at <= day][-1:]
            during = [n for at, n, _ in life if day < at < day + DAY]
            rows.append({"billingItemId": item, "rateId": rate["rateId"], "cost": cost, "quantity": max(before + during),
                         "dayPrice": text(price), "unitDays": text(unit_days)})
    rows.sort(key=lambda r: r["billingItemId"])
    for item in {r["billingItemId"] for r in rows}:
        lines = [r for r in rows if r["billingItemId"] == item]
        if not old:
            settle(lines)
    for r in rows:
        r["cost"] = text(r["cost"])
    return rows


def settle(lines):
    """Rounds to 18 decimals what the lines of an item come to together."""
    digit = Fraction(1, 10**18)
    total = rounded(sum(r["cost"] for r in lines), 18)
    cut = [r["cost"] % digit for r in lines]
    for r, rest in zip(lines, cut):
        r["cost"] -= rest
    missing = (total - sum(r["cost"] for r in lines)) / digit
    for i in sorted(range(len(lines)), key=lambda i: -cut[i])[:int(missing)]:  # stable: the first of equals
        lines[i]["cost"] += digit


if __name__ == "__main__":
    json.dump([rate_day(case) for case in json.load(sys.stdin)], sys.stdout)
