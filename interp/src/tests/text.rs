//! Random kernels, written as the text of the IR.

/// Pseudo-random numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// The text of a kernel, as far as it is written.
pub(super) struct Text<'a> {
    pub(super) random: &'a mut Random,
    text: String,
    values: u32,
    locs: u32,
    labels: u32,
    /// Whether its sums and products are signed, so that overflow is reported.
    signed: bool,
}

impl Text<'_> {
    pub(super) fn new(random: &mut Random) -> Text<'_> {
        let signed = random.once_in(2);
        Text {
            random,
            text: String::new(),
            values: 0,
            locs: 0,
            labels: 0,
            signed,
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// An instruction with a separate place.
    pub(super) fn inst(&mut self, inst: &str) {
        self.locs += 1;
        let loc = self.locs;
        self.line(&format!("{inst} !{loc}"));
    }

    /// A temporary with the given right-hand side.
    pub(super) fn value(&mut self, right: &str) -> String {
        let name = format!("%{}", self.values);
        self.values += 1;
        self.inst(&format!("{name} = {right}"));
        name
    }

    /// The temporaries of an instruction with this many results.
    pub(super) fn values(&mut self, count: u32, right: &str) -> Vec<String> {
        let names = self.values..self.values + count;
        let names: Vec<_> = names.map(|number| format!("%{number}")).collect();
        self.values += count;
        self.inst(&format!("{} = {right}", names.join(", ")));
        names
    }

    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels - 1)
    }

    /// The name of a sum, difference or product.
    pub(super) fn op(&self, op: &str) -> String {
        let signed = if self.signed { "s" } else { "" };
        format!("{signed}{op}.i32")
    }

    /// The whole text. The kernel ends here.
    pub(super) fn end(mut self) -> String {
        self.line("}\nfile 0 \"t\"");
        for loc in 1..=self.locs {
            self.line(&format!("loc !{loc} = 0:{loc}:1"));
        }
        self.text
    }
}

/// Asserts that a kernel did the same on the fast and on the slow path.
#[track_caller]
pub(super) fn assert_same(seed: u64, text: &str, found: &str, expected: &str) {
    if found != expected {
        let lines = found.lines().zip(expected.lines());
        let differs = lines.filter(|(found, expected)| found != expected);
        let differs: Vec<_> = differs.take(12).collect();
        panic!("seed {seed}: {differs:#?}\n{text}");
    }
}
