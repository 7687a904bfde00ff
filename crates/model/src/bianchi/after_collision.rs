//! The slots after a collision, if backoff counters go down in idle slots only. The stations that collided draw again,
//! and each that draws 0 transmits in the next slot. One alone succeeds; several collide again.

/// The most colliding stations in the sums: if more transmit at once, none is taken to get through.
const MOST_COLLIDERS: usize = 80;
/// The least `1 - tau`, because each step through the binomial distribution divides by it.
const LEAST: f64 = 1e-12;

/// The attempts that immediately follow the collision in a slot, because the station drew 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RepeatedCollisions {
    /// The share of these attempts that collide again.
    pub(super) fails: f64,
    /// Successes among them per slot.
    pub(super) successes: f64,
    /// Collisions among them per slot.
    pub(super) collisions: f64,
}

/// The mean numbers of events in the slots that immediately follow a collision of `k` stations.
#[derive(Clone, Copy, Default)]
struct CollisionSums {
    attempts: f64,
    failed: f64,
    successes: f64,
    collisions: f64,
}

impl RepeatedCollisions {
    /// Computes the attempts of `stations` stations that transmit in a slot with probability `tau` and draw 0 with
    /// probability `zero` after a collision.
    pub(super) fn of(stations: u32, tau: f64, zero: f64) -> Self {
        let most = MOST_COLLIDERS.min(stations as usize);
        let after = after(most, zero.min(1.0 - LEAST));
        let (n, odds) = (f64::from(stations), tau / (1.0 - tau).max(LEAST));
        let mut share = libm::pow((1.0 - tau).max(LEAST), n);
        let mut all = CollisionSums::default();
        for (colliders, one) in after.iter().enumerate() {
            all.attempts += share * one.attempts;
            all.failed += share * one.failed;
            all.successes += share * one.successes;
            all.collisions += share * one.collisions;
            share *= odds * (n - colliders as f64) / (colliders as f64 + 1.0);
        }
        let fails = if all.attempts > 0.0 { all.failed / all.attempts } else { 0.0 };
        Self { fails, successes: all.successes, collisions: all.collisions }
    }
}

/// Returns the sums for collisions of 0 to `most` stations.
fn after(most: usize, zero: f64) -> Vec<CollisionSums> {
    let odds = zero / (1.0 - zero);
    let mut after = vec![CollisionSums::default(); most + 1];
    for colliders in 2..=most {
        let k = colliders as f64;
        let mut sum = CollisionSums { attempts: k * zero, ..CollisionSums::default() };
        // The probability that `after_collision` of the `colliders` draw 0.
        let mut share = libm::pow(1.0 - zero, k);
        for (after_collision, next) in after.iter().enumerate().take(colliders + 1).skip(1) {
            share *= odds * (k - after_collision as f64 + 1.0) / after_collision as f64;
            if after_collision == 1 {
                sum.successes += share;
                continue;
            }
            sum.failed += share * after_collision as f64;
            sum.collisions += share;
            sum.attempts += share * next.attempts;
            sum.failed += share * next.failed;
            sum.successes += share * next.successes;
            sum.collisions += share * next.collisions;
        }
        // `share` is now the probability that all colliders draw 0, after which the same sums follow once more.
        let scale = 1.0 / (1.0 - share);
        after[colliders] = CollisionSums {
            attempts: sum.attempts * scale,
            failed: sum.failed * scale,
            successes: sum.successes * scale,
            collisions: sum.collisions * scale,
        };
    }
    after
}
