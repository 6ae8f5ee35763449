-- The internal directory of the example: people, their leave, meeting rooms. Everyone in it is made up.
-- scripts/make_directory.py makes directory.sqlite of it.

PRAGMA application_id = 0x686e6b64;
PRAGMA user_version = 1;

CREATE TABLE person (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    team TEXT NOT NULL,
    title TEXT NOT NULL,
    extension TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE
) STRICT;

-- Days; a quarter of a day is two hours.
CREATE TABLE leave_balance (
    person_id INTEGER NOT NULL REFERENCES person (id),
    year INTEGER NOT NULL,
    granted REAL NOT NULL CHECK (granted >= 0),
    used REAL NOT NULL CHECK (used BETWEEN 0 AND granted),
    remaining REAL NOT NULL GENERATED ALWAYS AS (granted - used) STORED,
    PRIMARY KEY (person_id, year)
) STRICT, WITHOUT ROWID;

CREATE TABLE room (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    floor INTEGER NOT NULL,
    seats INTEGER NOT NULL CHECK (seats > 0)
) STRICT;

CREATE TABLE room_equipment (
    room_id INTEGER NOT NULL REFERENCES room (id),
    equipment TEXT NOT NULL,
    PRIMARY KEY (room_id, equipment)
) STRICT, WITHOUT ROWID;

INSERT INTO person (id, name, team, title, extension, email) VALUES
    (1, '김하늘', '플랫폼팀', '책임', '2104', 'haneul.kim@hanoksoft.example'),
    (2, '이도윤', '플랫폼팀', '팀장', '2101', 'doyun.lee@hanoksoft.example'),
    (3, '박서연', '플랫폼팀', '선임', '2106', 'seoyeon.park@hanoksoft.example'),
    (4, '최가람', '데이터팀', '팀장', '2201', 'garam.choi@hanoksoft.example'),
    (5, '정이든', '데이터팀', '책임', '2203', 'ideun.jung@hanoksoft.example'),
    (6, '강보미', '데이터팀', '사원', '2207', 'bomi.kang@hanoksoft.example'),
    (7, '조은솔', '제품팀', '팀장', '2301', 'eunsol.cho@hanoksoft.example'),
    (8, '윤재희', '제품팀', '선임', '2304', 'jaehee.yoon@hanoksoft.example'),
    (9, '장한결', '디자인팀', '팀장', '2401', 'hangyeol.jang@hanoksoft.example'),
    (10, '임다온', '디자인팀', '사원', '2405', 'daon.lim@hanoksoft.example'),
    (11, '한지우', '품질팀', '책임', '2502', 'jiwoo.han@hanoksoft.example'),
    (12, '오세린', '품질팀', '팀장', '2501', 'serin.oh@hanoksoft.example'),
    (13, '서도현', '정보보안팀', '팀장', '2601', 'dohyun.seo@hanoksoft.example'),
    (14, '신유나', '정보보안팀', '선임', '2603', 'yuna.shin@hanoksoft.example'),
    (15, '권이안', '인사팀', '팀장', '2701', 'ian.kwon@hanoksoft.example'),
    (16, '황보람', '인사팀', '선임', '2702', 'boram.hwang@hanoksoft.example'),
    (17, '안시우', '재무팀', '팀장', '2801', 'siwoo.ahn@hanoksoft.example'),
    (18, '송다인', '재무팀', '책임', '2802', 'dain.song@hanoksoft.example'),
    (19, '류해찬', '영업팀', '팀장', '2901', 'haechan.ryu@hanoksoft.example'),
    (20, '문가온', '영업팀', '선임', '2904', 'gaon.moon@hanoksoft.example'),
    (21, '남궁민서', '영업팀', '사원', '2908', 'minseo.namgung@hanoksoft.example'),
    -- Two people of one name.
    (22, '박서연', '영업팀', '책임', '2903', 'seoyeon2.park@hanoksoft.example'),
    (23, '진솔', '플랫폼팀', '사원', '2109', 'sol.jin@hanoksoft.example');

INSERT INTO leave_balance (person_id, year, granted, used) VALUES
    (1, 2026, 20, 7.5),
    (2, 2026, 20, 11),
    (3, 2026, 15, 4.25),
    (4, 2026, 20, 9.5),
    (5, 2026, 20, 3),
    (6, 2026, 8, 2),
    (7, 2026, 20, 14.5),
    (8, 2026, 15, 6),
    (9, 2026, 20, 8.75),
    (10, 2026, 10, 1.5),
    (11, 2026, 20, 12),
    (12, 2026, 20, 5.5),
    (13, 2026, 20, 10),
    (14, 2026, 15, 0),
    (15, 2026, 20, 13.25),
    (16, 2026, 15, 7),
    (17, 2026, 20, 6.5),
    (18, 2026, 20, 16),
    (19, 2026, 20, 4),
    (20, 2026, 15, 15),
    (21, 2026, 6, 0.5),
    (22, 2026, 20, 9),
    (23, 2026, 3, 1);

INSERT INTO room (id, name, floor, seats) VALUES
    (1, '대청', 3, 24),
    (2, '사랑방', 3, 8),
    (3, '누마루', 4, 12),
    (4, '안채', 4, 6),
    (5, '별채', 5, 16),
    (6, '툇마루', 5, 4),
    (7, '다락', 6, 2),
    (8, '행랑', 2, 10);

INSERT INTO room_equipment (room_id, equipment) VALUES
    (1, '빔프로젝터'), (1, '화상회의'), (1, '화이트보드'), (1, '마이크'),
    (2, '화상회의'), (2, '화이트보드'),
    (3, '빔프로젝터'), (3, '화이트보드'),
    (4, '화이트보드'),
    (5, '빔프로젝터'), (5, '화상회의'), (5, '화이트보드'),
    (6, '모니터'),
    (8, '모니터'), (8, '화상회의');
