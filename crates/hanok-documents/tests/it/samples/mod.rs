//! Small documents of every kind, made here.

use std::io::{Cursor, Read, Write};

use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// An archive of these parts.
pub(crate) fn packed<T: AsRef<[u8]>>(parts: &[(&str, T)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let how = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in parts {
        zip.start_file(*name, how).unwrap();
        zip.write_all(bytes.as_ref()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The parts of an archive.
pub(crate) fn unpacked(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut parts = Vec::new();
    for at in 0..zip.len() {
        let mut part = zip.by_index(at).unwrap();
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).unwrap();
        parts.push((part.name().unwrap().into_owned(), bytes));
    }
    parts
}

const WORD: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";

/// A paragraph of Word.
fn word(properties: &str, text: &str) -> String {
    format!(
        "<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>"
    )
}

/// A document of Word with what they have.
pub(crate) fn docx() -> Vec<u8> {
    let item = |depth: u8, text: &str| {
        word(&format!("<w:numPr><w:ilvl w:val=\"{depth}\"/><w:numId w:val=\"2\"/></w:numPr>"), text)
    };
    let cell = |text: &str| format!("<w:tc><w:tcPr/>{}</w:tc>", word("", text));
    let row = |cells: &str| format!("<w:tr>{cells}</w:tr>");
    let inner = format!("<w:tbl>{}</w:tbl>", row(&cell("이월 가능")));
    let table = [
        row(&(cell("근속") + &cell("일수"))),
        row(&(cell("1년") + &cell("15일"))),
        row(&(cell("3년") + &format!("<w:tc>{}{inner}<w:p/></w:tc>", word("", "16일")))),
    ];
    let body = [
        word("<w:pStyle w:val=\"a3\"/>", "인사규정"),
        word("<w:pStyle w:val=\"a4\"/>", "제12조(연차휴가)"),
        "<w:p><w:r><w:t>1년 이상 </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>근속자는 연 15일이다. &amp; 그 밖은 \
         &lt;별표&gt;&#8220;1&#x201D;에 따른다</w:t></w:r><w:r><w:footnoteReference w:id=\"7\"/></w:r><w:r><w:t>.</w:t></w:r></w:p>"
            .to_owned(),
        item(0, "신청은 3일 전에"),
        item(1, "반차는 당일"),
        word("<w:pStyle w:val=\"a5\"/>", "승인은 팀장이"),
        format!("<w:tbl><w:tblPr/>{}</w:tbl>", table.concat()),
        "<w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr><w:r><w:t>둘째 줄이</w:t><w:br/><w:t>여기서 \
         바뀐다.</w:t><w:tab/><w:t>끝</w:t><w:noBreakHyphen/><w:t>말</w:t></w:r></w:p>"
            .to_owned(),
        word("<w:outlineLvl w:val=\"2\"/>", "제13조(병가)"),
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>상자 안의 글</w:t></w:r></w:p>\
         </w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p><w:r><w:t>상자 안의 글</w:t></w:r></w:p>\
         </w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>"
            .to_owned(),
        "<w:p><w:del><w:r><w:delText>지운 글</w:delText></w:r></w:del><w:ins><w:r><w:t>삽입된 \
         글이다.</w:t></w:r></w:ins></w:p>"
            .to_owned(),
    ];
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:document {WORD} xmlns:mc=\"x\"><w:body>{}<w:sectPr/></w:body></w:document>",
        body.concat()
    );
    let styles = format!(
        "<w:styles {WORD}><w:style w:styleId=\"a1\"><w:name w:val=\"heading 2\"/></w:style>\
         <w:style w:styleId=\"a3\"><w:name w:val=\"Title\"/></w:style>\
         <w:style w:styleId=\"a4\"><w:name w:val=\"조 제목\"/><w:basedOn w:val=\"a1\"/></w:style>\
         <w:style w:styleId=\"a5\"><w:name w:val=\"List Bullet\"/><w:pPr><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:style>\
         </w:styles>"
    );
    let notes = format!(
        "<w:footnotes {WORD}><w:footnote w:type=\"separator\" w:id=\"0\"><w:p/></w:footnote>\
         <w:footnote w:id=\"7\">{}</w:footnote></w:footnotes>",
        word("", "근로기준법 제60조.")
    );
    packed(&[
        ("[Content_Types].xml", "<Types/>"),
        ("word/document.xml", &document),
        ("word/styles.xml", &styles),
        ("word/footnotes.xml", &notes),
    ])
}

const HANGUL: &str =
    "xmlns:hp=\"http://www.hancom.co.kr/hwpml/2011/paragraph\" xmlns:hs=\"s\" xmlns:hh=\"h\"";

/// A paragraph of Hangul.
fn hangul(look: u8, style: u8, text: &str) -> String {
    format!(
        "<hp:p id=\"0\" paraPrIDRef=\"{look}\" styleIDRef=\"{style}\"><hp:run charPrIDRef=\"0\"><hp:t>{text}</hp:t></hp:run></hp:p>"
    )
}

/// A document of Hangul with what they have.
pub(crate) fn hwpx() -> Vec<u8> {
    let look = |id: u8, kind: &str, level: u8| {
        format!(
            "<hh:paraPr id=\"{id}\"><hh:heading type=\"{kind}\" idRef=\"0\" level=\"{level}\"/></hh:paraPr>"
        )
    };
    let header = format!(
        "<hh:head {HANGUL}><hh:refList>{}{}{}{}{}<hh:styles>\
         <hh:style id=\"0\" type=\"PARA\" name=\"바탕글\" engName=\"Normal\" paraPrIDRef=\"0\"/>\
         <hh:style id=\"1\" type=\"PARA\" name=\"개요 2\" engName=\"Outline 2\" paraPrIDRef=\"0\"/>\
         <hh:style id=\"2\" type=\"PARA\" name=\"조\" engName=\"\" paraPrIDRef=\"4\"/></hh:styles></hh:refList></hh:head>",
        look(0, "NONE", 0),
        look(1, "OUTLINE", 0),
        look(2, "BULLET", 0),
        look(3, "NUMBER", 1),
        look(4, "OUTLINE", 2),
    );
    let cell =
        |text: &str| format!("<hp:tc><hp:subList>{}</hp:subList></hp:tc>", hangul(0, 0, text));
    let table = |rows: &str| {
        format!(
            "<hp:p paraPrIDRef=\"0\" styleIDRef=\"0\"><hp:run><hp:tbl>{rows}</hp:tbl><hp:t/></hp:run></hp:p>"
        )
    };
    let rows = format!(
        "<hp:tr>{}{}</hp:tr><hp:tr>{}{}</hp:tr>",
        cell("근속"),
        cell("일수"),
        cell("1년"),
        cell("15일")
    );
    let frame = format!(
        "<hp:tr><hp:tc><hp:subList>{}{}</hp:subList></hp:tc></hp:tr>",
        hangul(0, 0, "틀 안의 글은"),
        hangul(0, 0, "표가 아니다.")
    );
    let note = format!(
        "<hp:p paraPrIDRef=\"0\" styleIDRef=\"0\"><hp:run><hp:ctrl><hp:header><hp:subList>{}</hp:subList></hp:header></hp:ctrl>\
         <hp:t>1년 이상 근속자는 연 15일이다</hp:t><hp:ctrl><hp:footNote number=\"1\"><hp:subList>{}</hp:subList></hp:footNote></hp:ctrl>\
         <hp:t>. A &amp; B</hp:t></hp:run></hp:p>",
        hangul(0, 0, "쪽마다 되풀이되는 머리말"),
        hangul(0, 0, "근로기준법 제60조.")
    );
    let section = |body: &str| format!("<hs:sec {HANGUL}>{body}</hs:sec>");
    let first = section(
        &[
            hangul(1, 0, "인사규정"),
            hangul(0, 1, "제12조(연차휴가)"),
            note,
            hangul(2, 0, "신청은 3일 전에"),
            hangul(3, 0, "반차는 당일"),
            table(&rows),
            table(&frame),
            hangul(0, 2, "제13조(병가)"),
            hangul(0, 0, "첫째<hp:tab width=\"1\"/>줄<hp:lineBreak/>둘째 줄"),
        ]
        .concat(),
    );
    packed(&[
        ("mimetype", "application/hwp+zip"),
        ("Contents/header.xml", &header),
        ("Contents/section10.xml", &section(&hangul(0, 0, "열째 구역이다."))),
        ("Contents/section0.xml", &first),
        ("Contents/section1.xml", &section(&hangul(0, 0, "둘째 구역이다."))),
        ("Preview/PrvText.txt", "미리 보기"),
    ])
}

/// A page of HTML with what they have.
pub(crate) fn html() -> String {
    "<!DOCTYPE html>\n<html lang=\"ko\"><head><meta charset=\"utf-8\"><title>머리의 제목</title>\
     <style>p { color: red }</style><script>document.write('<p>숨은 글</p>');</script></head>\n<body>\n\
     <!-- 주석 -->\n<h1>인사규정</h1>\n<p>소개 글은 <b>굵게</b> 쓴 말과\n <a href=\"#\">링크</a>를 담는다. 5 &lt; 6 &amp; 7\n\
     <h2>제12조<span>(연차휴가)</span></h2>\n<ul>\n<li><p>신청은 3일 전에</p>\n<ol><li>반차는 당일</ol>\n<li>승인은 팀장이\n</ul>\n\
     <table><thead><tr><th>근속<th>일수</thead><tbody>\n<tr><td>1년</td><td>15일</td></tr></tbody></table>\n\
     <pre>첫 줄\n  둘째 줄</pre><svg><text>그림의 글</text></svg>\n끝.\n</body></html>\n"
        .to_owned()
}
