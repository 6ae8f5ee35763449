//! What is asked of the tables.

use hanok_checkpoint::Vector;
use hanok_postgres::{Statement, Value};

use crate::tables::{filters, text};
use hanok_retrieval::{
    Query,
    backend::{B, K1, Weight},
};

/// The statements that say how many passages and terms there are, and in how many passages each of `terms` is.
pub(super) fn statistics(s: &str, id: i64, terms: &[i64]) -> [Statement; 2] {
    let all = format!("SELECT passages, terms FROM {s}.passage_collections WHERE id = $1");
    let found = format!(
        "SELECT (SELECT count(*) FROM {s}.passages WHERE terms @> ARRAY[asked.term])
         FROM unnest($1) WITH ORDINALITY asked (term, nth) ORDER BY nth"
    );
    [Statement::new(all, [Value::Int(id)]), Statement::new(found, [Value::Ints(terms.to_vec())])]
}

/// The statement that gives the `depth` best passages by BM25, of which the server adds up the terms: of each the body, the
/// score, its coverage, which terms it has, and the best coverage of all.
pub(super) fn by_keywords(
    s: &str,
    (terms, weights, mean): (&[i64], &[Weight], f64),
    (name, query): (&str, &Query),
    depth: usize,
) -> Statement {
    let sql = format!(
        "SELECT p.body, best.score, best.coverage, best.has, best.most FROM (
             SELECT p.document, p.nth, p.key, q.score, q.coverage, q.has,
                    max(q.coverage) OVER () most
             FROM {s}.passages p, LATERAL (
                 SELECT sum(a.idf * c.count * ({K1} + 1)
                            / (c.count + {K1} * (1 - {B} + {B} * p.length / $4))) score,
                        sum(a.share) coverage, array_agg(a.nth) has
                 FROM unnest($1, $2, $3) WITH ORDINALITY a (term, idf, share, nth),
                      LATERAL (SELECT p.counts[array_position(p.terms, a.term)]::float8 count) c
                 WHERE c.count IS NOT NULL
             ) q
             WHERE p.terms && $1 AND p.tags @> $5
             ORDER BY q.score DESC, p.key, p.document, p.nth LIMIT $6
         ) best JOIN {s}.passages p ON p.document = best.document AND p.nth = best.nth
         ORDER BY best.score DESC, best.key, best.document, best.nth"
    );
    let values = [
        Value::Ints(terms.to_vec()),
        Value::Floats(weights.iter().map(|weight| f64::from(weight.idf)).collect()),
        Value::Floats(weights.iter().map(|weight| f64::from(weight.share)).collect()),
        Value::Float(mean),
        Value::Ints(filters(name, query)),
        Value::Int(depth as i64),
    ];
    Statement::new(sql, values)
}

/// The statements that give the bodies and similarities of the `depth` passages nearest to `asked`, by the index of the
/// space; the last one does.
pub(super) fn by_vector(
    (s, v): (&str, &str),
    (id, space): (i64, i64),
    (name, query): (&str, &Query),
    asked: &Vector,
    depth: usize,
) -> [Statement; 3] {
    let size = asked.dimensions();
    // What a filter leaves out does not make the list shorter.
    let on = Statement::new("SET LOCAL hnsw.iterative_scan = strict_order", []);
    let wide = format!("SET LOCAL hnsw.ef_search = {}", (depth * 2).clamp(100, 1_000));
    let sql = format!(
        "SELECT p.body, 1 - (p.vector::{v}.vector({size}) OPERATOR({v}.<=>) $1::{v}.vector({size}))
         FROM {s}.passages p WHERE p.space = {space} AND p.collection = $2 AND p.tags @> $3
         ORDER BY p.vector::{v}.vector({size}) OPERATOR({v}.<=>) $1::{v}.vector({size}) LIMIT $4"
    );
    let values = [
        Value::Text(text(asked)),
        Value::Int(id),
        Value::Ints(filters(name, query)),
        Value::Int(depth as i64),
    ];
    [on, Statement::new(wide, []), Statement::new(sql, values)]
}

/// The statement that tells which spaces the vectors are of that the filters let through.
pub(super) fn spaces(s: &str, id: i64, (name, query): (&str, &Query)) -> Statement {
    let sql = format!(
        "SELECT model, dimensions FROM {s}.passage_spaces x WHERE EXISTS (
             SELECT FROM {s}.passages p WHERE p.space = x.id AND p.collection = $1 AND p.tags @> $2
         ) ORDER BY id"
    );
    Statement::new(sql, [Value::Int(id), Value::Ints(filters(name, query))])
}
