//! GELU from a table. Candle's `gelu_erf` computes every error function in double precision, which
//! takes a third of the time of a whole text.

use std::sync::LazyLock;

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, cpu::erf::erf_f64};

/// Entries of the table per unit of the argument.
const PER_UNIT: usize = 128;
/// Beyond this argument, the distribution function is 0 or 1 within 2e-12.
const END: usize = 7;

/// Values of the standard normal distribution function from `-END` to `END`.
static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let at = |n: usize| n as f64 / PER_UNIT as f64 - END as f64;
    let value = |n| 0.5 * (1.0 + erf_f64(at(n) / std::f64::consts::SQRT_2));
    (0..=2 * END * PER_UNIT).map(|n| value(n) as f32).collect()
});

/// Multiplies each value by the standard normal distribution function of it (GELU, arXiv
/// 1606.08415), within 1e-5.
#[derive(Debug)]
pub(crate) struct Gelu;

impl InplaceOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu-table"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let CpuStorage::F32(values) = storage else {
            candle_core::bail!("gelu-table takes values of 32 bits");
        };
        let Some((start, end)) = layout.contiguous_offsets() else {
            candle_core::bail!("gelu-table takes contiguous values");
        };
        let table = TABLE.as_slice();
        for value in &mut values[start..end] {
            *value *= distribution(table, *value);
        }
        Ok(())
    }
}

/// Interpolates between the two entries next to `x`.
fn distribution(table: &[f32], x: f32) -> f32 {
    let at = ((x + END as f32) * PER_UNIT as f32).clamp(0.0, (table.len() - 1) as f32);
    let below = (at as usize).min(table.len() - 2);
    let (low, high) = (table[below], table[below + 1]);
    low + (high - low) * (at - below as f32)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};
    use proptest::prelude::*;

    use super::*;

    fn gelu(values: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let x = Tensor::new(values, &Device::Cpu).expect("a tensor");
        let exact = x.gelu_erf().expect("candle's").to_vec1().expect("values");
        x.inplace_op1(&Gelu).expect("contiguous values");
        (x.to_vec1().expect("values"), exact)
    }

    proptest! {
        #[test]
        fn it_is_gelu_within_1e_5(x in prop_oneof![-8.0f32..8.0, -1e4f32..1e4]) {
            let (own, exact) = gelu(&[x]);
            prop_assert!((own[0] - exact[0]).abs() <= 1e-5, "{x}: {own:?} {exact:?}");
        }
    }

    #[test]
    fn values_without_a_number_stay_without_one() {
        let (own, _) = gelu(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0]);
        assert!(own[0].is_nan());
        assert!(own[1].is_infinite());
        assert!(own[3].abs() < f32::EPSILON);
    }
}
