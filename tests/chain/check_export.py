"""Checks the chain of a log that hanok exported, from docs/export.md alone.

python check_export.py FILE [KEY]    KEY: 64 hexadecimal digits, the chain's key, where it is keyed
Needs the package blake3. Exits with 1, and says why, when the lines are not what was exported.
"""

import json
import struct
import sys

import blake3

TABLE = []
for value in range(256):
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    TABLE.append(value)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Wrong(Exception):
    pass


class Reader:
    """Reads the msgpack that hanok writes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        part = self.data[self.at : self.at + count]
        if len(part) != count:
            raise Wrong("a value is cut off")
        self.at += count
        return part

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self):
        head = self.number(">B")
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 0x100
        if head < 0x90:
            return self.map(head & 0x0F)
        if head < 0xA0:
            return self.array(head & 0x0F)
        if head < 0xC0:
            return self.take(head & 0x1F).decode()
        simple = {0xC0: None, 0xC2: False, 0xC3: True}
        if head in simple:
            return simple[head]
        lengths = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
        if head in lengths:
            return self.take(self.number(lengths[head]))
        texts = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
        if head in texts:
            return self.take(self.number(texts[head])).decode()
        numbers = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
        numbers |= {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
        if head in numbers:
            return self.number(numbers[head])
        if head in (0xDC, 0xDD):
            return self.array(self.number(">H" if head == 0xDC else ">I"))
        if head in (0xDE, 0xDF):
            return self.map(self.number(">H" if head == 0xDE else ">I"))
        raise Wrong(f"no value begins with {head:#04x}")

    def array(self, count):
        return [self.value() for _ in range(count)]

    def map(self, count):
        return {self.value(): self.value() for _ in range(count)}


def stored(line):
    """The value of a line."""
    try:
        data = bytes.fromhex(json.loads(line)["stored"])
    except (ValueError, KeyError, TypeError) as error:
        raise Wrong(f"it is no line of a log: {error}") from error
    if len(data) < 4 or struct.unpack(">I", data[:4])[0] != crc32c(data[4:]):
        raise Wrong("its checksum does not fit")
    reader = Reader(data[4:])
    value = reader.value()
    if reader.at != len(reader.data):
        raise Wrong("something follows its value")
    return value


def hashed(key, *parts):
    hasher = blake3.blake3(key=key) if key else blake3.blake3()
    for part in parts:
        hasher.update(part)
    return hasher.digest()


def check(lines, key=None):
    """How many records lead to the newest link."""
    heading = stored(lines[0])
    if heading[0] != 3 or len(heading) != 11:
        raise Wrong(f"the lines have format {heading[0]}; this reads format 3")
    life, base, end, count, newest = heading[3], heading[6], heading[8], heading[9], heading[10]
    if newest is None:
        raise Wrong("the records are not chained")
    position, link = 0, bytes(32)
    if base is not None:
        position, link = base[0], Reader(base[1]).value()[1]
        if link is None:
            raise Wrong("records were cut off that could not be read: the chain begins nowhere")
    for line in lines[1:]:
        at, parent, key_id, comes_from, salt, entry = stored(line)
        position += 1
        if at != position or parent >= at:
            raise Wrong(f"position {at} stands where {position} is due")
        if salt is None:
            raise Wrong(f"the record at {at} is not chained")
        if key_id is not None and key is None:
            raise Wrong(f"the chain is keyed, with key {key_id}: give it")
        digest = hashed(None, salt, entry)
        parts = [b"hanok link\0", link, life, struct.pack("<QQ", at, parent), digest]
        if comes_from is not None:
            parts += [comes_from[0], comes_from[1] or bytes(32)]
        link = hashed(key if key_id is not None else None, *parts)
    if position != end or len(lines) - 1 != count:
        raise Wrong(f"the lines end at position {position}; the log ends at {end}")
    if link != newest:
        raise Wrong("the chain does not lead to the newest link")
    return count


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    key = bytes.fromhex(sys.argv[2]) if len(sys.argv) == 3 else None
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if line.strip()]
    try:
        count = check(lines, key)
    except (Wrong, IndexError, TypeError, ValueError) as error:
        sys.exit(f"not what was exported: {error}")
    print(f"{count} records, the chain holds")


if __name__ == "__main__":
    main()
