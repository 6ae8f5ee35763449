//! Words that tell what a question, or the description of an agent or tool, is about.

/// Words by which a description says what it is for.
pub(crate) const FOR_ARITHMETIC: &[&str] =
    &["계산", "산술", "수식", "연산", "calculat", "arithmetic", "math"];
pub(crate) const FOR_CLOCK: &[&str] =
    &["날짜", "시각", "시간", "요일", "datetime", "date", "time", "clock", "weekday"];
#[rustfmt::skip]
pub(crate) const FOR_PEOPLE: &[&str] = &[
    "디렉터리", "디렉토리", "직원", "구성원", "임직원", "동료", "사람", "인물", "연락처", "내선", "주소록", "조직도", "people", "person", "employee",
    "colleague", "staff", "directory", "contact", "internal",
];
#[rustfmt::skip]
pub(crate) const FOR_DOCUMENTS: &[&str] = &[
    "문서", "규정", "지침", "정책", "핸드북", "매뉴얼", "지식", "자료", "규칙", "위키", "document", "knowledge", "policy", "policies", "handbook",
    "manual", "guideline", "rag", "wiki",
];

/// Words by which a description says that it is for talking.
pub(crate) const FOR_TALK: &[&str] = &["대화", "인사", "conversation", "chat", "talk"];

/// Meeting rooms, in a question as in a description.
pub(crate) const ROOMS: &[&str] = &["회의실", "미팅룸", "회의 공간", "room", "rooms"];

/// Words of a question that speak for what is written somewhere.
#[rustfmt::skip]
pub(crate) const WRITTEN: &[&str] = &[
    "규정", "정책", "지침", "절차", "기준", "제도", "원칙", "한도", "신청", "이월", "승인", "정산", "조항", "policy", "rule", "handbook",
];

/// Words of calculating.
pub(crate) const CALCULATE: &[&str] = &["계산", "calculate", "arithmetic"];

/// Now, or a day counted from it.
#[rustfmt::skip]
pub(crate) const NOW: &[&str] = &[
    "지금", "현재", "오늘", "내일", "어제", "올해", "이번 달", "이 시각", "this year", "now", "today", "current",
];

/// What a clock or a calendar shows.
#[rustfmt::skip]
pub(crate) const TIME: &[&str] = &[
    "몇 시", "몇시", "시각", "시간", "날짜", "며칠", "몇 일", "몇일", "요일", "몇 월", "몇월", "몇 년", "time", "date", "day", "weekday",
];

/// The hour.
pub(crate) const HOUR: &[&str] = &["몇 시", "몇시", "시각", "현지 시간", "what time", "time in "];

/// The day of the week.
pub(crate) const WEEKDAY: &[&str] = &["무슨 요일", "what day is"];

/// What is planned, and so written down.
pub(crate) const PLANS: &[&str] =
    &["휴가", "연차", "남았", "회의", "근무", "배포", "마감", "점심", "until", "left"];

/// How somebody is reached.
#[rustfmt::skip]
pub(crate) const CONTACT: &[&str] = &[
    "내선", "전화번호", "연락처", "이메일", "메일 주소", "직책", "extension", "phone", "email", "e-mail address", "contact",
];

/// Where somebody belongs.
#[rustfmt::skip]
pub(crate) const BELONGS: &[&str] = &[
    "어느 팀", "무슨 팀", "소속이", "누구야", "누구예요", "누구죠", "누군가", "who is", "which team",
];

/// Who is in a team.
#[rustfmt::skip]
pub(crate) const MEMBERS: &[&str] = &[
    "누가 있", "누구 있", "팀원", "구성원", "명단", "팀장", "누구누구", "사람들", "members",
];

/// What is not asked of a person.
pub(crate) const FACTS: &[&str] =
    &["얼마", "몇", "며칠", "언제", "어떻", "왜", "무슨", "how", "when", "why"];

/// Leave, and what is left of it.
pub(crate) const LEAVE: &[&str] = &["연차", "휴가", "leave", "vacation", "days off"];
pub(crate) const LEFT: &[&str] = &["남았", "남은", "잔여", "남아", "left", "remaining", "balance"];

/// What is the asker's own, behind a blank.
pub(crate) const OWN: &[&str] = &[" 내 ", " 제 ", " 나의 ", " my "];
