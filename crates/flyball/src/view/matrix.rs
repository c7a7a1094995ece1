//! Failing checks by iteration: what failed, what broke, what was fixed, and what is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use flyball_core::gate::{Check, CheckStatus, FindingKind, GateResult};
use flyball_core::{GateName, IterationNo};
use serde::Serialize;

use super::words;

/// How many checks are followed; further ones are only counted.
const ROWS_MAX: usize = 1_000;
/// How much of a name or message is kept.
const TEXT_MAX: usize = 300;

/// A check in one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Its gate did not run, or did not get as far.
    Unknown,
    /// It passes.
    Passes,
    /// It fails, as before or from the start.
    Fails,
    /// It had passed and fails now.
    Breaks,
    /// It had failed and passes now.
    Fixed,
}

impl Cell {
    /// Whether it fails.
    pub const fn is_red(self) -> bool {
        matches!(self, Self::Fails | Self::Breaks)
    }

    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "not run",
            Self::Passes => "passes",
            Self::Fails => "fails",
            Self::Breaks => "newly fails",
            Self::Fixed => "fixed",
        }
    }
}

/// One check that failed at some time, and how it did in each column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckRow {
    /// Its gate.
    pub gate: GateName,
    /// Its name, or what it says, on one line.
    pub name: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it said last.
    pub message: String,
    /// How it did, by column.
    pub cells: Vec<Cell>,
    #[serde(skip)]
    kind: Option<FindingKind>,
}

impl CheckRow {
    /// Whether it fails as far as is known last.
    pub fn is_open(&self) -> bool {
        self.last_known().is_some_and(Cell::is_red)
    }

    fn last_known(&self) -> Option<Cell> {
        self.cells.iter().rev().copied().find(|cell| *cell != Cell::Unknown)
    }

    fn position(&self, wanted: Cell) -> Option<usize> {
        self.cells.iter().rposition(|cell| *cell == wanted)
    }
}

/// What the gates said after an iteration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// After which; 0 is before the run.
    pub iteration: IterationNo,
    /// How many failures were counted; none where no gate ran.
    pub failing: Option<u64>,
    /// Checks fixed in it.
    pub fixed: u64,
    /// Checks broken in it.
    pub broken: u64,
    /// The score (B5).
    pub score: Option<f64>,
}

/// Checks by iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// What the gates said, in the order of iterations.
    pub columns: Vec<Column>,
    /// The checks that failed at some time.
    pub rows: Vec<CheckRow>,
    /// Checks that are not followed, for there are too many.
    pub left_out: u64,
}

impl Matrix {
    /// The column of an iteration.
    pub fn column(&self, iteration: IterationNo) -> Option<usize> {
        self.columns.iter().position(|column| column.iteration == iteration)
    }

    /// The rows that are so in a column.
    pub fn rows_in(&self, column: usize, wanted: Cell) -> impl Iterator<Item = &CheckRow> {
        self.rows.iter().filter(move |row| row.cells.get(column) == Some(&wanted))
    }

    /// The rows in the order they are read: what still fails, then what was broken in between, then
    /// in the order they were fixed.
    pub fn sorted(&self) -> Vec<&CheckRow> {
        let mut rows: Vec<&CheckRow> = self.rows.iter().collect();
        rows.sort_by_key(|row| {
            let never_broke = row.position(Cell::Breaks).is_none();
            (!row.is_open(), never_broke, row.position(Cell::Fixed), &row.gate, &row.name)
        });
        rows
    }

    /// Rows of the same fate together, in that order: the first of them, and the others.
    pub fn fates(&self) -> Vec<Vec<&CheckRow>> {
        let mut fates: Vec<Vec<&CheckRow>> = Vec::new();
        let mut place: BTreeMap<(&GateName, &[Cell]), usize> = BTreeMap::new();
        for row in self.sorted() {
            let key = (&row.gate, row.cells.as_slice());
            if let Some(fate) = place.get(&key).and_then(|at| fates.get_mut(*at)) {
                fate.push(row);
            } else {
                place.insert(key, fates.len());
                fates.push(vec![row]);
            }
        }
        fates
    }
}

