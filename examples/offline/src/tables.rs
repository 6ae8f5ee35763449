//! Small words of Korean and English. None of them is about anything in particular.

/// What Korean joins to a noun.
#[rustfmt::skip]
pub(crate) const PARTICLES: &[&str] = &[
    "에서부터", "으로부터", "이라도", "에서는", "에서도", "에서의", "에게는", "에게서", "한테서", "으로는", "으로도", "까지는", "까지만",
    "부터는", "이라는", "이라고", "이면은", "에서", "에게", "한테", "께서", "으로", "로는", "까지", "부터", "처럼", "보다", "마다", "조차",
    "이나", "이랑", "하고", "라는", "라고", "이란", "에는", "에도", "에만", "와의", "과의", "이면", "인데", "은", "는", "이", "가", "을",
    "를", "의", "에", "도", "만", "과", "와", "로", "나", "란", "랑", "님", "씨",
];

/// Ends of nouns that look like a particle and are none.
#[rustfmt::skip]
pub(crate) const NOUN_ENDS: &[&str] = &[
    "휴가", "평가", "국가", "물가", "단가", "원가", "허가", "추가", "참가", "증가", "제도", "정도", "한도", "속도", "온도", "용도", "지도", "의도",
    "연도", "난이도", "회의", "문의", "동의", "정의", "주의", "강의", "논의", "합의", "결의", "명의", "결과", "성과", "효과", "경과", "부과", "초과",
    "경로", "도로", "통로", "진로", "피로", "차이", "나이", "종이", "길이", "높이", "모이", "어린이", "페이", "와이파이", "파이", "근로", "연장근로", "상해", "이해",
];

/// What Korean joins to make a noun a verb or a question of it.
#[rustfmt::skip]
pub(crate) const ENDINGS: &[&str] = &[
    "이었나요", "이어야", "하려면은", "하셨나요", "했는데요", "입니까", "입니다", "인가요", "이에요", "이예요", "하려면", "되려면", "하는데", "했는데", "됐는데",
    "되는데", "하나요", "되나요", "했나요", "됐나요", "할까요", "하면은", "해주세요", "해야", "하면", "되면", "하고", "하는", "하게", "하지",
    "해서", "해도", "해요", "했어", "했던", "하기", "되기", "되는", "되어", "된다", "한다", "인가", "인지", "이야", "예요", "에요", "이죠", "이지",
    "여야", "하자", "할", "한", "될", "된", "해", "돼", "함", "됨", "야", "요", "죠",
];

/// Words that ask, or that only hold a sentence together.
#[rustfmt::skip]
pub(crate) const ASKING: &[&str] = &[
    "왜", "뭐", "뭘", "몇", "수", "것", "거", "게", "좀", "꼭", "더", "또", "지", "때", "데", "건", "안", "못", "잘", "다", "그", "저", "이",
    "나", "내", "제", "난", "전", "네", "응", "예", "아니", "좋아", "그럼", "그러면", "그리고", "그런데", "근데", "하지만", "그래서", "혹시",
    "제가", "내가", "나는", "저는", "우리", "저희", "이거", "그거", "저거", "그건", "이건", "거기", "여기", "어느", "하나", "하나요", "하죠",
    "해야", "해도", "하면", "하려면", "되면", "한다면", "된다면", "경우", "같은", "같아", "같아요", "대해", "대한", "관해", "관한", "대해서",
    "해", "함", "일", "년", "월", "주", "달", "번", "개", "명", "자", "줄", "시", "분", "년에", "달에", "일에", "번에", "현재", "지금", "이제", "모두", "전부", "정도", "싶은데", "주나요", "쓰나요", "받나요", "가나요", "써도", "가면", "쓰면", "이번",
    "a", "an", "the", "is", "are", "was", "were", "be", "do", "does", "did", "can", "could", "will", "would", "should", "may", "must",
    "what", "which", "who", "whom", "whose", "when", "where", "how", "why", "i", "me", "my", "we", "our", "us", "you", "your", "it", "its",
    "of", "to", "in", "on", "at", "by", "for", "from", "with", "about", "and", "or", "if", "there", "this", "that", "these", "those", "any",
    "often", "much", "there", "tell", "please", "show", "give", "find", "many", "much", "long", "have", "has", "had", "get", "need", "let", "know", "want", "say",
    "explain", "describe", "am", "as", "not", "no", "so", "then", "than", "also", "s", "t", "now",
];

/// Beginnings of words that ask.
#[rustfmt::skip]
pub(crate) const ASKING_BEGINS: &[&str] = &[
    "알려", "알고", "말해", "말씀", "설명", "가르쳐", "찾아", "보여", "궁금", "부탁", "뭐야", "뭐라", "뭐예", "뭐지", "뭔가", "뭔지", "뭐가", "무엇", "무슨",
    "어떻", "어떤", "어떠", "어때", "어디", "언제", "얼마", "며칠", "누구", "누가", "있나", "있어", "있는", "있을", "있습", "있죠", "없나", "없어",
    "되나", "되는", "돼요", "됩니", "될까", "하나요", "합니", "해요", "할까", "인가", "싶", "주세", "줘", "줄래", "줄까", "해줘", "해주", "할래",
    "돼", "되요", "몇", "받", "요약", "정리해",
];

