use cc::Start;
use cc::registry::build;
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig};
use tightlink_sim::*;
use units::{Bytes, Fraction, Rate, Span, Time};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let f = |i: usize, d: f64| a.get(i).and_then(|x| x.parse().ok()).unwrap_or(d);
    let (mbps, rtt, bdp, cross, loss, secs) =
        (f(2, 97.0), f(3, 40.0), f(4, 0.25), f(5, 0.0), f(6, 0.0), f(7, 30.0));
    let control = a.get(8).map_or("reno", |s| s.as_str());
    let tcpx = f(9, 0.0);
    let verbose = a.get(10).is_some();
    for name in a[1].split(',') {
        let segment = Bytes::new(1448);
        let start = Start { segment, window: segment * 10, threshold: Bytes::MAX };
        let base = Span::from_secs_f64(rtt / 1e3);
        let max = Bytes::new(64_000_000);
        let mk = |n: &str| FlowPlan {
            name: n.into(),
            control: build(control, "standard", start).unwrap(),
            payload: segment,
            header: Bytes::new(52),
            base_rtt: base,
            route: vec![0],
            return_route: vec![],
            size: None,
            start: Time::ZERO,
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(100),
            socket_buffer: max,
            sizer: None,
            send_jitter: Span::ZERO,
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(1),
            timestamps: true,
            sack: true,
            recovery: Recovery::Prr,
            loss_detection: LossDetection::Rack,
            ecn: false,
            pacing: false,
        };
        let mut t = mk("target");
        let mut c = sizing::SobasConfig::new(segment, max);
        let (n, pace) = name.strip_suffix("+").map_or((name, false), |n| (n, true));
        c.can_pace = pace;
        if n != "max" {
            t.sizer = Some(sizing::registry::build_with(n, c).unwrap());
        }
        let rate = Rate::from_bps_f64(mbps * 1e6);
        let limit = Bytes::new((rate.volume(base).get() as f64 * bdp) as u64);
        let mut flows = vec![t];
        if tcpx > 0.0 {
            let mut x = mk("cross");
            x.socket_buffer = Rate::from_bps_f64(tcpx * 1e6).volume(base);
            flows.push(x);
        }
        let plan = Plan {
            links: vec![LinkPlan {
                name: "l".into(),
                config: LinkConfig { rate, delay: Span::ZERO, loss: Fraction::new(loss).unwrap() },
                queue: "drop-tail".into(),
                limit: Limit::Bytes(limit),
            }],
            tight: 0,
            flows,
            traffic: if cross > 0.0 {
                vec![TrafficPlan {
                    name: "x".into(),
                    config: TrafficConfig {
                        pattern: match a.get(11).map(|s| s.as_str()) {
                            Some("poisson") => Pattern::Poisson,
                            _ => Pattern::Cbr,
                        },
                        rate: Rate::from_bps_f64(cross * 1e6),
                        packet: Bytes::new(1500),
                        start: Time::ZERO,
                        stop: Time::NEVER,
                    },
                    route: vec![0],
                }]
            } else {
                vec![]
            },
            sessions: vec![],
            end: Some(Time::ZERO + Span::from_secs_f64(secs)),
            warmup: Time::ZERO,
            seed: 1,
        };
        let o = Simulation::new(plan, NoRecorder).run();
        let r = &o.flows[0];
        println!(
            "{name:8} {mbps} {rtt}ms {bdp}bdp x{cross}/{tcpx} p{loss} {control}: {:.1} Mb/s rtt {:.1} retx {} rto {}{}",
            r.goodput().as_bps_f64() / 1e6,
            r.rtt.mean().map_or(0.0, |s| s.as_millis_f64()),
            r.retransmits,
            r.timeouts,
            o.flows.get(1).map_or(String::new(), |x| format!(" cross {:.1}", x.goodput().as_bps_f64() / 1e6))
        );
        if verbose {
            for p in &r.sizing {
                println!(
                    "   {:.3} {} {:.0}kB {}",
                    p.at.as_secs_f64(),
                    p.state.phase,
                    p.window.get() as f64 / 1e3,
                    p.state.reason
                );
            }
        }
    }
}