/// How much a gate's word says of checks it does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Nothing: it did not run, was cut, or named only a part.
    Nothing,
    /// It ran to its end: what it does not name passes.
    Everything,
    /// It ended red without counting tests: those it did not get to are not known.
    AllButTests,
}

impl Knowledge {
    fn of(check: &Check) -> Self {
        match &check.status {
            CheckStatus::Passed => Self::Everything,
            CheckStatus::Skipped { .. } | CheckStatus::TimedOut => Self::Nothing,
            CheckStatus::Failed if check.findings_left_out > 0 => Self::Nothing,
            CheckStatus::Failed => match check.counts {
                Some(counts) if counts.passed.saturating_add(counts.failed) > 0 => Self::Everything,
                Some(_) | None => Self::AllButTests,
            },
        }
    }

    const fn absent(self, kind: Option<FindingKind>) -> Cell {
        match (self, kind) {
            (Self::Nothing, _) | (Self::AllButTests, Some(FindingKind::Test)) => Cell::Unknown,
            (Self::Everything | Self::AllButTests, _) => Cell::Passes,
        }
    }
}

/// Takes in what gates say.
#[derive(Debug, Default)]
pub(super) struct MatrixBuilder {
    matrix: Matrix,
    /// The row of each check, by its identity.
    places: BTreeMap<String, Placed>,
    /// What each gate's word says of others, by column.
    knowledge: BTreeMap<GateName, Vec<Knowledge>>,
}

impl MatrixBuilder {
    pub(super) const fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// A column of its own for an iteration, whether gates run after it or not.
    pub(super) fn begin(&mut self, iteration: IterationNo) {
        if self.matrix.column(iteration).is_some() {
            return;
        }
        let column = Column { iteration, failing: None, fixed: 0, broken: 0, score: None };
        self.matrix.columns.push(column);
        for row in &mut self.matrix.rows {
            row.cells.push(Cell::Unknown);
        }
        for known in self.knowledge.values_mut() {
            known.push(Knowledge::Nothing);
        }
    }

    /// The gates' word after an iteration. A second word on the same one replaces the first.
    pub(super) fn take(&mut self, iteration: IterationNo, result: &GateResult) {
        self.begin(iteration);
        let Some(column) = self.matrix.column(iteration) else { return };
        self.learn(column, result);
        let named = self.name(result);
        let (mut fixed, mut broken) = (0, 0);
        for (place, row) in self.matrix.rows.iter_mut().enumerate() {
            let before = row.cells.get(..column).unwrap_or(&[]);
            let before = before.iter().rev().copied().find(|cell| *cell != Cell::Unknown);
            let was_red = before.map(Cell::is_red);
            let known = self.knowledge.get(&row.gate).and_then(|known| known.get(column));
            let cell = if named.contains(&place) {
                if was_red == Some(false) { Cell::Breaks } else { Cell::Fails }
            } else {
                let absent = known.map_or(Cell::Unknown, |known| known.absent(row.kind));
                if absent == Cell::Passes && was_red == Some(true) { Cell::Fixed } else { absent }
            };
            fixed += u64::from(cell == Cell::Fixed);
            broken += u64::from(cell == Cell::Breaks);
            if let Some(slot) = row.cells.get_mut(column) {
                *slot = cell;
            }
        }
        if let Some(column) = self.matrix.columns.get_mut(column) {
            column.failing = result.score().map(|_| result.failure_count());
            column.score = result.score();
            (column.fixed, column.broken) = (fixed, broken);
        }
    }

