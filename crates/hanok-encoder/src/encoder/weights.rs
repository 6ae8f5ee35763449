//! What the encoder has learned.

use ndarray::{Array1, Array2, ArrayViewMut1, Axis, concatenate};

use super::{arrays::Arrays, pieces::Pieces};
use crate::files::{Fault, ensure};

/// How many pieces a convolution looks at, and how many of them stand before its own.
pub(super) const WINDOWS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];

/// The longest vector between two layers.
const MAX_WIDTH: usize = 8_192;

/// A layer that is added to what goes into it.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) weights: Array2<f32>,
    pub(super) bias: Array1<f32>,
}

/// What brings rows to one mean and variance.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) gain: Array1<f32>,
    pub(super) bias: Array1<f32>,
}

#[derive(Debug)]
pub(super) struct Weights {
    table: Table,
    pub(super) projection: Layer,
    pub(super) projected: Norm,
    /// Two for each of the [`WINDOWS`].
    pub(super) convolutions: Vec<[Layer; 2]>,
    pub(super) joined: Norm,
    pub(super) out: Layer,
    pub(super) dense: Dense,
    pub(super) epsilon: f32,
}

/// The last layers: two steps, each with a way around it.
#[derive(Debug)]
pub(super) struct Dense {
    pub(super) first: [Array2<f32>; 2],
    pub(super) around_first: Array2<f32>,
    pub(super) second: [Array2<f32>; 2],
    pub(super) around_second: Array2<f32>,
}

/// A vector for each piece, in bytes: piece `n` is row `n / blocks` of block `n % blocks`.
#[derive(Debug)]
struct Table {
    blocks: Vec<Vec<u8>>,
    width: usize,
    scale: Array1<f32>,
    low: Array1<f32>,
}

impl Weights {
    /// Reads everything, and checks that it fits together and has a vector for each of `pieces`.
    pub(super) fn read(arrays: &mut Arrays, pieces: &Pieces) -> Result<Self, Fault> {
        let table = Table::read(arrays, pieces)?;
        let width = table.width;
        let mut projections = Vec::new();
        for (window, _) in WINDOWS {
            let inner =
                projections.first().map(|(first, _, _): &(Array2<f32>, _, _)| first.ncols());
            let matrix = arrays.matrix(&format!("proj{window}"), width, inner)?;
            let inner = matrix.ncols();
            ensure(inner <= MAX_WIDTH, || format!("`proj{window}` is {inner} wide"))?;
            let bias = arrays.list(&format!("proj_b{window}"), inner)?;
            let gain = arrays.list(&format!("ln_g{window}"), inner)?;
            let norm = Norm { gain, bias: arrays.list(&format!("ln_b{window}"), inner)? };
            projections.push((matrix, bias, norm));
        }
        let inner = projections.first().map_or(0, |(first, _, _)| first.ncols());
        let projection = Layer {
            weights: joined(Axis(1), projections.iter().map(|(matrix, _, _)| matrix.view()))?,
            bias: joined(Axis(0), projections.iter().map(|(_, bias, _)| bias.view()))?,
        };
        let projected = Norm {
            gain: joined(Axis(0), projections.iter().map(|(_, _, norm)| norm.gain.view()))?,
            bias: joined(Axis(0), projections.iter().map(|(_, _, norm)| norm.bias.view()))?,
        };
        let mut convolutions = Vec::new();
        for (window, _) in WINDOWS {
            let mut layer = |which: u8| -> Result<Layer, Fault> {
                let weights =
                    arrays.matrix(&format!("w{which}_{window}"), window * inner, Some(inner))?;
                Ok(Layer { weights, bias: arrays.list(&format!("b{which}_{window}"), inner)? })
            };
            convolutions.push([layer(1)?, layer(2)?]);
        }
        let all = width + WINDOWS.len() * inner;
        let joined = Norm { gain: arrays.list("ln_g", all)?, bias: arrays.list("ln_b", all)? };
        let weights = arrays.matrix("cnn_W", all, None)?;
        let bias = arrays.list("cnn_b", weights.ncols())?;
        let dense = Dense::read(arrays, weights.ncols())?;
        let epsilon = arrays.number("eps")? as f32;
        ensure(epsilon > 0.0, || "`eps` is not above 0".to_owned())?;
        let out = Layer { weights, bias };
        Ok(Self { table, projection, projected, convolutions, joined, out, dense, epsilon })
    }

