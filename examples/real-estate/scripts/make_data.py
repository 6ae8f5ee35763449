"""Makes the prices, homes and loans of the example. Everything that it writes is made up.

    python3 scripts/make_data.py

Writes data/market.jsonl, data/listings.jsonl and data/loans.jsonl beside this folder. It uses the standard library alone and a
fixed seed, so the files come out the same each time.
"""

import json
import random
from pathlib import Path

SEED = 20260630
AS_OF = "2026-06-30"
SOURCE = "이 프로그램을 보이려고 지어낸 값이며 실제 {} 아닙니다(scripts/make_data.py)"
DATA = Path(__file__).resolve().parent.parent / "data"

# A district, the first price of a standard apartment (84 ㎡) in 만원, what a deposit is of it in thousandths, and how the price
# moves in a month, in ten-thousandths.
DISTRICTS = [
    ("강남구", 232000, 480, 62),
    ("서초구", 221000, 490, 58),
    ("송파구", 178000, 520, 51),
    ("용산구", 169000, 500, 47),
    ("성동구", 142000, 560, 44),
    ("마포구", 131000, 570, 36),
    ("강동구", 112000, 590, 29),
    ("영등포구", 108000, 600, 21),
    ("강서구", 88000, 650, 4),
    ("관악구", 79000, 700, -6),
    ("은평구", 75000, 720, -12),
    ("노원구", 68000, 810, -24),
]
MONTHS = 24


def months():
    year, month = 2024, 7
    for _ in range(MONTHS):
        yield f"{year}-{month:02}"
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)


def rounded(value, unit):
    return max(unit, round(value / unit) * unit)


def market(dice):
    """The rows of the market, and the newest of each district."""
    rows, newest = [], {}
    for name, price, share, drift in DISTRICTS:
        sale, part = float(price), float(share)
        for month in months():
            sale *= 1 + (drift + dice.uniform(-25, 25)) / 10000
            part += dice.uniform(-3, 3.4)
            jeonse = sale * part / 1000
            deposit = jeonse * 0.3
            # The rest of the deposit costs about 5 % a year.
            rent = (jeonse - deposit) * 0.05 / 12
            row = (rounded(sale, 10), rounded(jeonse, 10), rounded(deposit, 10), rounded(rent, 1))
            rows.append((name, month, *row))
            newest[name] = row
    return rows, newest


NAMES = ["가온", "누리", "다솜", "라온", "마루", "벼리", "새론", "아라", "예솔", "하람", "한울", "해솔"]
PLACES = ["가람동", "나래동", "다온동", "미르동", "보람동", "소담동", "윤슬동"]
KINDS = [("아파트", 1.0), ("빌라", 0.55), ("오피스텔", 0.75)]
AREAS = [(24, 1), (29, 1), (39, 2), (49, 2), (59, 3), (74, 3), (84, 3), (101, 4), (114, 4)]