    /// An iteration that left the tree the gates spoke of last: their word holds for it too.
    pub(super) fn carry(&mut self, iteration: IterationNo) {
        self.begin(iteration);
        let Some(to) = self.matrix.column(iteration) else { return };
        let before = self.matrix.columns.get(..to).unwrap_or(&[]);
        let Some(from) = before.iter().rposition(|column| column.failing.is_some()) else { return };
        for row in &mut self.matrix.rows {
            let cell = match row.cells.get(from) {
                Some(Cell::Fails | Cell::Breaks) => Cell::Fails,
                Some(Cell::Passes | Cell::Fixed) => Cell::Passes,
                Some(Cell::Unknown) | None => Cell::Unknown,
            };
            if let Some(slot) = row.cells.get_mut(to) {
                *slot = cell;
            }
        }
        for known in self.knowledge.values_mut() {
            if let Some(before) = known.get(from).copied()
                && let Some(slot) = known.get_mut(to)
            {
                *slot = before;
            }
        }
        let last = self.matrix.columns.get(from).map(|column| (column.failing, column.score));
        if let (Some((failing, score)), Some(column)) = (last, self.matrix.columns.get_mut(to)) {
            (column.failing, column.score) = (failing, score);
        }
    }

    /// What the gates' words say of checks they do not name.
    fn learn(&mut self, column: usize, result: &GateResult) {
        let width = self.matrix.columns.len();
        for check in &result.checks {
            let known = self
                .knowledge
                .entry(check.gate.clone())
                .or_insert_with(|| vec![Knowledge::Nothing; width]);
            if let Some(slot) = known.get_mut(column) {
                *slot = Knowledge::of(check);
            }
        }
    }

    /// The rows of what is red now; new ones are added with their past.
    fn name(&mut self, result: &GateResult) -> BTreeSet<usize> {
        let mut named = BTreeSet::new();
        for check in result.red() {
            if check.findings.is_empty() {
                let name = || format!("{} {}", check.gate, check.status.as_str());
                let said = Said { name: &name, message: &check.tail, place: None, kind: None };
                named.extend(self.place(format!("{}:*", check.gate), &check.gate, &said));
            }
            for finding in &check.findings {
                let name = || match &finding.name {
                    Some(name) => words::line(name, TEXT_MAX),
                    None => words::line(&finding.message, TEXT_MAX),
                };
                let place = finding.place();
                let (place, kind) = (place.as_deref(), Some(finding.kind));
                let said = Said { name: &name, message: &finding.message, place, kind };
                named.extend(self.place(finding.identity(&check.gate), &check.gate, &said));
            }
        }
        named
    }

    /// The row of a check that is red. Most were red before and say the same again: nothing is put
    /// into words for those.
    fn place(&mut self, identity: String, gate: &GateName, said: &Said<'_>) -> Option<usize> {
        let digest = said.digest();
        let words = || {
            let place = said.place.map(|place| words::line(place, TEXT_MAX));
            (place, words::line(said.message, TEXT_MAX))
        };
        if let Some(placed) = self.places.get_mut(&identity) {
            if let Some(known) = self.matrix.rows.get_mut(placed.row)
                && placed.said != digest
            {
                placed.said = digest;
                (known.place, known.message) = words();
            }
            return Some(placed.row);
        }
        if self.matrix.rows.len() >= ROWS_MAX {
            self.matrix.left_out += 1;
            return None;
        }
        // Its past is what the gate's earlier words say of it.
        let width = self.matrix.columns.len();
        let cells = match self.knowledge.get(gate) {
            Some(known) => known.iter().map(|known| known.absent(said.kind)).collect(),
            None => vec![Cell::Unknown; width],
        };
        let (place, message) = words();
        let (name, kind) = ((said.name)(), said.kind);
        let row = self.matrix.rows.len();
        self.places.insert(identity, Placed { row, said: digest });
        self.matrix.rows.push(CheckRow { gate: gate.clone(), name, place, message, cells, kind });
        Some(row)
    }
}

/// What is said of a check that is red, as the gate said it.
struct Said<'a> {
    name: &'a dyn Fn() -> String,
    message: &'a str,
    place: Option<&'a str>,
    kind: Option<FindingKind>,
}

impl Said<'_> {
    /// What tells one saying from another within this process.
    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.message, self.place).hash(&mut hasher);
        hasher.finish()
    }
}

/// Where a check's row is, and what was last said of it.
#[derive(Debug)]
struct Placed {
    row: usize,
    said: u64,
}