/// Words before or behind which a question asks for a whole subject rather than for one fact.
#[rustfmt::skip]
pub(crate) const WHOLE: &[&str] = &[
    "정책", "규정", "제도", "절차", "방법", "기준", "안내", "내용", "종류", "목록", "조건", "규칙", "원칙", "혜택", "지침",
    "policy", "rule", "procedure", "process", "list", "overview", "guideline", "summary", "condition",
];

/// What a question asks for, and the units of an answer to it, which stand behind a number. Those of `몇` are the word
/// behind it.
#[rustfmt::skip]
pub(crate) const ANSWERS: &[(&[&str], &[&str])] = &[
    (&["며칠", "몇일", "얼마 동안", "how many days", "how long"], &["일", "주", "개월", "년", "시간", " day", " week", " month", " year"]),
    (&["얼마", "금액", "how much", "price", "cost"], &["원", "달러", "포인트", "%", "유로", "개월", "년", "일"]),
    (&["언제", "기한", "마감", "when"], &["일", "월", "시", "주", "분", " day", " week", " month", "am", "pm", ":"]),
    (&["몇시", "what time"], &["시", ":", " am", " pm", "am", "pm"]),
    (&["how many", "how often"], &[""]),
    (&["횟수"], &["번", "회"]),
];

/// Numbers that are words, before a unit.
pub(crate) const NUMERALS: &[&str] = &["한 ", "두 ", "세 ", "네 ", "다섯 ", "여섯 ", "열 ", "몇 "];

/// Words that are a number and its unit.
pub(crate) const AMOUNTS: &[&str] =
    &["하루", "이틀", "사흘", "나흘", "닷새", "보름", "정오", "자정", "매일", "매주", "매달"];

/// Beginnings of a question that goes on from the one before.
#[rustfmt::skip]
pub(crate) const FOLLOWING: &[&str] = &[
    "그럼", "그러면", "그건", "그거", "그것", "그때", "그 ", "그리고", "거기", "이건", "그중", "그렇다면", "what about", "how about", "and ", "then ",
];

/// Words of a question about the conversation itself: when, and what was done in it.
pub(crate) const EARLIER: &[&str] = &[
    "방금",
    "아까",
    "조금 전",
    "앞에서",
    "앞서",
    "이전에",
    "지금까지",
    "earlier",
    "just now",
    "before",
    "so far",
    "previous",
];
#[rustfmt::skip]
pub(crate) const SAID: &[&str] = &[
    "물었", "물어봤", "물어본", "물어 봤", "질문했", "질문한", "질문이", "말했", "말한", "얘기했", "얘기한", "이야기했", "답했", "답한",
    "라고 했", "라고 그랬", "뭐랬", "i ask", "i say", "i said", "did i", "we talk", "my question",
];

/// Headings over what is kept of a conversation.
pub(crate) const KEPT: &[&str] = &["대화 기록", "말한 사실", "Conversation record", "user stated"];

/// The names of data that is an answer of before, and nothing to answer out of.
pub(crate) const ANSWERED: &[&str] = &["앞의 답", "Earlier answer"];

/// What a summary begins its lists with.
pub(crate) const STATED: [&str; 2] = ["말한 것:", "Stated:"];
pub(crate) const ASKED: [&str; 2] = ["물어본 것:", "Asked:"];

/// First words by which someone tells of themselves, and the ends of such a sentence.
pub(crate) const OWN: &[&str] =
    &["내", "제", "나는", "난", "저는", "전", "우리", "저희", "my", "i"];
pub(crate) const TOLD: &[&str] = &[
    "야",
    "이다",
    "예요",
    "에요",
    "입니다",
    "합니다",
    "습니다",
    "했어",
    "있어",
    "이야",
    "거든",
    "이에요",
];

/// Ends of a sentence that orders or asks.
pub(crate) const ORDERS: &[&str] =
    &["줘", "주세요", "줄래", "줄래요", "까", "까요", "나요", "해봐", "하세요"];

/// Greetings and thanks, which ask for nothing.
pub(crate) const GREETINGS: &[&str] = &[
    "안녕",
    "안녕하세요",
    "안녕하십니까",
    "반가워",
    "반갑습니다",
    "고마워",
    "고마워요",
    "고맙습니다",
    "감사",
    "감사합니다",
    "감사해요",
    "hello",
    "hi",
    "hey",
    "thanks",
    "thank",
    "bye",
];

/// Words by which a text says that nothing was found.
pub(crate) const NOTHING: &[&str] = &[
    "찾지 못했",
    "찾을 수 없",
    "찾지 못하",
    "검색 결과가 없",
    "결과 없음",
    "not found",
    "no relevant",
    "no results",
    "nothing was found",
    "nothing found",
    "could not find",
    "no documents",
    "no matches",
    "found nothing",
];

/// What stands before the results of teams.
pub(crate) const OF_TEAMS: &[&str] = &["팀들의 결과:", "단계들의 결과:", "Results of the teams:"];

/// What stands before the teams that another one needs.
pub(crate) const NEEDS: &[&str] = &["(먼저 필요한 팀:", "(needs first:"];

/// What asks for another plan, which may have nothing in it.
pub(crate) const AGAIN: &[&str] =
    &["할 수 있는 것이 없으면 빈 목록을", "Give an empty list if nothing can be done"];