def listing(dice, number, newest):
    district = DISTRICTS[number % len(DISTRICTS)][0]
    deal = ["매매", "전세", "월세"][number // len(DISTRICTS) % 3]
    kind, worth = dice.choices(KINDS, [5, 3, 2])[0]
    area, rooms = dice.choice(AREAS if kind != "오피스텔" else AREAS[:5])
    hundredths = area * 100 + dice.randrange(100)
    built = dice.randrange(1988, 2026)
    scale = worth * hundredths / 8400 * (0.8 + (built - 1988) / 120) * dice.uniform(0.9, 1.12)
    sale, jeonse, deposit, rent = newest[district]
    home = {
        "id": f"L{number + 1:03}",
        "district": district,
        "neighbourhood": dice.choice(PLACES),
        "name": f"{dice.choice(NAMES)}{kind}",
        "kind": kind,
        "deal": deal,
    }
    won = lambda amount, unit: rounded(amount * scale, unit) * 10_000
    if deal == "매매":
        home["price"] = won(sale, 500)
    elif deal == "전세":
        home["deposit"] = won(jeonse, 500)
    else:
        part = dice.choice([0.2, 0.5, 1.0, 1.4])
        home["deposit"] = won(deposit * part, 500)
        home["monthly_rent"] = won(rent * (1 + (1 - part) * 0.4), 5)
    home["area"] = f"{hundredths // 100}.{hundredths % 100:02}"
    home["rooms"] = rooms
    home["floor"] = dice.randrange(1, 25 if kind != "빌라" else 5)
    home["built"] = built
    return home


def condition(fact, comparison, value):
    return {"fact": fact, "is": comparison, "value": value}


BANKS = ["가온은행", "누리은행", "다솜은행", "라온저축은행", "마루은행", "한울신용조합"]
MILLION = 1_000_000


def loans(dice):
    """Twenty products: what they are for, what they cost, how much they lend, and on which conditions."""
    most = lambda fact, value: condition(fact, "at_most", value)
    least = lambda fact, value: condition(fact, "at_least", value)
    is_so = lambda fact: condition(fact, "equal", True)
    plans = [
        ("전세자금 기본", "전세", 300, []),
        ("전세자금 든든", "전세", 500, [is_so("no_home")]),
        ("청년 전세", "전세", 200, [least("age", 19), most("age", 34), most("income", 50 * MILLION), is_so("no_home")]),
        ("신혼 전세", "전세", 300, [is_so("married"), most("income", 75 * MILLION), is_so("no_home")]),
        ("중소득 전세", "전세", 250, [most("income", 70 * MILLION)]),
        ("다자녀 전세", "전세", 350, [least("children", 2), is_so("no_home")]),
        ("전세 갈아타기", "전세", 450, [least("income", 30 * MILLION)]),
        ("내집마련 기본", "매매", 500, []),
        ("내집마련 고정금리", "매매", 600, [least("income", 40 * MILLION)]),
        ("첫집 디딤", "매매", 300, [is_so("first_home"), most("income", 70 * MILLION), most("price", 600 * MILLION)]),
        ("첫집 우대", "매매", 420, [is_so("first_home")]),
        ("신혼 첫집", "매매", 400, [is_so("first_home"), is_so("married"), most("income", 85 * MILLION), most("price", 600 * MILLION)]),
        ("청년 주택구입", "매매", 350, [least("age", 19), most("age", 39), is_so("no_home")]),
        ("다자녀 주택구입", "매매", 450, [least("children", 2), most("income", 100 * MILLION)]),
        ("소형주택 구입", "매매", 200, [most("area", 60), most("price", 400 * MILLION)]),
        ("월세보증금 기본", "월세", 50, []),
        ("청년 월세보증금", "월세", 45, [least("age", 19), most("age", 34), most("income", 50 * MILLION)]),
        ("월세보증금 안심", "월세", 100, [is_so("no_home"), most("deposit", 200 * MILLION)]),
        ("신혼 월세보증금", "월세", 80, [is_so("married")]),
        ("저소득 월세보증금", "월세", 40, [most("income", 35 * MILLION)]),
    ]
    for number, (name, purpose, limit, conditions) in enumerate(plans):
        low = 440 - 35 * len(conditions) + dice.randrange(-20, 21)
        high = low + dice.randrange(40, 130)
        yield {
            "id": f"P{number + 1:02}",
            "bank": BANKS[number % len(BANKS)],
            "name": name,
            "purpose": purpose,
            "rate_from": f"{low // 100}.{low % 100:02}",
            "rate_to": f"{high // 100}.{high % 100:02}",
            "most": limit * MILLION,
            "conditions": conditions,
        }


def lines(path, what, rows):
    head = {"as_of": AS_OF, "source": SOURCE.format(what)}
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [head, *rows])
    path.write_text(text, encoding="utf-8")


def main():
    dice = random.Random(SEED)
    rows, newest = market(dice)
    names = ("district", "month", "sale", "jeonse", "deposit", "rent")
    won = lambda row: (*row[:2], *(amount * 10_000 for amount in row[2:]))
    lines(DATA / "market.jsonl", "시세가", [dict(zip(names, won(row))) for row in rows])
    homes = [listing(dice, number, newest) for number in range(300)]
    lines(DATA / "listings.jsonl", "매물이", homes)
    lines(DATA / "loans.jsonl", "대출 상품이", loans(dice))


if __name__ == "__main__":
    main()