    /// How long its vectors are.
    pub(super) fn dimensions(&self) -> usize {
        self.dense.around_second.ncols()
    }

    /// How long the vector of a piece is.
    pub(super) fn width(&self) -> usize {
        self.table.width
    }

    /// How wide a convolution is.
    pub(super) fn inner(&self) -> usize {
        self.projection.bias.len() / WINDOWS.len()
    }

    /// Writes the vector of `piece`.
    pub(super) fn look_up(&self, piece: u32, to: ArrayViewMut1<'_, f32>) {
        self.table.look_up(piece as usize, to);
    }
}

impl Dense {
    fn read(arrays: &mut Arrays, width: usize) -> Result<Self, Fault> {
        let first = arrays.matrix("d0", width, None)?;
        let inner = first.ncols();
        let second = arrays.matrix("d1", inner, Some(inner))?;
        let around_first = arrays.matrix("p1", width, Some(inner))?;
        let third = arrays.matrix("d2", inner, None)?;
        let fourth = arrays.matrix("d3", third.ncols(), None)?;
        let around_second = arrays.matrix("p3", inner, Some(fourth.ncols()))?;
        let widest = width.max(inner).max(third.ncols()).max(fourth.ncols());
        ensure(widest <= MAX_WIDTH, || format!("a layer is {widest} wide"))?;
        Ok(Self { first: [first, second], around_first, second: [third, fourth], around_second })
    }
}

impl Table {
    fn read(arrays: &mut Arrays, pieces: &Pieces) -> Result<Self, Fault> {
        let (first, width) = arrays.table("q1")?;
        ensure(width <= MAX_WIDTH, || format!("`q1` is {width} wide"))?;
        let mut blocks = vec![first];
        while arrays.has(&format!("q{}", blocks.len() + 1)) {
            let name = format!("q{}", blocks.len() + 1);
            let (block, wide) = arrays.table(&name)?;
            let like = blocks.first().map(Vec::len) == Some(block.len()) && wide == width;
            ensure(like, || format!("`{name}` is not as large as `q1`"))?;
            blocks.push(block);
        }
        let rows: usize = blocks.iter().map(|block| block.len() / width).sum();
        let count = pieces.count();
        ensure(rows >= count, || format!("{rows} vectors for {count} pieces"))?;
        let scale = arrays.list("scale", blocks.len())?;
        let low = arrays.list("lo", blocks.len())?;
        Ok(Self { blocks, width, scale, low })
    }

    fn look_up(&self, piece: usize, mut to: ArrayViewMut1<'_, f32>) {
        let (block, row) = (piece % self.blocks.len(), piece / self.blocks.len());
        let bytes = self.blocks.get(block).and_then(|all| all.chunks_exact(self.width).nth(row));
        let (Some(bytes), Some(scale), Some(low)) =
            (bytes, self.scale.get(block), self.low.get(block))
        else {
            return;
        };
        to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = f32::from(*byte) * scale + low);
    }
}

fn joined<'a, D: ndarray::RemoveAxis>(
    axis: Axis,
    parts: impl Iterator<Item = ndarray::ArrayView<'a, f32, D>>,
) -> Result<ndarray::Array<f32, D>, Fault> {
    let parts: Vec<_> = parts.collect();
    let all = concatenate(axis, &parts).map_err(|cause| Fault(cause.to_string()))?;
    // Columns that are joined come in the order of columns, which is slower to multiply with.
    Ok(all.as_standard_layout().into_owned())
}
