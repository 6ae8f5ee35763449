//! A state of many fields of which one changes.

use std::hint::black_box;

use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::State;

use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const STEPS: u64 = if cfg!(test) { 100 } else { 1000 };

macro_rules! keys {
    ($($key:ident)*) => {
        #[derive(State, Clone, Default)]
        struct Keys {
            $($key: u64,)*
        }

        impl Keys {
            fn sum(&self) -> u64 {
                0 $(+ self.$key)*
            }
        }
    };
}

keys! {
    k00 k01 k02 k03 k04 k05 k06 k07 k08 k09 k10 k11 k12 k13 k14 k15 k16 k17 k18 k19
    k20 k21 k22 k23 k24 k25 k26 k27 k28 k29 k30 k31 k32 k33 k34 k35 k36 k37 k38 k39
    k40 k41 k42 k43 k44 k45 k46 k47 k48 k49 k50 k51 k52 k53 k54 k55 k56 k57 k58 k59
    k60 k61 k62 k63 k64 k65 k66 k67 k68 k69 k70 k71 k72 k73 k74 k75 k76 k77 k78 k79
    k80 k81 k82 k83 k84 k85 k86 k87 k88 k89 k90 k91 k92 k93 k94 k95 k96 k97 k98 k99
}

async fn write(state: Snapshot<Keys>, _: Context) -> Result<KeysUpdate> {
    Ok(Keys::update().k50(state.k50 + 1))
}

fn next(state: &Keys) -> &'static str {
    if state.k50 < STEPS { "write" } else { END }
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let graph = Graph::<Keys>::builder("keys")
        .node("write", write)
        .edge(START, "write")
        .branch("write", next, ["write", END])
        .recursion_limit(u32::MAX)
        .build()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        let state = graph.invoke(Keys::update(), ()).await?.done()?;
        let took = cpu.micros();
        ensure(state.k50 == STEPS && state.sum() == STEPS, "the keys")?;
        Ok([took / STEPS as f64])
    })
}

/// What one node of a program without an engine writes: it reads a copy, as a node reads a snapshot.
async fn write_by_hand(state: Keys) -> (usize, u64) {
    (50, black_box(state.k50 + 1))
}

pub(super) fn by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let cpu = Cpu::start();
        let mut state = Keys::default();
        while state.k50 < STEPS {
            let (key, value) = write_by_hand(black_box(&state).clone()).await;
            ensure(key == 50, "the key")?;
            state.k50 = value;
        }
        let took = cpu.micros();
        ensure(state.sum() == STEPS, "the keys")?;
        Ok([took / STEPS as f64])
    })
}
