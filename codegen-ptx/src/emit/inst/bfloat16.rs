//! bfloat16: one instruction each from sm_80 on. For older targets, the steps of `ir::bfloat16`, which must not be contracted or reordered.

use ir::{Operand, ValueId};

use super::{super::kernel::Kernel, PURE};

impl Kernel<'_, '_> {
    /// The nearest bfloat16 to a `float`, in the low half of a word.
    pub(super) fn bfloat_of(&mut self, result: ValueId, a: Operand) {
        let a = self.typed(a);
        if self.m.arch >= 80 {
            // Assembly, because LLVM produces other NaNs.
            let asm = "asm \"cvt.rn.bf16.f32 $0, $1;\", \"=h,f\"";
            let bfloat = self.fresh(format!("call i16 {asm}({a}) {PURE}"));
            return self.result(result, format!("zext i16 {bfloat} to i32"));
        }
        let bits = self.fresh(format!("bitcast {a} to i32"));
        let rounded = self.rounded_to_bfloat(&bits);
        self.result(result, rounded);
    }

    /// `a * b + c` of the two bfloat16 in each word.
    pub(super) fn fma_bfloats(&mut self, result: ValueId, operands: [Operand; 3]) {
        let words = operands.map(|operand| self.typed(operand));
        if self.m.arch >= 80 {
            let asm = "asm \"fma.rn.bf16x2 $0, $1, $2, $3;\", \"=r,r,r,r\"";
            let words = words.join(", ");
            return self.result(result, format!("call i32 {asm}({words}) {PURE}"));
        }
        let [low, high] = ["shl WORD, 16", "and WORD, -65536"].map(|upper| {
            let wide = words.each_ref().map(|word| {
                let upper = self.fresh(upper.replace("WORD", word));
                let single = self.fresh(format!("bitcast i32 {upper} to float"));
                self.fresh(format!("fpext float {single} to double"))
            });
            let odd = self.fma_to_odd(wide);
            let rounded = self.rounded_to_bfloat(&odd);
            self.fresh(rounded)
        });
        let high = self.fresh(format!("shl i32 {high}, 16"));
        self.result(result, format!("or i32 {low}, {high}"));
    }

    /// `a * b + c` in `double`, as the bits of a `float` whose last bit is set if the result is inexact.
    fn fma_to_odd(&mut self, [a, b, c]: [String; 3]) -> String {
        let product = self.fresh(format!("fmul double {a}, {b}"));
        let sum = self.fresh(format!("fadd double {product}, {c}"));
        // The part that the sum lost.
        let part = self.fresh(format!("fsub double {sum}, {product}"));
        let other = self.fresh(format!("fsub double {sum}, {part}"));
        let lost_of_product = self.fresh(format!("fsub double {product}, {other}"));
        let lost_of_c = self.fresh(format!("fsub double {c}, {part}"));
        let lost = self.fresh(format!("fadd double {lost_of_product}, {lost_of_c}"));
        let single = self.fresh(format!("fptrunc double {sum} to float"));
        let back = self.fresh(format!("fpext float {single} to double"));
        let rest = self.fresh(format!("fsub double {sum}, {back}"));
        let rest = self.fresh(format!("fadd double {rest}, {lost}"));
        let bits = self.fresh(format!("bitcast float {single} to i32"));
        let is_above = self.fresh(format!("fcmp ogt double {rest}, 0.0"));
        let is_positive = self.fresh(format!("icmp sge i32 {bits}, 0"));
        let is_away = self.fresh(format!("xor i1 {is_above}, {is_positive}"));
        let step = self.fresh(format!("select i1 {is_away}, i32 -1, i32 1"));
        let stepped = self.fresh(format!("add i32 {bits}, {step}"));
        // False for a NaN.
        let is_inexact = self.fresh(format!("fcmp one double {rest}, 0.0"));
        let last = self.fresh(format!("trunc i32 {bits} to i1"));
        let keeps = self.fresh(format!("xor i1 {is_inexact}, true"));
        let keeps = self.fresh(format!("or i1 {keeps}, {last}"));
        self.fresh(format!("select i1 {keeps}, i32 {bits}, i32 {stepped}"))
    }

    /// The instruction that gives the nearest bfloat16 to a `float`'s bits.
    fn rounded_to_bfloat(&mut self, bits: &str) -> String {
        let upper = self.fresh(format!("lshr i32 {bits}, 16"));
        let last = self.fresh(format!("and i32 {upper}, 1"));
        let half = self.fresh(format!("add i32 {last}, 32767"));
        let sum = self.fresh(format!("add i32 {bits}, {half}"));
        let rounded = self.fresh(format!("lshr i32 {sum}, 16"));
        let size = self.fresh(format!("and i32 {bits}, 2147483647"));
        let is_nan = self.fresh(format!("icmp ugt i32 {size}, 2139095040"));
        format!("select i1 {is_nan}, i32 32767, i32 {rounded}")
    }
}
