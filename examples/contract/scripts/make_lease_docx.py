#!/usr/bin/env python3
"""Writes contracts/임대차계약서.docx from the text beside this script.

    make_lease_docx.py

The first line is the title, a line that begins with an article's number a heading, a line of bars a row of a table, and every
other line a paragraph. Nothing depends on the day it runs, and nothing but Python is needed.
"""

import pathlib
import re
import zipfile
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "임대차계약서.txt"
TARGET = HERE.parent / "contracts" / "임대차계약서.docx"

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

TYPES = f"""{HEAD}<Types xmlns="{PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
</Types>
"""

RELATIONS = f"""{HEAD}<Relationships xmlns="{PACKAGE}/relationships">
<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>
</Relationships>
"""

DOCUMENT_RELATIONS = f"""{HEAD}<Relationships xmlns="{PACKAGE}/relationships">
<Relationship Id="rId1" Type="{OFFICE}/styles" Target="styles.xml"/>
</Relationships>
"""


def style(name, shown, level, size):
    return (
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{shown}"/>'
        f'<w:pPr><w:spacing w:before="240"/><w:outlineLvl w:val="{level}"/></w:pPr>'
        f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
    )


STYLES = (
    f'{HEAD}<w:styles xmlns:w="{WORD}">'
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    f'{style("Heading1", "heading 1", 0, 32)}{style("Heading2", "heading 2", 1, 24)}</w:styles>'
)


def paragraph(text, of=None):
    properties = f'<w:pPr><w:pStyle w:val="{of}"/></w:pPr>' if of else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def table(rows):
    cells = lambda row: "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row)
    return "<w:tbl>" + "".join(f"<w:tr>{cells(row)}</w:tr>" for row in rows) + "</w:tbl>"


def body(lines):
    written, rows = [], []
    for number, line in enumerate(lines):
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            written.append(table(rows))
            rows = []
        if number == 0:
            written.append(paragraph(line, "Heading1"))
        elif re.match(r"제 \d+ 조|\[", line):
            written.append(paragraph(line, "Heading2"))
        elif line:
            written.append(paragraph(line))
    return "".join(written)


def main():
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    document = f'{HEAD}<w:document xmlns:w="{WORD}"><w:body>{body(lines)}<w:sectPr/></w:body></w:document>'
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS,
        "word/_rels/document.xml.rels": DOCUMENT_RELATIONS,
        "word/styles.xml": STYLES,
        "word/document.xml": document,
    }
    with zipfile.ZipFile(TARGET, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            part = zipfile.ZipInfo(name, date_time=(2026, 2, 27, 0, 0, 0))
            part.compress_type = zipfile.ZIP_DEFLATED
            part.external_attr = 0o644 << 16
            archive.writestr(part, text.encode("utf-8"))


if __name__ == "__main__":
    main()
