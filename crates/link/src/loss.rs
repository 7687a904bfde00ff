//! Random loss: independent coins, a state that changes, probabilities over time, or a list of packets.

use crate::changes::{GilbertElliott, LossModel, Walk};
use std::sync::Arc;
use units::random::Stream;
use units::{Fraction, Time};

/// The losses of a link. It decides for each packet that arrives.
#[derive(Clone, Debug)]
pub(crate) struct RandomLoss {
    /// The probability of an independent loss; 1 if there is a model, which then decides.
    probability: f64,
    model: Option<Box<Model>>,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Model {
    GilbertElliott { of: GilbertElliott, is_bad: bool },
    Shares(Walk<Fraction>),
    Packets { lost: Arc<[u64]>, next: usize, arrived: u64 },
}

impl RandomLoss {
    pub(crate) fn new(
        probability: Fraction,
        model: Option<&LossModel>,
        stream: Stream,
        origin: Time,
    ) -> Self {
        let model = model.map(|model| {
            Box::new(match model {
                LossModel::GilbertElliott(of) => Model::GilbertElliott { of: *of, is_bad: false },
                LossModel::Shares(steps) => Model::Shares(Walk::new(Arc::clone(steps), origin)),
                LossModel::Packets(lost) => Model::Packets { lost: Arc::clone(lost), next: 0, arrived: 0 },
            })
        });
        let probability = if model.is_some() { 1.0 } else { probability.get() };
        Self { probability, model, stream }
    }

    pub(crate) fn strikes(&mut self, now: Time) -> bool {
        self.probability > 0.0 && self.draws(now)
    }

    #[inline(never)]
    fn draws(&mut self, now: Time) -> bool {
        let Some(model) = &mut self.model else { return self.stream.chance(self.probability) };
        let probability = match &mut **model {
            Model::GilbertElliott { of, is_bad } => {
                let changes = if *is_bad { of.to_good } else { of.to_bad };
                *is_bad ^= self.stream.chance(changes.get());
                if *is_bad { of.bad_loss } else { of.good_loss }
            }
            Model::Shares(walk) => walk.at(now),
            Model::Packets { lost, next, arrived } => {
                *arrived += 1;
                let is_lost = lost.get(*next) == Some(arrived);
                *next += usize::from(is_lost);
                return is_lost;
            }
        };
        self.stream.chance(probability.get())
    }
}
