//! How keywords and vectors are best joined, by the questions that are not held back.

use hanok_model::{Embedder, SharedEmbedder};
use hanok_retrieval::{Fusion, Mode, Retriever, Terms};

use crate::{
    Result,
    found::{asked, filled},
    measure::Times,
    score::Score,
    stores::Store,
};

const KS: [f32; 6] = [0.0, 2.0, 5.0, 10.0, 20.0, 60.0];
const WEIGHTS: [f32; 6] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0];
const DEPTHS: [usize; 4] = [10, 20, 50, 75];

/// nDCG@10 for each `k` and weight of vectors, keywords weighing 1, and for each depth.
pub(crate) async fn table(embedder: &SharedEmbedder, terms: &Terms) -> Result<String> {
    let asked = asked(embedder, &mut Times::default()).await?;
    let open: Vec<_> =
        asked.iter().filter(|it| !it.question.held && it.question.has_answer()).collect();
    let filled = filled(Store::Memory, embedder, terms).await?;
    let ndcg = async |fusion: Fusion| -> Result<f64> {
        let mut score = Score::default();
        for one in &open {
            let hits = filled.store.search(&one.query(Mode::Hybrid).fusion(fusion)).await?;
            score.add(one.question.rank(&hits));
        }
        Ok(score.ndcg())
    };
    let mut lines = vec![
        format!(
            "nDCG@10 of {} open questions by `{}`, by k and what a rank among vectors weighs:",
            open.len(),
            embedder.name()
        ),
        String::new(),
        format!("| k | {} |", WEIGHTS.map(|weight| weight.to_string()).join(" | ")),
        format!("| --- |{}", " --- |".repeat(WEIGHTS.len())),
    ];
    for k in KS {
        let mut row = format!("| {k} |");
        for weight in WEIGHTS {
            let fusion = Fusion::new().k(k).weights(1.0, weight);
            row += &format!(" {:.3} |", ndcg(fusion).await?);
        }
        lines.push(row);
    }
    let mut depths = Vec::new();
    for depth in DEPTHS {
        depths.push(format!("{depth}: {:.3}", ndcg(Fusion::new().depth(depth)).await?));
    }
    lines.push(format!("\nBy depth, the rest at its default: {}.\n", depths.join(", ")));
    Ok(lines.join("\n"))
}
