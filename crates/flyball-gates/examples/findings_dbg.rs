fn main() {
    let args: Vec<String> = std::env::args().collect();
    let out = std::fs::read(&args[2]).unwrap();
    let code: i32 = args.get(3).map_or(1, |c| c.parse().unwrap());
    let p = flyball_gates::read(&args[1], Some(code), &out[..]).unwrap();
    println!("tools {:?} counts {:?} left {}", p.tools, p.counts, p.findings_left_out);
    for f in &p.findings {
        println!(
            "{:?} name={:?} at={:?} msg={:?}",
            f.kind,
            f.name,
            f.place(),
            f.message.chars().take(300).collect::<String>()
        );
    }
}
