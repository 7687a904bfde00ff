Control {
    name: "sqrt",
    summary: "grows by 1/sqrt(w) per round trip, gives up sqrt(w)/2 on loss",
    source: "Bansal, Balakrishnan 2001",
    status: PAPER,
    build: |recipe| recipe.loss_based(Sqrt::new),
}
