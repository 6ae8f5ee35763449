#!/usr/bin/env python3
"""Writes 정보보안지침.pdf from the text among the documents of the example `rag`.

    pip install fpdf2
    make_security_pdf.py NanumGothic.ttf NanumGothicBold.ttf

Only the glyphs that occur are embedded, and nothing depends on the day it runs.
"""

import datetime
import pathlib
import re
import sys

from fpdf import FPDF

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[3] / "examples" / "rag" / "documents" / "정보보안지침.txt"
TARGET = HERE / "정보보안지침.pdf"


class Guideline(FPDF):
    """A4 with the page's number at its foot."""

    def footer(self):
        self.set_y(-15)
        self.set_font("body", size=9)
        self.cell(0, 8, f"- {self.page_no()} -", align="C")


def blank(regular, bold):
    pdf = Guideline(format="A4")
    pdf.set_creation_date(datetime.datetime(2026, 2, 1, tzinfo=datetime.timezone.utc))
    pdf.set_title(SOURCE.stem)
    pdf.set_lang("ko")
    pdf.set_margins(25, 22, 25)
    pdf.set_auto_page_break(True, margin=22)
    pdf.add_font("body", fname=regular)
    pdf.add_font("body", style="B", fname=bold)
    pdf.add_page()
    return pdf


def line(pdf, text, style="", size=10.5, height=6.5, align="L"):
    pdf.set_font("body", style=style, size=size)
    pdf.multi_cell(0, height, text, align=align, new_x="LMARGIN", new_y="NEXT")


def write(pdf, text):
    for number, each in enumerate(text.splitlines()):
        if number == 0:
            line(pdf, each, style="B", size=18, height=12, align="C")
        elif number == 1:
            line(pdf, each, size=9, height=8, align="C")
        elif not each:
            pdf.ln(3.5)
        elif re.match(r"제\d+장 ", each):
            pdf.ln(2)
            line(pdf, each, style="B", size=13, height=8)
        else:
            line(pdf, each)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pdf = blank(*sys.argv[1:])
    write(pdf, SOURCE.read_text(encoding="utf-8"))
    pdf.output(str(TARGET))
    print(f"{TARGET.name}: {pdf.page_no()} pages, {TARGET.stat().st_size} bytes")


main()
