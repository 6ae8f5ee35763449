//! From pieces to vectors: each piece and its neighbours through three convolutions of two layers each, their sum through
//! two dense steps. The shapes fit: [`Weights::read`] saw to it.

use std::ops::Range;

use hanok_model::ModelError;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use super::weights::{Layer, Norm, WINDOWS, Weights};

impl Weights {
    /// The vectors of texts whose pieces are given, each of length 1.
    pub(super) fn vectors(&self, group: &[Vec<u32>]) -> Result<Vec<Vec<f32>>, ModelError> {
        let spans = spans(group);
        let count = spans.last().map_or(0, |span| span.end);
        if count == 0 {
            return Ok(Vec::new());
        }
        let features = self.features(group, &spans, count);
        let sums = self.sums(&features, &spans);
        let vectors = self.dense(&sums);
        if vectors.iter().any(|number| !number.is_finite()) {
            return Err(ModelError::Other("the encoder's weights are too large".into()));
        }
        Ok(vectors.rows().into_iter().map(|row| row.to_vec()).collect())
    }

    /// A row for each piece: its own vector and what each convolution makes of it and its neighbours.
    fn features(&self, group: &[Vec<u32>], spans: &[Range<usize>], count: usize) -> Array2<f32> {
        let (width, inner) = (self.width(), self.inner());
        let mut features = Array2::zeros((count, width + WINDOWS.len() * inner));
        let (mut own, mut wide) = features.view_mut().split_at(Axis(1), width);
        for (piece, row) in group.iter().flatten().zip(own.rows_mut()) {
            self.look_up(*piece, row);
        }
        let mut projected = own.dot(&self.projection.weights);
        projected += &self.projection.bias;
        self.normalise(&mut projected.view_mut(), &self.projected);
        let parts = projected.axis_chunks_iter(Axis(1), inner);
        let outs = wide.axis_chunks_iter_mut(Axis(1), inner);
        for ((part, mut out), ([first, second], window)) in
            parts.zip(outs).zip(self.convolutions.iter().zip(WINDOWS))
        {
            let made = convolved(&part, first, window, spans);
            out.assign(&convolved(&made.view(), second, window, spans));
        }
        self.normalise(&mut features.view_mut(), &self.joined);
        features
    }

    /// A row for each text: the sum of its pieces over the root of their number.
    fn sums(&self, features: &Array2<f32>, spans: &[Range<usize>]) -> Array2<f32> {
        let mut sums = Array2::zeros((spans.len(), features.ncols()));
        for (span, mut sum) in spans.iter().zip(sums.rows_mut()) {
            sum.assign(&features.slice_axis(Axis(0), span.clone().into()).sum_axis(Axis(0)));
        }
        let mut out = sums.dot(&self.out.weights);
        for (span, mut row) in spans.iter().zip(out.rows_mut()) {
            let length = span.len() as f32;
            row.scaled_add(length, &self.out.bias);
            row /= length.sqrt();
        }
        out
    }

    fn dense(&self, texts: &Array2<f32>) -> Array2<f32> {
        let dense = &self.dense;
        let [first, second] = &dense.first;
        let [third, fourth] = &dense.second;
        let inner =
            positive(texts.dot(&dense.around_first) + positive(texts.dot(first)).dot(second));
        let outer = inner.dot(&dense.around_second) + positive(inner.dot(third)).dot(fourth);
        let mut vectors = outer.mapv_into(f32::tanh);
        for mut row in vectors.rows_mut() {
            let length = row.dot(&row).max(self.epsilon).sqrt();
            row /= length;
        }
        vectors
    }

    /// Brings each row to mean 0 and variance 1, and from there to what was learned (Ba et al. 2016, arXiv:1607.06450).
    fn normalise(&self, rows: &mut ArrayViewMut2<'_, f32>, norm: &Norm) {
        let count = rows.ncols().max(1) as f32;
        for mut row in rows.rows_mut() {
            let mean = row.sum() / count;
            row -= mean;
            let variance = row.dot(&row) / count;
            row /= (variance + self.epsilon).sqrt();
            row *= &norm.gain;
            row += &norm.bias;
        }
    }
}

/// Where the pieces of each text stand.
fn spans(group: &[Vec<u32>]) -> Vec<Range<usize>> {
    let mut end = 0;
    let span = |pieces: &Vec<u32>| {
        let start = end;
        end += pieces.len();
        start..end
    };
    group.iter().map(span).collect()
}

/// `rows` and what `layer` makes of each with its neighbours of the same text.
fn convolved(
    rows: &ArrayView2<'_, f32>,
    layer: &Layer,
    window: (usize, usize),
    spans: &[Range<usize>],
) -> Array2<f32> {
    let mut made = neighbours(rows, window, spans).dot(&layer.weights);
    made += &layer.bias;
    made.mapv_inplace(|number| number.max(0.0));
    made += rows;
    made
}

/// Each row with its neighbours beside each other, and zeros beyond the text.
fn neighbours(
    rows: &ArrayView2<'_, f32>,
    (size, before): (usize, usize),
    spans: &[Range<usize>],
) -> Array2<f32> {
    let mut all = Array2::zeros((rows.nrows(), size * rows.ncols()));
    for span in spans {
        for at in span.clone() {
            let mut row = all.row_mut(at);
            for (slot, mut to) in row.exact_chunks_mut(rows.ncols()).into_iter().enumerate() {
                let from = (at + slot).checked_sub(before).filter(|from| span.contains(from));
                if let Some(from) = from {
                    to.assign(&rows.row(from));
                }
            }
        }
    }
    all
}

fn positive(mut rows: Array2<f32>) -> Array2<f32> {
    rows.mapv_inplace(|number| number.max(0.0));
    rows
}
